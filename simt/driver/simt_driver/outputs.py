# SPDX-License-Identifier: MIT
"""Files that a command writes where the learner says: whole or not at all, and never over what the command reads."""
from __future__ import annotations

import contextlib
import itertools
import json
import os
import stat
from pathlib import Path

from simt_driver import caller, console
from simt_driver.errors import CommandError

_numbers = itertools.count()  # of the files that are not whole yet


def same_file(one, other):
    """Do two names stand for one file? Links to it count; a file that is not there yet is known by its place."""
    try:
        return os.path.samefile(one, other)
    except OSError:
        return os.path.realpath(one) == os.path.realpath(other)


def is_ordinary(path):
    """A plain file, or nothing yet: what is written may take its place. Devices, pipes and sockets are written into."""
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except FileNotFoundError:
        return True


def refuse_inputs(outputs, inputs, hint):
    """CommandError where an output would destroy an input or another output. outputs: (what asked for it, path) pairs."""
    outputs = [(flag, path) for flag, path in outputs if is_ordinary(path)]
    for flag, path in outputs:
        taken = next((name for name in inputs if same_file(path, name)), None)
        if taken is not None:
            link = "" if os.path.normpath(taken) == os.path.normpath(path) else f", which is {taken},"
            raise CommandError(f"{flag} {path}{link} would be written over a file that is read", hint)
    for (flag, path), (other_flag, other) in itertools.combinations(outputs, 2):
        if same_file(path, other):
            raise CommandError(f"{flag} {path} and {other_flag} {other} are one file: one of them would be lost", hint)


def put(target, data, executable=False):
    """Makes `data` (bytes or text) the contents of the file `target`. An ordinary file is replaced in one move, so that it is
    never half written and a program that runs goes on; a symbolic link stays one, and what it points to is replaced; a
    device or a pipe is written into. CommandError for a folder, or where there is no folder; OSError names the target."""
    target = Path(target)
    if target.is_dir():
        raise CommandError(f"{target} is a folder", caller.HELP)
    if isinstance(data, str):
        data = data.encode("utf-8", "surrogateescape")
    place = os.path.realpath(target)
    try:
        if not is_ordinary(target) or (target.exists() and not same_file(place, target)):
            _write(os.open(target, os.O_WRONLY), data)
            return
        _replace(place, data, executable)
    except FileNotFoundError as error:
        if os.path.isdir(os.path.dirname(place)):  # /proc: a folder in which nobody makes a file
            raise CommandError(f"no file can be made in {target.parent}", caller.HELP) from error
        raise CommandError(f"no folder {target.parent}", f"mkdir -p {os.path.relpath(target.parent)}") from error
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(target)) from error


def check_json(target, command):
    """CommandError where --json would replace what is no JSON: said before anything is built. None and "-" are no files."""
    if target in (None, "-") or not os.path.isfile(target):
        return
    try:
        if os.path.getsize(target):
            json.loads(Path(target).read_bytes())
    except (ValueError, RecursionError) as error:
        raise CommandError(f"--json {target} would be written over a file that is no JSON", f"{caller.COMMAND} {command} --help") from error


def put_json(target, data):
    """Writes data as JSON to the file `target`, or to standard output where it is "-"."""
    text = json.dumps(data, indent=1) + "\n"
    if target == "-":
        console.write(text)
    else:
        put(target, text)


def create(target, data):
    """Makes the file `target` with these bytes, whole or not at all. False: there is one already, and it stays."""
    target = Path(target)
    try:
        part, descriptor = _part(target.parent, 0o666)
        try:
            _write(descriptor, data)
            try:
                os.link(part, target)  # unlike a move, never over a file that an editor has just written
            except FileExistsError:
                return False
            except OSError:  # a file system without hard links
                if os.path.lexists(target):
                    return False
                os.replace(part, target)
            return True
        finally:
            Path(part).unlink(missing_ok=True)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(target)) from error


def _write(descriptor, data):
    with open(descriptor, "wb", buffering=0) as file:
        view = memoryview(data)
        while view:
            view = view[file.write(view):]


def _part(folder, mode):
    """(path, descriptor) of a new file there: nobody else's, nor another thread's."""
    while True:
        path = os.path.join(folder, f".simt-{os.getpid()}-{next(_numbers)}.part")
        with contextlib.suppress(FileExistsError):  # left by a process of this number that was killed
            return path, os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)


def _replace(place, data, executable):
    part, descriptor = _part(os.path.dirname(place), 0o777 if executable else 0o666)
    try:
        _write(descriptor, data)
        if not executable and os.path.exists(place):
            os.chmod(part, stat.S_IMODE(os.stat(place).st_mode))  # what was private stays so
        os.replace(part, place)
    except BaseException:
        Path(part).unlink(missing_ok=True)
        raise
