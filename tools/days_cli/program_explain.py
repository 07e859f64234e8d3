# SPDX-License-Identifier: MIT
"""days explain of a program day: which operations its streams let run side by side, as text and as a picture."""
from __future__ import annotations

import os
import tempfile
from pathlib import Path

import drawing
from days_cli import console, gpu, metrics, outputs, paths, program_day, programs, timeline
from days_cli.errors import WRONG, DaysError

_PICTURES = paths.BUILD / "explain"
_FLAGS = ("--type", "--file")


def explain(day, variant, given):
    """given: explain's arguments."""
    for flag in _FLAGS:
        if given.get(flag):
            raise DaysError(f"day {day.label} is a program day: {flag} means nothing to it", f"./days explain {day.number}")
    names = program_day.chosen(day, variant, "explain")
    if given.get("--backend") == "cuda":
        return _measured(day, names, given)
    flags = ["--size", given.get("--size")] if given.get("--size") else []
    built = program_day.build(day, names, "simt")
    lines = {name: of_program(built[name], flags) for name in names}
    if given.get("--json"):
        return _json(day, lines, given.get("--json"))
    if variant:
        return _one(day, names[0], lines[names[0]])
    return _table(day, lines)


def of_program(program, flags=(), **environment):
    """The recorded Timeline of a run on this CPU; DaysError where the program fails."""
    with tempfile.TemporaryDirectory(prefix="days-explain-") as folder:
        path = Path(folder) / "timeline.json"
        _run([program, *flags], {"SIMT_TIMELINE": str(path), **environment})
        return timeline.recorded(path)


def _run(command, environment=None):
    ended = programs.run(command, {"NO_COLOR": "1", **(environment or {})}, paths.ROOT)
    if ended.problem:
        raise programs.Died(command[0], ended)
    if ended.code:
        raise DaysError(f"{os.path.relpath(command[0])} ended with {ended.code}: "
                        + (ended.stdout + ended.stderr).strip()[-400:], code=ended.code if ended.code in (1, 2, 3) else WRONG)


def _json(day, lines, target):
    found = {"day": day.target, "programs": [
        {"program": name, **metrics.of_timeline(line),
         "operations": [{"number": o.number, "kind": o.kind, "name": o.name, "stream": o.stream, "bytes": o.bytes, "place": o.place,
                         "step": o.begin} for o in line.operations]} for name, line in lines.items()]}
    outputs.put_json(target, found)
    return 0


def _table(day, lines):
    console.say(console.paint(f"Day {day.label}, in the order that simt recorded: no times", "bold"))
    console.say(f"{'program':<14}{'kernels':>9}{'copies':>8}{'beside a kernel':>17}{'steps':>8}{'one by one':>12}")
    for name, line in lines.items():
        beside, copies = timeline.copies_beside_kernels(line)
        console.say(f"{name:<14}{len(line.of('kernel')):>9,}{copies:>8,}{beside:>17,}{line.length:>8,}"
                    f"{len(line.operations):>12,}")
    console.say("\nIn a step each engine does at most one operation, however long it takes.")
    console.say("See it:  "
                + console.paint(f"./days explain {day.number} {list(lines)[-1] if len(lines) < 3 else list(lines)[2]}", "cyan"))
    return 0


def _one(day, name, line):
    if not line.operations:
        raise DaysError(f"{day.label}, {name}: it put nothing into a stream", code=WRONG)
    console.say(f"Day {day.number:02d} {name}: the order that simt recorded, no times")
    console.say(timeline.LEGEND + "\n")
    timeline.say(line)
    console.say("Picture: " + console.paint(os.path.relpath(_picture(day, name, line)), "cyan"))
    if gpu.detect().gpu:
        console.say("With times: " + console.paint(f"./days explain {day.number} {name} --backend cuda", "cyan"))
    return 0


def _measured(day, names, given):
    program_day.require_gpu(day, "explain --backend cuda")
    if given.get("--json"):
        raise DaysError("--json is of the recorded order: it goes without --backend cuda", f"./days explain {day.number} --json")
    built = program_day.build(day, names, "cuda")
    flags = ["--size", given.get("--size")] if given.get("--size") else []
    for name in names:
        with tempfile.TemporaryDirectory(prefix="days-explain-") as folder:
            path = Path(folder) / "timeline.json"
            _run([built[name], *flags, "--timeline", str(path)])
            line = timeline.measured(path)
        if not line.operations:
            console.say(f"{name:<14} records no times")
            continue
        beside, copies = timeline.copies_beside_kernels(line)
        console.say(f"{name:<14} {1e3 * line.length:.3f} ms by CUDA events on this {gpu.detect().gpu.name}; {beside} of {copies} "
                    "copies ran beside a kernel")
        console.say("Picture: " + console.paint(os.path.relpath(_picture(day, name, line)), "cyan"))
    return 0


def _picture(day, name, line):
    _PICTURES.mkdir(parents=True, exist_ok=True)
    path = _PICTURES / f"{day.number:02d}_{name}{'_measured' if line.measured else ''}.svg"
    path.write_text(card(f"{name}: which engine does what", line).svg(), encoding="utf-8")
    return path


def card(title, line, most=24):
    """A drawing.Card of a timeline, of its first `most` steps where it has no times: a row an engine, in each box the stream."""
    colours = {"H2D": drawing.GLOBAL, "kernel": drawing.REGISTERS, "D2H": drawing.OUTPUT}
    last = line.length if line.measured else min(line.length, most)
    rows = []
    for engine, words in timeline.ENGINES.items():
        operations = [o for o in line.operations if o.engine == engine and o.begin < last]
        if operations:
            label = line.length <= most or not line.measured
            rows.append((words, [(timeline.mark(o) if label else "", o.begin, min(o.end, last), colours[engine])
                                 for o in operations]))
    made = drawing.Card(title, 64 + 46 * len(rows) + 40, " ".join(timeline.drawing(line)) if not line.measured else
                        f"{len(line.operations)} operations in {1e3 * line.length:.3f} ms")
    if line.measured:
        words = f"{1e3 * line.length:.3g} ms, by CUDA events"
    else:
        words = f"{last} of {line.length:,} steps" if last < line.length else f"{last} steps"
        words += "; order, not time"
    made.time(64, rows, left=96, end=last, words=words)
    return made
