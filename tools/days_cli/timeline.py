# SPDX-License-Identifier: MIT
"""What a program's streams allow to overlap: from the order that the CPU backend recorded (SIMT_TIMELINE), or from the times
that CUDA events gave (a program's --timeline).

The recorded order has no times. So each operation counts as one step, and a schedule puts it on its engine (one for copies to
the device, one for copies from it, one for kernels) as soon as the engine is free and all that it has to wait for is done. How
many steps that takes, beside one step after the other, says how well the streams are used.
"""
from __future__ import annotations

import bisect
import json
from collections import defaultdict
from dataclasses import dataclass, field

from days_cli import console
from days_cli.errors import WRONG, DaysError

ENGINES = {"H2D": "copy in", "kernel": "kernel", "D2H": "copy out"}
_ON_ENGINE = {"H2D": "H2D", "D2H": "D2H", "kernel": "kernel", "fill": "kernel", "D2D": "kernel"}
_COLUMNS = 60  # steps that a text shows


@dataclass
class Operation:
    """begin, end: steps of the schedule, or seconds where they were measured."""
    number: int
    kind: str  # kernel, fill, H2D, D2H, D2D
    stream: str
    begin: float = 0
    end: float = 0
    name: str = ""
    place: str = ""
    bytes: int = 0
    pageable: bool = False
    slot: int = 0
    floor: int = 0
    after: dict = field(default_factory=dict)

    @property
    def engine(self):
        return _ON_ENGINE[self.kind]

    def comes_before(self, later):
        """In every order that the program allows."""
        return (self.number <= later.floor or (self.slot == later.slot and self.number < later.number)
                or self.number <= later.after.get(self.slot, 0))


@dataclass
class Timeline:
    operations: list
    measured: bool = False  # begin and end are seconds

    def of(self, *kinds):
        return [operation for operation in self.operations if operation.kind in kinds]

    @property
    def length(self):
        return max((operation.end for operation in self.operations), default=0)


def recorded(path):
    """The Timeline that SIMT_TIMELINE wrote, scheduled in steps. What common/ issued to prepare buffers is left out."""
    found = _load(path)
    operations = []
    for entry in found["operations"]:
        if entry["kind"] not in _ON_ENGINE or entry["place"].startswith("common/"):
            continue
        operations.append(Operation(entry["number"], entry["kind"], entry["stream"], name=entry["name"], place=entry["place"],
                                    bytes=entry["bytes"], pageable=entry["pageable"], slot=entry["slot"], floor=entry["floor"],
                                    after=dict(entry["after"])))
    _schedule(operations)
    return Timeline(operations)


def measured(path):
    """The Timeline that a program wrote on a GPU: seconds from the first operation on."""
    return Timeline([Operation(entry["number"], entry["kind"], entry["stream"], entry["begin"], entry["end"])
                     for entry in _load(path)["operations"]], measured=True)


def _load(path):
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DaysError(f"the program left no timeline: {error}", code=WRONG) from error


class _Ends:
    """For operations in the order of their numbers: the latest end of those up to a number."""

    def __init__(self):
        self.numbers, self.latest = [], []

    def add(self, number, end):
        self.numbers.append(number)
        self.latest.append(max(end, self.latest[-1] if self.latest else 0))

    def up_to(self, number):
        at = bisect.bisect_right(self.numbers, number)
        return self.latest[at - 1] if at else 0


def _schedule(operations):
    """Sets begin and end. An engine takes its operations in the order of issue. A copy from or to pageable memory keeps the
    host, which issues nothing until it has ended."""
    everything, slots, engines, host = _Ends(), defaultdict(_Ends), defaultdict(int), 0
    for operation in operations:
        ready = max([host, engines[operation.engine], everything.up_to(operation.floor),
                     slots[operation.slot].up_to(operation.number)]
                    + [slots[slot].up_to(number) for slot, number in operation.after.items()])
        operation.begin, operation.end = ready, ready + 1
        engines[operation.engine] = operation.end
        everything.add(operation.number, operation.end)
        slots[operation.slot].add(operation.number, operation.end)
        if operation.pageable:
            host = operation.end


# ---- what it says ----

def beside(timeline, operation, others):
    """Whether one of the others may run while the operation does."""
    if timeline.measured:
        return any(other.begin < operation.end and operation.begin < other.end for other in others)
    if operation.pageable:
        return False  # the host waits
    return any(not (other.pageable or operation.comes_before(other) or other.comes_before(operation)) for other in others)


def copies_beside_kernels(timeline):
    """(copies that may run beside a kernel, all copies between host and device)"""
    copies, kernels = timeline.of("H2D", "D2H"), timeline.of("kernel")
    return sum(beside(timeline, copy, kernels) for copy in copies), len(copies)


def drawing(timeline):
    """The timeline as text: a row an engine, a column a step, in each the number of the stream (0 the default one)."""
    last = min(timeline.length, _COLUMNS)
    lines = []
    for engine, title in ENGINES.items():
        row = ["."] * last
        for operation in timeline.operations:
            if operation.engine == engine and operation.begin < last:
                row[operation.begin] = mark(operation)
        if any(operation.engine == engine for operation in timeline.operations):
            lines.append(f"{title:<10}{''.join(row)}" + (" ..." if timeline.length > last else ""))
    return lines


def mark(operation):
    """One character for an operation's stream: its number, 0 for the default stream, g for a graph's own, + from 10 on."""
    if operation.stream.startswith("graph"):
        return "g"
    digits = operation.stream.rpartition(" ")[2]
    return (digits if len(digits) == 1 else "+") if digits.isdecimal() else "0"


LEGEND = "A column is a step, a digit a stream (0 the default one, g a graph's own)."


def host_waits(timeline):
    """How often the host waited, between the first and the last operation, until what it had issued was done. Copies of
    pageable memory, for which it waits as well, are not in it."""
    if timeline.measured or not timeline.operations:
        return 0
    pageable = {operation.number for operation in timeline.operations if operation.pageable}
    return len({operation.floor for operation in timeline.operations} - {timeline.operations[0].floor} - pageable)


def waiting(timeline):
    """[] or the line that says that the host waits."""
    waits = host_waits(timeline)
    return [f"The host waits {'once' if waits == 1 else f'{waits} times'} on the way, and issues nothing meanwhile."] if waits else []


def describe(timeline):
    """The lines below a drawing."""
    beside_kernels, copies = copies_beside_kernels(timeline)
    count = len(timeline.operations)
    lines = []
    if copies:
        lines.append(f"{beside_kernels} of {copies} copies may run beside a kernel.")
        pageable = sum(copy.pageable for copy in timeline.of("H2D", "D2H"))
        if pageable:
            lines.append(f"{pageable} copies are from or to pageable memory: the host waits for each.")
    lines += waiting(timeline)
    lines.append(f"{timeline.length} steps, where {count} operations one after the other take {count} ({timeline.length / count if count else 0:.0%}).")
    return lines


def say(timeline):
    for line in [*drawing(timeline), "", *describe(timeline)]:
        for part in console.wrap(line) if len(line) > console.WIDTH else [line]:
            console.say(part)
