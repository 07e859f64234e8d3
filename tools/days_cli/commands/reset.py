# SPDX-License-Identifier: MIT
"""days reset: the exercise from its start; what was there is kept in my/old."""
from __future__ import annotations

from days_cli import arguments, console, exercises
from days_cli.errors import DaysError

USAGE = "DAY"
SUMMARY = "starts an exercise afresh"
HELP = """./days reset DAY        moves my/dayNN.cu to my/old/ and starts from the skeleton"""


def run(args):
    given = arguments.parse("reset", args, {}, (), 1)
    if given.get("--help"):
        console.say(HELP)
        return 0
    if not given.words:
        raise DaysError("reset which day?", "./days reset 1")
    day = exercises.resolve(given.words[0], "reset")
    kept = exercises.restart(day)
    mine = exercises.shown(exercises.my_file(day))
    console.say(f"{mine} is the skeleton again" + (f"; yours is {exercises.shown(kept)}." if kept else "."))
    return 0
