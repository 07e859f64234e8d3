# SPDX-License-Identifier: MIT
"""Every rung is an exercise: which rung it starts from, and the learner's file, which is that rung's kernel under this rung's
name. What it must reach is in rung_gates.py.

A rung starts from the one that its file's header names ("Changed since padded: ..."), else from the row before it in its ladder;
and from none that lacks an element type of its own."""
from __future__ import annotations

import difflib
import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from days_cli.errors import DaysError


@dataclass(frozen=True)
class Rung:
    day: object
    ladder: str
    name: str
    launcher: str
    types: tuple
    file: Path
    before: Optional["Rung"]  # None: the first of its ladder

    @property
    def words(self):
        """As a learner types it after a command."""
        return f"{self.day.number} {self.name}"

    @property
    def flags(self):
        """Of a program that is to run it and the one before: the type, where it takes halves and not the fp32 that is shown."""
        return ["--type", "fp16"] if "fp16" in self.types and "fp32" not in self.types else []


def of_day(day):
    """{name: Rung}, in the order of their tables; the ladder whose files come first, which the note tells first, before the others."""
    return day.kind.reader.rungs(day)


def resolve(day, word, command):
    """The rung that a learner means, which has one before it; DaysError where there is none."""
    if not day.kind.has_rungs:
        raise DaysError(f"day {day.label} is {day.kind.title} and has no rungs", f"./days {command} {day.number}")
    rungs = of_day(day)
    name = _named(rungs, word)
    if not name:
        near = difflib.get_close_matches(word, rungs, 1, 0.5)
        of_ladders = {}
        for rung in rungs.values():
            of_ladders.setdefault(rung.ladder, []).append(rung.name)
        listed = "; ".join(f"{ladder}: {', '.join(names)}" for ladder, names in of_ladders.items())
        first = next((rung.name for rung in rungs.values() if rung.before), "")
        raise DaysError(f'day {day.label} has no rung "{word}". ' + (f"Nearest: {near[0]}. " if near else "") +
                        f"Its rungs, {listed}", f"./days {command} {day.number} {near[0] if near else first}".rstrip())
    rung = rungs[name]
    if rung.before is None:
        after = next((other.name for other in rungs.values() if other.before is rung), "")
        raise DaysError(f"{name} is the first rung of {rung.ladder}: there is none before it to start from. Read "
                        f"{rung.file.name}; the step after it is {after}" if after else
                        f"{name} is the only rung of {rung.ladder}: there is none to start from",
                        f"./days {command} {day.number} {after}".rstrip())
    return rung


def _named(rungs, word):
    key = word.strip().lower().replace("-", "_")
    if key in rungs:
        return key
    known = next((name for name in rungs if key.endswith("_" + name)), None)  # causal_tiled is tiled's kernel
    begins = [name for name in rungs if key and name.startswith(key)]
    return known or (begins[0] if len(begins) == 1 else None)


# ---- the file to start from ----

def start_text(rung):
    """The kernel file of the rung before, whose launcher now has this rung's name."""
    return rung.day.kind.reader.start_text(rung)


def version(rung_or_day):
    """What a learner's file was made for, as a number: the file that it begins as and what it builds on, without comments."""
    day = getattr(rung_or_day, "day", rung_or_day)
    own = start_text(rung_or_day) if isinstance(rung_or_day, Rung) else (day.folder / ("exercise" + day.kind.suffix)).read_text(encoding="utf-8")
    return hashlib.sha256(day.kind.reader.own_text(day, own).encode()).hexdigest()[:12]
