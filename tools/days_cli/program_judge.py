# SPDX-License-Identifier: MIT
"""The stages of a program day's exercise: the same four as a ladder's (stages.py), of a program that checks itself."""
from __future__ import annotations

import dataclasses
import json
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

from days_cli import gpu as gpus
from days_cli import metrics, paths, program_day, program_explain, programs, run_build, stages, timeline
from days_cli.errors import ENVIRONMENT, WRONG, DaysError
from days_cli.metrics import Metric
from days_cli.stages import Stage

_SIZES = ("1", "257", "10007")  # beside the program's own; of threads and streams in other orders the last
_WANTED = re.compile(r"(\w+) *(<=|>=) *(\d+(?:\.\d+)?)%")


_SPEED = Metric("speed", "its limit", "{:.0%}", most=False)  # of what the program calls its limit
_METRICS = metrics.by_key((*metrics.TIMELINE, _SPEED))


@dataclass
class Exercise:
    """What the front matter says: goal, starts, solution, gates, and the words for --size where they are no numbers of elements."""
    goal: str
    starts: str
    solution: str
    gates: list  # of (Metric, its bound)
    sizes: tuple = _SIZES


def exercise_of(day):
    """DaysError where the front matter says too little, or names programs and gates that there are not."""
    front, known = day.front_matter(), list(program_day.sources(day))
    note = f"{day.target}/README.md"
    for key in ("goal", "starts", "solution"):
        if not front.get(key):
            raise DaysError(f"{note}: an exercise needs the lines goal, starts, solution and gates; {key} is missing", code=WRONG)
    for key in ("starts", "solution"):
        if front[key] not in known:
            raise DaysError(f"{note}: {key} is one of {', '.join(known)}, not {front[key]}", code=WRONG)
    gates = []
    for text in front.get("gates", []):
        found = _WANTED.fullmatch(str(text))
        if not found or found[1] not in _METRICS:
            raise DaysError(f"{note}: a gate is {' or '.join(_METRICS)}, <= or >=, and a share in %, not {text}",
                            code=WRONG)
        gates.append((dataclasses.replace(_METRICS[found[1]], most=found[2] == "<="), float(found[3]) / 100))
    return Exercise(str(front["goal"]), front["starts"], front["solution"], gates, tuple(map(str, front.get("sizes", _SIZES))))


@dataclass
class Judged:
    """The program that is judged: the learner's file, or one of the day's own."""
    day: object
    source: str  # below the root
    sizes: tuple = _SIZES

    def build(self, backend="simt", checked=False):
        return run_build.build_programs(self.day, [self.source], backend, checked)[self.source]


def _run(program, flags=(), **environment):
    seconds = stages.case_seconds()
    return programs.run([program, *flags], {"NO_COLOR": "1", "SIMT_TIMEOUT": stages.HANGS, **environment}, paths.ROOT, None,
                        seconds)


def _wrong(ended):
    """The lines that say what is wrong with a run, [] where nothing is."""
    reports = stages.reports_of(ended.stderr)
    if reports:
        return reports[0]
    said = [line for line in (ended.stdout + "\n" + ended.stderr).splitlines() if line.strip()]
    if ended.code == ENVIRONMENT and not ended.problem:
        raise DaysError(said[-1] if said else "this machine lacks something", "./days doctor", ENVIRONMENT)
    if ended.problem:
        return [f"The program {ended.problem}.", *said[-3:]]
    if ended.code or not program_day.says_ok(ended.stdout):
        return said[-8:] or [f"The program ended with {ended.code} and said nothing."]
    return []


def correct(judged):
    program = judged.build()
    for size in ("", *judged.sizes):  # "": the program's own
        lines = _wrong(_run(program, ["--size", size] if size else []))
        if lines:
            return Stage("correct", "FAIL", f"{size} element{'s' if size != '1' else ''}" if size.isdecimal() else f"--size {size}" if size else "the program's own size", lines)
    return Stage("correct", "ok", f"{1 + len(judged.sizes)} sizes, each element compared")


def race_free(judged):
    """Every access watched; threads, blocks and streams in three orders."""
    program = judged.build(checked=True)
    for order in stages.ORDERS:
        lines = _wrong(_run(program, ["--size", judged.sizes[-1]], SIMT_ORDER=order))
        if lines:
            return Stage("race-free", "FAIL", f"streams and threads in {order.partition(':')[0]} order", lines)
    return Stage("race-free", "ok", f"{len(stages.ORDERS)} orders of streams and threads, every access watched")


def counters(judged, gates):
    wanted = [(metric, bound) for metric, bound in gates if metric.key != _SPEED.key]
    if not wanted:
        return Stage("counters", "skip", "this exercise has no gate on what its streams allow")
    line = program_explain.of_program(judged.build())
    if not line.of("kernel"):
        return Stage("counters", "FAIL", "no kernel ran")
    values = metrics.of_timeline(line)
    return stages.counters([(metric.holds(values[metric.key], bound), f"{metric.label}: {metric.shown(values[metric.key])}, {metric.bound(bound)}")
                            for metric, bound in wanted], lambda: [
        *timeline.drawing(line), "", *timeline.waiting(line), timeline.LEGEND, f"More: ./days explain {judged.day.number} {_name(judged)}"])


def _name(judged):
    return next((name for name, source in program_day.sources(judged.day).items() if source == judged.source),
                program_day.EXERCISE)


def speed(judged, gates):
    metric, least = next(((metric, bound) for metric, bound in gates if metric.key == _SPEED.key), (_SPEED, 0))
    skipped = stages.no_speed(least)
    if skipped:
        return skipped
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "results.json"
        lines = _wrong(_run(judged.build("cuda"), ["--json", str(path)]))
        if lines:
            return Stage("speed", "FAIL", "wrong on this GPU", lines)
        table = json.loads(path.read_text(encoding="utf-8"))["tables"][0]
    shares = [row["of_limit"] for row in table["rows"] if "of_limit" in row]
    if not shares:
        return Stage("speed", "FAIL", "the program has measured nothing beside its limit")
    about = f"{max(shares):.0%} of the {table['limit']['name']} on this {gpus.detect().gpu.name}, at least {least:.0%}"
    return Stage("speed", "ok" if metric.holds(max(shares), least) else "FAIL", about)


def run_stages(judged, gates, told):
    """Runs the stages up to the first that fails; told(Stage) hears of each. Returns the stages."""
    return stages.run((lambda: correct(judged), lambda: race_free(judged), lambda: counters(judged, gates),
                             lambda: speed(judged, gates)), told)
