# SPDX-License-Identifier: MIT
"""days solution: the shipped rung that solves the exercise, beside the learner's file."""
from __future__ import annotations

import difflib
import sys

from days_cli import (arguments, console, exercises, judge, ladders, paths, program_day, program_explain, program_judge,
                      timeline)
from days_cli.errors import DaysError

USAGE = "DAY"
SUMMARY = "our kernel beside yours"
HELP = """./days solution DAY     counters of my/dayNN.cu beside those of the rung that solves
                        the exercise, and the difference; asks first

  --yes                 does not ask"""


def run(args):
    given = arguments.parse("solution", args, {}, ("--yes",), 1)
    if given.get("--help"):
        console.say(HELP)
        return 0
    if not given.words:
        raise DaysError("the solution of which day?", "./days solution 1")
    day = exercises.resolve(given.words[0], "solution")
    name, rung = solution_of(day)
    progress = exercises.progress(day)
    if not (given.get("--yes") or progress.get("solved") or progress.get("solution") or _asked(day)):
        return 0
    exercises.remember(day, solution=True)
    mine = exercises.my_file(day)
    if mine.exists():
        _print_counters(day, mine, name)
    theirs = rung.read_text(encoding="utf-8").splitlines()
    yours = mine if mine.exists() else exercises.skeleton(day)
    yours = yours.read_text(encoding="utf-8", errors="backslashreplace").splitlines()  # a learner's bytes need not be UTF-8
    for line in difflib.unified_diff(yours, theirs, exercises.shown(mine), exercises.shown(rung), lineterm=""):
        colour = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1])
        console.say(console.paint(line, colour) if colour else line)
    return 0


def _print_counters(day, mine, rung):
    """Two columns; where the learner's kernel gives no counts (it does not compile, or is wrong), theirs is left out."""
    if day.kind == "program":
        _print_timelines(day, rung)
        return
    theirs, _ = judge.measure(judge.Kernel(day, rung))
    try:
        yours, _ = judge.measure(judge.Kernel(day, file=exercises.shown(mine)))
    except DaysError as error:
        console.note(f"{exercises.shown(mine)} has no counts: {error.message}")
        yours = None
    width = max(9, len(rung))
    console.say(f"{'':26}{'yours':>9}  {rung:>{width}}")
    for gate in judge.GATES:
        left = gate.form.format(yours[gate.key]) if yours else "-"
        console.say(f"{gate.label:26}{left:>9}  {gate.form.format(theirs[gate.key]):>{width}}")
    console.say("")


def _print_timelines(day, solution):
    """What the streams of both programs allow; of one that is wrong, nothing."""
    for title, name in (("yours", program_day.EXERCISE), (solution, solution)):
        console.say(console.paint(title, "bold"))
        try:
            timeline.say(program_explain.of_program(program_day.build(day, [name], "simt")[name]))
        except DaysError as error:
            console.note(f"{title} has no timeline: {error.message}")
        console.say("")


def solution_of(day):
    """(name, .cu file) of the rung that the ladder names as the solution; of a program day, the program that its front matter
    names."""
    if day.kind == "program":
        name = program_judge.exercise_of(day).solution
        return name, paths.ROOT / program_day.source_of(day, name)
    _, _, name = ladders.exercise(day) or ("", "", "")
    file = ladders.files(day).get(name)
    if not file:
        raise DaysError(f"{day.target}/ladder.cpp names no rung of its own as the solution", code=1)
    return name, file


def _asked(day):
    if not sys.stdin.isatty():
        raise DaysError("the solution is shown to those who ask for it", f"./days solution {day.number} --yes")
    seen, hints = exercises.progress(day).get("hints", 0), len(exercises.hints(day))
    answer = input(f"You have seen {seen} of {hints} hints. Show the solution of day {day.label}? [y/N] ")
    return answer.strip().lower() in ("y", "yes")
