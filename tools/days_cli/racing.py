# SPDX-License-Identifier: MIT
"""Contestants in one process, timed by turns: what bench/contestants.py and a Python day's bench share. A clock is a function timed(body),
which gives the seconds that what body() queues takes on the device."""
from __future__ import annotations

import statistics

_LEAST, _MOST, _SECONDS = 7, 56, 0.25  # rounds, and time a contestant, as the benchmarks in C++ have them
_BUSY = 2_000_000  # clock ticks: as long Python may take to queue a launch, whoever it is for


def by_turns(runners, timed):
    """{name: [seconds]} of functions {name: body}; the first round warms up."""
    seconds, spent = {name: [] for name in runners}, 0.0
    for lap in range(_MOST + 1):
        if lap > _LEAST and spent >= _SECONDS * len(runners):
            break
        for name, body in runners.items():
            once = timed(body)
            if lap:
                seconds[name].append(once)
                spent += once
    return seconds


def summary(seconds):
    """(median, relative spread) as common/timing.h has them."""
    middle = statistics.median(seconds)
    return middle, 1.4826 * statistics.median(abs(s - middle) for s in seconds) / middle if middle > 0 else 0


def record(row, seconds, table):
    """Puts what a contestant's seconds come to into its row of a result table."""
    (median, noise), moved, flops, limit = summary(seconds), table["read_bytes"] + table["written_bytes"], table.get("flops"), table.get("limit", {})
    row.update(seconds=median, noise=noise, runs=len(seconds))
    if table.get("work"):
        row["units_per_second"] = table["work"]["units"] / median
    if moved or not table.get("work"):
        row["bytes_per_second"] = moved / median
    if flops:
        row["flops_per_second"] = flops / median
    for member, of in (("of_limit", "per_second"), ("of_sustained", "sustained_per_second")):
        if limit.get(of):
            row[member] = (flops or moved) / median / limit[of]


def torch_clock(torch):
    """A clock by PyTorch's events on its current stream; before each launch the cache is written over and the device kept busy."""
    flush = torch.empty(2 * torch.cuda.get_device_properties(0).L2_cache_size, dtype=torch.int8, device="cuda")

    def timed(body):
        flush.zero_()
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda._sleep(_BUSY)
        start.record()
        body()
        end.record()
        end.synchronize()
        return start.elapsed_time(end) / 1e3
    return timed
