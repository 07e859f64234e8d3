# SPDX-License-Identifier: MIT
"""Runs a launcher on a case, in Triton's interpreter, and says what came of it as the days' other programs do. The interpreter is imported
where it is needed and not before: a process that has it has no other Triton, and on a GPU these cases are for its own."""
from __future__ import annotations

import copy
import os
import re
from dataclasses import dataclass, field

import numpy as np

from days_cli.metrics import RACES
from python_days.comparing import compare
from python_days.day import shown
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
    facts: dict = field(default_factory=dict)
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


def is_small(ladder, case):
    inputs, outputs = ladder.make(case.kind, case.shape, draw=False)
    return sum(t.numel() for t in (*inputs, *outputs) if isinstance(t, Tensor)) <= _SMALL and not case.refused


def run(ladder, launch, case, order="normal", wave=0, dealt=()):
    if ladder.by != "triton":
        from python_days import plain
        return plain.run(ladder, launch, case, order)
    from python_days import watch
    inputs, outputs = ladder.make(case.kind, case.shape, case.inputs)
    before = [copy.deepcopy(tensor) for tensor in inputs]
    with np.errstate(all="ignore"), watch.Watch(order, wave, dealt=dealt) as watching:
        refusal, notes = _launched(launch, [*inputs, *(t for t in outputs if not any(t is other for other in inputs))], watching)
    if case.refused:
        if refusal:
            return Outcome("refused", notes=[refusal])
        return Outcome("fail", notes=notes or [f"the launcher takes {case.refused}, and must refuse it with a ValueError"])
    if refusal:
        notes = [f"the launcher refuses it: {refusal}"]
    facts = {**judged(ladder, before, inputs, outputs), **watching.memory(None if ladder.gradient is None else inputs[ladder.gradient])}
    bad = facts["wrong"] or notes or any(report.slug not in RACES for report in watching.reports)
    return Outcome("fail" if bad else "ok", facts, watching.reports, notes, watching.launches, outputs)


def repeatable(ladder, launch, case, first):
    """In how many orders of programs the outputs have the same bits, given the outcome of the first. Where programs touch nothing in common
    they have, and nothing is run for it."""
    from python_days import watch
    others = watch.ORDERS[1:]
    if first.reports or any(line[2] == "atomic" for one in first.launches for line in one.lines):
        others = [order for order in others if _bits(run(ladder, launch, case, order)) == _bits(first)]
    return 1 + len(others)


def _bits(outcome):
    return [np.ascontiguousarray(tensor.array).tobytes() for tensor in outcome.outputs]


def judged(ladder, before, inputs, outputs):
    """The comparison of all outputs with the reference, as one; an input that is no output has to be as it was."""
    facts = {"wrong": 0, "compared": 0, "unwritten": 0, "worst": 0.0, "relative": 0.0, "first": [], "least_ratio": None, "most_ratio": None}
    for number, (made, expected) in enumerate(zip(outputs, ladder.expected(before))):
        one = compare("out" if len(outputs) == 1 else f"out{number}", made, expected, ladder.tolerance)
        worst = (facts["worst"], one["worst"])
        facts = {**one, "wrong": facts["wrong"] + one["wrong"], "compared": facts["compared"] + one["compared"],
                 "unwritten": facts["unwritten"] + one["unwritten"], "first": facts["first"] + one["first"],
                 "relative": max(facts["relative"], one["relative"]), "worst": None if None in worst else max(worst)}
    for was, tensor in zip(before, inputs):
        if isinstance(tensor, Tensor) and not any(tensor is made for made in outputs):
            if not np.array_equal(np.ascontiguousarray(was.array).view(np.uint8), np.ascontiguousarray(tensor.array).view(np.uint8)):
                facts["wrong"] += 1
                facts["first"].append({"at": "an input", "got": "changed", "expected": "unchanged"})
    return facts


def _launched(launch, tensors, watching):
    """(why the launcher refuses, [what went wrong in it])."""
    try:
        launch(*tensors)
    except ValueError as error:
        if line_of(error)[0] and not watching.launches:
            return str(error), []
        return "", [_told(error, watching)]
    except Exception as error:  # a kernel may do anything
        return "", [_told(error, watching)]
    return "", []


def _told(error, watching):
    """What an exception says, as a line with its place; an assertion of the kernel's becomes a report."""
    where, last = line_of(error), _last(error)
    if isinstance(last, AssertionError):
        text = _sentence(last, -1)
        watching.report("assert", where, text or "an assertion fails")
        return f"an assertion fails: {text}"
    return told(error)


def _last(error):
    """What an exception came of."""
    while error.__cause__ is not None:
        error = error.__cause__
    return error


def _sentence(error, number):
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
    return f"{at}{'' if type(last).__name__ == 'Mistake' else type(last).__name__ + ': '}{_sentence(last, number)}"


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
            "wrong": 0, "compared": 0, "unwritten": 0, "first": [], **outcome.facts}


def counted(launches):
    """The launches of a case as JSON: [{name, grid, lines: [{file, line, op, argument, accesses, bytes, ... of watch.Line}]}]."""
    return [{"name": launch.name, "grid": list(launch.grid), "wave_sectors": launch.wave_sectors,
             "lines": [{"file": shown(file), "line": line, "op": op, "argument": argument, **vars(counts)}
                       for (file, line, op, argument), counts in sorted(launch.lines.items())]} for launch in launches]
