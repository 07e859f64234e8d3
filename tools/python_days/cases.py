# SPDX-License-Identifier: MIT
"""Runs a launcher on a case, wherever its adapter has it run, and says what came of it as the days' other programs do: one place that knows
a refusal, tells exceptions, and judges."""
from __future__ import annotations

import os
import re
from dataclasses import dataclass, field

import numpy as np

from days_cli.metrics import RACES
from python_days import adapters
from python_days.comparing import NOTHING, Reference, changed
from python_days.day import shown
from python_days.plain import Unavailable
from python_days.tensors import Tensor

_OURS = os.path.dirname(os.path.abspath(__file__)) + os.sep
_SITE = re.compile(r"[/\\](site|dist)-packages[/\\]")  # Triton and all others that are installed
_SMALL = 20000  # elements of all tensors: a case that is also run in other orders of its programs
_SOURCE = {"oob": "out-of-bounds access", "race": "race between programs", "uninit": "load of what nobody has written",
           "promise": "a promise that is not kept", "assert": "an assertion fails", "hazard": "race between threads of a program",
           "release": "a lock that promises too much", "hang": "a program that waits for ever"}


@dataclass
class Case:
    kind: str
    shape: tuple
    inputs: str = ""
    refused: str = ""  # why the launcher must refuse it


@dataclass
class Outcome:
    """result: ok, fail or refused; reports: what watching found; notes: what an exception said."""
    result: str
    facts: dict = field(default_factory=lambda: dict(NOTHING))
    reports: list = field(default_factory=list)
    notes: list = field(default_factory=list)
    launches: list = field(default_factory=list)
    outputs: list = field(default_factory=list)


def all_cases(ladder, rung="", thin=False):
    """Every case of a ladder; what the rung does not take it must refuse. thin: of a type as wide as another every third shape, and of hostile values one kind a shape, in turn, as
    a CPU's tests have it."""
    found = []
    for number, kind in enumerate(ladder.types):
        shapes = ladder.shapes[::3] if thin and kind == "bf16" and "fp16" in ladder.types else ladder.shapes
        for turn, shape in enumerate(shapes):
            hostile = list(ladder.hostile)
            if thin and hostile:
                hostile = [hostile[(turn + number) % len(hostile)]]
            if ladder.takes_shape(rung, kind, shape):
                found += [Case(kind, shape, inputs) for inputs in ("", *hostile)]
            else:
                found.append(Case(kind, shape, "", f"{kind} {' x '.join(map(str, shape))}"))
    return found + [Case(ladder.types[0], ladder.shapes[len(ladder.shapes) // 2], inputs, inputs) for inputs in ladder.refused]


def not_interpreted(ladder, rung):
    """What is said of a rung that only a GPU runs."""
    return f"compiled, not interpreted: {ladder.compiled_only[rung]}"


def lacks_standin(outcome):
    """Whether a case failed for the interpreter's sake alone."""
    return any("has no stand-in for" in note for note in outcome.notes)


def or_compiled(outcome, ladder, rung):
    """The outcome, or of a rung that the interpreter cannot run that it is compiled alone."""
    if rung in ladder.compiled_only and lacks_standin(outcome):
        return Outcome("compiled", notes=[not_interpreted(ladder, rung)])
    return outcome


def is_small(ladder, case):
    inputs, outputs = ladder.make(case.kind, case.shape, draw=False)
    return sum(t.numel() for t in (*inputs, *outputs) if isinstance(t, Tensor)) <= _SMALL and not case.refused


def run(case, adapter):
    """The Outcome of a case. What was not written because of an exception says nothing more than the exception, so it is not compared."""
    problem = adapter.problem(case.kind, case.shape, case.inputs)
    refusal, notes = _started(adapter, problem)
    if case.refused and refusal:
        return Outcome("refused", notes=[refusal])
    if case.refused:
        return Outcome("fail", notes=notes or [f"the launcher takes {case.refused}, and must refuse it with a ValueError"])
    if refusal:
        notes = [f"the launcher refuses it: {refusal}"]
    outputs = [] if notes else problem.outputs_now()
    facts = {**(dict(NOTHING) if notes else _judged(adapter.ladder, problem, outputs)), **adapter.counted(problem)}
    bad = facts["wrong"] or notes or any(report.slug not in RACES for report in adapter.reports)
    return Outcome("fail" if bad else "ok", facts, list(adapter.reports), notes, list(adapter.launches), outputs)


def repeatable(case, ladder, launch, first):
    """In how many orders of programs the outputs have the same bits, given the outcome of the first. Where programs touch nothing in common
    they have, and nothing is run for it."""
    others = adapters.ORDERS[1:]
    if first.reports or any(line[2] == "atomic" for one in first.launches for line in one.lines):
        others = [order for order in others if _bits(run(case, adapters.of(ladder, launch, order))) == _bits(first)]
    return 1 + len(others)


def _bits(outcome):
    return [np.ascontiguousarray(tensor.array).tobytes() for tensor in outcome.outputs]


def _judged(ladder, problem, outputs):
    """The comparison of all outputs with the reference, as one; an input that is no output has to be as it was."""
    facts, inputs = Reference(ladder, problem).facts(outputs), changed(problem)
    told = [{"at": "an input", "got": "changed", "expected": "unchanged"}] * inputs
    return {**facts, "wrong": facts["wrong"] + inputs, "first": facts["first"] + told}


def _started(adapter, problem):
    """(why the launcher refuses, [what went wrong in it])."""
    try:
        adapter.start(problem)
    except Unavailable:
        raise
    except Exception as error:  # a launcher may do anything
        return (sentence(error, 0) or type(error).__name__, []) if adapter.refuses(error) else ("", [_told(error, adapter)])
    return "", []


def _told(error, adapter):
    """What an exception says, as a line with its place; where kernels are watched, an assertion of theirs becomes a report."""
    last = _last(error)
    if isinstance(last, AssertionError) and adapter.watches:
        text = sentence(last, -1)
        adapter.report("assert", line_of(error), text or "an assertion fails")
        return f"an assertion fails: {text}"
    return told(error)


def _last(error):
    """What an exception came of."""
    while error.__cause__ is not None:
        error = error.__cause__
    return error


def sentence(error, number):
    """A line of what an exception says; "" where it says nothing."""
    words = str(error).strip().splitlines()
    return words[number].strip() if words else ""


def line_of(error):
    """(file, line) of the kernel's code where an exception came from; (None, 0) where it is none of a kernel's."""
    where, seen = (None, 0), set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        trace = error.__traceback__
        while trace:
            file = trace.tb_frame.f_code.co_filename
            if not file.startswith(_OURS) and not _SITE.search(file) and os.path.isfile(file):
                where = file, trace.tb_lineno
            trace = trace.tb_next
        error = error.__cause__ or error.__context__
    return where


def told(error, number=-1):
    """One line of what an exception says, the last unless another is asked for, with its place."""
    (file, line), last = line_of(error), _last(error)
    at = f"{shown(file)}:{line}: " if file else ""
    return f"{at}{'' if type(last).__name__ == 'Mistake' else type(last).__name__ + ': '}{sentence(last, number)}"


def describe(report):
    """A report as lines, with its slug, as ./days shows those of the CPU backend."""
    file, line = report.where
    if not file:
        return [f"error: {_SOURCE[report.slug]} [triton-{report.slug}]", report.says]
    with open(file, encoding="utf-8") as source:
        lines = source.read().splitlines()
    code = lines[line - 1].strip() if line <= len(lines) else ""
    return [f"error: {_SOURCE[report.slug]} [triton-{report.slug}]", f"{shown(file)}:{line}  {code}", f"    {report.says}"]


def as_json(ladder, case, outcome):
    """What ./days check reads of a case."""
    grids = [int(np.prod(launch.grid)) for launch in outcome.launches if launch.grid]
    return {"ladder": ladder.name, "type": case.kind, "shape": dict(zip(ladder.extents, case.shape)), "inputs": case.inputs,
            "result": outcome.result, "notes": outcome.notes, "blocks": max(grids, default=0), "threads": 0,
            "reports": [[report.slug, *describe(report)] for report in outcome.reports],
            **outcome.facts}


def counted(launches):
    """The launches of a case as JSON: [{name, grid, lines: [{file, line, op, argument, accesses, bytes, ... of watch.Line}]}]."""
    return [{"name": launch.name, "grid": list(launch.grid), "wave_sectors": launch.wave_sectors,
             "lines": [{"file": shown(file), "line": line, "op": op, "argument": argument, **vars(counts)}
                       for (file, line, op, argument), counts in sorted(launch.lines.items())]} for launch in launches]
