# SPDX-License-Identifier: MIT
"""days check: builds the learner's kernel and tells how far it is: correct, race-free, counters, speed."""
from __future__ import annotations

import datetime

from days_cli import arguments, console, exercises, judge, program_day, program_judge
from days_cli.errors import DaysError

USAGE = "DAY"
SUMMARY = "is my kernel right, race-free, fast?"
HELP = """./days check DAY        judges my/dayNN.cu, made from the day's exercise.cu

  --rung NAME           judges a shipped rung instead, by the same gates

Stages, up to the first that fails: 1 correct on hostile shapes; 2 race-free in
three thread orders; 3 counters; 4 speed, where there is a GPU. The first three
run on this CPU. A case of over two minutes is stopped, and fails:
DAYS_CHECK_SECONDS=300 gives each so many. Exit code: 0 all passed, 1 one
failed."""


def run(args):
    given = arguments.parse("check", args, {"--rung": None}, (), 1)
    if given.get("--help"):
        console.say(HELP)
        return 0
    if not given.words:
        raise DaysError("check which day?", "./days check 1")
    return check(exercises.resolve(given.words[0], "check"), given.get("--rung"))


def check(day, rung=None):
    if day.kind == "program":
        return _check_program(day, rung)
    if rung:
        kernel, title = judge.Kernel(day, rung), f"{day.label}, {rung}"
    else:
        mine = exercises.my_file(day)
        title = exercises.shown(mine)
        if exercises.start(day):
            console.say(f"{title} is new: a copy of {day.target}/exercise.cu, yours to edit.")
        kernel = judge.Kernel(day, file=title)
    stages = judge.judge(kernel, lambda header: console.say(f"{title}: {_goal(header)}"), judge.print_stage)
    passed = stages[-1].verdict != "FAIL"
    if not rung:
        _conclude(day, stages[-1], passed)
    return 0 if passed else 1


def _check_program(day, name):
    exercise = program_judge.exercise_of(day)
    if name:
        program_day.chosen(day, name, "check")
        title, source = f"{day.label}, {name}", program_day.source_of(day, name)
    else:
        title = source = exercises.shown(exercises.my_file(day))
        if exercises.start(day):
            console.say(f"{title} is new: a copy of {day.target}/exercise.cu, yours to edit.")
    console.say(f"{title}: {exercise.goal}")
    stages = program_judge.run_stages(program_judge.Judged(day, source), exercise.gates, judge.print_stage)
    passed = stages[-1].verdict != "FAIL"
    if not name:
        _conclude(day, stages[-1], passed)
    return 0 if passed else 1


def _goal(header):
    return header.get("exercise", {}).get("goal", "")


def _conclude(day, last, passed):
    """What follows from the verdict; then it is remembered, where that can be."""
    if passed:
        console.say("Solved. Next: " + console.paint("./days next", "cyan") + ", or see ours: " +
                    console.paint(f"./days solution {day.number}", "cyan"))
        exercises.remember(day, last="solved", solved=datetime.date.today().isoformat())
        return
    hints, seen = len(exercises.hints(day)), exercises.progress(day).get("hints", 0)
    if hints:
        console.say("Next: " + console.paint(f"./days hint {day.number}", "cyan") + f"   ({seen} of {hints} seen)")
    exercises.remember(day, last=f"{judge.STAGES.index(last.name) + 1} {last.name}: {last.about}")
