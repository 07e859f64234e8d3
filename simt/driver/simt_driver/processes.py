# SPDX-License-Identifier: MIT
"""Processes that leave nothing behind: each has a group of its own, which ends with it, whatever it has started."""
from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time

_GRACE = 2  # seconds in which a compiler may remove its temporary files


def start(command, **options):
    """A Popen in a group of its own. Ctrl-C at the terminal does not reach it: whoever starts it ends it, with end()."""
    return subprocess.Popen(command, start_new_session=True, **options)


def kill(process):
    """Ends the process and all that is left of its group at once."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def end(running):
    """Asks these processes' groups to end, and kills those that do not."""
    for process in running:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGTERM)
    until = time.monotonic() + _GRACE
    for process in running:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(max(0, until - time.monotonic()))
        kill(process)


def end_on_signals():
    """SIGTERM and SIGHUP unwind the command as Ctrl-C does, so that what it has started ends, too. nohup stays in force."""
    def leave(number, _):
        sys.exit(128 + number)

    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) == signal.SIG_DFL:
                signal.signal(number, leave)


def name_of(code):
    """"SIGSEGV (Segmentation fault)" of a Popen's negative return code."""
    try:
        return f"{signal.Signals(-code).name} ({signal.strsignal(-code)})"
    except ValueError:
        return f"signal {-code}"
