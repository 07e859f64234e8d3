# SPDX-License-Identifier: MIT
"""days solution: the shipped rung that solves the exercise, beside the learner's file."""
from __future__ import annotations

import difflib
import sys

from days_cli import arguments, console, exercises, rungs
from days_cli.errors import DaysError

USAGE = "DAY [RUNG]"
SUMMARY = "our kernel beside yours"
HELP = """./days solution DAY     counters of my/dayNN.cu beside those of the rung that solves
                        the exercise, and the difference; asks first
./days solution DAY RUNG   the same of my/dayNN_RUNG.cu and that rung

  --yes                 does not ask"""


def run(args):
    given = arguments.parse("solution", args, {}, ("--yes",), 2)
    if given.get("--help"):
        console.say(HELP)
        return 0
    if not given.words:
        raise DaysError("the solution of which day?", "./days solution 1")
    what = exercises.resolve(given.words[0], "solution", *given.words[1:])
    name, rung = (what.name, what.file) if isinstance(what, rungs.Rung) else what.kind.does.solution(what)
    progress = exercises.progress(what)
    if not (given.get("--yes") or progress.get("solved") or progress.get("solution") or _asked(what)):
        return 0
    exercises.remember(what, solution=True)
    mine = exercises.my_file(what)
    if mine.exists():
        exercises.day_of(what).kind.does.beside(what, mine, name)
    theirs = rung.read_text(encoding="utf-8").splitlines()
    yours = mine.read_bytes() if mine.exists() else exercises.start_bytes(what)
    yours = yours.decode(errors="backslashreplace").splitlines()  # a learner's bytes need not be UTF-8
    for line in difflib.unified_diff(yours, theirs, exercises.shown(mine), exercises.shown(rung), lineterm=""):
        colour = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1])
        console.say(console.paint(line, colour) if colour else line)
    return 0


def _asked(what):
    if not sys.stdin.isatty():
        raise DaysError("the solution is shown to those who ask for it", f"./days solution {exercises.words(what)} --yes")
    seen, hints = exercises.progress(what).get("hints", 0), len(exercises.hints(what))
    answer = input(f"You have seen {seen} of {hints} hints. Show the solution of {exercises.label(what)}? [y/N] ")
    return answer.strip().lower() in ("y", "yes")
