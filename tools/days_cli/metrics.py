# SPDX-License-Identifier: MIT
"""What a kernel is measured by, each metric once: what a gate may ask about, in whose words, and which way is better. A gate is a metric's
key and a bound. Ladders in C++ name theirs in common/ladder.h (Gates), ladders in Python in ladder.py, program days in their front matter;
what a rung is asked beside the one before it, rung_gates.py and python_judge.py find."""
from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from days_cli import sass, timeline

ARCHITECTURE = 90  # of which the figures of Triton's compiler are
RACES = ("race", "hazard", "release")  # reports on Triton's kernels that are right in the order in which the interpreter runs them


@dataclass(frozen=True)
class Metric:
    """key: in what was counted; apart: differences up to this are none; most: a gate is a maximum, else a minimum; implied: by these, so that
    whoever reaches one of them has this as well; means: what a reader needs to know besides; compiled: it comes from the compiler; limit: how
    a bound is shown, as a value where it is ""; zero: what a maximum of 0 is called; asked: a rung may be asked for it though its ladder does not
    name it (`asks` of ladder.py)."""
    key: str
    label: str
    form: str = "{:,.0f}"
    apart: float = 0
    most: bool = True
    implied: tuple = ()
    means: str = ""
    compiled: bool = False
    limit: str = ""
    zero: str = ""
    asked: bool = True

    def shown(self, value):
        return self.form.format(value)

    def holds(self, value, bound):
        return value <= bound if self.most else value >= bound

    def bound(self, limit):
        if self.zero and self.most and limit == 0:
            return self.zero
        return f"at {'most' if self.most else 'least'} {self.limit.format(limit) if self.limit else self.shown(limit)}"

    def told(self, value, bound):
        """What a stage says of it."""
        return f"{self.label} {self.shown(value)}, asked {self.bound(bound)}"


def by_key(metrics):
    return {metric.key: metric for metric in metrics}


# ---- an exercise in C++ ----

def _gate(key, label, form, most=True):
    return Metric(key, label, form, most=most, limit="{:.0%}" if "%" in form else "{:g}")


EXERCISE = (
    _gate("reads_per_input", "reads per input", "{:.2f}"),
    _gate("wasted_sectors", "wasted sectors", "{:.0%}"),
    _gate("conflicts", "bank conflicts a request", "{:.1f}"),
    _gate("bytes_per_request", "bytes a request", "{:.0f}", most=False),
    _gate("atomics_per_input", "atomic sectors per input", "{:.2f}"),
    _gate("under_way", "bytes under way a block", "{:,.0f}", most=False),
    _gate("loads_first", "loads before a thread's first store", "{:.1f}", most=False),
    _gate("launches", "launches", "{:.0f}"),
    _gate("blocks", "blocks of the smallest launch", "{:,.0f}", most=False),
    _gate("workspace", "bytes of workspace written", "{:.0f}"),
)


# ---- a rung in C++, beside the one before it ----

@dataclass(frozen=True)
class _OfRung(Metric):
    zero: str = "none"

    def shown(self, value):
        return ("{:,.0f}" if self.form == "{:.2f}" and value >= 20 else self.form).format(value)


COUNTERS = (
    _OfRung("reads_per_input", "bytes loaded for each byte of input", "{:.2f}", 0.1),
    _OfRung("sectors", "sectors moved", implied=("reads_per_input",)),
    _OfRung("wasted_sectors", "wasted sectors", "{:.0%}", 0.05, means="A sector, 32 bytes, is wasted in so far as nobody asked for its bytes."),
    _OfRung("requests", "requests to global memory", implied=("reads_per_input", "sectors"), means="A request is one load or store of a warp."),
    _OfRung("atomics", "bytes of atomic operations on global memory"),
    _OfRung("bank_conflicts", "bank conflicts"),
    _OfRung("shared_atomics", "atomic requests to shared memory", means="A request is one instruction of a warp."),
    _OfRung("launches", "kernels launched"),
    _OfRung("workspace", "bytes of workspace written"),
)
# Asked where none of the others falls: they are what a rung costs, and seldom what it is about.
BESIDES = (_OfRung("barriers", "barriers", means="Each __syncthreads() counts once for each block that comes to it."),
           _OfRung("shared_requests", "requests to shared memory", means="A request is one instruction of a warp."))
# Asked where no counter falls, and more of it: a multiprocessor without a block stands idle, which no counter of accesses shows.
BLOCKS = _OfRung("blocks", "blocks with work in the smallest launch", most=False, means="A multiprocessor that gets no block stands idle.")
# Never asked for, and not to be brought in: whoever starts more blocks than there is work for has not found the launch.
IDLE = _OfRung("idle_blocks", "blocks that touch no global memory")
# Likewise: blocks beyond the work may load what they then have no use for, and are not idle.
THREADS = _OfRung("threads", "threads launched")
# Asked where no counter falls, and before what is beside the point: who asks earlier has more of it.
UNDER_WAY = _OfRung("under_way", "bytes of copies under way a block", most=False,
                    means="Counted at each wait: what has been asked for and has not come yet, on average.")
CODE = (_OfRung("load_bits", "bits of a thread's widest load from global memory", most=False),
        _OfRung("shared_bytes", "bytes of shared memory a block"), _OfRung("registers", "registers a thread"))


# ---- a rung of Triton's ----

def _named(key, label, form="{:,.0f}", apart=0.5, most=True, compiled=False):
    return Metric(key, label, form, apart, most, compiled=compiled, asked=False)


TRITON = (  # in the order in which a rung is asked for them
    Metric("programs", "programs", "{:,.0f}", 0.5),
    Metric("launches", "launches", "{:.0f}", 0.5),
    Metric("reads_per_input", "reads per input", "{:.2f}", 0.02),
    Metric("wave_reads", "reads per input where a wave shares", "{:.2f}", 0.02),
    Metric("writes_per_output", "writes per output", "{:.2f}", 0.02),
    Metric("wasted_sectors", "wasted sectors", "{:.0%}", 0.05, implied=("programs",), compiled=True),
    Metric("atomic_accesses", "atomic accesses", "{:,.0f}", 0.5),
    Metric("repeatable", "orders of programs that give the same bits", "{:.0f} of 3", 0.5, False),
    Metric("load_bits", "bits of the widest load", "{:.0f}", 0.5, False, compiled=True),
    Metric("spilled", "bytes of a thread's stack", "{:.0f}", 7, compiled=True),
    Metric("tensor", "tensor-core instructions", "{:.0f}", 0.5, False, compiled=True),
    Metric("copies", "copies that nobody waits for in the code", "{:.0f}", 0.5, False, compiled=True),
    Metric("shared", "bytes of shared memory", "{:,.0f}", 127, compiled=True),
    Metric("global_accesses", "loads and stores of global memory in the code", "{:.0f}", 0.5, True, ("load_bits",), compiled=True),
    Metric("instructions", "instructions in the code", "{:.0f}", 7, True, ("load_bits", "global_accesses"), compiled=True),
    Metric("registers", "registers", "{:.0f}", 7, True, ("instructions", "shared", "spilled", "tensor"), compiled=True),
    _named("error", "worst error in 2^-24 of an element", "{:,.1f}", 0.5),
    _named("scratch", "bytes of memory of its own"),
    _named("alive", "bytes that wait for the backward"),
    _named("instructions_an_output", "instructions an output", "{:.1f}", 0.5, compiled=True),
    _named("mufu", "instructions of the special unit (MUFU)", compiled=True),
    _named("imad", "integer products", compiled=True),
    _named("shared_accesses", "accesses to shared memory in the code", compiled=True),
    _named("conversions", "changes of layout through shared memory", compiled=True),
    _named("loads_before_barrier", "loads under way across a loop's barriers", most=False, compiled=True),
    _named("resident", "warps in flight", most=False, compiled=True),
    _named("compiled", "binaries for the ladder's calls", compiled=True),
    _named("searches", "searches of a tuner for the ladder's calls", compiled=True),
)


class _Exact(Metric):
    def holds(self, value, bound):
        return value == bound

    def bound(self, limit):
        return self.form.format(limit)


# Asked where only the order of programs is to change, or their products.
PROGRAMS_KEPT = _Exact("programs", "programs", "{:,.0f}", 0.5)


def wasted(asked_bytes, sectors):
    """The share of sectors that nobody asked for."""
    return max(0.0, 1 - asked_bytes / (32 * sectors)) if sectors else 0.0


def of_counts(counted):
    """Of what the program's `count` answers."""
    lines = [line for launch in counted["launches"] for line in launch["lines"]]
    total = lambda member, *ops: sum(line[member] for line in lines if line["op"] in ops)
    programs = 0
    for launch in counted["launches"]:
        each = 1
        for extent in launch["grid"]:
            each *= extent
        programs += each
    return {"programs": programs, "launches": len(counted["launches"]),
            "reads_per_input": total("bytes", "load") / counted["read_bytes"] if counted["read_bytes"] else 0,
            "writes_per_output": total("bytes", "store") / counted["written_bytes"] if counted["written_bytes"] else 0,
            "wasted_sectors": wasted(total("asked_bytes", "load", "store"), total("asked_sectors", "load", "store")),
            "wave_reads": 32 * sum(launch["wave_sectors"] for launch in counted["launches"]) / counted["read_bytes"] if counted["read_bytes"] else 0,
            "atomic_accesses": total("accesses", "atomic"), "error": counted["error"], "scratch": counted["scratch"], "alive": counted["alive"],
            "repeatable": counted["repeatable"]}


def instructions(kernel):
    """A Counter of a kernel of the program's `compile`."""
    return sum((Counter(line["counts"]) for line in kernel["lines"]), Counter())


def of_code(made):
    """Of one answer of the program's `compile`."""
    kernels = made["kernels"]
    counts = sum(map(instructions, kernels), Counter())
    groups = sass.grouped(counts)
    named = lambda *kinds: sum(count for kind, count in counts.items() if kind.split(".")[0] in kinds)
    return {"load_bits": made["load_bits"], "spilled": max((k["stack"] for k in kernels), default=0), "tensor": groups["tensor"],
            "copies": named("LDGSTS", "UTMALDG"), "shared": max((k["shared"] for k in kernels), default=0), "global_accesses": groups["global"],
            "instructions": sum(counts.values()), "registers": max((k["registers"] for k in kernels), default=0),
            "instructions_an_output": max((sum(instructions(k).values()) / k["stored"] for k in kernels if k["stored"]), default=0),
            "mufu": named("MUFU"), "imad": counts["IMAD"], "shared_accesses": named("LDS", "STS", "LDSM", "STSM"),
            "conversions": sum(k["conversions"] for k in kernels),
            "loads_before_barrier": max((k["loads_before_barrier"] for k in kernels), default=0),
            "resident": min((_resident(k, made["sm"]) for k in kernels), default=0), "compiled": made.get("compiled", 0),
            "searches": made.get("searches", 0)}


def _resident(kernel, sm):
    """Warps of a kernel that a multiprocessor holds at a time."""
    return sass.blocks(sm, 32 * kernel["warps"], kernel["registers"], kernel["shared"])[0] * kernel["warps"]


# ---- a program ----

TIMELINE = (Metric("copies_beside_kernels", "copies that may run beside a kernel", "{:.0%}", most=False),
            Metric("steps", "steps, of one after the other", "{:.0%}"))


def of_timeline(line):
    """What its streams let a program run side by side."""
    share = lambda part, whole: part / whole if whole else 0
    return {"copies_beside_kernels": share(*timeline.copies_beside_kernels(line)), "steps": share(line.length, len(line.operations))}
