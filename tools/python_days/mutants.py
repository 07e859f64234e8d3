# SPDX-License-Identifier: MIT
"""Small bugs in the kernels of a Python day, one at a time, each tried on the day's cases: which do the tests miss? tests/mutants.py
asks, and says what to do about it. A mutant is an edit of the text, so that lines stay what they are."""
from __future__ import annotations

import ast
import os
import re
import signal
import time
from dataclasses import dataclass

from days_cli import paths
from python_days import adapters, cases, plain, testing
from python_days.day import load, shown

_COMPARED = {ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">"), ast.Eq: ("==", "!="), ast.NotEq: ("!=", "==")}
_COMBINED = {ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "+"), ast.FloorDiv: ("//", "*"), ast.Div: ("/", "*"),
             ast.BitAnd: ("&", "|"), ast.BitOr: ("|", "&"), ast.Mod: ("%", "//")}
_NAMED = {"max": "min", "min": "max", "maximum": "minimum", "minimum": "maximum", "sum": "max", "exp": "exp2", "exp2": "exp"}
_LEFT_OUT = ("mask", "other")  # keywords
_PATIENCE = 5  # times as long as the rung itself: an end that was lost


@dataclass(frozen=True)
class Mutant:
    number: int
    rung: str
    file: str
    line: int
    column: int
    edit: str
    text: str  # of the whole file


def of_day(day):
    found = []
    for ladder in day.ladders:
        for rung in ladder.rungs:
            if rung in ladder.compiled_only:
                continue  # no case here would notice
            path = day.file(rung)
            text = path.read_text(encoding="utf-8")
            for line, column, edit, changed in sorted(_edits(text, ladder.by == "torch"), key=lambda one: one[:3]):
                found.append(Mutant(len(found), rung, shown(path), line, column, edit, changed))
    return found


def _edits(text, plain=False):
    """(line, column, "< becomes <=", the whole text with it) of each bug. plain: launch computes itself."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line.encode()))
    data = text.encode()
    at = lambda line, column: starts[line - 1] + column

    def made(first, last, new, edit, node):
        return node.lineno, node.col_offset + 1, edit, (data[:first] + new.encode() + data[last:]).decode()
    for function in ast.parse(text).body:
        if not isinstance(function, ast.FunctionDef):
            continue
        kernel = any("jit" in ast.unparse(decorator) for decorator in function.decorator_list) or plain and function.name == "launch"
        if not kernel and function.name != "launch":
            continue
        for node in (inner for statement in function.body for inner in ast.walk(statement)):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "triton.cdiv":
                first, last = at(node.lineno, node.col_offset), at(node.end_lineno, node.end_col_offset)
                a, b = map(ast.unparse, node.args)
                yield made(first, last, f"({a} // {b})", "rounded up becomes rounded down", node)
            if kernel:
                yield from _in_kernel(node, data, at, made)


def _in_kernel(node, data, at, made):
    pairs = []
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        pairs = [(_COMPARED.get(type(node.ops[0])), node.left, node.comparators[0])]
    elif isinstance(node, ast.BinOp):
        pairs = [(_COMBINED.get(type(node.op)), node.left, node.right)]
    for change, left, right in pairs:
        if change:
            first, last = at(left.end_lineno, left.end_col_offset), at(right.lineno, right.col_offset)
            between = data[first:last].decode()
            yield made(first, last, re.sub(re.escape(change[0]), lambda _: change[1], between, count=1), f"{change[0]} becomes {change[1]}", node)
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and not isinstance(node.value, bool):
        first, last = at(node.lineno, node.col_offset), at(node.end_lineno, node.end_col_offset)
        yield made(first, last, repr(node.value + 1), f"{node.value} becomes {node.value + 1}", node)
    if isinstance(node, ast.Call):
        for word in node.keywords:
            if word.arg in _LEFT_OUT:
                last = at(word.value.end_lineno, word.value.end_col_offset)
                first = data.rindex(b",", 0, at(word.lineno, word.col_offset))
                yield made(first, last, "", f"{word.arg} is left out", word)
        if isinstance(node.func, ast.Attribute) and node.func.attr in _NAMED and ast.unparse(node.func.value) == "tl":
            first, last = at(node.func.end_lineno, node.func.end_col_offset) - len(node.func.attr), at(node.func.end_lineno, node.func.end_col_offset)
            yield made(first, last, _NAMED[node.func.attr], f"{node.func.attr} becomes {_NAMED[node.func.attr]}", node)
    if isinstance(node, ast.AugAssign):
        first, last = at(node.target.end_lineno, node.target.end_col_offset), at(node.value.lineno, node.value.col_offset)
        yield made(first, last, " = ", "nothing is accumulated", node)
    if isinstance(node, ast.If):
        first, last = at(node.test.lineno, node.test.col_offset), at(node.test.end_lineno, node.test.end_col_offset)
        for value in ("True", "False"):
            yield made(first, last, value, f"the condition becomes {value}", node)


class _Late(Exception):
    pass


def _ring(*_):
    raise _Late


def verdicts(day, numbers):
    """Yields (number, whether the tests notice it), in this order."""
    every = {mutant.number: mutant for mutant in of_day(day)}
    took, folder = {}, paths.BUILD / "python-mutants"
    folder.mkdir(parents=True, exist_ok=True)
    signal.signal(signal.SIGALRM, _ring)
    for number in numbers:
        mutant = every[number]
        ladder = day.ladder_of(mutant.rung)
        if mutant.rung not in took:
            began = time.monotonic()
            if _noticed(ladder, mutant.rung, day.launch(mutant.rung)):
                raise ValueError(f"{mutant.rung} itself fails")
            took[mutant.rung] = time.monotonic() - began
        path = folder / f"{os.getpid()}_{number}_{mutant.rung}.py"
        path.write_text(mutant.text, encoding="utf-8")
        signal.setitimer(signal.ITIMER_REAL, 2 + _PATIENCE * took[mutant.rung])
        try:
            noticed = _noticed(ladder, mutant.rung, load(path).launch)
        except Exception:  # a bug may have any end, and each of them is seen
            noticed = True
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            path.unlink()
        yield number, noticed


def _noticed(ladder, rung, launch):
    """Whether a case fails, or says something; the small ones in other orders, too, as the day's tests have it. Then what is counted of the rung."""
    for case in cases.all_cases(ladder, rung, thin=True):
        orders = testing.orders_of(ladder)
        for order in orders if orders and case.kind == ladder.types[0] and not case.inputs and cases.is_small(ladder, case) else adapters.ORDERS[:1]:
            outcome = cases.run(case, adapters.of(ladder, launch, order))
            if outcome.result == "fail" or outcome.reports:
                return True
    return ladder.by != "triton" and rung in ladder.counts and bool(plain.complaint(ladder, rung, launch))
