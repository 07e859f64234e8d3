#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests the tests: how many small bugs of a day's device code do its tests notice?

    tests/mutants.py 14                    all mutants of day 14: its score, and the survivors with file, line and edit
    tests/mutants.py 4 5 --sample 60       sixty of each day; --seed N takes others
    tests/mutants.py 4 --seconds 30        no new one begins after so long
    tests/mutants.py 4 --only 03_box       those whose place or edit contains a word
    tests/mutants.py 4 --record            writes the score into docs/mutants.md

Of a Python day tools/python_days/mutants.py makes them, and runs the day's cases in Triton's interpreter, which watches always.

Of the others simtcc makes the mutants (docs/simt.md): one build, build/mutants, holds a bug beside each comparison, index, constant, mask, guard,
sum and barrier, and the environment chooses one when a test program runs. So each bug costs one run of the tests that come by it,
which ends at the first failure; a run that takes far too long has found one, too. Bugs that no test comes by count as missed. What
survives is tried again with every access watched, as ./days test does: a barrier that is missing, an element past the end of a
thread's own array are right by luck in a plain run. --plain and --seconds leave that out.

A mutant that changes nothing that can be observed counts for nothing. dayNN_name/tests/mutants.txt lists those, with the reason:

    03_box_running.cu: a pixel more of the row is staged than anybody reads
    = for (int i = threadIdx.x; i < kRowPart + 2 * radius; i += kBlock) {
    = < becomes <=

The first line after the reason is the source's line, those after it are edits of it. An entry that fits no mutant is an error. (The
lines with - and + there are bugs written by hand, for tests/mutant_edits.py.)

Exit code: 0 enough are found (--least, 95% by default), 1 too few, 2 an entry does not fit.
"""
import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "simt" / "driver"), str(ROOT / "tools")]

from simt_driver import mutants  # noqa: E402
from simt_driver.errors import CommandError  # noqa: E402

from days_cli import catalog, python_day  # noqa: E402

BUILD = ROOT / "build" / "mutants"
CHECKED = ROOT / "build" / "mutants-checked"
TABLE = ROOT / "docs" / "mutants.md"


@dataclass(frozen=True)
class Unseen:
    """Mutants of a line that change nothing that can be observed."""
    file: str  # relative to the root
    reason: str
    line: str  # the source's text
    edits: tuple

    def covers(self, mutant):
        return mutant.file == self.file and mutant.edit in self.edits and source_line(mutant) == self.line


def fail(message):
    print(f"error: {message}", file=sys.stderr)
    sys.exit(2)


def source_line(mutant):
    return (ROOT / mutant.file).read_text(encoding="utf-8").splitlines()[mutant.line - 1].strip()


def read_unseen(folder):
    path = ROOT / folder.name / "tests" / "mutants.txt"
    entries, header = [], None
    for line in path.read_text(encoding="utf-8").splitlines() if path.is_file() else ():
        if line.startswith("= "):
            if entries and entries[-1][0] is header:
                entries[-1][1].append(line[2:].strip())
            else:
                entries.append((header, [line[2:].strip()]))
        elif line.strip() and not line.startswith(("#", "- ", "+ ")):
            header = line
    result = []
    for header, lines in entries:
        name, _, reason = (header or "").partition(": ")
        if not reason or len(lines) < 2:
            fail(f'{path.relative_to(ROOT)}: "{header}" lacks a reason, or a line of the source and an edit after "= "')
        result.append(Unseen(f"{folder.name}/{name}", reason, lines[0], tuple(lines[1:])))
    return result


def run(command, **env):
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, **env}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
    if done.returncode:
        fail(f"{' '.join(map(str, command))} fails:\n{done.stdout}")
    return done.stdout


def build(days, folder=BUILD):
    run(["cmake", "--preset", "cpu-checked" if folder is CHECKED else "cpu", "-B", str(folder), "-DDAYS_MUTANTS=ON",
         "-DDAYS_WERROR=OFF", "-DDAYS_BENCHMARKS=OFF"])
    run(["cmake", "--build", str(folder), "--target", *(f"{day}_test" for day in days)])


def mutants_of(folder):
    """Those of the day's own files, once each; paths relative to the root."""
    day = folder.name[:5]
    lists = [path for path in (BUILD / "CMakeFiles").glob(f"{day}_*.dir/**/*.mutants")
             if path.with_suffix("").is_file() and path.parent.name != "tests" and (ROOT / folder.name / path.name.split(".o.")[0]).is_file()]
    result = []
    for mutant in mutants.read_lists(lists):
        file = os.path.relpath(mutant.file, ROOT)
        if file.startswith(folder.name + "/") and not file.endswith("/exercise.cu"):
            result.append(mutants.Mutant(mutant.number, file, mutant.line, mutant.column, mutant.edit))
    return result


def tests_of(day, folder=BUILD):
    """The day's test program, in parts: a rung's cases are one, and so is each other case."""
    program = str(folder / "bin" / f"{day}_test")
    parts, suite = {}, ""
    for line in run([program, "--gtest_list_tests"]).splitlines():
        if re.match(r"\S+\.$", line):
            suite = line
        elif line.startswith("  ") and suite:
            rung, slash, _ = line.split()[0].partition("/")
            if rung != "must_reject":  # wrong kernels test the checks and not the rungs
                parts[suite + rung + ("/*" if slash else "")] = None
    return [mutants.Test([program, f"--gtest_filter={part}"], environment={"SIMT_ORDER": "shuffle:1"}) for part in parts]


def python_of(folder):
    """The catalog's Day where the folder is a Python day's, else None."""
    day = next((day for day in catalog.here() if day.target == folder.name), None)
    return day if day and day.kind.in_python else None


def python_verdicts(day, chosen, seconds):
    """Yields (mutant, verdict) of a Python day's, as mutants.verdicts() does of the others."""
    line, environment = python_day.command(day, ["mutants", "--numbers", ",".join(str(mutant.number) for mutant in chosen)])
    by_number, began = {mutant.number: mutant for mutant in chosen}, time.monotonic()
    process = subprocess.Popen(line, cwd=ROOT, env={**os.environ, **environment}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    try:
        for said in process.stdout:
            number, noticed = json.loads(said)
            yield by_number.pop(number), mutants.FOUND if noticed else mutants.SURVIVED
            if seconds and time.monotonic() - began > seconds:
                return
    finally:
        process.kill()
        process.wait()
    if by_number:
        fail(f"the program of {day.target} ended before it was through: " + " ".join(line))


def score(found, counted):
    return f"{100 * found / counted:.1f}%" if counted else "-"


def record(day, row):
    lines = [line for line in TABLE.read_text(encoding="utf-8").splitlines() if not line.startswith(f"| {day[3:]} |")]
    last = max(i for i, line in enumerate(lines) if line.startswith("|"))
    rows = sorted([line for line in lines[:last + 1] if re.match(r"\| \d\d \|", line)] + [row])
    kept = [line for line in lines[:last + 1] if not re.match(r"\| \d\d \|", line)]
    TABLE.write_text("\n".join([*kept, *rows, *lines[last + 1:]]) + "\n", encoding="utf-8")


def judge(folder, arguments):
    """Tries a day's mutants, says what was missed; True where enough were found."""
    day = folder.name[:5]
    python = python_of(folder)
    every = [mutants.Mutant(**facts) for facts in python_day.asked(python, ["mutants"])] if python else mutants_of(folder)
    if python and not every:
        print(f"{day}: none of its kernels is a function of Python's, and so there are no mutants", flush=True)
        return True
    unseen = read_unseen(folder)
    for entry in unseen:
        for edit in entry.edits:
            if not any(mutant.edit == edit and entry.covers(mutant) for mutant in every):
                fail(f'{folder.name}/tests/mutants.txt: {entry.file} has no mutant "{edit}" in a line "{entry.line}"')
    chosen = [m for m in every if not any(entry.covers(m) for entry in unseen)]
    excused = len(every) - len(chosen)
    if arguments.only:
        chosen = [m for m in chosen if arguments.only in m.place or arguments.only in m.edit]
    if arguments.sample or arguments.seconds:
        chosen.sort(key=lambda m: hashlib.sha256(f"{arguments.seed} {m.number}".encode()).digest())
        chosen = chosen[:arguments.sample or None]
    if not chosen:
        fail(f"{day} has no such mutant")
    tests = [] if python else tests_of(day)
    for test in tests:
        test.measure()
    results = {mutants.FOUND: [], mutants.SURVIVED: [], mutants.NOT_REACHED: []}
    for mutant, verdict in python_verdicts(python, chosen, arguments.seconds) if python else \
            mutants.verdicts(chosen, tests, arguments.jobs, arguments.seconds):
        results[verdict].append(mutant)
    by_checks = []
    if results[mutants.SURVIVED] and not python and not arguments.plain and not arguments.seconds:
        by_checks = found_by_checks(day, results[mutants.SURVIVED], tests, arguments.jobs)
    survived = [mutant for mutant in results[mutants.SURVIVED] if mutant not in by_checks]
    for missed, verdict in ((survived, mutants.SURVIVED), (results[mutants.NOT_REACHED], mutants.NOT_REACHED)):
        for mutant in sorted(missed, key=lambda m: (m.file, m.line, m.column)):
            print(f"{mutant.place}  {verdict}: {mutant.edit}\n    {source_line(mutant)}" + ("" if python else f"    SIMT_MUTANT={mutant.number}"), flush=True)
    tried, found = sum(map(len, results.values())), len(results[mutants.FOUND]) + len(by_checks)
    print(f"{day}: {found} of {tried} mutants found, {score(found, tried)}, {len(by_checks)} of them by a checked build alone; "
          f"{len(survived)} survived, {len(results[mutants.NOT_REACHED])} not reached; {excused} change nothing" +
          (f"; {len(every)} in all" if tried + excused < len(every) else ""), flush=True)
    if arguments.record:
        record(day, f"| {day[3:]} | {tried} | {found} | {score(found, tried)} | {len(by_checks)} | {len(survived)} | "
                    f"{len(results[mutants.NOT_REACHED])} | {excused} |")
    return found * 100 >= arguments.least * tried


def found_by_checks(day, survivors, tests, jobs):
    """Those of the survivors that a build notices which watches every access."""
    build([day], CHECKED)
    reaching = {tuple(test.command[1:]) for test in tests if any(mutant.number in test.reaches for mutant in survivors)}
    checked = [test for test in tests_of(day, CHECKED) if tuple(test.command[1:]) in reaching]
    for test in checked:
        test.measure()
    return [mutant for mutant, verdict in mutants.verdicts(survivors, checked, jobs) if verdict == mutants.FOUND]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("days", nargs="+", metavar="N", help="a day's number")
    parser.add_argument("--only", metavar="WORD", help="mutants whose place or edit contains WORD")
    parser.add_argument("--sample", type=int, metavar="N", help="N mutants of each day")
    parser.add_argument("--seconds", type=float, metavar="S", help="begin no mutant later than this, of each day")
    parser.add_argument("--seed", default="1", help="which ones a sample takes")
    parser.add_argument("--least", type=float, default=95, metavar="PERCENT", help="of a day that must be found")
    parser.add_argument("--jobs", type=int, default=0, metavar="N", help="runs at a time; the cores by default")
    parser.add_argument("--plain", action="store_true", help="do not try what survives in a checked build")
    parser.add_argument("--record", action="store_true", help="write the score of a whole day into docs/mutants.md")
    arguments = parser.parse_args()
    if arguments.record and (arguments.only or arguments.sample or arguments.seconds or arguments.plain):
        parser.error("--record is for whole days")
    folders = []
    for number in arguments.days:
        found = list(ROOT.glob(f"day{int(number):02d}_*/")) if number.isdigit() else []
        if len(found) != 1:
            fail(f"there is no one folder of day {number}")
        if not list(found[0].glob("*.cu")) and not python_of(found[0]):
            fail(f"day {number} has no kernels, and so no mutants")
        folders += found
    try:
        compiled = [folder.name[:5] for folder in folders if not python_of(folder)]
        if compiled:
            build(compiled)
        return 0 if all([judge(folder, arguments) for folder in folders]) else 1
    except CommandError as error:
        return fail(error.message)


if __name__ == "__main__":
    sys.exit(main())
