# SPDX-License-Identifier: MIT
"""What the program of a Python day does, one function a command."""
from __future__ import annotations

import contextlib
import io
import json
import sys

from days_cli import console
from days_cli.errors import USAGE, WRONG, DaysError
from python_days import adapters, device
from python_days.day import EXERCISE, Day, shown
from python_days.tensors import TYPES


_PRINTED = 5  # lines of what a kernel's file prints in a case


def _day(given):
    device.assumed()  # a name that there is not must not look like a launcher's error
    return Day(given.folder)


def _chosen(day, given):
    """[(ladder, rungs, types, shape or None)] that --variant, --type and --size name."""
    names = given.variant.split(",") if given.variant else []
    for name in names:
        day.ladder_of(name)
    kinds = given.type.split(",") if given.type else []
    for kind in kinds:
        if kind not in TYPES:
            raise DaysError(f'--type is one of {", ".join(TYPES)}, not "{kind}"', f"./days run {day.number}", USAGE)
    found = []
    for ladder in day.ladders:
        rungs = [name for name in (names or ladder.rungs) if name in ladder.rungs or name == EXERCISE and ladder.exercise]
        types = [kind for kind in ladder.types if not kinds or kind in kinds]
        if rungs and types and (not given.size or names or _fits(ladder, given.size)):
            found.append((ladder, rungs, types, _shape(day, ladder, given.size)))
    if not found:
        known = "; ".join(f"{ladder.name}: {' x '.join(ladder.extents)}, {', '.join(ladder.types)}" for ladder in day.ladders)
        raise DaysError(f"no ladder of day {day.number:02d} {day.name} fits these flags. There are {known}",
                        f"./days run {day.number}", USAGE)
    return found


def _fits(ladder, size):
    return len(size.split("x")) == len(ladder.extents)


def _shape(day, ladder, size):
    if not size:
        return None
    parts = size.split("x")
    if len(parts) != len(ladder.extents) or not all(part.isdecimal() and int(part) > 0 for part in parts):
        shown_as = "x".join(map(str, ladder.show))
        raise DaysError(f'--size of {ladder.name} is {" x ".join(ladder.extents)}, each at least 1, such as {shown_as}; not "{size}"',
                        f"./days run {day.number} --size {shown_as}", USAGE)
    return tuple(map(int, parts))


def run(given):
    day = _day(given)
    if given.list:
        for ladder in day.ladders:
            console.say(f"{ladder.name}, {' x '.join(ladder.extents)}, {', '.join(ladder.types)}")
            for rung in ladder.rungs:
                console.say(f"  {rung:<14} {shown(day.file(rung))}")
        return 0
    if adapters.on_gpu():
        from python_days import on_gpu
        return on_gpu.run(day, _chosen(day, given), given)
    from python_days import showing
    return showing.run(day, _chosen(day, given), given)


def cases(given):
    """Each case as a line of JSON, after a header that says how many there will be."""
    from python_days import cases as running
    day = _day(given)
    ladder = day.ladder_of(given.variant)
    wanted = running.all_cases(ladder, given.variant)
    if given.file:  # a learner's may take what the rung does not, as the one before does
        wanted = [case for case in wanted if not case.refused or case.inputs in ladder.refused]
    if given.small:
        wanted = [case for case in wanted if case.kind == ladder.types[0] and running.is_small(ladder, case)]
    with open(given.out, "w", encoding="utf-8") as out:
        def say(**members):
            out.write(json.dumps(members) + "\n")
            out.flush()
        say(ladder=ladder.name, cases=len(wanted), exercise=vars(ladder.exercise) if ladder.exercise else None)
        launch = day.launch(given.variant, given.file)
        good = True
        for case in wanted:
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                outcome = running.or_compiled(running.run(case, adapters.of(ladder, launch, given.order or "normal")), ladder, given.variant)
            lines = printed.getvalue().splitlines()
            say(**running.as_json(ladder, case, outcome), printed=lines[:_PRINTED], printed_lines=len(lines))
            good = good and outcome.result != "fail"
            if given.small and outcome.reports:
                break  # a report is what --small is asked for
    return 0 if good else WRONG


def count(given):
    """What each line moves, on the shape that run shows."""
    day = _day(given)
    ladder = day.ladder_of(given.variant)
    kind, shape = given.type or ladder.types[0], _shape(day, ladder, given.size) or ladder.show
    if kind not in ladder.types:
        raise DaysError(f"{ladder.name} has no {kind}: {', '.join(ladder.types)}", f"./days explain {day.number}", USAGE)
    wave = int(given.wave) if given.wave else ladder.wave
    json.dump(counted(ladder, given.variant, day.launch(given.variant, given.file), kind, shape, wave, _dealt(given.dealt)), sys.stdout)
    return 0


def counted(ladder, rung, launch, kind, shape, wave=0, dealt=()):
    """What count answers of a launcher. dealt: the kernels of what compile answers, by which blocks are dealt out to lanes."""
    from python_days import cases as running
    from python_days import plain
    with plain.silent():
        case = running.Case(kind, shape)
        outcome = running.run(case, adapters.of(ladder, launch, wave=wave, dealt=dealt))
        repeatable = running.repeatable(case, ladder, launch, outcome) if ladder.by == "triton" else 0
        outcome = running.or_compiled(outcome, ladder, rung)
    inputs, outputs = ladder.make(kind, shape, draw=False)
    read, written = ladder.traffic(inputs, outputs)
    return {"ladder": ladder.name, "type": kind, "shape": list(shape), "extents": list(ladder.extents), "read_bytes": read,
            "written_bytes": written, "result": outcome.result, "notes": outcome.notes,
            "reports": [running.describe(report) for report in outcome.reports], "wave": wave, "assumed_device": device.told(),
            "repeatable": repeatable, "launches": running.counted(outcome.launches), "error": outcome.facts["relative"] * 2**24,
            "scratch": outcome.facts.get("scratch", 0), "alive": outcome.facts.get("alive", 0),
            "counters": _counters(ladder, launch, kind, shape) if outcome.result == "ok" else []}


def _dealt(file):
    """The kernels of an answer of compile()."""
    if not file:
        return ()
    with open(file, encoding="utf-8") as answer:
        return json.load(answer)["kernels"]


def _counters(ladder, launch, kind, shape):
    """Of a ladder by plain Python, what it counts of the rung; [] of Triton's."""
    from python_days import plain
    with plain.silent():
        return plain.as_json(ladder, plain.measured(ladder, launch, kind, shape))


def compile(given):
    """What the compiler makes of rungs, for several architectures; of what is not Triton's, nothing."""
    from python_days import compiled
    day = _day(given)
    found = []
    for ladder, rungs, types, shape in _chosen(day, given):
        for rung in rungs if ladder.by == "triton" else ():
            launch = day.launch(rung, given.file if rung == given.variant else None)
            for kind in types if given.type else types[:1]:
                for sm in map(int, given.arch.split(",") if given.arch else map(str, compiled.ARCHITECTURES)):
                    found.append(made(ladder, rung, launch, kind, shape or ladder.show, sm, given.lines, given.stage or ""))
    json.dump(found, sys.stdout)
    return 0


def made(ladder, rung, launch, kind, shape, sm, lines=False, stage=""):
    """What compile answers of a launcher for one architecture, with the family of the ladder's calls for the newest."""
    from python_days import compiled
    found = {"ladder": ladder.name, "rung": rung, "type": kind, "sm": sm, "shape": list(shape), "kernels": []}
    try:
        kernels = compiled.compiled(launch, _arguments(ladder, kind, shape), sm, lines, stage=stage, dealt=True)
        if ladder.calls and sm == compiled.ARCHITECTURES[-1] and not stage:
            found.update(compiled.family(launch, (_arguments(ladder, kind, *call) for call in ladder.calls), sm))
    except compiled.Refused as refused:
        return {**found, "refused": str(refused), "where": refused.where}
    found["kernels"] = list(map(_as_json, kernels))
    found["load_bits"] = compiled.load_bits(kernels)
    return found


def _arguments(ladder, kind, shape, inputs=""):
    """What a launcher is given in a case, without values."""
    given, outputs = ladder.make(kind, shape, inputs, draw=False)
    return adapters.with_outputs(given, outputs)


def test(given):
    from python_days import testing
    return testing.run(_day(given), counted)


def bench(given):
    from python_days import on_gpu
    day = _day(given)
    return on_gpu.bench(day, _chosen(day, given), given)


def mutants(given):
    """All mutants of the day; with --numbers one answer a line, as it comes."""
    from python_days import mutants as made
    day = _day(given)
    if given.numbers is None:
        json.dump([{"number": one.number, "file": one.file, "line": one.line, "column": one.column, "edit": one.edit}
                   for one in made.of_day(day)], sys.stdout)
        return 0
    for number, noticed in made.verdicts(day, [int(word) for word in given.numbers.split(",")]):
        console.say(json.dumps([number, noticed]))
    return 0


def own(given):
    """A Triton file of one's own, watched."""
    from python_days import own as file
    _answer(given, file.watched(given.folder, given.order.split(",") if given.order else adapters.ORDERS))
    return 0


def own_made(given):
    """What the compiler makes of its kernels, for each architecture."""
    from python_days import compiled
    from python_days import own as file
    found = []
    for sm in map(int, given.arch.split(",") if given.arch else map(str, compiled.ARCHITECTURES)):
        one = {"sm": sm, "kernels": []}
        try:
            kernels = file.made(given.folder, sm, given.stage or "", given.lines)
        except compiled.Refused as refused:
            found.append({**one, "refused": str(refused), "where": refused.where})
            continue
        found.append({**one, "kernels": list(map(_as_json, kernels)), "load_bits": compiled.load_bits(kernels)})
    _answer(given, found)
    return 0


def _answer(given, found):
    """To --out: standard output is the file's own."""
    with open(given.out, "w", encoding="utf-8") as out:
        json.dump(found, out)


def _as_json(kernel):
    return {"name": kernel.name, "warps": kernel.warps, "stages": kernel.stages, "shared": kernel.shared,
            "registers": kernel.registers, "stack": kernel.stack, "text": kernel.text, "accesses": kernel.accesses,
            "stored": kernel.stored, "conversions": kernel.conversions, "loads_before_barrier": kernel.loads_before_barrier,
            "lines": [{"file": shown(file) if file else "", "line": line, "counts": dict(counts)}
                      for (file, line), counts in sorted(kernel.lines.items())]}
