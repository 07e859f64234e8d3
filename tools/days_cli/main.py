# SPDX-License-Identifier: MIT
"""`./days COMMAND ...`: finds the subcommand's module, runs it, turns what it raises into UX's errors and exit codes."""
from __future__ import annotations

import difflib
import errno
import importlib
import os
import shlex
import signal
import sys
import traceback

from days_cli import COMMANDS, arguments, console, paths, processes
from days_cli.errors import ENVIRONMENT, INTERRUPTED, DaysError

# What an unexpected OSError says of the machine or of a file's place; with others the course is at fault.
_OF_THE_MACHINE = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG, errno.ENOTDIR,
                   errno.EISDIR, errno.ELOOP, errno.ENAMETOOLONG, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN,
                   errno.ENXIO, errno.ESTALE, errno.ENOTCONN, errno.EEXIST)

_FOOT = """
A day is named 14, day14, softmax, or by any unique prefix.
Every command takes --help and --color auto|always|never.
Exit codes: 0 good, 1 a kernel or its code is wrong, 2 no such day, flag
or size, 3 this machine lacks something (./days doctor)."""


def module_of(command):
    return importlib.import_module("days_cli.commands." + command)


def _help():
    console.say("GPU programming, one day at a time.\n")
    for command in COMMANDS:
        module = module_of(command)
        usage = f"./days {command} {module.USAGE}".rstrip()
        console.say(f"  {console.paint(usage, 'cyan')}{' ' * max(1, 29 - len(usage))}{module.SUMMARY}")
    console.say(_FOOT)
    return 0


def _dispatch(args):
    if args and args[0].partition("=")[0] == "--color":  # before the command it works as well
        size = 1 if "=" in args[0] else 2
        arguments.parse("", args[:size])
        args = args[size:]
    if not args:
        return module_of("list").overview()
    command, rest = args[0], args[1:]
    if command in ("--help", "-h", "help"):
        return _help()
    if command not in COMMANDS:
        what = "flag" if command.startswith("-") else "command"
        near = difflib.get_close_matches(command, COMMANDS, 1)
        raise DaysError(f'no {what} "{command}". ' + (f"Nearest: {near[0]}. " if near else "") + "There are "
                        + ", ".join(COMMANDS), f"./days {near[0]} --help" if near else "./days --help")
    return module_of(command).run(rest)


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
    """The DaysError for an OSError that nobody expected where it came up."""
    try:
        os.getcwd()
    except OSError:
        return DaysError("the folder that you are in does not exist any more, or may not be read", "cd", ENVIRONMENT)
    if error.errno in _OF_THE_MACHINE:
        name = os.fsdecode(error.filename) if isinstance(error.filename, (str, bytes)) else error.filename or "writing"
        return DaysError(f"{name}: {error.strerror}", "./days doctor", ENVIRONMENT)
    return None


def _fault(error, args):
    """The DaysError for a fault of our own: one line, and the trace where it can be read."""
    trace = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    command = " ".join(["./days", *map(shlex.quote, args)])
    what = " ".join(f"{type(error).__name__} {error}".split())[:200]
    try:
        paths.BUILD.mkdir(parents=True, exist_ok=True)
        place = paths.BUILD / "crash.txt"
        place.write_text(f"{command}\nPython {sys.version}\n\n{trace}", encoding="utf-8", errors="backslashreplace")
        where = f"the whole trace is in {os.path.relpath(place, paths.ROOT)}"
    except OSError:
        last = traceback.extract_tb(error.__traceback__)[-1]
        where = f"it came up at {os.path.basename(last.filename)}:{last.lineno}"
    return DaysError(f"days itself is at fault here ({what}). Please report it with the command; {where}", command, ENVIRONMENT)


def main(args):
    if hasattr(signal, "SIGPIPE"):
        # `./days list | head -1` ends quietly, and what we start does not inherit Python's ignored signal.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    processes.end_on_signals()
    _open_streams()
    try:
        code = _dispatch(list(args))
        console.flush()
        return code
    except DaysError as error:
        return _ended(error)
    except KeyboardInterrupt:
        console.clear_progress()
        console.tell("interrupted")
        return INTERRUPTED
    except OSError as error:
        return _ended(_of_system(error) or _fault(error, args))
    except Exception as error:  # pylint: disable=broad-except  # no command ends in a traceback
        return _ended(_fault(error, args))
