#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests the tests with bugs that were written by hand: each is put into a day's files, and the day's tests must fail. What the
translator makes by itself (tests/mutants.py) needs no edit here: these are bugs of host code, of launches, of several lines.

    tests/mutant_edits.py               every edit of every dayNN_name/tests/mutants.txt
    tests/mutant_edits.py --only day05  those whose place or reason contains a word
    tests/mutant_edits.py --sample 12   twelve of them, spread over all
    tests/mutant_edits.py --list        what there is; builds nothing

Works on copies of the tree under build/mutant_edits, on the CPU backend. An edit is written as

    01_lanes_down.cu: the guard lets one row too many through
    - if (row >= m || col >= n) return;
    + if (row > m || col >= n) return;

where the text after "- " occurs exactly once in that file of the day's folder (several - lines are one text, and so are
several + lines; none deletes it). An edit that leaves the results right, such as a slower path taken once more, tests
nothing and has no place in these files. Exit code: 0 all found, 1 some survived, 2 an edit does not fit or does not compile.
"""
import argparse
import os
import queue
import re
import shutil
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / "build" / "mutant_edits"
TEST_SECONDS = 120  # a mutant that hangs is found by simt's own limit long before


@dataclass(frozen=True)
class Mutant:
    day: str  # day05
    file: Path  # relative to the root
    reason: str
    old: str
    new: str

    @property
    def place(self):
        before = (ROOT / self.file).read_text(encoding="utf-8").split(self.old)[0]
        return f"{self.file}:{before.count(chr(10)) + 1}"


def fail(message):
    print(f"error: {message}", file=sys.stderr)
    sys.exit(2)


def read_mutants(path):
    """The edits of one dayNN_name/tests/mutants.txt, each checked against the source that it changes."""
    folder = path.parent.parent
    named = path.relative_to(ROOT)
    result, header, old, new = [], None, [], []

    def finish():
        if header is None:
            return
        name, _, reason = header.partition(": ")
        file = folder / name
        if not file.is_file() or not reason or not old:
            fail(f'{named}: "{header}" names no file of {folder.name}, or lacks a reason or a "- " line')
        text, count = "\n".join(old), file.read_text(encoding="utf-8").count("\n".join(old))
        if count != 1:
            fail(f"{named}: in {name} this occurs {count} times, not once:\n{text}")
        result.append(Mutant(folder.name[:5], file.relative_to(ROOT), reason, text, "\n".join(new)))

    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("- "):
            old.append(line[2:])
        elif line.startswith("+ "):
            new.append(line[2:])
        elif line.startswith("= "):
            header = None  # tests/mutants.py reads these
        elif line.strip() and not line.startswith("#"):
            finish()
            header, old, new = line, [], []
    finish()
    return result


def tracked_files():
    """What a clone would hold: tracked files and those that git does not ignore."""
    command = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout.decode().split("\0")
    return [name for name in names if name and (ROOT / name).is_file()]


def run(command, cwd, seconds=None, **env):
    """(exit code, output); exit code None where it ran out of time."""
    try:
        done = subprocess.run(command, cwd=cwd, env={**os.environ, **env}, timeout=seconds, text=True, errors="replace",
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.returncode, done.stdout
    except subprocess.TimeoutExpired:
        return None, ""


class Tree:
    """A copy of the repository with a build of its own; times are kept, so that a second run builds little."""

    def __init__(self, number):
        self.root = WORK / str(number)
        self.root.mkdir(parents=True, exist_ok=True)
        files = tracked_files()
        for name in files:
            source, target = ROOT / name, self.root / name
            if target.is_file() and target.read_bytes() == source.read_bytes():
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
        kept = {str(self.root / name) for name in files}
        for path in self.root.rglob("*"):
            if path.is_file() and "build" not in path.relative_to(self.root).parts and str(path) not in kept:
                path.unlink()
        code, output = run(["cmake", "--preset", "cpu", "-DDAYS_WERROR=OFF", "-DDAYS_BENCHMARKS=OFF"], self.root)
        if code:
            fail("cmake --preset cpu fails in a copy of the tree:\n" + output)

    def build(self, day, jobs):
        return run(["cmake", "--build", "--preset", "cpu", "--target", f"{day}_test", "--", f"-j{jobs}"], self.root)

    def test(self, day):
        return run([str(self.root / "build" / "cpu" / "bin" / f"{day}_test")], self.root, TEST_SECONDS,
                   GTEST_FAIL_FAST="1", GTEST_BRIEF="1", SIMT_TIMEOUT="20",
                   SIMT_ORDER="shuffle:1")  # as ctest runs it

    def try_mutant(self, mutant):
        """"found", "survived" or "does not compile", and what was printed."""
        path = self.root / mutant.file
        text = path.read_text(encoding="utf-8")
        try:
            path.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
            code, output = self.build(mutant.day, 1)
            if code:
                return "does not compile", output
            code, output = self.test(mutant.day)
            return ("survived" if code == 0 else "found"), output
        finally:
            path.write_text(text, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="WORD", help="edits whose file or reason contains WORD")
    parser.add_argument("--sample", type=int, metavar="N", help="N edits, evenly spread")
    parser.add_argument("--jobs", type=int, default=min(4, os.cpu_count() or 1), metavar="N", help="copies to work on")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--verbose", action="store_true", help="print how each test failed")
    arguments = parser.parse_args()

    mutants = [mutant for path in sorted(ROOT.glob("day[0-9][0-9]_*/tests/mutants.txt")) for mutant in read_mutants(path)]
    if arguments.only:
        mutants = [m for m in mutants if arguments.only in str(m.file) or arguments.only in m.reason]
    if arguments.sample and arguments.sample < len(mutants):
        mutants = [mutants[i * len(mutants) // arguments.sample] for i in range(arguments.sample)]
    if not mutants:
        fail("no edit matches")
    if arguments.list:
        for mutant in mutants:
            print(f"{mutant.place}  {mutant.reason}")
        return 0

    jobs = max(1, min(arguments.jobs, len(mutants)))
    print(f"{len(mutants)} edits, {jobs} copies of the tree", flush=True)
    trees = [Tree(number) for number in range(jobs)]
    for day in sorted({mutant.day for mutant in mutants}):
        for tree in trees:
            code, output = tree.build(day, jobs)
            if code:
                fail(f"{day}_test does not build as it is:\n{output}")
        code, output = trees[0].test(day)
        if code != 0:
            fail(f"{day}_test fails as it is:\n{output}")
        print(f"{day}_test passes as it is", flush=True)

    work, counts, lock = queue.SimpleQueue(), {"found": 0, "survived": 0, "does not compile": 0}, threading.Lock()
    for mutant in mutants:
        work.put(mutant)

    def worker(tree):
        while True:
            try:
                mutant = work.get_nowait()
            except queue.Empty:
                return
            began = time.monotonic()
            verdict, output = tree.try_mutant(mutant)
            with lock:
                counts[verdict] += 1
                print(f"{verdict:<9} {mutant.place}  {mutant.reason} ({time.monotonic() - began:.1f} s)", flush=True)
                if verdict == "does not compile" or arguments.verbose:
                    print(re.sub(r"^", "    ", output.strip()[-2000:], flags=re.MULTILINE), flush=True)

    threads = [threading.Thread(target=worker, args=(tree,)) for tree in trees]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count or verdict != "does not compile"))
    return 2 if counts["does not compile"] else 1 if counts["survived"] else 0


if __name__ == "__main__":
    sys.exit(main())
