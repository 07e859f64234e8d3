# SPDX-License-Identifier: MIT
"""What reaches the terminal: colours (on a terminal only), 80 columns, progress, errors."""
from __future__ import annotations

import contextlib
import os
import shutil
import sys
import textwrap

from simt_driver import caller
from simt_driver.errors import ENVIRONMENT, CommandError

WIDTH = 80
_CODES = {"green": "32", "red": "1;31", "yellow": "33", "cyan": "36", "bold": "1"}
_STATUS = {"ok": "green", "FAIL": "red", "skip": "yellow", "warn": "yellow", "miss": "yellow"}
_mode = "auto"


def set_color(mode):
    """mode: auto, always or never (--color)."""
    global _mode
    _mode = mode


def color_mode():
    return _mode


def coloured(stream):
    """Does text for this stream carry colours?"""
    if _mode != "auto":
        return _mode == "always"
    return stream.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def paint(text, colour, stream=None):
    if not text or not coloured(stream or sys.stdout):
        return text
    return f"\033[{_CODES[colour]}m{text}\033[0m"


def status(word, width=0):
    """A coloured ok, FAIL, skip, warn or miss, padded to width."""
    return paint(word, _STATUS[word]) + " " * max(0, width - len(word))


def paint_commands(text, stream=None):
    """Colours the commands in a sentence."""
    return caller.COMMANDS.sub(lambda match: paint(match.group(), "cyan", stream), text)


def wrap(text, indent="", first=None):
    """Lines of at most 80 columns; words (paths, commands) are never broken."""
    return textwrap.wrap(text, WIDTH, initial_indent=indent if first is None else first, subsequent_indent=indent,
                         break_long_words=False, break_on_hyphens=False)


def say(text=""):
    write(text + "\n")


def write(text):
    """To standard output; CommandError where it takes no more, because a result that nobody can read is none."""
    with _output():
        sys.stdout.write(text)
        sys.stdout.flush()


def flush():
    with _output():
        sys.stdout.flush()


@contextlib.contextmanager
def _output():
    try:
        yield
    except OSError as error:
        with contextlib.suppress(OSError, ValueError):  # Python would try again at its end, and say so in its own words
            descriptor = os.open(os.devnull, os.O_WRONLY)
            os.dup2(descriptor, sys.stdout.fileno())
            os.close(descriptor)
        raise CommandError(f"standard output: {error.strerror}; what it did not take is lost", code=ENVIRONMENT) from error


def note(text):
    """A remark beside the result: on stderr, so that a pipe gets the result alone."""
    clear_progress()
    for line in wrap(text):
        tell(paint_commands(line, sys.stderr))


def tell(text, end="\n"):
    """To standard error; where that is full or closed nobody is there to be told."""
    try:
        sys.stderr.write(text + end)
        sys.stderr.flush()
    except OSError:
        # What it still holds would fail again when Python ends, which then has an exit code of its own (120).
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # pylint: disable=consider-using-with


def print_error(error):
    clear_progress()
    with contextlib.suppress(OSError):  # a full disk behind standard output hides no error
        sys.stdout.flush()
    first, *rest = wrap("error: " + error.message)
    first = paint("error:", "red", sys.stderr) + first[len("error:"):]
    tell("\n".join([first, *rest]))
    if error.hint:
        # A command stands on one line however long it is: it is there to be copied.
        tell("Next: " + paint(error.hint, "cyan", sys.stderr))


_progress_shown = False


def progress(text):
    """Rewrites one line on a terminal; writes nothing elsewhere."""
    global _progress_shown
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        return
    columns = min(WIDTH, shutil.get_terminal_size().columns)
    tell("\r" + text[:columns - 1].ljust(columns - 1), "")
    _progress_shown = True


def clear_progress():
    global _progress_shown
    if _progress_shown:
        columns = min(WIDTH, shutil.get_terminal_size().columns)
        tell("\r" + " " * (columns - 1) + "\r", "")
        _progress_shown = False
