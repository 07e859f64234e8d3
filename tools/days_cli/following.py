# SPDX-License-Identifier: MIT
"""Where a learner goes on: what `next` says, the last line of `check`, and the mark in `list`. A way is the spine or one of the tracks; it is
that of the day that was solved last, and at first the spine."""
from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Optional

from days_cli import catalog, exercises, kinds, rungs
from days_cli.errors import DaysError


@dataclass(frozen=True)
class Going:
    way: str  # "Spine", or a track's name
    days: tuple  # the way's days that are here and have an exercise
    solved: tuple  # those of them that are
    day: Optional[object]  # to go on with; None where all of the way is solved
    rung: Optional[object]  # of the day that was begun last, where one of its rungs is open
    rung_first: bool  # the rung goes before the day: a rung was solved last

    @property
    def command(self):
        if self.rung and self.rung_first:
            return f"./days check {self.rung.words}"
        return f"./days run {self.day.number}" if self.day else f"./days check {self.rung.words}" if self.rung else "./days next"

    @property
    def marked(self):
        """The day that is next in a list of days."""
        return self.rung.day if self.rung and self.rung_first else self.day or (self.rung and self.rung.day)


def ways():
    """[(name, days)]: the spine, then the tracks."""
    return [(catalog.SPINE, catalog.spine()), *catalog.tracks()]


def checkable(days):
    """Those that are here and have an exercise that can be checked."""
    return tuple(day for day in days if day.folder and exercises.skeleton(day).is_file() and not kinds.refusal(day, "check"))


def way_of(day):
    return catalog.SPINE if day in catalog.spine() else day.track or catalog.tracks()[-1][0]


def named(word):
    """The way that a learner means by a part of its name; DaysError where there is none."""
    names = [name for name, _ in ways()]
    key = word.strip().lower()
    found = [name for name in names if name.lower() == key] or [name for name in names if key and name.lower().startswith(key)]
    found = found or [name for name in names if len(key) > 2 and key in name.lower()]
    if len(found) == 1:
        return found[0]
    near = difflib.get_close_matches(key, [name.lower() for name in names], 1, 0.5)
    hint = next((name for name in names if name.lower() == (near or [""])[0]), catalog.SPINE)
    raise DaysError(f'no track "{word}". There are {", ".join(names)}', f"./days next --track {hint.split()[0].lower()}")


def going(way=None, just_solved=None):
    """The Going of a way, or of the one that the learner is on. just_solved: the day or rung that check has passed a moment ago."""
    last = just_solved or exercises.last_solved()
    last_day = exercises.day_of(last) if last else None
    chosen = way or (way_of(last_day) if last_day else catalog.SPINE)
    found = _on(chosen, last)
    if not found.day and not way and chosen != catalog.SPINE:  # the track is through: back to the spine
        found = _on(catalog.SPINE, last)
    return found


def _on(way, last):
    days = checkable(dict(ways())[way])
    solved = tuple(day for day in days if day is last or exercises.solved_at(day))
    last_day = exercises.day_of(last) if last else None
    at = days.index(last_day) + 1 if last_day in days else 0
    following = next((day for day in days[at:] + days[:at] if day not in solved), None)
    rung = None
    if last_day and way == way_of(last_day):
        rung = exercises.open_rung(last_day, last if isinstance(last, rungs.Rung) else exercises.as_rung(last_day) or None)
    return Going(way, days, solved, following, rung, isinstance(last, rungs.Rung))


def side_days():
    """{spine day: its open side days} for the spine days that are solved, the last one first."""
    found = {}
    done = set(exercises.solved_of(catalog.here()))
    for day in reversed(catalog.spine()):
        if day in done:
            open_ = [side for side in checkable(catalog.all_days()) if catalog.hangs_on(side) == day and side not in done]
            if open_:
                found[day] = open_
    return found
