# SPDX-License-Identifier: MIT
"""The learner's files and progress: my/dayNN.cu, my/old/, my/progress.json, and the hints of a note."""
from __future__ import annotations

import datetime
import json
import os
import re
import shutil

from days_cli import catalog, paths
from days_cli.errors import ENVIRONMENT, DaysError

_PROGRESS = "progress.json"


def resolve(word, command):
    """The day that is meant; it must have an exercise."""
    day = catalog.resolve(word, command)
    if not (day.folder / "exercise.cu").is_file():
        with_one = [other.number for other in catalog.here() if (other.folder / "exercise.cu").is_file()]
        raise DaysError(f"day {day.label} has no exercise; these have: {', '.join(map(str, with_one)) or 'none'}",
                        f"./days {command} {with_one[0]}" if with_one else "./days list")
    return day


def my_file(day):
    return paths.MY / f"day{day.number:02d}.cu"


def skeleton(day):
    return day.folder / "exercise.cu"


def start(day):
    """my/dayNN.cu, copied from the skeleton where there is none. True: it is new."""
    mine = my_file(day)
    if mine.exists():
        return False
    mine.parent.mkdir(exist_ok=True)
    shutil.copyfile(skeleton(day), mine)
    return True


def put_away(day):
    """Moves my/dayNN.cu to my/old; None where there is none."""
    mine = my_file(day)
    if not mine.exists():
        return None
    old = paths.MY / "old"
    old.mkdir(exist_ok=True)
    stamp = datetime.datetime.now().strftime("%Y%m%d-%H%M%S")
    target = old / f"day{day.number:02d}-{stamp}.cu"
    count = 1
    while target.exists():
        count += 1
        target = old / f"day{day.number:02d}-{stamp}-{count}.cu"
    mine.rename(target)
    return target


def shown(path):
    """As the learner types it."""
    return os.path.relpath(path, paths.ROOT) if str(path).startswith(str(paths.ROOT)) else str(path)


# ---- progress ----

def _load():
    path = paths.MY / _PROGRESS
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise DaysError(f"{shown(path)} cannot be read: {error}", f"mv {shown(path)} {shown(path)}.bad",
                        ENVIRONMENT) from error


def progress(day):
    """{"solved": date or absent, "hints": seen, "solution": True once seen, "last": the last check's verdict}"""
    return _load().get(f"{day.number:02d}", {})


def remember(day, **facts):
    everything = _load()
    everything.setdefault(f"{day.number:02d}", {}).update(facts)
    paths.MY.mkdir(exist_ok=True)
    path = paths.MY / _PROGRESS
    partial = path.with_suffix(".part")
    partial.write_text(json.dumps(everything, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    os.replace(partial, path)


def solved(day):
    return "solved" in progress(day)


# ---- hints ----

def hints(day):
    """The texts of the note's <details><summary>Hint N</summary> blocks."""
    note = (day.folder / "README.md").read_text(encoding="utf-8")
    found = re.findall(r"<details>\s*<summary>Hint (\d)[^<]*</summary>\n(.*?)</details>", note, re.DOTALL)
    return [text.strip("\n") for _, text in sorted(found)]
