# SPDX-License-Identifier: MIT
"""What a day's ladder.json says of its ladders, which its own program wrote there (tools/ladder_json.py); and which file holds each
rung's launcher."""
from __future__ import annotations

import functools
import hashlib
import json
import re
from dataclasses import dataclass

from days_cli.errors import WRONG, DaysError

_SOURCE = re.compile(r'\A\{\n  "source": "(\w+)",\n')
_TOKEN = re.compile(r'("(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\')|(?://[^\n]*|/\*.*?\*/|\s)+', re.DOTALL)


@dataclass(frozen=True)
class Variant:
    """A rung: a launcher, by the name that it has first. also: its names in other ladders, which put a prefix before it."""
    ladder: str
    name: str
    launcher: str
    types: tuple
    also: tuple = ()


def plain(text):
    """A text of C++ without comments, and one space where there was white space."""
    return _TOKEN.sub(lambda match: match[1] or " ", text).strip()


# ---- the file ----

def file(day):
    return day.folder / "ladder.json"


def source(day):
    """What the day's ladder.cpp is, as a number: its text without comments."""
    return number((day.folder / "ladder.cpp").read_text(encoding="utf-8"))


def number(text):
    return hashlib.sha256(plain(text).encode()).hexdigest()[:12]


def source_of(day):
    """The number that the file was written with; "" without one."""
    found = _SOURCE.match(file(day).read_text(encoding="utf-8"))
    return found[1] if found else ""


def with_source(text, of):
    """A program's text as the file has it, with the number of what it is of."""
    return text.replace("{\n", f'{{\n  "source": "{of}",\n', 1)


def parse(text):
    """The ladders of a ladder.json's text, as dicts."""
    return json.loads(text)["ladders"]


@functools.lru_cache(maxsize=None)
def _parsed(path, _stamp):
    try:
        return parse(path.read_text(encoding="utf-8"))
    except (ValueError, KeyError, TypeError) as error:
        raise DaysError(f"{path.parent.name}/ladder.json cannot be read: {error}", f"tools/ladder_json.py {path.parent.name[3:5]}",
                        WRONG) from error


def of(day):
    """The day's ladders, in the order of their tables. [] of a day without a ladder.cpp."""
    path = file(day)
    try:
        return _parsed(path, path.stat().st_mtime_ns)
    except FileNotFoundError:
        if not (day.folder / "ladder.cpp").is_file():
            return []
        raise DaysError(f"{day.target} has no ladder.json, in which its program says what its ladders are",
                        f"tools/ladder_json.py {day.number}", WRONG) from None


# ---- what it says ----

def rungs_of(ladders):
    """The Variants of ladders as parse() gives them, in their order."""
    first = {}
    for ladder in ladders:
        for row in ladder["rows"]:
            if row["kind"] == "variant":
                first.setdefault(row["launcher"], []).append((ladder["name"], row["name"], tuple(row["types"])))
    return [Variant(*rows[0][:2], launcher, rows[0][2], tuple(name for _, name, _ in rows[1:])) for launcher, rows in first.items()]


def variants(day):
    return rungs_of(of(day))


def names(day):
    """Of all rows that are kernels of ours, but the exercise's."""
    return [row["name"] for ladder in of(day) for row in ladder["rows"] if row["kind"] == "variant"]


def files(day):
    """{rung: its file}, in the order of the files and, within one, of its launchers."""
    return day.kind.reader.files(day)


def exercise(day):
    """(goal, starting rung, solution) as the ladder names them; None where it has no exercise."""
    return day.kind.reader.exercise(day)
