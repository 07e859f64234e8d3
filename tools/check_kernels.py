#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Kernels are seen, and their launches checked.

In the files of the days, of common/, of model/, gpt/ and serve/, and of the wrong kernels the statement after each <<<...>>> is a check
(CUDA_CHECK_LAUNCH or cudaGetLastError). Each rung's file, dayNN_name/NN_idea.cu of a day with a ladder, holds a __global__ function of its own, or is made of
products (multiply() of model/); and what its header comment says after "Teaches:", names of instructions or of what brings them about, occurs
in its code. Whoever calls a rung from elsewhere must know its workspace: what a ladder gives .workspace is a function that a header of the day
declares, as LAUNCHER(NAME) or called with some extents of the problem. A rung that an op.py names is one of the day's ladders. Prints what is
not so; exit code 1 then."""
import ast
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILES = ("day[0-9][0-9]_*/**/*.cu*", "common/*.cu*", "bench/*.cu", "model/*.cu*", "gpt/*.cu*", "serve/*.cu*", "tests/model/*.cu*")
LADDERS = "day[0-9][0-9]_*/ladder.cpp"
NO_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)  # comments and strings
CHECK = re.compile(r"\bCUDA_CHECK_LAUNCH\s*\(|\bcuda(?:GetLastError|PeekAtLastError)\s*\(")
# LAUNCHER(copy_workspace), [](const auto& p) { return copy_workspace(p.rows, p.cols); }
ASKED = re.compile(r"LAUNCHER\((\w+)\)|\[\]\(const auto& p\) \{ return (\w+)\(p\b[^;]*\); \}")
TEACHES = re.compile(r"^// Teaches: ((?:[^\n]|\n// )*?)\.$", re.MULTILINE)


def code_of(text):
    """The text without comments and strings, line for line."""
    return NO_CODE.sub(lambda match: "\n" * match.group().count("\n"), text)


def launches(text):
    """(line, whether it is checked) of each launch."""
    code = code_of(text)
    for launch in re.finditer("<<<", code):
        statements = code[launch.end():].split(";", 2)
        yield code.count("\n", 0, launch.start()) + 1, len(statements) == 3 and bool(CHECK.search(statements[1]))


def unseen(text):
    """What a rung's file should hold and does not, in words."""
    code = code_of(text)
    if not re.search(r"\b__global__\b|\bmultiply\(", code):
        yield "no __global__ function: a rung's kernel stands in its file"
    for names in TEACHES.findall(text):
        for name in re.split(r",\s*(?://\s*)?", names):
            if not re.search(rf"(?<!\w){re.escape(name)}(?!\w)", code):
                yield f"teaches {name}, which does not occur in its code"


def workspaces(ladder):
    """(line, whether a header of the day has its function) of each .workspace(...) of a ladder.cpp."""
    code = code_of(ladder.read_text(encoding="utf-8"))
    headers = "".join(code_of(path.read_text(encoding="utf-8")) for path in sorted(ladder.parent.glob("*.h")))
    for call in re.finditer(r"\.workspace\(\s*", code):
        asked = ASKED.match(code, call.end())
        name = asked and (asked[1] or asked[2])
        yield code.count("\n", 0, call.start()) + 1, bool(name) and bool(re.search(rf"\bsize_t {name}\(", headers))


def operators(path):
    """(line, rung) of each rung that an op.py gives an Op: its third argument, written there or as a name of the file."""
    names = {}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            names[node.targets[0].id] = node.value
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Op":
            rungs = node.args[2]
            rungs = names[rungs.id] if isinstance(rungs, ast.Name) else rungs
            if isinstance(rungs, ast.Tuple):
                yield from ((node.lineno, one.value) for one in rungs.elts)


def main():
    count = unchecked = rungs = bad = 0
    for path in sorted({path for pattern in FILES for path in ROOT.glob(pattern)}):
        if "\n// plain: [simt-launch]\n" in path.read_text(encoding="utf-8"):
            continue  # a day's mistake that lacks the check, and must be reported for it (tests/program_tests.h)
        for line, checked in launches(path.read_text(encoding="utf-8")):
            count += 1
            if not checked:
                unchecked += 1
                print(f"{path.relative_to(ROOT)}:{line}: the statement after this launch does not check it")
    for path in sorted(rung for ladder in ROOT.glob(LADDERS) for rung in ladder.parent.glob("[0-9][0-9]_*.cu")):
        rungs += 1
        for what in unseen(path.read_text(encoding="utf-8")):
            bad += 1
            print(f"{path.relative_to(ROOT)}:1: {what}")
    asked = 0
    for path in sorted(ROOT.glob(LADDERS)):
        for line, declared in workspaces(path):
            asked += 1
            if not declared:
                bad += 1
                print(f"{path.relative_to(ROOT)}:{line}: this workspace is no function of a header: nobody else could call the rung")
    for path in sorted(ROOT.glob("day[0-9][0-9]_*/op.py")):
        ladder = (path.parent / "ladder.cpp").read_text(encoding="utf-8")
        for line, rung in operators(path):
            if f'"{rung}"' not in ladder:
                bad += 1
                print(f"{path.relative_to(ROOT)}:{line}: no ladder of the day has a rung {rung}")
    print(f"{count} launches, {count - unchecked} checks; {rungs} rungs and {asked} workspaces, {bad} not seen")
    return 1 if unchecked or bad or not count or not rungs else 0


if __name__ == "__main__":
    sys.exit(main())
