# SPDX-License-Identifier: MIT
"""The four stages that a kernel must pass: correct, race-free, counters, speed. What they share, whatever the kernel is written in and
whoever runs it: the stages themselves, what a run on cases came to, and how each is told."""
from __future__ import annotations

import json
import math
import os
import re
from dataclasses import dataclass, field
from typing import List

from days_cli import console, programs
from days_cli import gpu as gpus
from days_cli.errors import DaysError

STAGES = ("correct", "race-free", "counters", "speed")
ORDERS = ("normal", "reversed", "shuffle:1")
HANGS = "20"  # seconds: a kernel that makes no progress for so long hangs
CASE_SECONDS = 120  # a case that takes so long does not end: a loop of the host, threads that wait for each other
PROGRAM_SECONDS = 600  # all cases of a run
_REPORT_LINES = 40  # no report is so long; what a kernel's file prints after it may be


@dataclass
class Stage:
    """verdict: ok, FAIL or skip; about: behind it; lines: below it."""
    name: str
    verdict: str
    about: str
    lines: List[str] = field(default_factory=list)


@dataclass
class Told:
    """What a run of a day's program on its cases came to. It is believed only where `doubt` is empty."""
    header: dict
    cases: List[dict]
    expected: int  # cases that the program had before it, counted before the first one ran
    ended: programs.Ended

    @property
    def failed(self):
        return sorted((case for case in self.cases if case["result"] == "fail"), key=size_of)

    @property
    def reports(self):
        return reports_of(self.ended.stderr)

    @property
    def doubt(self):
        """[]: every case was run. Else the lines that say why not, and at which case."""
        what = self.ended.problem
        if not what and self.failed:
            return []  # a fault leaves the device unusable, and what follows was not run
        if not what and len(self.cases) != self.expected:
            what = f"ended after {len(self.cases)} of {self.expected} cases"
        if not what and self.ended.code and not self.reports:
            what = f"ended with exit code {self.ended.code}"
        if what:
            said = [line for line in self.ended.stderr.splitlines() if line.strip()][-3:]
            more = f"A slow machine gets more time with DAYS_CHECK_SECONDS={3 * case_seconds():g}."
            return [f"{self.ended.where}:", f"    the program {what}", *(f"    {line[:200]}" for line in said),
                    *([more] if self.ended.stopped else [])]
        if not any(case["result"] in ("ok", "compiled") for case in self.cases):
            return ["No case ran a kernel here."]
        return []


def case_seconds():
    text = os.environ.get("DAYS_CHECK_SECONDS") or str(CASE_SECONDS)
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0
    if not 0 < seconds < math.inf:
        raise DaysError(f"DAYS_CHECK_SECONDS={text}: that is how many seconds a case may take", "unset DAYS_CHECK_SECONDS")
    return seconds


def parsed(lines):
    """What a program told of its cases, line by line; it may have died while it wrote the last."""
    told = []
    for line in lines:
        try:
            told.append(json.loads(line))
        except ValueError:
            break
    return told


def error_of(text):
    """What a program's stderr says, without the word that every error begins with."""
    return " ".join(text.split())[-400:].partition("error: ")[2] or "the program told of no case"


def reports_of(text):
    """The reports of the CPU backend in a program's stderr, each a list of lines."""
    reports = []
    for line in text.splitlines():
        if re.match(r"error: .*\[simt-[a-z-]+\]$", line):
            reports.append([line])
        elif reports and len(reports[-1]) < _REPORT_LINES:
            reports[-1].append(line)
    return reports


def case_name(case):
    shape = ", ".join(f"{extent} {n}" for extent, n in case["shape"].items())
    return f"{shape}{', ' + case['type'] if case['type'] != 'fp32' else ''}, {case['inputs'] or 'random inputs'}"


def size_of(case):
    return math.prod(case["shape"].values()), case["inputs"] != ""


# ---- a stage ----

def race_free(run, of="threads", watched=", every access watched", wrong=lambda case: []):
    """Stage 2. run(an order): what came of the small cases with threads, or programs, in this order; wrong: what is told of a case that
    fails beside its name."""
    seen = 0
    for order in ORDERS:
        told, name = run(order), order.partition(":")[0]
        if told.reports:
            return Stage("race-free", "FAIL", f"{of} in {name} order", list(told.reports[0]))
        if told.failed:
            return Stage("race-free", "FAIL", f"wrong with {of} in {name} order", [
                case_name(told.failed[0]), *wrong(told.failed[0]), f"The result depends on which {of[:-1]} runs first."])
        if told.doubt:
            return Stage("race-free", "FAIL", f"did not come to its end with {of} in {name} order", told.doubt)
        seen += len(told.cases)
    return Stage("race-free", "ok", f"{seen} cases, {len(ORDERS)} orders of {of}{watched}")


def counters(told, lines):
    """Stage 3. told: [(whether a gate holds, what is said of it)], of one gate at least; lines(): where to look, should one be missed."""
    missed = [text for holds, text in told if not holds]
    return Stage("counters", "FAIL", "; ".join(missed), lines()) if missed else Stage("counters", "ok", "; ".join(text for _, text in told))


def passed(cases):
    """"54 cases of 18 shapes", and how many were refused."""
    compiled = next((case["notes"][0] for case in cases if case["result"] == "compiled"), "")
    if compiled:  # by nobody that is here
        return compiled
    refused = sum(case["result"] == "refused" for case in cases)
    return (f"{len(cases) - refused} cases of {len({str(case['shape']) for case in cases})} shapes"
            + (f", {refused} refused as they must be" if refused else ""))


def no_speed(bound):
    """Stage 4 where it is skipped: the exercise asks for none, or there is no GPU; else None. bound: the least share of its limit."""
    if not bound:
        return Stage("speed", "skip", "this exercise has no gate on speed")
    if not gpus.detect().gpu:
        return Stage("speed", "skip", f"no GPU here; the gate is {bound:.0%} of its limit")
    return None


# ---- all of them ----

def run(runs, told):
    """Runs the stages, each a function, up to the first that fails; told(Stage) hears of each. Returns them."""
    stages = []
    for run in runs:
        stages.append(run())
        told(stages[-1])
        if stages[-1].verdict == "FAIL":
            break
    return stages


def print_stage(stage):
    print_numbered(STAGES.index(stage.name) + 1, stage)


def print_numbered(number, stage):
    lead = f"{number} {stage.name:<11}"
    rest = console.wrap(stage.about, " " * (len(lead) + 6))
    console.say(lead + console.status(stage.verdict, 6) + "\n".join(rest).lstrip())
    for line in stage.lines:
        for part in console.wrap(line, "  ", "") if len(line) > console.WIDTH else [line]:
            console.say(part)
