# SPDX-License-Identifier: MIT
"""days watch: check, again and again, whenever the learner's file is saved."""
from __future__ import annotations

import time

from days_cli import arguments, console, exercises
from days_cli.commands import check
from days_cli.errors import DaysError

USAGE = "DAY [RUNG]"
SUMMARY = "checks again on every save"
HELP = """./days watch DAY        ./days check DAY now, and whenever my/dayNN.cu is saved
./days watch DAY RUNG   the same of my/dayNN_RUNG.cu
                        Ctrl-C ends it."""


def run(args):
    given = arguments.parse("watch", args, {}, (), 2)
    if given.get("--help"):
        console.say(HELP)
        return 0
    if not given.words:
        raise DaysError("watch which day?", "./days watch 1")
    what = exercises.resolve(given.words[0], "watch", *given.words[1:])
    mine = exercises.my_file(what)
    exercises.start(what)
    seen = None
    while True:
        now = _state(mine)
        if now is not None and now != seen:
            seen = now
            try:
                check.check(what)
            except DaysError as error:
                console.print_error(error)
            console.say(f"\nWaiting for you to save {exercises.shown(mine)} (Ctrl-C ends)")
        time.sleep(0.3)


def _state(path):
    """Changes with every save; None while an editor has the file out of the way, or its drive is gone."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
