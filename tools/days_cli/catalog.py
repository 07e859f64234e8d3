# SPDX-License-Identifier: MIT
"""The days: planned (tracks.json: the spine, and all days by tracks, in teaching order) and here (folders dayNN_name), and what a
learner may call one."""
from __future__ import annotations

import difflib
import functools
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from days_cli import kinds, paths
from days_cli.errors import USAGE, DaysError

SPINE = "Spine"
_FOLDER = re.compile(r"day(\d\d)_([a-z0-9_]+)")


@dataclass(frozen=True)
class Day:
    number: int
    name: str
    track: str  # "" where the plan does not know the day
    folder: Optional[Path]  # None while it is only planned

    @property
    def label(self):
        return f"{self.number:02d} {self.name}"

    @property
    def target(self):
        """Folder's and executable's name."""
        return f"day{self.number:02d}_{self.name}"

    def front_matter(self):
        """title, kind, builds_on, uses, minutes, as the note says them; {} without a note."""
        try:
            text = (self.folder / "README.md").read_text(encoding="utf-8")
        except OSError:
            return {}
        return parse_front_matter(text)

    @property
    def kind(self):
        """The Kind that the note names; DaysError where there is none of that name."""
        return kinds.parse(self, self.front_matter().get("kind", kinds.DEFAULT))


def parse_front_matter(text):
    """`key: value` lines between two --- lines; lists as [a, b]; whole numbers as int. No other YAML."""
    match = re.match(r"---\r?\n(.*?)\r?\n---\s*(\n|$)", text, re.DOTALL)
    result = {}
    for line in match.group(1).splitlines() if match else []:
        key, colon, value = line.partition(":")
        if not colon or line.startswith((" ", "#")):
            continue
        value = value.strip()
        if value.startswith("[") and value.endswith("]"):
            result[key.strip()] = [_scalar(item) for item in value[1:-1].split(",") if item.strip()]
        else:
            result[key.strip()] = _scalar(value)
    return result


def _scalar(text):
    text = text.strip().strip("\"'")
    return int(text) if re.fullmatch(r"[1-9]\d*|0", text) else text


def _plan():
    return json.loads(paths.TRACKS.read_text(encoding="utf-8"))


@functools.lru_cache(maxsize=None)
def tracks():
    """((track, (Day, ...)), ...) in teaching order; folders that the plan does not know come last, as "More days"."""
    folders = {}
    for folder in sorted(paths.ROOT.glob("day[0-9][0-9]_*")):
        match = _FOLDER.fullmatch(folder.name)
        if match and folder.is_dir():
            folders[int(match.group(1)), match.group(2)] = folder
    result = []
    for track in _plan()["tracks"]:
        names = ((int(entry[:2]), entry[3:]) for entry in track["days"])
        result.append((track["name"], tuple(Day(number, name, track["name"], folders.pop((number, name), None))
                                            for number, name in names)))
    if folders:
        result.append(("More days", tuple(Day(number, name, "", folder)
                                          for (number, name), folder in sorted(folders.items()))))
    return tuple(result)


def all_days():
    """Every day, planned or here, track by track."""
    return [day for _, days in tracks() for day in days]


@functools.lru_cache(maxsize=None)
def spine():
    """The days, planned or here, that lead through the whole course: what one builds on stands before it."""
    known = {day.number: day for day in all_days() if day.track}
    return tuple(known[number] for number in _plan()["spine"])


def builds_on(day):
    """The numbers of the days that a note says it builds on."""
    return [int(str(word)[:2]) for word in day.front_matter().get("builds_on", [])] if day.folder else []


@functools.lru_cache(maxsize=None)
def hangs_on(day):
    """The spine day after which a side day can be done: the last of those that it builds on, or that these do. None of a spine day, and
    where the note does not say."""
    order, known = {other.number: place for place, other in enumerate(spine())}, {other.number: other for other in all_days() if other.folder}
    if day.number in order:
        return None
    before, more = set(), set(builds_on(day))
    while more:
        before |= more
        more = {earlier for number in more if number in known for earlier in builds_on(known[number])} - before
    last = max((number for number in before if number in order), key=order.get, default=None)
    return known.get(last)


def here():
    """The days that can be run, by number."""
    return sorted((day for day in all_days() if day.folder), key=lambda day: day.number)


def used_by(day):
    """The days whose kernels this one is linked with, by its note's `uses: [12, 43]`; DaysError where one has none."""
    used = []
    for number in day.front_matter().get("uses", []):
        if number in LIBRARIES:
            continue
        found = next((other for other in here() if other.number == number), None)
        if found is None or not found.kind.links or found.number == day.number:
            raise DaysError(f"{day.target}/README.md uses day {number}: there is no other day of that number with a ladder in C++",
                            "./days list")
        used.append(found)
    return used


# What `uses:` may name beside days: the products and the files of a model, a GPT made of them, and what writes with it.
LIBRARIES = {"model": "model/*.cu", "model_files": "model/*.cpp", "gpt": "gpt/*.c*", "serve": "serve/*.c*"}
LIBRARY_FOLDERS = tuple(sorted({words.partition("/")[0] for words in LIBRARIES.values()}))
READ_JSON = LIBRARIES.keys() - {"model"}


def used_words(day):
    """What the day is linked with of other folders, as an nvcc line names it."""
    named = day.front_matter().get("uses", [])
    return [word for used in used_by(day) for word in kernel_words(used)] + [LIBRARIES[name] for name in LIBRARIES if name in named]


def kernel_words(day):
    """The kernels of a day with a ladder, as an nvcc line names them: its .cu files but exercise.cu."""
    others = sorted(path.name for path in day.folder.glob("*.cu") if not path.name[:1].isdigit() and path.name != "exercise.cu")
    return [f"{day.target}/{name}" for name in ("[0-9]*.cu", *others)]


def resolve(word, command):
    """The day that a learner means by 14, day14, softmax, a folder's name or a unique prefix; DaysError where none, or where
    the command cannot serve a day of its kind."""
    key = word.strip().rstrip("/").lower().replace("-", "_")
    number = re.fullmatch(r"(?:day_?)?(\d{1,9})", key)
    if number:
        return _by_number(int(number.group(1)), word, command)
    key = re.sub(r"^(?:day_?)?\d+_(?=.)", "", key)
    days = all_days()
    matches = [day for day in days if day.name == key]
    if not matches and key:
        # A prefix among the days that are here goes before those that are only planned.
        matches = [day for day in days if day.folder and day.name.startswith(key)]
        matches = matches or [day for day in days if day.name.startswith(key)]
    if len(matches) == 1:
        return _if_here(matches[0], command)
    if matches:
        names = ", ".join(day.label for day in matches[:4]) + (", ..." if len(matches) > 4 else "")
        raise DaysError(f'"{word}" may be {names}', f"./days {command} {matches[0].number}")
    near = difflib.get_close_matches(key, [day.name for day in days if day.folder], 1, 0.6)
    near = near or difflib.get_close_matches(key, [day.name for day in days], 1, 0.6)
    if near:
        day = next(day for day in days if day.name == near[0])
        raise DaysError(f'no day "{word}". Nearest: {day.label}',
                        f"./days {command} {day.number}" if day.folder else "./days list")
    raise DaysError(f'no day "{word}"', "./days list")


def _by_number(number, word, command):
    matches = [day for day in all_days() if day.number == number]
    if matches:
        # A folder may carry a planned number under a name of its own: what is here is what can be run.
        return _if_here(next((day for day in matches if day.folder), matches[0]), command)
    raise DaysError(f'no day "{word}". They have the numbers {min(day.number for day in all_days())} to '
                    f"{max(day.number for day in all_days())}", "./days list")


def _if_here(day, command):
    if day.folder:
        kinds.require(day, command)
        return day
    raise DaysError(f"day {day.label} is planned, not written yet", "./days list", USAGE)
