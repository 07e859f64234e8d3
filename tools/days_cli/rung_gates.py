# SPDX-License-Identifier: MIT
"""What a rung asks of whoever writes it: the counters that it has fewer of than the rung before, found by counting both. Where
no counter tells the two apart, what nvcc makes of them; else speed, which needs a GPU."""
from __future__ import annotations

import contextlib
import dataclasses
import io
import math
import re
from dataclasses import dataclass, field
from typing import List

from days_cli import console, counting, cpp_ladders, judge, kernel_sources, ladders, nvcc_code, paths, rungs, stages
from days_cli.errors import WRONG, DaysError
from days_cli.metrics import BESIDES, BLOCKS, CODE, COUNTERS, IDLE, THREADS, UNDER_WAY, Metric
from days_cli.stages import Stage

_LEAST = 1.25  # A counter that falls by less than this factor is not what a rung is about.
_IMPLIED = 1.35  # A counter is asked beside one that implies it where it falls by this factor more.
_SLACK = 0.1  # A learner's kernel may miss this share of what the rung gains ...
_MOST = 3  # ... but may have no more than so many times what the rung has, which four times the blocks would.
_ARCH = "90a"
_FILE = "rung-counts.json"


_MORE_BLOCKS = 2  # a rung with so many times the blocks is about them, and half of its gain is enough


@dataclass(frozen=True)
class Ask:
    """One gate: what the rung before has, what the rung has, and how much is enough."""
    metric: Metric
    start: float
    goal: float
    limit: float

    def holds(self, value):
        return self.metric.holds(value, self.limit)

    def bound(self):
        return self.metric.bound(self.limit)


@dataclass
class Gates:
    """kind: "counters", "code" or "speed"; size: of --size where it is not the shape that ./days run shows on a CPU;
    of_rung: the Rung's own flags; prefix: before the names of both rungs, as another ladder of the day has them; on_gpu: what the
    rung brings besides that no counter shows, so that its speed is asked as well."""
    kind: str
    asks: List[Ask] = field(default_factory=list)
    size: str = ""
    of_rung: tuple = ()
    why: str = ""  # of kind "speed": what was compared without a difference
    kept: dict = field(default_factory=dict)  # a metric's key: at most so much, though it is not what the rung is about
    install: str = ""  # a command, after which nvcc's output might tell them apart
    notes: dict = field(default_factory=dict)  # a metric's key: what the worst line of the rung before does
    prefix: str = ""
    on_gpu: str = ""

    @property
    def by_speed(self):
        return self.kind == "speed" or bool(self.on_gpu)

    def flags(self):
        return [*(["--size", self.size] if self.size else []), *self.of_rung]


# ---- finding them ----

def find(rung):
    """The Gates of a rung. Counts what has not been counted since its kernels were built; DaysError where they don't run."""
    gates = _find(rung)
    gates.of_rung = tuple(rung.flags)
    gates.on_gpu = _on_gpu(rung)
    return gates


def _find(rung):
    try:
        start, shape, notes = _counts(rung.before, "", rung.flags)
        goal = _counts(rung, "", rung.flags)[0]
    except DaysError as error:
        if error.code != WRONG:
            raise
        return Gates("speed", why=f"on this CPU they cannot be counted: {error.message}")
    found, kept = _falls(start, goal, COUNTERS), _kept(start, goal)
    if found:
        return Gates("counters", found, notes=notes, kept=kept)
    for more in (-3, 3):  # edges that fit no tile, where some rungs make the whole difference
        odd = "x".join(str(extent + more if extent > 8 else extent) for extent in shape)
        try:
            with contextlib.redirect_stderr(io.StringIO()):  # one that takes no such shape says so
                odd_start, _, odd_notes = _counts(rung.before, odd, rung.flags)
                odd_goal = _counts(rung, odd, rung.flags)[0]
                found = _falls(odd_start, odd_goal, COUNTERS)
        except DaysError:
            continue
        if found:
            return Gates("counters", found, odd, notes=odd_notes, kept=_kept(odd_start, odd_goal))
        break
    for prefix in _prefixes(rung):  # what a rung saves under a mask no counter shows without one
        other_start, _, other_notes = _counts(rung.before, "", rung.flags, prefix)
        other_goal = _counts(rung, "", rung.flags, prefix)[0]
        found = _falls(other_start, other_goal, COUNTERS)
        if found:
            return Gates("counters", found, notes=other_notes, kept=_kept(other_start, other_goal), prefix=prefix)
    found = _rises(start, goal) or _falls(start, goal, BESIDES) or _more_blocks(start, goal)
    if found:
        return Gates("counters", found, notes=notes, kept=kept)
    why, install = "no counter tells them apart", ""
    if rung.file != rung.before.file:
        try:
            found = _code_falls(_code(rung.before.file), _code(rung.file))
        except DaysError as error:
            why += f", and what nvcc makes of them could not be compared: {error.message}"
            install = error.hint
            found = []
        if found:
            return Gates("code", found, kept=kept)
    return Gates("speed", why=why, install=install)


def _prefixes(rung):
    """What other ladders of the day put before the names of this rung and the one before it: "causal_"."""
    also = {one.name: one.also for one in ladders.variants(rung.day)}
    return [name[:-len(rung.name)] for name in also[rung.name]
            if name.endswith("_" + rung.name) and name[:-len(rung.name)] + rung.before.name in also[rung.before.name]]


def _falls(start, goal, metrics):
    """An Ask for each metric that the goal has less of, by a factor that counts, and that no other implies."""
    ratios = {}
    for metric in metrics:
        first, last = start[metric.key], goal[metric.key]
        if first - last > metric.apart and first >= _LEAST * last:
            ratios[metric.key] = first / last if last else math.inf
    if goal["bulk_bytes"]:  # the copy engine moves what the threads did; its bytes are in no thread's name
        for key in ("reads_per_input", "sectors", "wasted_sectors"):
            ratios.pop(key, None)
    if start["bank_conflicts"] < 0.05 * start["shared_requests"] or ratios.get("bank_conflicts", 0) < 2:
        ratios.pop("bank_conflicts", None)
    asked = [metric for metric in metrics if metric.key in ratios
             and not any(ratios.get(other, 0) * _IMPLIED >= ratios[metric.key] for other in metric.implied)
             and not (metric.key == "wasted_sectors" and "sectors" in ratios)]
    return [Ask(metric, start[metric.key], goal[metric.key], _limit(metric, start[metric.key], goal[metric.key]))
            for metric in asked]


def _rises(start, goal):
    """An Ask for the bytes that are under way, where the goal has more of them; a tenth less is enough."""
    first, last = start["under_way"], goal["under_way"]
    return [Ask(UNDER_WAY, first, last, max(math.floor(0.9 * last), first + 1))] if last >= _LEAST * max(first, 1) else []


def _kept(start, goal):
    """What both rungs have reached is not to be lost: a quarter more than the worse of the two has."""
    limits = {key: 1.25 * max(start[key], goal[key]) for key in ("reads_per_input", "sectors", "requests", "launches")}
    limits["threads"] = 2 * max(start["threads"], goal["threads"])
    limits["idle_blocks"] = max(1.25 * max(start["idle_blocks"], goal["idle_blocks"]), 0.1 * min(start["blocks"], goal["blocks"]))
    limits["bank_conflicts"] = max(1.25 * max(start["bank_conflicts"], goal["bank_conflicts"]), 0.1 * goal["shared_requests"])
    return limits


def _limit(metric, start, goal):
    """Between the two, near the goal, as a round number."""
    enough = goal + _SLACK * (start - goal)
    if goal:
        enough = min(enough, _MOST * goal)
    if "%" in metric.form or "." in metric.form.replace(",.0f", ""):
        limit = math.ceil(enough) if enough >= 20 else math.ceil(enough * 100 - 1e-9) / 100
    elif start < 20 or (goal == 0 and metric in BESIDES):
        limit = goal
    else:
        digits = 10 ** max(0, math.floor(math.log10(max(enough, 1))) - 1)
        limit = math.ceil(enough / digits) * digits
    return limit if goal <= limit < start else goal


def _more_blocks(start, goal):
    first, last = start[BLOCKS.key], goal[BLOCKS.key]
    return [Ask(BLOCKS, first, last, max(_MORE_BLOCKS * first, last // 2))] if last >= _MORE_BLOCKS * first > 0 else []


def _code_falls(start, goal):
    found = []
    if goal["load_bits"] > start["load_bits"] > 0:
        found.append(Ask(CODE[0], start["load_bits"], goal["load_bits"], goal["load_bits"]))
    known = not (start.get("dynamic_shared") or goal.get("dynamic_shared"))
    if known and goal["shared_bytes"] < start["shared_bytes"]:
        found.append(Ask(CODE[1], start["shared_bytes"], goal["shared_bytes"], goal["shared_bytes"]))
    if not found and start["registers"] >= _LEAST * goal["registers"]:
        limit = math.floor((start["registers"] + goal["registers"]) / 2)
        found.append(Ask(CODE[2], start["registers"], goal["registers"], limit))
    return found


def _counts(rung, size, more=(), prefix=""):
    """(values, extents of the shape, {metric's key: a sentence on the worst line}) of a shipped rung."""
    name = prefix + rung.name
    kernel = judge.Kernel(rung.day, name)
    program = kernel.program(traced=True)
    flags = [*(["--size", size] if size else []), *more]
    stamp = program.stat()
    key = " ".join([program.name, str(stamp.st_mtime_ns), str(stamp.st_size), name, "steady", *flags])
    known = counting.remembered(paths.RUN_BUILD / _FILE)
    if not _whole(known.get(key)):
        console.progress(f"counting {name}" + (f" at {size}" if size else ""))
        values, launches, shape = counting.measure(kernel, flags, steady=True)
        console.clear_progress()
        known = {name: value for name, value in known.items()  # what an older program counted is of no use any more
                 if not name.startswith(program.name + " ") or name.startswith(" ".join(key.split()[:3]) + " ")}
        known[key] = [values, shape, _notes(launches)]
        counting.remember(paths.RUN_BUILD / _FILE, known)
    return known[key]


def _whole(counts):
    """Whether what the file of counts has is what _counts() puts there."""
    return (isinstance(counts, list) and list(map(type, counts)) == [dict, list, dict]
            and all(metric.key in counts[0] for metric in (*COUNTERS, *BESIDES, BLOCKS, UNDER_WAY, IDLE, THREADS)))


def code_of(file):
    """{metric's key: value} of what nvcc makes of a kernel file, the most over its kernels; without nvdisasm no loads are seen.
    dynamic_shared: a launch adds shared memory that nvcc does not know."""
    kernels = nvcc_code.compiled([file], _ARCH, ["-I" + str(paths.ROOT)], lines=bool(nvcc_code.disassembler()))
    bits = [int(kind.split(".")[1]) for kernel in kernels for kind in kernel.instructions
            if kind.split(".")[0] in ("LDG", "LDGSTS")]
    return {"load_bits": max(bits, default=0), "shared_bytes": max((kernel.shared for kernel in kernels), default=0),
            "dynamic_shared": "extern __shared__" in file.read_text(encoding="utf-8"),
            "registers": max((kernel.registers for kernel in kernels), default=0)}


def _code(file):
    key = f"code {file.name} {file.stat().st_mtime_ns} {file.parent.name}" + ("" if nvcc_code.disassembler() else " without loads")
    known = counting.remembered(paths.RUN_BUILD / _FILE)
    if not isinstance(known.get(key), dict) or any(metric.key not in known[key] for metric in CODE):
        console.progress(f"compiling {file.name} with nvcc")
        known[key] = code_of(file)
        console.clear_progress()
        counting.remember(paths.RUN_BUILD / _FILE, known)
    return known[key]


# ---- what it teaches ----

def _about(rung):
    """What the rung's file says of it in its first comment, on one line."""
    beside = [other.name for other in rungs.of_day(rung.day).values() if other.file == rung.file]
    return cpp_ladders.header(rung.file.read_text(encoding="utf-8"), rung.name, beside)


def _on_gpu(rung):
    """What the header says that only a GPU can judge: "Judged on a GPU: four loads under way."; "" where it says nothing."""
    said = re.search(r"\bJudged on a GPU: ([^.]*)\.", _about(rung))
    return said[1] if said else ""


def taught(rung):
    """The functions and instructions that the rung's header says it teaches, which its own code calls and the one before does not. Whoever
    calls a helper that has them has not written what the rung is about."""
    text = rung.file.read_text(encoding="utf-8")
    said = re.search(r"\bTeaches: ([^.]*)\.", _about(rung))
    return [name for name in re.split(r",\s*", said[1]) if _calls(text, name) and not _calls(rungs.start_text(rung), name)] if said else []


def _calls(text, name):
    return re.search(rf"(?<![\w:])(?:\w+::)*{re.escape(name)}\s*(?:<[^;{{}}]*?>)?\s*\(", kernel_sources.plain(text)) is not None


def lacking(kernel, rung):
    """The taught names, where the learner's file calls none of them; else []."""
    file = paths.ROOT / kernel.file
    if not kernel.file or not file.is_file():
        return []
    names, text = taught(rung), file.read_text(encoding="utf-8", errors="replace")
    return [] if any(_calls(text, name) for name in names) else names


# ---- telling them ----

def say(rung, gates):
    """What is asked, before the first stage."""
    before = rung.before
    for ask in gates.asks:
        metric = ask.metric
        has = [f"{gates.prefix}{name} has {metric.shown(value) if value else 'none'}"
               for name, value in ((before.name, ask.start), (rung.name, ask.goal))]
        at = f", at {gates.size.replace('x', ' x ')}" if gates.size else ""
        note = gates.notes.get(metric.key)
        _wrapped(f"Asked: {metric.label} {ask.bound()}{at}; {has[0]}, {has[1]}." +
                 (f" In {gates.prefix}{before.name} {note}" if note else f" {metric.means}" if metric.means else ""))
    names = taught(rung)
    if names:
        _wrapped(f"Asked: {' or '.join(names)} in your own file: {rung.name} teaches {'it' if len(names) == 1 else 'them'}.")
    if gates.kind == "speed":
        _wrapped(f"Asked: faster than {before.name}. {gates.why[0].upper()}{gates.why[1:]}.")
    elif gates.on_gpu:
        _wrapped(f"Asked: {gates.on_gpu}. No counter shows that: it is judged by the speed, on a GPU.")


def _wrapped(text):
    for line in console.wrap(text, "       ", ""):
        console.say(line)


# ---- judging ----

def counters(kernel, rung, gates):
    """Stage 3 for a learner's kernel."""
    names = lacking(kernel, rung)
    if names:
        return Stage("counters", "FAIL", f"no {' and no '.join(names)} in {kernel.file}, asked in your own file")
    if gates.kind == "speed":
        return Stage("counters", "skip", gates.why)
    try:
        counted = dataclasses.replace(kernel, variant=gates.prefix + rung.name) if gates.prefix else kernel
        values, launches, _ = counting.measure(counted, gates.flags(), steady=True)
        if gates.kind == "code":
            values.update(code_of(paths.ROOT / kernel.file if kernel.file else rung.file))
    except DaysError as error:
        if error.code != WRONG:
            raise
        return Stage("counters", "FAIL", error.message)
    at = f", at {gates.size.replace('x', ' x ')}" if gates.size else ""
    told = [(ask.holds(values[ask.metric.key]), ask.metric.told(values[ask.metric.key], ask.limit) + at) for ask in gates.asks]
    missed = [ask for ask, (holds, _) in zip(gates.asks, told) if not holds]
    asked = {ask.metric.key for ask in gates.asks}
    lost = [metric for metric in (*COUNTERS, IDLE, THREADS) if metric.key in gates.kept and metric.key not in asked
            and values[metric.key] > gates.kept[metric.key]]
    if lost and not missed:
        limits = [Ask(metric, 0, 0, gates.kept[metric.key]) for metric in lost]
        about = [f"{ask.metric.label} {ask.metric.shown(values[ask.metric.key])}{at}: {rung.before.name} and {rung.name} have "
                 f"{'none' if ask.limit < 1 else 'fewer'}" for ask in limits]
        return Stage("counters", "FAIL", "; ".join(about), [*(line for ask in limits for line in _where(ask, launches)),
                           f"Why: ./days {_explain(rung, gates)}"])
    command = f"asm --file {kernel.file} -I." if gates.kind == "code" else _explain(rung, gates)
    return stages.counters(told, lambda: [*(line for ask in missed for line in _where(ask, launches)), f"Why: ./days {command}"])


def _explain(rung, gates):
    return " ".join(["explain", str(rung.day.number), gates.prefix + rung.name, "--mine", *gates.flags()])


def _where(ask, launches):
    """The line of the learner's file that has most of what there is too much of."""
    key = ask.metric.key
    if key == "launches":
        return ["Launched: " + ", ".join(launch.name + (f" {launch.times} times" if launch.times > 1 else "")
                                         for launch in launches)]
    if key in ("blocks", "idle_blocks", "threads"):
        few = min(launches, key=lambda launch: launch.busy) if key == "blocks" else max(launches, key=lambda launch: launch.blocks - launch.busy)
        return [f"Launched: {few.name} with {few.blocks:,} blocks of {math.prod(few.block)} threads" +
                (f"; {few.blocks - few.busy:,} of the blocks do nothing" if few.busy < few.blocks else "")]
    if key == "barriers":
        lines = sorted({(line.file, line.line) for launch in launches for line in launch.of_space("barrier")})
        return ["Barriers at " + ", ".join(f"{file}:{number}" for file, number in lines)] if lines else []
    return [text for line, says in _worst(key, launches)[:3]
            for text in (f"{line.file}:{line.line}  {line.verb} {_code_of(line)}", f"    {says}.")]


def _worst(key, launches):
    """[(line, what it does)], the worst first, of those lines that a metric counts. Of how well requests are shaped one line
    tells enough; of how many there are, each has its share."""
    lines = [(line, launch.times) for launch in launches for line in launch.lines
             if line.space in ("global", "shared") and line.requests]
    of_global = [(line, times) for line, times in lines if line.space == "global" and line.op != "atomic"]
    if key in ("sectors", "wasted_sectors"):
        line, _ = max(of_global, key=lambda one: (one[0].sectors - one[0].least, one[0].sectors), default=(None, 0))
        return line and [(line, f"moves {line.sectors / line.requests:.1f} sectors a request, where "
                                f"{line.least / line.requests:.1f} could hold the bytes")] or []
    if key == "bank_conflicts":
        line, _ = max((one for one in lines if one[0].space == "shared"), key=lambda one: one[0].conflicts, default=(None, 0))
        return line and [(line, f"takes {line.wavefronts / line.requests:.0f} wavefronts a request, of which "
                                f"{line.conflicts / line.requests:.0f} are bank conflicts")] or []
    chosen = {"requests": of_global, "reads_per_input": [one for one in of_global if one[0].op == "ld"],
              "atomics": [one for one in lines if one[0].space == "global" and one[0].op == "atomic"],
              "shared_atomics": [one for one in lines if one[0].space == "shared" and one[0].op == "atomic"],
              "shared_requests": [one for one in lines if one[0].space == "shared" and one[0].op != "atomic"]}.get(key, [])
    most = max((line.requests * times for line, times in chosen), default=0)
    return [(line, f"makes {line.requests * times:,} requests") for line, times in
            sorted(chosen, key=lambda one: -one[0].requests * one[1]) if line.requests * times * 20 >= most]


def _code_of(line):
    return " ".join(line.text.split())


def _notes(launches):
    """{metric's key: a sentence on its worst line}, for those metrics of which a line's figure says more than the sum."""
    notes = {}
    for key in ("sectors", "wasted_sectors", "bank_conflicts"):
        for line, says in _worst(key, launches):
            notes[key] = f"`{_code_of(line)}` {says}."
    return notes


def speed(kernel, rung, gates, gpu):
    """Stage 4: in one run with the rung and the one before it."""
    if not gates.by_speed:
        return Stage("speed", "skip", "this rung is asked for its counters")
    if gpu is None:
        return Stage("speed", "skip", f"the gate of {rung.name} is its speed, which needs a GPU; results and races were "
                           "checked here")
    names = [rung.before.name, rung.name]
    table, failed = judge.timed(judge.Kernel(rung.day, rung.name), names, rung.flags)
    mine, failed = (None, failed) if failed else judge.timed(kernel, names, rung.flags)
    if failed:
        return failed
    seconds = lambda of, name: next((row.get("seconds") for row in of["rows"] if row["name"] == name), None)
    start, goal, own, again = (seconds(table, rung.before.name), seconds(table, rung.name), seconds(mine, rung.name),
                               seconds(mine, rung.before.name))
    if not all((start, goal, own, again)):
        return Stage("speed", "skip", f"{rung.name} does not run on this {gpu.name}")
    if goal > 0.97 * start:
        return Stage("speed", "skip", f"on this {gpu.name} {rung.name} is no faster than {rung.before.name} "
                           f"({start / goal:.2f} times): nothing to reach")
    gain, wanted = again / own, 1 + 0.7 * (start / goal - 1)
    return Stage("speed", "ok" if gain >= wanted else "FAIL", f"{gain:.2f} times as fast as {rung.before.name} on this "
                       f"{gpu.name}, at least {wanted:.2f} ({rung.name} {start / goal:.2f})")
