# SPDX-License-Identifier: MIT
"""What a day's ladder.cpp says of its rungs: which file holds each, and what its exercise starts from and comes to."""
from __future__ import annotations

import re

from days_cli import python_ladders

VARIANT = re.compile(r'\.variant\((?:\w+\()?"(\w+)"[^,]*,\s*LAUNCHER\((?:\w+::)*(\w+)\)\)')
_EXERCISE = re.compile(r'\.exercise\(\s*LAUNCHER\(\w+\),\s*((?:"[^"]*"\s*)+),\s*"(\w+)",\s*"(\w+)"')
_LAUNCHER = re.compile(r"^void (\w+)\(const (?:\w+::)*\w+<", re.MULTILINE)


def text(day):
    try:
        return (day.folder / "ladder.cpp").read_text(encoding="utf-8")
    except OSError:
        return ""


def prefixed(day):
    """Whether a ladder puts a prefix before its rungs' names: another of the day then has the same rungs without it."""
    return re.search(r"\.variant\(\w+\(", text(day)) is not None


def files(day):
    """{rung: its file NN_idea.cu}, in the order of the files and, within one, of its launchers. A file may hold several rungs. A
    rung that several ladders have under names with a prefix is here once, without it. Of a Python day {rung: its NN_idea.py}."""
    if day.kind == "python":
        return python_ladders.files(day)
    names = {launcher: name for name, launcher in VARIANT.findall(text(day))}
    found = {}
    for file in sorted(day.folder.glob("[0-9][0-9]_*.cu")):
        for launcher in _LAUNCHER.findall(file.read_text(encoding="utf-8")):
            if launcher in names:
                found.setdefault(names[launcher], file)
    return found


def exercise(day):
    """(goal, starting rung, solution) as .exercise names them; None where the ladder has no exercise."""
    if day.kind == "python":
        return python_ladders.exercise(day)
    match = _EXERCISE.search(text(day))
    return ("".join(re.findall(r'"([^"]*)"', match[1])), match[2], match[3]) if match else None
