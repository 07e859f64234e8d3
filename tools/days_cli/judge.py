# SPDX-License-Identifier: MIT
"""The four stages that a kernel must pass: correct, race-free, counters, speed. `check` tells the learner; CI judges the
shipped rungs by them."""
from __future__ import annotations

import json
import math
import os
import re
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import List

from days_cli import console, paths, run_build, traces
from days_cli import gpu as gpus
from days_cli.commands import explain
from days_cli.errors import DaysError
from days_cli.patterns import pattern

ORDERS = ("normal", "reversed", "shuffle:1")
SECONDS = "20"  # a kernel that makes no progress for so long hangs
STAGES = ("correct", "race-free", "counters", "speed")


@dataclass
class Stage:
    """verdict: ok, FAIL or skip; about: behind it; lines: below it."""
    name: str
    verdict: str
    about: str
    lines: List[str] = field(default_factory=list)


@dataclass
class Kernel:
    """What is judged: a variant of a day, "exercise" from the learner's file or a shipped rung."""
    day: object
    variant: str = "exercise"
    file: str = ""  # that takes exercise.cu's place

    def program(self, **how):
        return run_build.build_day(self.day, how.pop("backend", "simt"), exercise=self.file or None, **how)


def _run(program, arguments, **environment):
    return subprocess.run([str(program), *arguments], cwd=paths.ROOT, text=True, errors="replace",
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env={**os.environ, "NO_COLOR": "1", **environment})


def _cases(kernel, program, more=(), **environment):
    """(header, cases, what the program said on stderr); a program that tells nothing is an error."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cases"
        done = _run(program, ["--variant", kernel.variant, "--cases", str(path), *more], SIMT_TIMEOUT=SECONDS,
                    **environment)
        lines = path.read_text(errors="replace").splitlines() if path.is_file() else []
    if not lines:
        raise DaysError(f"{kernel.day.label} ended with {done.returncode}: {done.stderr.strip()[-400:]}",
                        f"./days run {kernel.day.number} --variant {kernel.variant}", 1)
    told = [json.loads(line) for line in lines]
    return told[0], [case for case in told if "result" in case], done.stderr


def _reports(text):
    """The reports of the CPU backend in a program's stderr, each a list of lines."""
    reports = []
    for line in text.splitlines():
        if re.match(r"error: .*\[simt-[a-z-]+\]$", line):
            reports.append([line])
        elif reports:
            reports[-1].append(line)
    return reports


def _case_name(case):
    shape = ", ".join(f"{extent} {n}" for extent, n in case["shape"].items())
    return f"{shape}{', ' + case['type'] if case['type'] != 'fp32' else ''}, {case['inputs'] or 'random inputs'}"


def _size(case):
    return math.prod(case["shape"].values()), case["inputs"] != ""


# ---- the stages ----

def correct(kernel):
    """Stage 1, and the exercise's header."""
    header, cases, errors = _cases(kernel, kernel.program())
    failed = sorted((case for case in cases if case["result"] == "fail"), key=_size)
    reports = _reports(errors)
    if not failed and not reports:
        refused = sum(case["result"] == "refused" for case in cases)
        about = f"{len(cases) - refused} cases of {len({str(case['shape']) for case in cases})} shapes"
        return header, Stage("correct", "ok", about + (f", {refused} refused as they must be" if refused else ""))
    lines = []
    if reports:
        if not any(re.match(r"[^ ].*\.cu:\d+ ", line) for line in reports[0]):  # found after the fact: who was it?
            reports = _reports(_cases(kernel, kernel.program(checked=True))[2]) or reports
        lines += reports[0]
    elif failed:
        case = failed[0]
        lines.append(_case_name(case) + ":")
        for element in case["first"][:3]:
            lines.append(f"    {element['at']} yours {element['got']}   expected {element['expected']}")
        lines += ["    " + note for note in case["notes"][:3]]
        if any("cudaErrorInvalidConfiguration" in note for note in case["notes"]):
            lines.append("A grid has 1 to 65535 blocks along y (along x up to 2147483647), a block 1 to 1024 threads.")
        lines += _behind(kernel, cases)
    said = pattern([case for case in cases if case["result"] != "refused"])
    if said:
        lines.append("Pattern: " + said)
    good = sum(case["result"] != "fail" for case in cases)
    return header, Stage("correct", "FAIL", f"{good} of {len(cases)} cases pass", lines)


def _behind(kernel, cases):
    """The report of the checked build where wrong elements come of shared memory: a missing barrier is easier to mend than
    a wrong element. [] where nothing was written at all, or nothing is shared."""
    if not kernel.file or all(case["unwritten"] == case["compared"] for case in cases if case["result"] == "fail"):
        return []
    if "__shared__" not in (paths.ROOT / kernel.file).read_text(encoding="utf-8", errors="replace"):
        return []
    reports = _reports(_cases(kernel, kernel.program(checked=True), ["--small"])[2])
    return reports[0] if reports else []


def race_free(kernel):
    """Stage 2: every access watched, the threads of a block in three orders."""
    program, seen = kernel.program(checked=True), 0
    for order in ORDERS:
        _, cases, errors = _cases(kernel, program, ["--small"], SIMT_ORDER=order)
        reports = _reports(errors)
        if reports:
            return Stage("race-free", "FAIL", f"threads in {order.partition(':')[0]} order", reports[0])
        failed = sorted((case for case in cases if case["result"] == "fail"), key=_size)
        if failed:
            return Stage("race-free", "FAIL", f"wrong with threads in {order.partition(':')[0]} order",
                         [_case_name(failed[0]), "The result depends on which thread runs first."])
        seen += len(cases)
    return Stage("race-free", "ok", f"{seen} cases, {len(ORDERS)} orders of threads, every access watched")


@dataclass(frozen=True)
class Gate:
    """key: in a ladder's gates; unset: the value that means none; most: the gate is a maximum, else a minimum."""
    key: str
    label: str
    form: str
    unset: float
    most: bool = True

    def is_set(self, gates):
        return gates[self.key] != self.unset

    def holds(self, value, gates):
        return value <= gates[self.key] if self.most else value >= gates[self.key]

    def bound(self, gates):
        limit = gates[self.key]
        return f"at {'most' if self.most else 'least'} " + (f"{limit:.0%}" if "%" in self.form else f"{limit:g}")


GATES = (Gate("reads_per_input", "reads per input", "{:.2f}", 0),
         Gate("wasted_sectors", "wasted sectors", "{:.0%}", 1),
         Gate("conflicts", "bank conflicts a request", "{:.1f}", -1),
         Gate("bytes_per_request", "bytes a request", "{:.0f}", 0, most=False))


def measure(kernel):
    """({a gate's key: what the kernel has}, its launches), on the shape that ./days run shows on a CPU."""
    counted, table = explain.count(kernel.program(traced=True), kernel.day, kernel.variant)
    launches = traces.launches(counted)

    def total(name):
        return sum(launch.totals[name] * launch.times for launch in launches)

    def both(metric):
        return sum(total(metric.format(op)) for op in ("ld", "st"))

    requests, sectors = both(traces.requests_metric("{}")), both(traces.sectors_metric("{}"))
    shared = both("simt_shared_requests_op_{}")
    return {"reads_per_input": total("simt_requested_bytes_op_ld") / table["tables"][0]["read_bytes"],
            "wasted_sectors": 1 - both("simt_least_sectors_op_{}") / sectors if sectors else 0,
            "conflicts": both(traces.CONFLICTS) / shared if shared else 0,
            "bytes_per_request": both("simt_requested_bytes_op_{}") / requests if requests else 0}, launches


def counters(kernel, gates):
    """Stage 3."""
    wanted = [gate for gate in GATES if gate.is_set(gates)]
    if not wanted:
        return Stage("counters", "skip", "this exercise has no gate on counters")
    values, launches = measure(kernel)
    found = [(gate.holds(values[gate.key], gates),
              f"{gate.label} {gate.form.format(values[gate.key])}, {gate.bound(gates)}") for gate in wanted]
    missed = [text for holds, text in found if not holds]
    if not missed:
        return Stage("counters", "ok", "; ".join(text for _, text in found))
    lines = []
    if gates["wasted_sectors"] < 1 or gates["conflicts"] >= 0:
        worst = max((line for launch in launches for line in launch.lines if line.space in ("global", "shared")),
                    key=lambda line: max(line.sectors - line.least, 0) if line.space == "global" else line.conflicts)
        lines.append(f"{worst.file}:{worst.line}  {worst.verb} {worst.text.strip()}")
    word = "exercise" if kernel.variant == "exercise" else kernel.variant
    return Stage("counters", "FAIL", "; ".join(missed), [*lines, f"Why: ./days explain {kernel.day.number} {word}"])


def speed(kernel, gates):
    """Stage 4."""
    gpu = gpus.detect().gpu
    if not gates["speed"]:
        return Stage("speed", "skip", "this exercise has no gate on speed")
    if not gpu:
        return Stage("speed", "skip", f"no GPU here; the gate is {gates['speed']:.0%} of its limit")
    done = _run(kernel.program(backend="cuda"), ["--variant", kernel.variant, "--json", "-"])
    if done.returncode:
        return Stage("speed", "FAIL", "wrong on this GPU", done.stderr.strip().splitlines()[:8])
    table = json.loads(done.stdout)["tables"][0]
    share = next(row["of_limit"] for row in table["rows"] if row["name"] == kernel.variant)
    about = (f"{share:.0%} of this {gpu.name}'s {table['limit']['name']}, at least {gates['speed']:.0%}, at "
             + " x ".join(map(str, table["shape"].values())))
    return Stage("speed", "ok" if share >= gates["speed"] else "FAIL", about)


def judge(kernel, begun, told):
    """Runs the stages up to the first that fails. begun(header) hears of the exercise first, told(Stage) of each stage.
    Returns the stages."""
    header, first = correct(kernel)
    begun(header)
    stages, gates = [], header["exercise"].get("gates")
    if not gates:
        raise DaysError(f"the ladder of {kernel.variant} has no exercise")
    for run in (lambda: first, lambda: race_free(kernel), lambda: counters(kernel, gates),
                lambda: speed(kernel, gates)):
        stages.append(run())
        told(stages[-1])
        if stages[-1].verdict == "FAIL":
            break
    return stages


def print_stage(stage):
    number = STAGES.index(stage.name) + 1
    lead = f"{number} {stage.name:<11}"
    rest = console.wrap(stage.about, " " * (len(lead) + 6))
    console.say(lead + console.status(stage.verdict, 6) + "\n".join(rest).lstrip())
    for line in stage.lines:
        for part in console.wrap(line, "  ", "") if len(line) > console.WIDTH else [line]:
            console.say(part)
