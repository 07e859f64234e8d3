# SPDX-License-Identifier: MIT
"""days next: where to go on."""
from __future__ import annotations

from days_cli import arguments, catalog, console, exercises, kinds

USAGE = ""
SUMMARY = "the next day whose exercise is open"
HELP = """./days next             the next day of the tracks whose exercise you have not solved"""


def run(args):
    if arguments.parse("next", args).get("--help"):
        console.say(HELP)
        return 0
    days = [day for _, track in catalog.tracks() for day in track
            if day.folder and exercises.skeleton(day).is_file() and not kinds.refusal(day, "check")]
    done = exercises.solved_of(days)
    following = next((day for day in days if day not in done), None)
    if following is None:
        console.say(f"All {len(days)} exercises are solved.")
        _rungs(days, done)
        return 0
    begun = exercises.my_file(following).exists()
    title = following.front_matter().get("title", "")
    console.say(f"{len(done)} of {len(days)} exercises solved. " + ("Go on with" if begun else "Next:") +
                f" day {following.label}")
    if title:
        console.say(f"  {title}")
    for command, what in ((f"./days run {following.number}", "see it run" if following.kind == "program" else "see the rungs"),
                          (f"{following.target}/README.md", "read the note"),
                          (f"./days check {following.number}", "write " + exercises.shown(exercises.my_file(following)))):
        _command(command, what)
    _rungs(days, done)
    return 0


def _command(command, what):
    console.say(f"  {console.paint(command, 'cyan')}{' ' * max(2, 34 - len(command))}{what}")


def _rungs(days, done):
    """The rung to go on with, of the last day in teaching order that was begun."""
    for day in reversed(days):
        solved, count = exercises.rungs_solved(day)
        if solved < count and (solved or day in done):
            console.say(f"{solved} of {count} rungs of day {day.label} solved")
            _command(f"./days check {exercises.open_rung(day).words}", "write the next rung")
            return
