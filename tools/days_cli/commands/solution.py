# SPDX-License-Identifier: MIT
"""days solution: the shipped rung that solves the exercise, beside the learner's file."""
from __future__ import annotations

import difflib
import sys

from days_cli import (arguments, console, counting, exercises, gates, judge, ladders, paths, program_day, program_explain, program_judge,
                      python_judge, rung_gates, rungs, timeline)
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
    name, rung = (what.name, what.file) if isinstance(what, rungs.Rung) else solution_of(what)
    progress = exercises.progress(what)
    if not (given.get("--yes") or progress.get("solved") or progress.get("solution") or _asked(what)):
        return 0
    exercises.remember(what, solution=True)
    mine = exercises.my_file(what)
    if mine.exists():
        _print_counters(what, mine, name)
    theirs = rung.read_text(encoding="utf-8").splitlines()
    yours = mine.read_bytes() if mine.exists() else exercises.start_bytes(what)
    yours = yours.decode(errors="backslashreplace").splitlines()  # a learner's bytes need not be UTF-8
    for line in difflib.unified_diff(yours, theirs, exercises.shown(mine), exercises.shown(rung), lineterm=""):
        colour = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1])
        console.say(console.paint(line, colour) if colour else line)
    return 0


def _print_counters(what, mine, rung):
    """Two columns; where the learner's kernel gives no counts (it does not compile, or is wrong), theirs is left out."""
    day, of_rung = exercises.day_of(what), isinstance(what, rungs.Rung)
    if day.kind == "program":
        _print_timelines(day, rung)
        return
    if day.kind == "python":
        _print_metrics(what, mine, rung)
        return
    theirs = counting.measure(judge.Kernel(day, rung))[0]
    try:
        shown = exercises.shown(mine)
        yours = counting.measure(judge.Kernel(day, rung, shown, what) if of_rung else judge.Kernel(day, file=shown))[0]
    except DaysError as error:
        console.note(f"{exercises.shown(mine)} has no counts: {error.message}")
        yours = None
    width = max(11, len(rung))
    metrics = [*rung_gates.COUNTERS, *rung_gates.BESIDES] if of_rung else gates.GATES
    across = max(len(metric.label) for metric in metrics) + 2
    console.say(f"{'':{across}}{'yours':>11}  {rung:>{width}}")
    for metric in metrics:
        if of_rung and not (theirs[metric.key] or yours and yours[metric.key]):
            continue
        left = metric.form.format(yours[metric.key]) if yours else "-"
        console.say(f"{metric.label:{across}}{left:>11}  {metric.form.format(theirs[metric.key]):>{width}}")
    console.say("")


def _print_metrics(what, mine, rung):
    """The same of a Python day."""
    day = exercises.day_of(what)
    theirs = python_judge.measure(python_judge.Kernel(day, rung))
    try:
        name = rung if isinstance(what, rungs.Rung) else "exercise"
        yours = python_judge.measure(python_judge.Kernel(day, name, exercises.shown(mine)))
    except DaysError as error:
        console.note(f"{exercises.shown(mine)} has no counts: {error.message}")
        yours = None
    across = max(len(metric.label) for metric in theirs.metrics) + 2
    width = max(11, len(rung))
    console.say(f"{'':{across}}{'yours':>11}  {rung:>{width}}")
    for metric in theirs.metrics:
        if theirs[metric.key] or yours and yours[metric.key]:
            left = metric.shown(yours[metric.key]) if yours else "-"
            console.say(f"{metric.label:{across}}{left:>11}  {metric.shown(theirs[metric.key]):>{width}}")
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
        ladder = "ladder.py" if day.kind == "python" else "ladder.cpp"
        raise DaysError(f"{day.target}/{ladder} names no rung of its own as the solution", code=1)
    return name, file


def _asked(what):
    if not sys.stdin.isatty():
        raise DaysError("the solution is shown to those who ask for it", f"./days solution {exercises.words(what)} --yes")
    seen, hints = exercises.progress(what).get("hints", 0), len(exercises.hints(what))
    answer = input(f"You have seen {seen} of {hints} hints. Show the solution of {exercises.label(what)}? [y/N] ")
    return answer.strip().lower() in ("y", "yes")
