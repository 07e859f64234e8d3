# SPDX-License-Identifier: MIT
"""Runs a program of the course and learns whether it came to its end, which its exit code alone cannot say: a kernel's file
may call exit(0). The program's side is common/progress.h."""
from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from dataclasses import dataclass

from days_cli import paths, processes
from days_cli.errors import ENVIRONMENT, WRONG, DaysError

OTHER_MAIN = "the program ended before the course's own main() began: the kernel's file must neither have one nor exit"
_KEPT = 1 << 20  # bytes of output that are kept, of its beginning and of its end
_LOOK = 0.25  # seconds between looks at a program's progress


class Died(DaysError):
    """A program did not come to its end."""

    def __init__(self, program, ended):
        where = f", at {ended.where}" if ended.began else ""
        super().__init__(f"{os.path.basename(str(program))} {ended.problem}{where}", code=WRONG)


@dataclass
class Ended:
    """How a program ended."""
    code: int  # as Popen has it: negative for a signal
    began: bool  # it told that it has begun: one that says nothing of its progress is believed
    through: bool  # it told its end
    told: str = ""  # the exit code that it told then
    at: str = ""  # what it did last, in its own words
    stopped: str = ""  # why it was stopped, if it was
    stdout: str = ""
    stderr: str = ""

    @property
    def problem(self):
        """Why its results are not to be believed, "" where they are."""
        if self.stopped:
            return self.stopped
        if self.code < 0:
            return f"was ended by {processes.name_of(self.code)}"
        if self.began and not self.through:
            return f"ended with exit code {self.code} before it was through"
        if self.through and str(self.code) not in (self.told, "1"):  # 1: what simt found makes a 0 that
            return f"ended with exit code {self.code} after it was through, and had told {self.told or 'none'}"
        return ""

    @property
    def where(self):
        return "its end" if self.through else self.at or "its start"


class _Kept:
    """Reads a pipe to its end and keeps the beginning and the end of what comes."""

    def __init__(self, pipe):
        self._pipe, self._head, self._tail, self._lost = pipe, bytearray(), bytearray(), 0
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self):
        with self._pipe:
            while True:
                part = self._pipe.read1(1 << 16)
                if not part:
                    return
                room = _KEPT - len(self._head)
                self._head += part[:room]
                self._tail += part[room:]
                if len(self._tail) > 2 * _KEPT:
                    self._lost += len(self._tail) - _KEPT
                    del self._tail[:-_KEPT]

    def text(self):
        self._thread.join(5)  # a process that left the group may hold the pipe open for ever
        middle = f"\n... {self._lost:,} bytes of output are left out here ...\n" if self._lost else ""
        return self._head.decode(errors="replace") + middle + bytes(self._tail).decode(errors="replace")


class _Progress:
    """Reads what a program tells of its progress: through a pipe, which needs no room on a disk."""

    def __init__(self):
        self._out, self.file = os.pipe()
        self.began = self.through = False
        self.told, self.at, self.moved, self.count = "", "", time.monotonic(), 0
        self._thread = threading.Thread(target=self._read, daemon=True)

    def follow(self):
        """Once the program has its end of the pipe."""
        os.close(self.file)
        self._thread.start()

    def close(self):
        os.close(self.file)
        os.close(self._out)

    def _read(self):
        with open(self._out, errors="replace") as lines:
            for line in lines:
                word, _, rest = line.rstrip("\n").partition(" ")
                self.moved = time.monotonic()
                self.began = self.began or word == "begin"
                if word == "end":
                    self.through, self.told = True, rest
                if word == "at":
                    self.at, self.count = rest, self.count + 1

    def ended(self, process):
        self._thread.join(5)
        return Ended(process.returncode, self.began, self.through, self.told, self.at)


def run(command, environment=None, cwd=None, step_seconds=None, seconds=None, tell=None):
    """Runs the program without standard input and keeps its output, bounded; an Ended. It is stopped, with all that it has
    started, after so many seconds, or after so many in which it began no new step. tell(how many steps it has begun, the last one) hears of it
    from time to time."""
    progress = _Progress()
    process = _start(command, progress, processes.start, environment, cwd=cwd, stdin=subprocess.DEVNULL,
                     stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        kept = _Kept(process.stdout), _Kept(process.stderr)
        stopped = _wait(process, progress, step_seconds, seconds, tell)
    finally:
        processes.kill(process)
    ended = progress.ended(process)
    ended.stopped, ended.stdout, ended.stderr = stopped, kept[0].text(), kept[1].text()
    return ended


def run_here(command):
    """Runs the program in the terminal's foreground, with our input and output; an Ended without output. Ctrl-C is the program's: it may end
    an answer and not the program. KeyboardInterrupt where the program ends by it."""
    process = None

    def interrupted(*_):
        if process and not _in_foreground():  # a terminal sends it to the program, too
            process.send_signal(signal.SIGINT)

    progress = _Progress()
    before = signal.signal(signal.SIGINT, interrupted)  # not an exception, as a second one may come while the first is served
    try:
        process = _start(command, progress, subprocess.Popen, None)
        process.wait()
    except BaseException:  # what ends us alone does not reach the program
        if process:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(2)
            process.kill()
            process.wait()
        raise
    finally:
        signal.signal(signal.SIGINT, before)
    if process.returncode == -signal.SIGINT:
        raise KeyboardInterrupt
    return progress.ended(process)


def _in_foreground():
    """Whether a terminal's Ctrl-C goes to this process and to what it starts."""
    for stream in (0, 1, 2):
        with contextlib.suppress(OSError):
            return os.tcgetpgrp(stream) == os.getpgrp()
    return False


def _start(command, progress, popen, environment, **options):
    try:
        process = popen([str(word) for word in command], pass_fds=[progress.file],
                        env={**os.environ, **(environment or {}), "DAYS_PROGRESS": str(progress.file)}, **options)
    except OSError as error:
        progress.close()
        raise DaysError(f"{os.path.relpath(command[0], paths.ROOT)} cannot be started: {error.strerror}", "./days doctor",
                        ENVIRONMENT) from error
    progress.follow()
    return process


def _wait(process, progress, step_seconds, seconds, tell=None):
    """Until the process has ended: "", or has had its time: why it must be stopped."""
    began = time.monotonic()
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_LOOK)
            return ""
        if tell and progress.count:
            tell(progress.count, progress.at)
        now = time.monotonic()
        if seconds and now - began > seconds:
            return f"was stopped, because it was not through after {seconds:g} seconds"
        if step_seconds and now - progress.moved > step_seconds:
            return f"was stopped, because this did not end within {step_seconds:g} seconds"
