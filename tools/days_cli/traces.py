# SPDX-License-Identifier: MIT
"""What a traced program counted (SIMT_TRACE's JSON): launches, lines, and the first requests of each."""
from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import List, Optional, Tuple

SECTOR = 32
BANKS = 32

_GLOBAL = "l1tex__t_{}_pipe_lsu_mem_global_op_{}.sum"
WAVEFRONTS = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"
CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{}.sum"


def requests_metric(op):
    return _GLOBAL.format("requests", op)


def sectors_metric(op):
    return _GLOBAL.format("sectors", op)


@dataclass(frozen=True)
class Request:
    """One request of a warp. addresses: of each lane, counted from its buffer's start; None: it took no part."""
    block: Tuple[int, int, int]
    warp: int
    bytes: int
    addresses: Tuple[Optional[int], ...]

    @property
    def active(self):
        return [address for address in self.addresses if address is not None]

    def sectors(self):
        """Sector -> how many of its bytes are asked for."""
        asked = {}
        for address in self.active:
            for byte in range(address, address + self.bytes):
                asked.setdefault(byte // SECTOR, set()).add(byte)
        return {sector: len(asked[sector]) for sector in sorted(asked)}

    @property
    def passes(self):
        """Accesses of eight bytes go by half warps, those of sixteen by quarters."""
        return 4 if self.bytes >= 16 else 2 if self.bytes == 8 else 1

    def _words_of_passes(self):
        """Of each pass that has lanes: bank -> the distinct words that they want of it."""
        lanes = 32 // self.passes
        for first in range(0, 32, lanes):
            words = {}
            for address in self.addresses[first:first + lanes]:
                if address is not None:
                    for word in range(address // 4, (address + self.bytes - 1) // 4 + 1):
                        words.setdefault(word % BANKS, set()).add(word)
            if words:
                yield {bank: len(wanted) for bank, wanted in words.items()}

    def banks(self):
        """Bank -> the distinct words that the lanes of one pass want of it, at most over the passes."""
        most = {}
        for words in self._words_of_passes():
            for bank, wanted in words.items():
                most[bank] = max(most.get(bank, 0), wanted)
        return most

    def wavefronts(self):
        """How many the request takes, and how few its passes could do with."""
        passes = [max(words.values()) for words in self._words_of_passes()]
        return sum(passes), len(passes)

    def stride(self):
        """Bytes from each lane to the next where that is always the same; None where it is not."""
        pairs = list(zip(self.addresses, self.addresses[1:]))
        steps = {b - a for a, b in pairs if a is not None and b is not None}
        return steps.pop() if len(steps) == 1 else None


@dataclass
class Line:
    file: str
    line: int
    text: str
    operation: str  # "global load", "shared store", "branch", "barrier", ...
    metrics: dict
    first: List[Request] = field(default_factory=list)
    typical: Optional[Request] = None  # of the kind that wastes most
    alike: int = 0  # requests of that kind

    @property
    def space(self):
        return self.operation.split()[0]

    @property
    def verb(self):
        return {"load": "read", "store": "write"}.get(self.operation.split()[-1], self.operation.split()[-1])

    @property
    def op(self):
        return {"load": "ld", "store": "st"}.get(self.operation.split()[-1], "atomic")

    def _metric(self, plain, atomic):
        return self.metrics[atomic if self.op == "atomic" else plain.format(self.op)]

    @property
    def requests(self):
        if self.space == "shared":
            return self._metric("simt_shared_requests_op_{}", "simt_shared_atomic_requests")
        return self._metric(requests_metric("{}"), "simt_atomic_requests")

    @property
    def sectors(self):
        return self._metric(sectors_metric("{}"), "simt_atomic_sectors")

    @property
    def least(self):
        return self._metric("simt_least_sectors_op_{}", "simt_atomic_least_sectors")

    @property
    def wavefronts(self):
        return self._metric(WAVEFRONTS, "simt_shared_atomic_wavefronts")

    @property
    def conflicts(self):
        return self._metric(CONFLICTS, "simt_shared_atomic_conflicts")


@dataclass
class Launch:
    name: str
    file: str
    grid: Tuple[int, int, int]
    block: Tuple[int, int, int]
    totals: dict
    lines: List[Line]
    times: int = 1  # launches that counted the same

    @property
    def blocks(self):
        return math.prod(self.grid)

    @property
    def loads_first(self):
        """Loads from global memory that a thread makes before its first store there, on average."""
        return self.totals.get("simt_loads_first", 0) / (self.totals.get("simt_storing_warps", 0) or 1)

    @property
    def busy(self):
        """Blocks that read or write global memory."""
        return self.totals.get("simt_busy_blocks", self.blocks)

    def of_space(self, space):
        return [line for line in self.lines if line.space == space]


def _request(r):
    return Request(tuple(r["block"]), r["warp"], r["bytes"], tuple(r["addresses"]))


def _line(entry):
    known = ("file", "line", "text", "operation", "first", "typical", "like_typical")
    first = [_request(r) for r in entry.get("first", ())]
    typical = _request(entry["typical"]) if "typical" in entry else first[0] if first else None
    return Line(entry["file"], entry["line"], entry["text"], entry["operation"],
                {key: value for key, value in entry.items() if key not in known}, first, typical, entry.get("like_typical", 0))


def launches(trace):
    """The launches of a trace, as `Launch`es; neighbours that counted the same are one."""
    result = []
    for kernel in trace["kernels"]:
        launch = Launch(kernel["name"], kernel["file"], tuple(kernel["grid"]), tuple(kernel["block"]), kernel["totals"],
                        [_line(entry) for entry in kernel["lines"]])
        last = result[-1] if result else None
        same = last and (last.name, last.grid, last.block, last.totals) == (launch.name, launch.grid, launch.block,
                                                                          launch.totals)
        if same:
            last.times += 1
        else:
            result.append(launch)
    return result


def figures(launches_, input_bytes=0):
    """What gates and tables are made of, over all launches: {key: value}."""
    def total(name):
        return sum(launch.totals[name] * launch.times for launch in launches_)

    def both(metric):
        return sum(total(metric.format(op)) for op in ("ld", "st"))

    requests, sectors, shared = both(requests_metric("{}")), both(sectors_metric("{}")), both("simt_shared_requests_op_{}")
    blocks = sum(launch.blocks * launch.times for launch in launches_)
    return {"reads_per_input": total("simt_requested_bytes_op_ld") / input_bytes if input_bytes else 0,
            "wasted_sectors": 1 - both("simt_least_sectors_op_{}") / sectors if sectors else 0,
            "conflicts": both(CONFLICTS) / shared if shared else 0,
            "bytes_per_request": both("simt_requested_bytes_op_{}") / requests if requests else 0,
            "atomics_per_input": total("simt_atomic_sectors") * SECTOR / input_bytes if input_bytes else 0,
            "sectors": sectors, "requests": requests, "atomics": total("simt_atomic_requested_bytes"),
            "bank_conflicts": both(CONFLICTS), "shared_requests": shared,
            "shared_atomics": total("simt_shared_atomic_requests"), "barriers": total("simt_barriers"),
            "bulk_bytes": total("simt_bulk_bytes"), "product_bytes": total("simt_product_bytes"),
            "threads": sum(launch.blocks * math.prod(launch.block) * launch.times for launch in launches_),
            "idle_blocks": sum((launch.blocks - launch.busy) * launch.times for launch in launches_),
            "under_way": max((launch.totals["simt_under_way_bytes"] for launch in launches_), default=0),
            "sectors_a_block": total("simt_distinct_sectors_of_blocks_op_ld") / blocks if blocks else 0}


def load(path):
    with open(path, encoding="utf-8", errors="replace") as file:  # a source line of the learner's need not be UTF-8
        return json.load(file)
