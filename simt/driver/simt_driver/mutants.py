# SPDX-License-Identifier: MIT
"""Tests the tests: runs a test command once for each mutant of the program that it tests, and says which ones it missed.

The program was built with mutants (translator/rewrite_mutants.cpp), so nothing is compiled here: SIMT_MUTANT chooses one. A command
that kernels reach a mutant in is the only one that can notice it, so which ones are reached is asked first."""
from __future__ import annotations

import concurrent.futures
import os
import resource
import shlex
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Dict, FrozenSet, List, Optional

from simt_driver import console, processes
from simt_driver.builder import cores
from simt_driver.errors import WRONG, CommandError

FOUND, SURVIVED, NOT_REACHED = "found", "survived", "not reached"
_LONGEST = 600  # seconds for a test command that is right


@dataclass(frozen=True)
class Mutant:
    number: int
    file: str
    line: int
    column: int
    edit: str  # "< becomes <="

    @property
    def place(self):
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(eq=False)
class Test:
    """A command that must notice mutants; what it needs of time, and whom it reaches, is found out by measure()."""
    command: List[str]
    cwd: Optional[Path] = None
    environment: Dict[str, str] = field(default_factory=dict)
    seconds: float = 0  # of the processor
    reaches: FrozenSet[int] = frozenset()

    def run(self, mutant, limit):
        """(exit code, output) within so many seconds of the processor, each process for itself, and five times as many of the clock;
        None in place of the code where that did not suffice. On a busy machine the clock alone would say too much."""
        environment = {"GTEST_FAIL_FAST": "1", "GTEST_BRIEF": "1", "SIMT_TIMEOUT": "5", **os.environ, **self.environment,
                       "SIMT_MUTANT": str(mutant)}
        with tempfile.TemporaryFile() as file:
            command = ["sh", "-c", f'ulimit -t {round(limit)}; exec "$@"', "sh", *self.command]
            process = processes.start(command, cwd=self.cwd, env=environment, stdin=subprocess.DEVNULL, stdout=file,
                                      stderr=subprocess.STDOUT)
            try:
                code = process.wait(5 * limit)
            except subprocess.TimeoutExpired:
                code = None
            finally:
                processes.kill(process)
            file.seek(max(0, file.seek(0, os.SEEK_END) - 4000))
            return code, file.read().decode(errors="replace")

    def measure(self):
        """CommandError where it fails although the program is right."""
        before = _cpu_of_children()
        code, output = self.run(0, _LONGEST)
        self.seconds = _cpu_of_children() - before
        if code != 0:
            how = f"takes more than {_LONGEST} s" if code is None else f"ends with {code}"
            raise CommandError(f"{shlex.join(self.command)} {how} without a mutant:\n{output.strip()}", code=WRONG)
        with tempfile.TemporaryDirectory(prefix="simt-mutants-") as folder:
            path = Path(folder) / "reached"
            self.run(f"reached:{path}", _LONGEST)
            self.reaches = frozenset(map(int, path.read_text(encoding="ascii").split())) if path.is_file() else frozenset()

    def notices(self, mutant):
        """Whether it fails, or takes so long that a loop has lost its end."""
        return self.run(mutant.number, 2 + 5 * self.seconds)[0] != 0


def _cpu_of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def read_lists(paths):
    """The mutants of several .mutants files; those of a header that many files include are there once."""
    result = {}
    for path in paths:
        try:
            lines = Path(path).read_text(encoding="utf-8", errors="surrogateescape").splitlines()
        except OSError as error:
            raise CommandError(f"{path}: {error.strerror}") from error
        for line in lines:
            number, file, row, column, edit = line.split("\t")
            result[int(number)] = Mutant(int(number), file, int(row), int(column), edit)
    return sorted(result.values(), key=lambda m: (m.file, m.line, m.column, m.edit))


def verdict_of(mutant, tests):
    reaching = sorted((test for test in tests if mutant.number in test.reaches), key=lambda test: test.seconds)
    if not reaching:
        return NOT_REACHED
    return FOUND if any(test.notices(mutant) for test in reaching) else SURVIVED


def verdicts(mutants, tests, jobs=0, seconds=None):
    """Yields (mutant, verdict) as they come, from tests that were measured; no new one begins after so many seconds."""
    jobs = jobs or cores()
    until = None if seconds is None else time.monotonic() + seconds
    stop = threading.Event()

    def work(mutant):
        if stop.is_set() or (until is not None and time.monotonic() > until):
            return None
        return verdict_of(mutant, tests)

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        futures = {pool.submit(work, mutant): mutant for mutant in mutants}
        try:
            for future in concurrent.futures.as_completed(futures):
                if future.result() is not None:
                    yield futures[future], future.result()
        finally:
            stop.set()


def run(lists, command):
    """`simtcc --test COMMAND`: its exit code, 1 where a mutant was missed."""
    mutants = read_lists(lists)
    if not mutants:
        raise CommandError("no mutants: no device code with anything to change was compiled with --mutants")
    test = Test(["sh", "-c", command])
    test.measure()
    counts = {FOUND: 0, SURVIVED: 0, NOT_REACHED: 0}
    missed = []
    for mutant, verdict in verdicts(mutants, [test]):
        counts[verdict] += 1
        console.progress(f"mutant {sum(counts.values())} of {len(mutants)}")
        if verdict != FOUND:
            missed.append((mutant, verdict))
    console.clear_progress()
    for mutant, verdict in sorted(missed, key=lambda pair: (pair[0].file, pair[0].line, pair[0].column)):
        console.say(f"{mutant.place}: {verdict}: {mutant.edit} (SIMT_MUTANT={mutant.number})")
    console.say(f"{len(mutants)} mutants: {counts[FOUND]} found, {counts[SURVIVED]} survived, {counts[NOT_REACHED]} not reached; "
                f"{100 * counts[FOUND] // len(mutants)}% found")
    return WRONG if missed else 0
