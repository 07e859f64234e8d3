# SPDX-License-Identifier: MIT
"""What a rung in Python is measured by without a GPU: what its programs move, counted in Triton's interpreter, and what the compiler
makes of it. The exercise's gates and those between rungs are asked in these."""
from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from days_cli import sass

ARCHITECTURE = 90  # of which the compiler's figures are


@dataclass(frozen=True)
class Metric:
    """most: less is better; apart: what two values must differ by to count; compiled: it comes from the compiler."""
    key: str
    label: str
    form: str
    apart: float
    compiled: bool = False
    most: bool = True
    implied: tuple = ()  # by these: whoever reaches one of them has this as well

    def shown(self, value):
        return self.form.format(value)

    def holds(self, value, bound):
        return value <= bound if self.most else value >= bound

    def bound(self, limit):
        return f"at {'most' if self.most else 'least'} {self.form.format(limit)}"


# In the order in which a rung is asked for them.
METRICS = (
    Metric("programs", "programs", "{:,.0f}", 0.5),
    Metric("launches", "launches", "{:.0f}", 0.5),
    Metric("reads_per_input", "reads per input", "{:.2f}", 0.02),
    Metric("wave_reads", "reads per input where a wave shares", "{:.2f}", 0.02),
    Metric("writes_per_output", "writes per output", "{:.2f}", 0.02),
    Metric("wasted_sectors", "wasted sectors", "{:.0%}", 0.05, implied=("programs",)),
    Metric("atomic_accesses", "atomic accesses", "{:,.0f}", 0.5),
    Metric("load_bits", "bits of the widest load", "{:.0f}", 0.5, True, False),
    Metric("spilled", "bytes of a thread's stack", "{:.0f}", 7, True),
    Metric("tensor", "tensor-core instructions", "{:.0f}", 0.5, True, False),
    Metric("copies", "copies that nobody waits for in the code", "{:.0f}", 0.5, True, False),
    Metric("shared", "bytes of shared memory", "{:,.0f}", 127, True),
    Metric("global_accesses", "loads and stores of global memory in the code", "{:.0f}", 0.5, True, True, ("load_bits",)),
    Metric("instructions", "instructions in the code", "{:.0f}", 7, True, True, ("load_bits", "global_accesses")),
    Metric("registers", "registers", "{:.0f}", 7, True, True, ("instructions", "shared", "spilled", "tensor")),
)
BY_KEY = {metric.key: metric for metric in METRICS}


def of_counts(counted):
    """Of what the program's `count` answers."""
    lines = [line for launch in counted["launches"] for line in launch["lines"]]
    total = lambda member, *ops: sum(line[member] for line in lines if line["op"] in ops)
    sectors = total("sectors", "load", "store")
    moved = total("bytes", "load", "store")
    programs = 0
    for launch in counted["launches"]:
        each = 1
        for extent in launch["grid"]:
            each *= extent
        programs += each
    return {"programs": programs, "launches": len(counted["launches"]),
            "reads_per_input": total("bytes", "load") / counted["read_bytes"] if counted["read_bytes"] else 0,
            "writes_per_output": total("bytes", "store") / counted["written_bytes"] if counted["written_bytes"] else 0,
            "wasted_sectors": max(0.0, 1 - moved / (32 * sectors)) if sectors else 0.0,
            "wave_reads": 32 * sum(launch["wave_sectors"] for launch in counted["launches"]) / counted["read_bytes"] if counted["read_bytes"] else 0,
            "atomic_accesses": total("accesses", "atomic")}


def instructions(kernel):
    """A Counter of a kernel of the program's `compile`."""
    return sum((Counter(line["counts"]) for line in kernel["lines"]), Counter())


def of_code(made):
    """Of one answer of the program's `compile`."""
    kernels = made["kernels"]
    counts = sum(map(instructions, kernels), Counter())
    groups = sass.grouped(counts)
    return {"load_bits": made["load_bits"], "spilled": max((k["stack"] for k in kernels), default=0), "tensor": groups["tensor"],
            "copies": sum(count for kind, count in counts.items() if kind.split(".")[0] in ("LDGSTS", "UTMALDG")), "shared": max((k["shared"] for k in kernels), default=0), "global_accesses": groups["global"],
            "instructions": sum(counts.values()), "registers": max((k["registers"] for k in kernels), default=0)}
