# SPDX-License-Identifier: MIT
"""How a command ends: what it raises becomes one error, its next command and an exit code; no traceback reaches the terminal."""
from __future__ import annotations

import errno
import os
import shlex
import signal
import sys
import traceback
from pathlib import Path

from simt_driver import caller, console, processes
from simt_driver.errors import ENVIRONMENT, INTERRUPTED, CommandError

# What an unexpected OSError says of the machine or of a file's place; with others we are at fault.
_OF_THE_MACHINE = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG, errno.ENOTDIR,
                   errno.EISDIR, errno.ELOOP, errno.ENAMETOOLONG, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN,
                   errno.ENXIO, errno.ESTALE, errno.ENOTCONN, errno.EEXIST)


def _open_streams():
    """Where the caller closed one of the standard streams, what is written to it fails as it must: without this Python's
    print() says nothing, and the next file that is opened would take the stream's place."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            descriptor = os.open(os.devnull, os.O_WRONLY if number == 2 else os.O_RDONLY)
            if descriptor != number:
                os.dup2(descriptor, number)
                os.close(descriptor)
            os.set_inheritable(number, True)
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))
    for stream in (sys.stdout, sys.stderr):  # names need not be UTF-8, nor the terminal
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _ended(error):
    """Tells what ended the command; its exit code."""
    console.print_error(error)
    return error.code


def _of_system(error):
    """The CommandError for an OSError that nobody expected where it came up."""
    try:
        os.getcwd()
    except OSError:
        return CommandError("the folder that you are in does not exist any more, or may not be read", "cd", ENVIRONMENT)
    if error.errno in _OF_THE_MACHINE:
        name = os.fsdecode(error.filename) if isinstance(error.filename, (str, bytes)) else error.filename or "writing"
        return CommandError(f"{name}: {error.strerror}", caller.DOCTOR, ENVIRONMENT)
    return None


def _fault(error, args):
    """The CommandError for a fault of our own: one line, and the trace where it can be read."""
    trace = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    command = " ".join([caller.COMMAND, *map(shlex.quote, args)])
    what = " ".join(f"{type(error).__name__} {error}".split())[:200]
    try:
        place = Path(caller.crash_file())
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"{command}\nPython {sys.version}\n\n{trace}", encoding="utf-8", errors="backslashreplace")
        where = f"the whole trace is in {os.path.relpath(place, caller.folder())}"
    except OSError:
        last = traceback.extract_tb(error.__traceback__)[-1]
        where = f"it came up at {os.path.basename(last.filename)}:{last.lineno}"
    name = caller.COMMAND.replace("./", "", 1)
    return CommandError(f"{name} itself is at fault here ({what}). Please report it with the command; {where}", command, ENVIRONMENT)


def run(work, args):
    """What work() returns is the exit code; args: what the user typed, to be told where it ends in a fault of our own."""
    if hasattr(signal, "SIGPIPE"):
        # `simtcc --help | head -1` ends quietly, and what we start does not inherit Python's ignored signal.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    processes.end_on_signals()
    _open_streams()
    try:
        code = work()
        console.flush()
        return code
    except CommandError as error:
        return _ended(error)
    except KeyboardInterrupt:
        console.clear_progress()
        console.tell("interrupted")
        return INTERRUPTED
    except OSError as error:
        return _ended(_of_system(error) or _fault(error, args))
    except Exception as error:  # pylint: disable=broad-except  # no command ends in a traceback
        return _ended(_fault(error, args))
