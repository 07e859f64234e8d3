# SPDX-License-Identifier: MIT
"""The four stages for a kernel in CUDA C++, a variant of a ladder. `check` tells the learner; CI judges the shipped rungs by them."""
from __future__ import annotations

import json
import math
import os
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

from days_cli import console, counting, ladders, paths, programs, run_build, stages, wide_indices
from days_cli import gpu as gpus
from days_cli.errors import ENVIRONMENT, USAGE, WRONG, DaysError
from days_cli.metrics import EXERCISE
from days_cli.patterns import pattern
from days_cli.stages import Stage, Told


@dataclass
class Kernel:
    """What is judged: a variant of a day, "exercise" from the learner's file or a shipped rung."""
    day: object
    variant: str = "exercise"
    file: str = ""  # that takes exercise.cu's place, or the rung's
    rung: object = None  # the Rung that the file is to become; it may be the one before still

    def program(self, **how):
        return run_build.build_day(self.day, how.pop("backend", "simt"), exercise=self.file or None, rung=self.rung, alone=self._alone(), **how)

    def _alone(self):
        """The file of the kernel that runs; None where several may."""
        if self.file and (self.rung or self.variant == "exercise"):
            return self.file
        if self.variant == "exercise":
            return f"{self.day.target}/exercise.cu"
        found = [file for name, file in ladders.files(self.day).items() if name == self.variant or self.variant.endswith("_" + name)]
        return f"{self.day.target}/{found[0].name}" if len(set(found)) == 1 else None

    @property
    def flags(self):
        """Of its program."""
        return ["--begun", self.rung.before.name] if self.rung else []


def _run(program, arguments, **environment):
    seconds = stages.case_seconds()
    ended = programs.run([program, *arguments], {"NO_COLOR": "1", **environment}, paths.ROOT, seconds,
                         max(stages.PROGRAM_SECONDS, seconds), _tell(arguments))
    console.clear_progress()
    return ended


def _tell(arguments):
    """What tells of each case on a terminal: "case 12 of 756: rows 9, cols 33"."""
    file = arguments[arguments.index("--cases") + 1] if "--cases" in arguments else ""
    known = []

    def tell(count, at):
        if not known and file and os.path.exists(file):  # the program's first lines say how many there are
            with open(file, encoding="utf-8", errors="replace") as lines:
                found = re.findall(r'"cases": ?(\d+)', lines.read(4000))
            known.extend([sum(map(int, found))] * bool(found))
        console.progress(f"case {count:,}" + (f" of {known[0]:,}" if known else "") + f": {at}")
    return tell


def _cases(kernel, program, more=(), **environment):
    """What the program Told of its cases; one that told of none is an error."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cases"
        ended = _run(program, ["--variant", kernel.variant, "--cases", str(path), *kernel.flags, *more], SIMT_TIMEOUT=stages.HANGS,
                     **environment)
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines() if path.is_file() else []
    if not ended.problem and ended.code in (USAGE, ENVIRONMENT):  # no such variant, no room, no driver: nobody's kernel
        raise DaysError(stages.error_of(ended.stderr), f"./days run {kernel.day.number} --list" if ended.code == USAGE
                        else "./days doctor", ended.code)
    if not lines:
        if ended.problem:
            raise programs.Died(program, ended)
        raise DaysError(programs.OTHER_MAIN if not ended.began else stages.error_of(ended.stderr),
                        f"./days reset {kernel.day.number}" if kernel.file else "", WRONG)
    told = stages.parsed(lines)
    return Told(told[0] if told else {}, [case for case in told if "result" in case],
                sum(line.get("cases", 0) for line in told), ended)


# ---- the stages ----

def correct(kernel, backend="simt"):
    """Stage 1, and the exercise's header."""
    told = _cases(kernel, kernel.program(backend=backend))
    cases, failed, reports, doubt = told.cases, told.failed, told.reports, told.doubt
    if not failed and not reports and not doubt:
        return told.header, Stage("correct", "ok", stages.passed(cases))
    lines, behind = [], []
    if reports:
        if not any(re.match(r"[^ ].*\.cu:\d+ ", line) for line in reports[0]):  # found after the fact: who was it?
            reports = _cases(kernel, kernel.program(checked=True)).reports or reports
        lines += reports[0]
    unasked = "" if reports else _unasked(told)
    if failed and not reports:
        case = failed[0]
        lines.append(stages.case_name(case) + ":")
        if unasked:
            lines += [f"    the launch of {unasked}", "    and the launcher did not ask: CUDA_CHECK_LAUNCH(); behind it says so at once"]
        for element in case["first"][:3]:
            lines.append(f"    {element['at']} yours {element['got']}   expected {element['expected']}")
        lines += ["    " + note for note in case["notes"][:3]]
        if any("cudaErrorInvalidConfiguration" in note for note in case["notes"]) or "invalid configuration" in unasked:
            lines.append("A grid has 1 to 65535 blocks along y (along x up to 2147483647), a block 1 to 1024 threads.")
        behind = [] if unasked else _behind(kernel, cases)
        lines += behind
    if doubt and not reports:
        lines += doubt
    said = ("" if doubt or reports or unasked or behind
            else pattern([case for case in cases if case["result"] != "refused"]))
    if said:
        lines.append("Pattern: " + said)
    good = sum(case["result"] != "fail" for case in cases)
    return told.header, Stage("correct", "FAIL", f"{good} of {told.expected} cases pass", lines)


def _unasked(told):
    """"kernel k, grid (1,1,1), block (2048,1,1): invalid ..." of a launch that was refused, where the launcher let that pass and the
    program learned of it at its own next launch; else ""."""
    noted = re.search(r"^note: (kernel .*, grid \(.*\), block \(.*\): .*)$", told.ended.stderr, re.MULTILINE)
    known = not told.failed or told.failed[0]["notes"]  # a launcher that asks throws, which the case's notes have
    return noted.group(1).replace(": ", " failed: ", 1) if noted and not known else ""


def _behind(kernel, cases):
    """The report of the checked build where wrong elements come of memory that threads share, in a block or in an array that is
    changed in place: a race is easier to mend than a wrong element. [] where nothing was written at all, or nothing is shared."""
    failed = [case for case in cases if case["result"] == "fail"]
    in_place = all(case.get("in_place", 0) for case in failed)
    # What is swapped twice holds what it held before, as what nobody touched; only where that is so of all cases nothing was done.
    if not kernel.file or all(case["unwritten"] == case["compared"] for case in (cases if in_place else failed)):
        return []
    if not in_place and "__shared__" not in (paths.ROOT / kernel.file).read_text(encoding="utf-8", errors="replace"):
        return []
    reports = _cases(kernel, kernel.program(checked=True), ["--small"]).reports
    return reports[0] if reports else []


def race_free(kernel):
    """Stage 2: every access watched, the threads of a block in three orders."""
    program = kernel.program(checked=True)
    stage = stages.race_free(lambda order: _cases(kernel, program, ["--small"], SIMT_ORDER=order))
    if stage.verdict == "ok":
        stage.lines = _too_narrow(kernel)
    return stage


def _too_narrow(kernel):
    """What no shape here is large enough to show: a warning, and no failure. Of a learner's file alone."""
    if not kernel.file:
        return []
    read = lambda path: path.read_text(encoding="utf-8", errors="replace")  # noqa: E731
    headers = "".join(read(path) for path in sorted(kernel.day.folder.glob("*.h")))
    return [f"warning: {kernel.file}:{line}  {what}" for line, what in wide_indices.found(read(paths.ROOT / kernel.file), headers)[:3]]


def _moves_less(kernel, values, solution):
    """What to say instead of a share of waste that is too large: all in all the kernel moves no more than the rung that solves the
    exercise. Smaller requests waste more of fewer sectors. "" where it moves more."""
    if not solution or kernel.variant == solution:
        return ""
    theirs = counting.measure(Kernel(kernel.day, solution, kernel.file))[0]["sectors"]
    mine = values["sectors"]
    return f"{mine:,} sectors in all, {solution} moves {theirs:,}" if mine <= theirs else ""


def counters(kernel, gates, solution=""):
    """Stage 3. gates: {a metric's key: its bound}; solution: the rung that solves the exercise."""
    wanted = [metric for metric in EXERCISE if metric.key in gates]
    if not wanted:
        return Stage("counters", "skip", "this exercise has no gate on counters")
    told, missed = [], []
    try:
        values, launches, _ = counting.measure(kernel)
        for metric in wanted:
            value, bound = values[metric.key], gates[metric.key]
            holds, less = metric.holds(value, bound), ""
            if not holds and metric.key == "wasted_sectors":
                less = _moves_less(kernel, values, solution)
            told.append((holds or bool(less), f"{metric.label} {metric.shown(value)}, {less or metric.bound(bound)}"))
            missed += [] if told[-1][0] else [metric.key]
    except DaysError as error:
        if error.code != WRONG:
            raise
        return Stage("counters", "FAIL", error.message)
    return stages.counters(told, lambda: [*_where(missed, gates, launches), "Why: ./days explain "
                                          f"{kernel.day.number} {kernel.variant}"])


def _where(missed, gates, launches):
    """The launch, or the line, that is behind it."""
    if missed == ["blocks"]:
        few = min(launches, key=lambda launch: launch.blocks)
        return [f"Launched: {few.name} with {few.blocks:,} blocks of {math.prod(few.block)} threads"]
    if "wasted_sectors" not in gates and "conflicts" not in gates:
        return []
    worst = max((line for launch in launches for line in launch.lines if line.space in ("global", "shared")),
                key=lambda line: max(line.sectors - line.least, 0) if line.space == "global" else line.conflicts)
    return [f"{worst.file}:{worst.line}  {worst.verb} {worst.text.strip()}"]


def speed(kernel, gates):
    """Stage 4."""
    skipped = stages.no_speed(gates.get("speed"))
    if skipped:
        return skipped
    table, failed = timed(kernel, [kernel.variant])
    if failed:
        return failed
    row = next(row for row in table["rows"] if row["name"] == kernel.variant)
    share, limit = row["of_limit"], row.get("limit") or table["limit"]
    about = (f"{share:.0%} of this {gpus.detect().gpu.name}'s {limit['name']}, at least {gates['speed']:.0%}, at "
             + " x ".join(map(str, table["shape"].values())))
    return Stage("speed", "ok" if share >= gates["speed"] else "FAIL", about)


def timed(kernel, names, flags=()):
    """(the table of a run on the GPU of the kernel's program with these rows, None), or (None, the Stage that fails)."""
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "results.json"
        ended = _run(kernel.program(backend="cuda"), ["--variant", ",".join(names), "--json", str(results), *kernel.flags,
                                                       *flags])
        if ended.problem or ended.code:
            about = f"{ended.problem}, at {ended.where}" if ended.problem else "wrong on this GPU"
            return None, Stage("speed", "FAIL", about, ended.stderr.strip().splitlines()[:8])
        return json.loads(results.read_text(encoding="utf-8"))["tables"][0], None


def judge(kernel, begun, told):
    """Runs the stages up to the first that fails. begun(header) hears of the exercise first, told(Stage) of each stage.
    Returns the stages."""
    header, first = correct(kernel)
    begun(header)
    gates = header["exercise"].get("gates")
    if not gates:
        raise DaysError(f"the ladder of {kernel.variant} has no exercise")
    return stages.run((lambda: first, lambda: race_free(kernel), lambda: counters(kernel, gates, header["exercise"].get("solution", "")),
                       lambda: speed(kernel, gates)), told)
