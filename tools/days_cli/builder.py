# SPDX-License-Identifier: MIT
"""A small build system for `days run`, which must not need CMake: steps, their dependency files, all cores.

A step is done again when its command changed, or when one of its inputs (those of its last dependency file included) is
newer than what it made. What it makes is written beside its place and moved there when it is whole.
"""
from __future__ import annotations

import concurrent.futures
import contextlib
import os
import re
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable, List, Optional

from days_cli import console, paths
from days_cli.errors import ENVIRONMENT, WRONG, DaysError

try:
    import fcntl
except ImportError:  # not a POSIX system: two builds at a time are then not kept apart
    fcntl = None


@dataclass(eq=False)
class Step:
    """One command. OUT and DEPS in it stand for the file that it makes and its dependency file (as make reads it)."""
    output: Path
    command: List[str]
    inputs: List[Path]
    label: str
    after: List["Step"] = field(default_factory=list)  # steps whose outputs are inputs of this one
    source: Optional[str] = None  # the file to blame when the command fails
    cwd: Optional[Path] = None  # where the command runs, and what relative paths start from; the root by default
    messages: Optional[Callable[[str], str]] = None  # what to tell of the command's output; warnings are told each time

    @property
    def deps(self):
        return self.output.with_name(self.output.name + ".d")

    @property
    def record(self):
        return self.output.with_name(self.output.name + ".cmd")


class _NotStarted(Exception):
    """Another step failed before this one began."""


OUT, DEPS, TARGET = "@OUT@", "@DEPS@", "@TARGET@"


def cores():
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextlib.contextmanager
def lock(folder):
    """Keeps a second build out of the folder until this one has ended."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = open(folder / ".lock", "w")
    except OSError as error:
        place = os.path.relpath(folder)
        raise DaysError(f"cannot write to {place}: {error.strerror}",
                        "clone the course into a folder of your own", ENVIRONMENT) from error
    with handle:
        if fcntl:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                console.progress("waiting for another build to end")
                fcntl.flock(handle, fcntl.LOCK_EX)
                console.clear_progress()
            except OSError:
                pass  # some network file systems have no locks
        yield


def read_deps(path):
    """The files that a make rule names after its colon."""
    text = path.read_text(errors="replace").replace("\\\n", " ")
    rules = text.split("\n", 1)[0] if "\n" in text else text
    _, _, names = rules.partition(": ")
    return [re.sub(r"\\([ #])", r"\1", name).replace("$$", "$") for name in re.findall(r"(?:\\.|\S)+", names)]


class Build:
    """Brings steps up to date. Paths in commands and dependency files are relative to the root."""

    def __init__(self, quiet=False):
        """quiet: what compilers say is not shown; the DaysError alone tells."""
        self._quiet = quiet
        self._mtimes = {}
        self._failed = threading.Event()
        self._processes = set()
        self._guard = threading.Lock()
        self.commands_run = 0

    def run(self, targets):
        steps = self._in_order(targets)
        stale = []
        for step in steps:
            if any(before in stale for before in step.after) or not self._fresh(step):
                stale.append(step)
        if stale:
            self._make(_longest_first(stale))
        self.commands_run = len(stale)

    @staticmethod
    def _in_order(targets):
        done = []

        def visit(step):
            for before in step.after:
                visit(before)
            if step not in done:
                done.append(step)

        for target in targets:
            visit(target)
        return done

    def _mtime(self, path, cwd=None):
        key = str((cwd or paths.ROOT) / path)
        if key not in self._mtimes:
            try:
                self._mtimes[key] = os.stat(key).st_mtime_ns
            except OSError:
                self._mtimes[key] = None
        return self._mtimes[key]

    def _fresh(self, step):
        made = self._mtime(step.output)
        if made is None:
            return False
        try:
            if step.record.read_text() != _text(step):
                return False
            inputs = [*step.inputs, *(before.output for before in step.after)]
            if DEPS in step.command:
                inputs += read_deps(step.deps)
        except OSError:
            return False
        times = [self._mtime(path, step.cwd) for path in inputs]
        return all(time_ is not None and time_ <= made for time_ in times)

    def _make(self, stale):
        pending = {id(step): sum(before in stale for before in step.after) for step in stale}
        started, finished, running = set(), 0, {}
        error = None
        with concurrent.futures.ThreadPoolExecutor(cores()) as pool:
            try:
                while finished < len(stale):
                    for step in stale:
                        if len(running) == cores():
                            break  # whoever queued now would go before a step of more weight that is ready later
                        if id(step) not in started and pending[id(step)] == 0 and not error:
                            started.add(id(step))
                            running[pool.submit(self._execute, step)] = step
                    if not running:
                        break
                    current = next(iter(running.values()))
                    console.progress(f"building {finished + 1}/{len(stale)}  {current.label}")
                    done, _ = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
                    for future in done:
                        step = running.pop(future)
                        finished += 1
                        try:
                            future.result()
                        except _NotStarted:
                            pass
                        except DaysError as failure:
                            error = error or failure
                        for later in stale:
                            if step in later.after:
                                pending[id(later)] -= 1
            except BaseException:
                self._stop()
                raise
        console.clear_progress()
        if error:
            raise error

    def _execute(self, step):
        began = time.time_ns()
        partial = step.output.with_name(step.output.name + ".part" + step.output.suffix)
        names = {OUT: str(partial), DEPS: str(step.deps), TARGET: str(step.output)}
        command = [names.get(word, word) for word in step.command]
        try:
            step.output.parent.mkdir(parents=True, exist_ok=True)
            with self._guard:
                if self._failed.is_set():
                    raise _NotStarted()
                process = subprocess.Popen(command, cwd=step.cwd or paths.ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                           stdin=subprocess.DEVNULL)
                self._processes.add(process)
            output = process.communicate()[0].decode(errors="replace")
            with self._guard:
                self._processes.discard(process)
            if process.returncode == 0:
                os.utime(partial, ns=(began, began))  # an edit while the compiler ran counts as newer
                os.replace(partial, step.output)
                if step.messages and output.strip():
                    step.record.unlink(missing_ok=True)
                else:
                    step.record.write_text(_text(step))
        except OSError as failure:
            self._failed.set()
            raise DaysError(f"{command[0]}: {failure.strerror or failure}", "./days doctor", ENVIRONMENT) from failure
        finally:
            with contextlib.suppress(OSError):
                partial.unlink()
        if process.returncode:
            first = not self._failed.is_set()
            self._failed.set()
            if first:
                self._show(step.messages(output) if step.messages else output)
            what = f"{step.source} does not compile" if step.source else f"{step.label} cannot be linked"
            if process.returncode < 0:
                what = f"the compiler was killed by signal {-process.returncode} at {step.label}"
            raise DaysError(what, code=ENVIRONMENT if "No space left" in output else WRONG)
        self._show(step.messages(output) if step.messages else output)  # warnings

    def _show(self, output):
        if output.strip() and not self._quiet:
            with self._guard:
                console.clear_progress()
                print(output.rstrip(), file=sys.stderr, flush=True)

    def _stop(self):
        with self._guard:
            self._failed.set()
            for process in self._processes:
                process.terminate()


def _longest_first(steps):
    """Steps that many others wait for, one after the other, come before those that nobody waits for."""
    height = {}
    for step in reversed(steps):  # whoever waits stands behind what it waits for
        waiting = [height[id(later)] for later in steps if step in later.after]
        height[id(step)] = 1 + max(waiting, default=0)
    return sorted(steps, key=lambda step: -height[id(step)])


def _text(step):
    return "\n".join(step.command) + "\n"
