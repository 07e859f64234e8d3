# SPDX-License-Identifier: MIT
"""A small build system that needs no other: steps, their dependency files, all cores.

A step is done again unless what it made is there as it left it, from the same command and the same contents of all inputs
(those of its dependency file included). Dates decide nothing: a file that is restored may be older than what was built of
another one, and a clock may be wrong. What a step makes is written beside its place and moved there when it is whole.
"""
from __future__ import annotations

import concurrent.futures
import contextlib
import hashlib
import os
import re
import shlex
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable, List, Optional

from simt_driver import caller, compiler_messages, console, outputs, processes
from simt_driver.errors import ENVIRONMENT, WRONG, CommandError

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
    cwd: Optional[Path] = None  # where the command runs, and what relative paths start from; caller.folder() by default
    messages: Optional[Callable[[str], str]] = None  # what to tell of the command's output; warnings are told each time

    @property
    def deps(self):
        return self.output.with_name(self.output.name + ".d")

    @property
    def partial(self):
        """What the command writes, until it is whole."""
        return self.output.with_name(self.output.name + ".part" + self.output.suffix)

    @property
    def record(self):
        return self.output.with_name(self.output.name + ".made")


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
        raise CommandError(f"cannot write to {place}: {error.strerror}",
                           caller.OWN_FOLDER, ENVIRONMENT) from error
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
    return rule_files(os.fsdecode(path.read_bytes()))


def rule_files(text):
    """The same of the rule's text."""
    text = text.replace("\\\n", " ")
    rules = text.split("\n", 1)[0] if "\n" in text else text
    _, _, names = rules.partition(": ")
    return [re.sub(r"\\([ #])", r"\1", name).replace("$$", "$") for name in re.findall(r"(?:\\.|\S)+", names)]


class Build:
    """Brings steps up to date. Paths in commands and dependency files are relative to the root."""

    def __init__(self, quiet=False):
        """quiet: what compilers say is not shown; the CommandError alone tells."""
        self._quiet = quiet
        self._contents = {}  # path: _Contents, as they were when this build first looked
        self._keys = {}  # id of a step that is up to date: what it was made of
        self._failed = threading.Event()
        self._processes = set()
        self._guard = threading.Lock()
        self.commands_run = 0

    def run(self, targets):
        steps = self.in_order(targets)
        stale = []
        for step in steps:
            if any(before in stale for before in step.after) or not self._fresh(step):
                stale.append(step)
        if stale:
            self._make(_longest_first(stale))
        self.commands_run = len(stale)

    @staticmethod
    def in_order(targets):
        done = []

        def visit(step):
            for before in step.after:
                visit(before)
            if step not in done:
                done.append(step)

        for target in targets:
            visit(target)
        return done

    def _contents_of(self, path, cwd):
        name = os.path.join(cwd or caller.folder(), path)
        if name not in self._contents:
            self._contents[name] = _Contents.read(name)
        return self._contents[name]

    def _inputs(self, step):
        """[(path, _Contents)] of all that the step reads besides other steps' outputs. OSError where one is missing."""
        names = [*step.inputs, *(read_deps(step.deps) if DEPS in step.command else ())]
        return [(name, self._contents_of(name, step.cwd)) for name in names]

    def _key(self, step, inputs):
        """Stands for all that the step's output depends on."""
        key = hashlib.blake2b(_text(step), digest_size=16)
        for name, contents in inputs:
            key.update(os.fsencode(f"{name}\0{contents.digest}\0"))
        for before in step.after:
            key.update(self._keys[id(before)].encode())
        return key.hexdigest()

    def _fresh(self, step):
        try:
            key = self._key(step, self._inputs(step))
            if step.record.read_bytes() != _record(step, key):
                return False
        except OSError:
            return False
        self._keys[id(step)] = key
        return True

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
                    # A signal that comes just before the wait begins is seen once it ends, so it ends soon.
                    done, _ = concurrent.futures.wait(running, timeout=1, return_when=concurrent.futures.FIRST_COMPLETED)
                    for future in done:
                        step = running.pop(future)
                        finished += 1
                        try:
                            future.result()
                        except _NotStarted:
                            pass
                        except CommandError as failure:
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
        partial = step.partial
        names = {OUT: str(partial), DEPS: str(step.deps), TARGET: str(step.output)}
        command = [names.get(word, word) for word in step.command]
        try:
            with self._guard:  # once the build is stopped, its folder is somebody else's to remove
                if self._failed.is_set():
                    raise _NotStarted()
                step.output.parent.mkdir(parents=True, exist_ok=True)
            for name in step.inputs:
                with contextlib.suppress(OSError):  # the compiler will tell
                    self._contents_of(name, step.cwd)
            began = time.time_ns()
            with self._guard:
                if self._failed.is_set():
                    raise _NotStarted()
                process = processes.start(command, cwd=step.cwd or caller.folder(), stdout=subprocess.PIPE,
                                          stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
                self._processes.add(process)
            output = process.communicate()[0].decode(errors="replace")
            with self._guard:
                self._processes.discard(process)
            if process.returncode == 0:
                os.replace(partial, step.output)
                self._note(step, began, told=bool(step.messages and output.strip()))
        except OSError as failure:
            self._failed.set()
            raise CommandError(f"{command[0]}: {failure.strerror or failure}", caller.DOCTOR, ENVIRONMENT) from failure
        finally:
            with contextlib.suppress(OSError):
                partial.unlink()
        if process.returncode:
            first = not self._failed.is_set()
            self._failed.set()
            if first:
                self._show(step.messages(output) if step.messages else output)
            lack = compiler_messages.lacking(output, process.returncode)
            if lack:
                raise CommandError(f"too little {lack} to build {step.label}", compiler_messages.relief(lack, _command_line()),
                                   ENVIRONMENT)
            if process.returncode < 0:
                raise CommandError(f"the compiler was ended by signal {-process.returncode} at {step.label}", caller.DOCTOR,
                                   ENVIRONMENT)
            raise CommandError(f"{step.source} does not compile" if step.source else f"{step.label} cannot be linked", code=WRONG)
        self._show(step.messages(output) if step.messages else output)  # warnings

    def _note(self, step, began, told):
        """Records what the step made its output of, unless it has to be done again: its warnings are told each time, and a
        header was changed, or is gone, since it began."""
        step.record.unlink(missing_ok=True)
        try:
            inputs = self._inputs(step)
        except OSError:
            self._keys[id(step)] = f"unknown {began}"
            return
        key = self._keys[id(step)] = self._key(step, inputs)
        if not told and all(contents.as_of(began) for _, contents in inputs):
            outputs.put(step.record, _record(step, key))

    def _show(self, output):
        if output.strip() and not self._quiet:
            with self._guard:
                console.clear_progress()
                console.tell(output.rstrip())

    def _stop(self):
        with self._guard:
            self._failed.set()
            running = list(self._processes)
        processes.end(running)


def _command_line():
    return shlex.join([caller.COMMAND, *sys.argv[1:]])


@dataclass(frozen=True)
class _Contents:
    """What a file held when it was read."""
    digest: str
    changed: int  # when it was last changed, and when it was read: by clocks that no copy sets back
    read_at: int

    @classmethod
    def read(cls, name):
        now = time.time_ns()
        with open(name, "rb") as file:
            digest = hashlib.blake2b(file.read(), digest_size=16).hexdigest()
            return cls(digest, os.fstat(file.fileno()).st_ctime_ns, now)

    def as_of(self, began):
        """Is this what a compiler that began then has read, or something older? What changed since is built again."""
        return self.read_at <= began or self.changed <= began


def _record(step, key):
    """What lies beside the output of a step that need not be done again. OSError where there is no output."""
    made = step.output.stat()
    return f"{key} {made.st_size} {made.st_mtime_ns}\n".encode()


def _longest_first(steps):
    """Steps that many others wait for, one after the other, come before those that nobody waits for."""
    height = {}
    for step in reversed(steps):  # whoever waits stands behind what it waits for
        waiting = [height[id(later)] for later in steps if step in later.after]
        height[id(step)] = 1 + max(waiting, default=0)
    return sorted(steps, key=lambda step: -height[id(step)])


def _text(step):
    return os.fsencode("\n".join(step.command) + "\n")  # names need not be UTF-8
