#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How the modules of tools/days_cli and tools/python_days use each other: in no circle, at no depth of a function, and what commands share
stands beside them."""
import ast
import unittest
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[2] / "tools"


def modules():
    """{dotted name: its file}"""
    found = {}
    for package in ("days_cli", "python_days"):
        for path in (TOOLS / package).rglob("*.py"):
            parts = path.relative_to(TOOLS).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(text, known):
    """The known modules that a text imports, wherever in it."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {inner if inner in known else node.module for inner in (f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found & set(known)


def circle(graph):
    """The modules along a circle, the first of them again at its end; [] where there is none."""
    done, way = set(), []

    def visit(module):
        if module in way:
            return [*way[way.index(module):], module]
        if module in done:
            return []
        way.append(module)
        for other in sorted(graph[module]):
            found = visit(other)
            if found:
                return found
        done.add(way.pop())
        return []
    return next(filter(None, map(visit, sorted(graph))), [])


class Imports(unittest.TestCase):
    def setUp(self):
        self.files = modules()
        self.graph = {name: imports(path.read_text(encoding="utf-8"), self.files) for name, path in self.files.items()}

    def test_no_circle(self):
        self.assertTrue({"days_cli.main", "python_days.cases"} <= set(self.graph))
        self.assertEqual(circle(self.graph), [])

    def test_a_circle_is_seen(self):
        graph = {name: imports(text, "abc") for name, text in
                 {"a": "import b", "b": "def f():\n    from c import x", "c": "if True:\n    import a, sys"}.items()}
        self.assertEqual(circle(graph), ["a", "b", "c", "a"])
        self.assertEqual(circle({**graph, "c": set()}), [])

    def test_nothing_but_the_launcher_imports_a_command(self):
        of_commands = {name: {one for one in used if one.startswith("days_cli.commands.")} for name, used in self.graph.items()}
        self.assertEqual({name: used for name, used in of_commands.items() if used and not name.startswith("days_cli.commands.")}, {})

    def test_what_is_private_stays_within_its_module(self):
        for name, path in self.files.items():
            text, own = path.read_text(encoding="utf-8"), {one.rpartition(".")[2] for one in self.graph[name]}
            used = [f"{node.value.id}.{node.attr}" for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Attribute)
                    and isinstance(node.value, ast.Name) and node.value.id in own and node.attr.startswith("_")]
            self.assertEqual(used, [], name)


if __name__ == "__main__":
    unittest.main()
