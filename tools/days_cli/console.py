# SPDX-License-Identifier: MIT
"""What reaches the terminal: colours (on a terminal only), 80 columns, progress, errors."""
from __future__ import annotations

import os
import re
import shutil
import sys
import textwrap

from days_cli import COMMANDS

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
    """Colours the days commands in a sentence: ./days, its subcommand, and a number or flag after it."""
    return re.sub(r"\./days(?: (?:" + "|".join(COMMANDS) + r")\b)?(?: (?:\d+|--?\w[\w-]*)\b)*",
                  lambda match: paint(match.group(), "cyan", stream), text)


def wrap(text, indent="", first=None):
    """Lines of at most 80 columns; words (paths, commands) are never broken."""
    return textwrap.wrap(text, WIDTH, initial_indent=indent if first is None else first, subsequent_indent=indent,
                         break_long_words=False, break_on_hyphens=False)


def say(text=""):
    print(text, flush=True)


def note(text):
    """A remark beside the result: on stderr, so that a pipe gets the result alone."""
    clear_progress()
    for line in wrap(text):
        print(paint_commands(line, sys.stderr), file=sys.stderr, flush=True)


def print_error(error):
    clear_progress()
    sys.stdout.flush()
    first, *rest = wrap("error: " + error.message)
    first = paint("error:", "red", sys.stderr) + first[len("error:"):]
    print("\n".join([first, *rest]), file=sys.stderr)
    if error.hint:
        # A command stands on one line however long it is: it is there to be copied.
        print("Next: " + paint(error.hint, "cyan", sys.stderr), file=sys.stderr)
    sys.stderr.flush()


_progress_shown = False


def progress(text):
    """Rewrites one line on a terminal; writes nothing elsewhere."""
    global _progress_shown
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        return
    columns = min(WIDTH, shutil.get_terminal_size().columns)
    sys.stderr.write("\r" + text[:columns - 1].ljust(columns - 1))
    sys.stderr.flush()
    _progress_shown = True


def clear_progress():
    global _progress_shown
    if _progress_shown:
        columns = min(WIDTH, shutil.get_terminal_size().columns)
        sys.stderr.write("\r" + " " * (columns - 1) + "\r")
        sys.stderr.flush()
        _progress_shown = False
