# SPDX-License-Identifier: MIT
"""days next: where to go on."""
from __future__ import annotations

from days_cli import arguments, catalog, console, exercises, following
from days_cli.errors import DaysError

USAGE = "[--track NAME]"
SUMMARY = "where to go on"
HELP = """./days next               where to go on: on the spine, or in the track of the
                          day that you solved last
./days next --track NAME  the next day of this track, or of the spine

The spine leads through the whole course; a side day hangs on one of its days.
./days list shows both."""

_SIDE_DAYS = 8  # shown at most; `list` has all


def run(args):
    given = arguments.parse("next", args, {"--track": None})
    if given.get("--help"):
        console.say(HELP)
        return 0
    way = following.named(given.get("--track")) if given.get("--track") is not None else None
    going = following.going(way)
    if not going.days:
        raise DaysError(f"{going.way}: none of its days is written yet", "./days list")
    if going.rung and going.rung_first:
        _rung(going, "Next: rung")
    _day(going)
    if going.rung and not going.rung_first:
        _rung(going, "Or a rung of the last day,")
    if going.way == catalog.SPINE:
        _side_days()
    else:
        spine = following.going(catalog.SPINE)
        if spine.day:
            console.say(f"The spine goes on with day {spine.day.label}: " + console.paint("./days next --track spine", "cyan"))
    return 0


def _day(going):
    count = f"{going.way}: {len(going.solved)} of {len(going.days)} days solved."
    if not going.day:
        console.say(f"{going.way}: all {len(going.days)} days that are here are solved.")
        return
    day = going.day
    word = "Then" if going.rung and going.rung_first else "Go on with" if exercises.my_file(day).exists() else "Next:"
    for line in console.wrap(f"{count} {word} day {day.label}"):
        console.say(line)
    front = day.front_matter()
    about = str(front.get("title", "")) + (f" ({front['minutes']} min)" if front.get("minutes") else "")
    for line in console.wrap(about, "  ", "  ") if about else ():
        console.say(line)
    for command, what in ((f"./days run {day.number}", "see the rungs" if day.kind.has_rungs else "see it run"),
                          (f"{day.target}/README.md", "the note, in an editor's preview"),
                          (f"./days check {day.number}", "write " + exercises.shown(exercises.my_file(day)))):
        _command(command, what)


def _command(command, what):
    console.say(f"  {console.paint(command, 'cyan')}{' ' * max(2, 34 - len(command))}{what}")


def _rung(going, how):
    solved, count = exercises.rungs_solved(going.rung.day)
    for line in console.wrap(f"{how} {going.rung.name} of day {going.rung.day.label}, of whose {count} rungs {solved} "
                             f"{'is' if solved == 1 else 'are'} solved"):
        console.say(line)
    _command(f"./days check {going.rung.words}", "write " + exercises.shown(exercises.my_file(going.rung)))


def _side_days():
    """Those that hang on solved days of the spine, those of the last one first."""
    side = [day for days in following.side_days().values() for day in days]
    if side:
        more = f" and {len(side) - _SIDE_DAYS} more" if len(side) > _SIDE_DAYS else ""
        for line in console.wrap("Open side days: " + ", ".join(f"{day.number:02d}" for day in side[:_SIDE_DAYS]) + more + ", "
                                 "see ./days list"):
            console.say(line)
