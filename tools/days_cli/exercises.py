# SPDX-License-Identifier: MIT
"""The learner's files and progress: my/dayNN.cu, my/old/, my/progress.json, and the hints of a note."""
from __future__ import annotations

import contextlib
import datetime
import fcntl
import json
import os
import re

from days_cli import catalog, console, outputs, paths
from days_cli.errors import ENVIRONMENT, DaysError

_PROGRESS = "progress.json"


def resolve(word, command):
    """The day that is meant; it must have an exercise."""
    day = catalog.resolve(word, command)
    if not skeleton(day).is_file():
        with_one = [other.number for other in catalog.here() if skeleton(other).is_file()]
        raise DaysError(f"day {day.label} has no exercise; these have: {', '.join(map(str, with_one)) or 'none'}",
                        f"./days {command} {with_one[0]}" if with_one else "./days list")
    return day


def my_file(day):
    return paths.MY / f"day{day.number:02d}{skeleton(day).suffix}"


def skeleton(day):
    """The exercise as it is shipped; a day need not have one."""
    return day.folder / ("exercise.py" if day.kind == "python" else "exercise.cu")


def start(day):
    """my/dayNN.cu, copied from the skeleton where there is none. True: it is new."""
    mine = my_file(day)
    if mine.is_dir():
        raise DaysError(f"{shown(mine)} is a folder, and your kernel has to stand there", f"mv {shown(mine)} {shown(mine)}.old",
                        ENVIRONMENT)
    if mine.exists():
        return False
    _make_folder()
    if mine.is_symlink():
        raise DaysError(f"{shown(mine)} leads to {os.readlink(mine)}, which is not there", f"ls -l {shown(mine)}", ENVIRONMENT)
    return outputs.create(mine, skeleton(day).read_bytes())


def restart(day):
    """The skeleton as my/dayNN.cu; what was there is moved to my/old: its path there, or None."""
    mine = my_file(day)
    kept = _put_away(mine) if mine.exists() else None
    try:
        start(day)
    except BaseException:
        if kept:
            os.rename(kept, mine)
        raise
    return kept


def _put_away(mine):
    old = paths.MY / "old"
    old.mkdir(exist_ok=True)
    stamp = datetime.datetime.now().strftime("%Y%m%d-%H%M%S")
    with _lock():
        target = _free(old / f"{mine.stem}-{stamp}{mine.suffix}")
        os.rename(mine, target)
    return target


def _free(path):
    """The path, with a number where there is something already."""
    count, free = 1, path
    while os.path.lexists(free):
        count += 1
        free = path.with_name(f"{path.stem}-{count}{path.suffix}")
    return free


def _make_folder():
    """my/, where it can be made or is: it may be a link to a drive that is not there now."""
    mine = shown(paths.MY)
    try:
        paths.MY.mkdir(exist_ok=True)
    except FileNotFoundError as error:
        raise DaysError(f"no folder {shown(paths.MY.parent)}, where {mine} has to stand",
                        f"mkdir -p {shown(paths.MY.parent)}", ENVIRONMENT) from error
    except FileExistsError as error:
        if paths.MY.is_symlink():
            raise DaysError(f"{mine} leads to {os.readlink(paths.MY)}, which is not there. Is it on a drive that is not mounted?",
                            f"ls -l {mine}", ENVIRONMENT) from error
        raise DaysError(f"{mine} is a file, and the folder of your kernels has to stand there", f"mv {mine} {mine}.old",
                        ENVIRONMENT) from error


@contextlib.contextmanager
def _lock():
    """Keeps other commands from changing my/ until this has ended. It leaves no file there."""
    folder = os.open(paths.MY, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # some network file systems have no locks
            fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def shown(path):
    """As the learner types it."""
    return os.path.relpath(path, paths.ROOT) if str(path).startswith(str(paths.ROOT)) else str(path)


# ---- progress ----

_FACTS = {"solved": str, "hints": int, "solution": bool, "last": str}


def _read():
    """({a day's number: its facts}, what is wrong with the file or ""). OSError where it cannot be read."""
    try:
        found = json.loads((paths.MY / _PROGRESS).read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return {}, ""
    except (ValueError, RecursionError):
        return {}, "is no JSON"
    if not isinstance(found, dict):
        return {}, "has no days in it"
    days = {number: {name: value for name, value in facts.items() if type(value) is _FACTS.get(name, type(value))}
            for number, facts in found.items() if isinstance(facts, dict)}
    return days, "" if days == found else "has facts in it that are none"


def _write(days):
    outputs.put(paths.MY / _PROGRESS, json.dumps(days, indent=1, sort_keys=True) + "\n")


def _sound():
    """{a day's number: its facts}, in a _lock(). A file that is damaged is set aside, and what of it makes sense stays."""
    days, damage = _read()
    if damage:
        path = paths.MY / _PROGRESS
        aside = _free(path.with_name(_PROGRESS + ".bad"))
        os.rename(path, aside)
        _write(days)
        console.note(f"note: {shown(path)} {damage}; it is kept as {shown(aside)}")
    return days


def _load():
    try:
        days, damage = _read()
        if damage:
            with _lock():
                days = _sound()
        return days
    except OSError as error:
        console.note(f"warning: {shown(paths.MY / _PROGRESS)}: {error.strerror}; what you have solved is not known")
        return {}


def progress(day):
    """{"solved": date or absent, "hints": seen, "solution": True once seen, "last": the last check's verdict}"""
    return _load().get(f"{day.number:02d}", {})


def remember(day, **facts):
    """Adds to the day's progress. Where that cannot be saved, a line says so: it is not what the command was asked for. The
    first date of "solved" stays."""
    try:
        _make_folder()
        with _lock():
            days = _sound()
            known = days.setdefault(f"{day.number:02d}", {})
            known.update({name: value for name, value in facts.items() if name != "solved" or name not in known})
            _write(days)
    except (OSError, DaysError) as error:
        why = error.message if isinstance(error, DaysError) else f"{shown(paths.MY / _PROGRESS)}: {error.strerror}"
        console.note(f"warning: your progress could not be saved: {why}")


def solved_of(days):
    """Those of the days whose exercise is solved."""
    known = _load()
    return [day for day in days if "solved" in known.get(f"{day.number:02d}", {})]


# ---- hints ----

def hints(day):
    """The texts of the note's <details><summary>Hint N</summary> blocks."""
    note = (day.folder / "README.md").read_text(encoding="utf-8")
    found = re.findall(r"<details>\s*<summary>Hint (\d)[^<]*</summary>\n(.*?)</details>", note, re.DOTALL)
    return [text.strip("\n") for _, text in sorted(found)]
