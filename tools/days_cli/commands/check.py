# SPDX-License-Identifier: MIT
"""days check: builds the learner's kernel and tells how far it is: correct, race-free, counters, speed."""
from __future__ import annotations

from days_cli import arguments, console, exercises, own_triton
from days_cli.errors import DaysError

USAGE = "DAY [RUNG]"
SUMMARY = "is my kernel right, race-free, fast?"
HELP = """./days check DAY        judges my/dayNN.cu, made from the day's exercise.cu
./days check DAY RUNG   judges my/dayNN_RUNG.cu, which begins as the rung before
                        is: right, and without what this rung brings

  --rung NAME           judges a shipped rung instead, by exercise.cu's gates
  --file mine.py        a Triton file of your own: masks, races and promises of
                        what its main() or launch() starts, on its own tensors

Stages, up to the first that fails: 1 correct on hostile shapes; 2 race-free in
three thread orders; 3 counters; 4 speed, where there is a GPU. The first three
run on this CPU. A case of over two minutes is stopped, and fails:
DAYS_CHECK_SECONDS=300 gives each so many. Exit code: 0 all passed, 1 one
failed. What a rung asks: docs/rungs.md"""


def run(args):
    given = arguments.parse("check", args, {"--rung": None, "--file": None}, (), 2)
    if given.get("--help"):
        console.say(HELP)
        return 0
    if given.get("--file") is not None:
        return _check_file(given)
    if not given.words:
        raise DaysError("check which day?", "./days check 1")
    if len(given.words) > 1 and given.get("--rung"):
        raise DaysError("--rung judges a shipped rung by the gates of exercise.cu; without it your own file of a rung is judged",
                        f"./days check {given.words[0]} {given.words[1]}")
    return check(exercises.resolve(given.words[0], "check", *given.words[1:]), given.get("--rung"))


def _check_file(given):
    name = given.get("--file")
    if given.words or given.get("--rung"):
        raise DaysError(f"check --file takes a file alone, not {(given.words or [given.get('--rung')])[0]}", f"./days check --file {name}")
    if not own_triton.is_one(name):
        raise DaysError(f"check --file takes a Triton file, mine.py, and {name} is none. A CUDA program is watched as it runs",
                        f"./days cc --checked {name} -o mine && ./mine" if name.endswith(".cu") else "./days check --help")
    return own_triton.check(name)


def check(what, rung=None):
    """what: a day, or one of its Rungs; rung: the name of a shipped one that is judged in the exercise's place."""
    return exercises.day_of(what).kind.does.check(what, rung)
