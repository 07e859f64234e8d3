# SPDX-License-Identifier: MIT
"""The four stages for a kernel in Python: correct, race-free (programs in three orders), counters (the interpreter's and
the compiler's), speed; and what a rung is asked for beside the one before it."""
from __future__ import annotations

import json
import math
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from days_cli import console, counting, exercises, metrics, paths, programs, python_day, python_ladders, stages
from days_cli import gpu as gpus
from days_cli.errors import ENVIRONMENT, USAGE, WRONG, DaysError
from days_cli.metrics import ARCHITECTURE, PROGRAMS_KEPT, TRITON
from days_cli.patterns import pattern
from days_cli.stages import Stage, Told

_LEAST = 1.25  # a factor between two rungs that counts
# Of a rung that changes the order of its programs or their work alone. A larger tile shares more within a wave, too, and a smaller one takes
# fewer instructions and registers; both make another number of programs, and are another idea.
_OF_TILES = {"wave_reads", "tensor", "spilled", "shared", "global_accesses", "instructions", "registers"}
_KEPT = "programs_kept"
_FAULTS = ("oob", "uninit", "promise", "assert", "hang")  # what is wrong in any order


@dataclass
class Kernel:
    """What is judged: a rung of a day, or "exercise"; file: that takes its place."""
    day: object
    variant: str = "exercise"
    file: str = ""

    @property
    def ladder(self):
        return python_ladders.of_variant(self.day, self.variant)

    @property
    def flags(self):
        return ["--variant", self.variant, *(["--file", str(self.file)] if self.file else [])]


def _cases(kernel, *more):
    """What came of a run on the kernel's cases."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cases"
        line, environment = python_day.command(kernel.day, ["cases", *kernel.flags, "--out", str(path), *more])
        console.progress("running cases" + (" in Triton's interpreter" if kernel.ladder["by"] == "triton" else ""))
        ended = programs.run(line, {"NO_COLOR": "1", **environment}, paths.ROOT, None, max(stages.PROGRAM_SECONDS, stages.case_seconds()))
        console.clear_progress()
        lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    if not ended.problem and ended.code in (USAGE, ENVIRONMENT):
        raise DaysError(stages.error_of(ended.stderr), "./days doctor", ended.code)
    told = stages.parsed(lines)
    if len(told) < 2 and not ended.problem:
        raise DaysError(stages.error_of(ended.stderr), _again(kernel) if kernel.file else "", WRONG)
    return _Told(told[0] if told else {}, [case for case in told if "result" in case],
                      sum(line.get("cases", 0) for line in told), ended)


def _again(kernel):
    """The command that judges the learner's file again, once it is mended."""
    return f"./days check {kernel.day.number}" + ("" if kernel.variant == python_day.EXERCISE else f" {kernel.variant}")


def _as_tf32(kernel, cases):
    """What to say where fp32 alone is wrong, and by no more than tensor cores drop: tl.dot takes fp32 as TF32 unless told otherwise. "" else."""
    wrong = [case for case in cases if case["result"] == "fail"]
    file = paths.ROOT / kernel.file if kernel.file else ""
    if not file or "tl.dot" not in file.read_text(encoding="utf-8", errors="replace"):
        return ""
    random = [case for case in wrong if not case["inputs"]]  # elsewhere values may be large
    if {case["type"] for case in wrong} != {"fp32"} or not random or any(case["worst"] is None or case["unwritten"] for case in random):
        return ""
    if not all(0 < case["worst"] <= 2**-8 * math.sqrt(max(case["shape"].values())) for case in random):
        return ""
    return ('fp32 alone is wrong, in its fourth digit or so: tl.dot multiplies fp32 as TF32, with 10 of its 23 binary digits, unless it is '
            'given input_precision="ieee".')


class _Told(Told):
    """The program tells its reports with the cases, each with its sort."""

    @property
    def reports(self):
        return _reports(self.cases, *metrics.RACES, *_FAULTS)


def _reports(cases, *slugs):
    """Those of these sorts, of the smallest case first, each a list of lines."""
    return [report[1:] for case in sorted(cases, key=stages.size_of) for report in case["reports"] if report[0] in slugs]


def correct(kernel):
    """Stage 1, with what the kernel's file has printed."""
    told = _cases(kernel)
    stage = _correct(kernel, told)
    printing = [case for case in [*told.failed[:1], *told.cases] if case.get("printed")]
    if printing:
        case = printing[0]
        more = case["printed_lines"] - len(case["printed"])
        stage.lines += [f"Printed at {stages.case_name(case)}:", *(f"    {line[:console.WIDTH - 4]}" for line in case["printed"]),
                        *([f"    ({more:,} lines more)"] if more else [])]
    return stage


def _correct(kernel, told):
    reports = _reports(told.cases, *_FAULTS)
    failed, doubt = told.failed, told.doubt
    if not failed and not reports and not doubt:
        return _compiles(kernel, told)
    lines = list(reports[0]) if reports else []
    if failed and not reports:
        case = failed[0]
        lines.append(stages.case_name(case) + ":")
        lines += ["    " + note for note in case["notes"][:3]]
        if not case["notes"]:  # what was not written for a reason says nothing more
            lines += [f"    {element['at']} yours {element['got']}   expected {element['expected']}" for element in case["first"][:3]]
        races = _reports(failed, *metrics.RACES)
        if races:  # easier to mend than a wrong element
            lines += races[0]
        elif not any(case["notes"] for case in failed):
            ran = [case for case in told.cases if case["result"] != "refused"]
            said = _as_tf32(kernel, ran) or pattern(ran)
            lines += ["Pattern: " + said] if said else []
    lines += doubt
    good = sum(case["result"] != "fail" for case in told.cases)
    return Stage("correct", "FAIL", f"{good} of {told.expected} cases pass", lines)


def _compiles(kernel, told):
    """The last of stage 1: the interpreter takes what the compiler refuses."""
    triton = kernel.ladder["by"] == "triton"
    for made in python_day.asked(kernel.day, ["compile", *kernel.flags], "compiling for sm_75, sm_80 and sm_90") if triton else ():
        if "refused" in made:
            return Stage("correct", "FAIL", f"the interpreter runs it, and the compiler refuses it for sm_{made['sm']}",
                         [f"{made['where']}  {_source(made['where'])}" if made["where"] else "The compiler says:", f"    {made['refused']}"])
    verdict = "skip" if any(case["result"] == "compiled" for case in told.cases) else "ok"
    return Stage("correct", verdict, stages.passed(told.cases) + ("; compiles for sm_75, sm_80 and sm_90" if triton else ""))


def _source(place):
    """The line of "file:line"."""
    file, _, line = place.rpartition(":")
    return (paths.ROOT / file).read_text(encoding="utf-8").splitlines()[int(line) - 1].strip()


def race_free(kernel):
    """Each order is a run of its own; a race is told whatever came out."""
    triton = kernel.ladder["by"] == "triton"
    if not triton and not kernel.ladder["orders"]:
        return Stage("race-free", "skip", "no order of threads that a rung could depend on")
    seen = []

    def in_order(order):
        seen.append(_cases(kernel, "--small", "--order", order.partition(":")[0]))
        return seen[-1]
    stage = stages.race_free(in_order, "programs" if triton else "threads", ", every access watched" if triton else "", lambda case: case["notes"][:6])
    if stage.verdict == "ok" and any(case["result"] == "compiled" for case in seen[0].cases):
        return Stage("race-free", "skip", stages.passed(seen[0].cases))
    return stage


class Measured(dict):
    """{a metric's key: what a kernel has}, with the Metrics that there are of it."""

    def __init__(self, values, of):
        super().__init__(values)
        self.metrics = of


def _own_metrics(told):
    """The metrics of a ladder that counts itself, as the program tells them."""
    return tuple(metrics.Metric(**{**{key: value for key, value in one.items() if key != "value"}, "implied": tuple(one["implied"])}) for one in told)


def measure(kernel, code=True):
    """Measured on the shape that ./days run shows."""
    made = _code(kernel) if code and kernel.ladder["by"] == "triton" else None
    counted = python_day.counted(kernel.day, kernel.flags, made, f"counting {kernel.variant}")
    if counted["result"] == "compiled":
        return Measured(metrics.of_code(made or _code(kernel)), TRITON)
    if counted["result"] != "ok":
        raise DaysError(f"{kernel.variant} is wrong at " + " x ".join(map(str, counted["shape"])), code=WRONG)
    if kernel.ladder["by"] != "triton":
        return Measured({one["key"]: one["value"] for one in counted["counters"]}, _own_metrics(counted["counters"]))
    values = metrics.of_counts(counted)
    if code:
        values.update(metrics.of_code(made))
    return Measured(values, TRITON)


def _code(kernel):
    """What the compiler makes of a kernel."""
    made = python_day.asked(kernel.day, ["compile", *kernel.flags, "--arch", str(ARCHITECTURE)], f"compiling {kernel.variant}")[0]
    if "refused" in made:
        raise DaysError(f"the compiler refuses {kernel.variant}: {made['refused']}", code=WRONG)
    return made


def counters(kernel, gates, why=""):
    """Stage 3. gates: {a metric's key: its bound}."""
    asked = {key: bound for key, bound in gates.items() if key != "speed"}
    if not asked:
        return Stage("counters", "skip", why or "this exercise has no gate on counters")
    try:
        mine = kernel.file or kernel.variant == python_day.EXERCISE  # what is no rung may be another at each look
        values = measure(kernel, any(metric.compiled and metric.key in asked for metric in TRITON)) if mine else _known(kernel)
    except DaysError as error:
        if error.code != WRONG:
            raise
        return Stage("counters", "FAIL", error.message)
    known = {metric.key: metric for metric in values.metrics}
    here = {key: bound for key, bound in asked.items() if (key if key != _KEPT else "programs") in values or key not in known and key != _KEPT}
    if not here:
        return Stage("counters", "skip", f"{kernel.variant} is compiled, not interpreted: nothing counts {', '.join(asked)}")
    uncounted = [(True, f"{known[key].label} not counted: compiled, not interpreted") for key in asked if key in known and key not in here]
    asked = here
    unknown = [key for key in asked if key not in known and key != _KEPT]
    if unknown:
        raise DaysError(f"{kernel.day.target}/ladder.py: a gate is {', '.join(known)} or speed, not {unknown[0]}", code=WRONG)
    asks = [(PROGRAMS_KEPT if key == _KEPT else known[key], bound) for key, bound in asked.items()]
    word = kernel.variant + (" --mine" if kernel.file and kernel.variant != "exercise" else "")
    return stages.counters([*((metric.holds(values[metric.key], bound), metric.told(values[metric.key], bound)) for metric, bound in asks), *uncounted],
                           lambda: [f"Why: ./days explain {kernel.day.number} {word}"])


def speed(kernel, gates):
    skipped = stages.no_speed(gates.get("speed"))
    if skipped:
        return skipped
    where, remark = python_day.backend(None)
    if where != "cuda":
        return Stage("speed", "skip", remark)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "results.json"
        line, environment = python_day.command(kernel.day, ["run", *kernel.flags, "--json", str(path)], "cuda")
        ended = programs.run(line, {"NO_COLOR": "1", **environment}, paths.ROOT, None, stages.PROGRAM_SECONDS)
        if ended.problem or ended.code or not path.exists():
            return Stage("speed", "FAIL", ended.problem or "wrong on this GPU", ended.stderr.strip().splitlines()[:8])
        table = json.loads(path.read_text(encoding="utf-8"))["tables"][0]
    row = next(row for row in table["rows"] if row["name"] == kernel.variant)
    return Stage("speed", "ok" if row["of_limit"] >= gates["speed"] else "FAIL",
                 f"{row['of_limit']:.0%} of this {gpus.detect().gpu.name}'s {table['limit']['name']}, at least {gates['speed']:.0%}")


def run_stages(kernel, gates, told, why=""):
    """Up to the first that fails; told(Stage) hears of each. Returns the stages."""
    return stages.run((lambda: correct(kernel), lambda: race_free(kernel), lambda: counters(kernel, gates, why),
                             lambda: speed(kernel, gates)), told)


# ---- rungs ----

def asked_of(rung):
    """({a metric's key: its bound}, [a sentence for each]) of what falls from the rung before to this one: at most two, the first in
    the order of TRITON, after those that the ladder itself names. ({}, []) where nothing does."""
    start, goal = (_known(Kernel(rung.day, name)) for name in (rung.before.name, rung.name))
    gates, says, named = {}, [], python_ladders.of_variant(rung.day, rung.name)["asks"]
    for metric in (*named_of(rung.day, named, start.metrics), *(one for one in start.metrics if one.asked and one.key not in named)):
        if metric.key not in start or metric.key not in goal:
            continue  # one of the two is compiled, and not interpreted
        first, last = start[metric.key], goal[metric.key]
        better, worse = (last, first) if metric.most else (first, last)
        if worse - better <= metric.apart or better and worse / better < _LEAST or len(gates) == 2:
            continue
        if set(metric.implied) & set(gates):
            continue
        gates[metric.key] = _between(first, last) if metric.most else last
        says.append(f"Asked: {metric.label} {metric.bound(gates[metric.key])}; {rung.before.name} has {metric.shown(first)}, "
                    f"{rung.name} has {metric.shown(last)}.")
    if _OF_TILES & set(gates) and "programs" in goal and start.get("programs") == goal["programs"]:
        gates[_KEPT] = goal["programs"]
        says.append(f"Asked: {PROGRAMS_KEPT.label} {PROGRAMS_KEPT.bound(gates[_KEPT])}, as both have: their tiles stay as large.")
    return gates, says


def named_of(day, keys, known):
    """The Metrics that a ladder names."""
    found = metrics.by_key(known)
    for key in keys:
        if key not in found:
            raise DaysError(f"{day.target}/ladder.py: what a ladder asks is {', '.join(found)}, not {key}", code=WRONG)
    return [found[key] for key in keys]


def _between(first, last):
    """A bound near the goal: exact where it is a whole number of few, else with a quarter of the way left."""
    if float(last).is_integer() and last < 20:
        return last
    bound = last + 0.25 * (first - last)
    return round(bound, 2) if abs(last) < 20 else math.floor(bound)


def _known(kernel):
    """measure(), remembered as long as the day's and the runner's files are as they are."""
    path = paths.BUILD / "python-counts.json"
    stamp = max(file.stat().st_mtime_ns for folder in (kernel.day.folder, python_day.PROGRAM) for file in folder.glob("*.py"))
    key = f"{kernel.day.target} {kernel.variant} {stamp}"
    known = counting.remembered(path)
    own = kernel.ladder["by"] != "triton"
    if own and key not in known or not own and set(known.get(key, {}).get("values", ())) != {metric.key for metric in TRITON}:
        known = {name: values for name, values in known.items() if name.split()[:2] != key.split()[:2]}
        made = measure(kernel)
        known[key] = {"values": made, "metrics": [vars(metric) for metric in made.metrics] if own else []}
        counting.remember(path, known)
    return Measured(known[key]["values"], _own_metrics(known[key]["metrics"]) if own else TRITON)


def shown_file(what):
    """The learner's file as it is typed."""
    return exercises.shown(exercises.my_file(what))


def as_file(text, name):
    """A text as a file that can be judged, in build/."""
    folder = paths.BUILD / "python-files"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}-{os.getpid()}.py"
    path.write_text(text, encoding="utf-8")
    return path
