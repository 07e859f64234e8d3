# SPDX-License-Identifier: MIT
"""days reset: the exercise from its start; what was there is kept in my/old."""
from __future__ import annotations

from days_cli import arguments, console, exercises, rungs
from days_cli.errors import DaysError

USAGE = "DAY [RUNG]"
SUMMARY = "starts an exercise afresh"
HELP = """./days reset DAY        moves my/dayNN.cu to my/old/ and starts from the skeleton
./days reset DAY RUNG   the same of my/dayNN_RUNG.cu, which begins as the rung before"""


def run(args):
    given = arguments.parse("reset", args, {}, (), 2)
    if given.get("--help"):
        console.say(HELP)
        return 0
    if not given.words:
        raise DaysError("reset which day?", "./days reset 1")
    what = exercises.resolve(given.words[0], "reset", *given.words[1:])
    kept = exercises.restart(what)
    mine = exercises.shown(exercises.my_file(what))
    begins = f"{what.before.name}'s kernel" if isinstance(what, rungs.Rung) else "the skeleton"
    for line in console.wrap(f"{mine} is {begins} again" + (f"; yours is {exercises.shown(kept)}." if kept else ".")):
        console.say(line)
    return 0
