# SPDX-License-Identifier: MIT
"""Day 16's ideas: what is in flight at the same time (Little's law), loads before stores, what a scheduler issues, what the
registers' halves deliver, and how to read a roofline.

    tools/pictures.py 16

The numbers of the roofline are those of docs/results/h200/day16.json; the schedule is worked out here by the rule that the
hardware follows: in each cycle issue one instruction whose input is ready, the one that has waited longest first.
"""
import json
from math import log10
from pathlib import Path

from drawing import BAD, GLOBAL, GOOD, INK, OUTPUT, SOFT, THREADS, WHITE, WIDTH, Card, constant, picture

LATENCY = 4  # cycles from a multiply-add's issue until a dependent one can issue
CYCLES = 16
RESULTS = Path(__file__).resolve().parent.parent.parent / "docs" / "results" / "h200" / "day16.json"


def schedule(chains):
    """The chain that issues in each cycle, or None where all of them wait."""
    ready, slots = [0] * chains, []
    for cycle in range(CYCLES):
        chain = min(range(chains), key=lambda c: (ready[c], c))
        if ready[chain] > cycle:
            slots.append(None)
            continue
        slots.append(chain)
        ready[chain] = cycle + LATENCY
    return slots


@picture("under_way.svg")
def under_way():
    """Loads that begin one a tick and take four ticks each."""
    card = Card("In flight = latency x rate", 372,
                "Eight loads begin one after the other, one a tick, and each takes four ticks. At any time four of them are in flight.")
    count, height, now, left = 8, 18, 5.5, 84
    unit = (WIDTH - left - 24) / (count + LATENCY)
    rows = [(f"load {i}", [("", i, i + LATENCY, OUTPUT if i <= now < i + LATENCY else GLOBAL)]) for i in range(count)]
    axis = card.time(62, rows, left, height, count + LATENCY, "time in ticks")
    card.line(left + now * unit, 54, left + now * unit, axis, BAD, 2.5, dashed=True)
    card.text(left + now * unit, axis + 20, "now", 16, BAD, bold=True)
    card.text(240, 346, f"A load takes {LATENCY} ticks and 1 begins a tick: {LATENCY} in flight.", 16, SOFT)
    return card


@picture("ask_first.svg")
def ask_first():
    """A thread that loads and stores by turns, and one that asks for all of its vectors first. A store takes a tick."""
    vectors = constant("day16_device_query/04_copy_inflight.cu", "kVectors")
    few = [(LATENCY + 1) * i for i in range(vectors)]
    end = few[-1] + LATENCY + 1
    card = Card("Ask four times before you wait", 404,
                f"A thread that loads and stores by turns copies {vectors} vectors in {end} ticks; one that asks for {vectors} first, in {LATENCY + vectors}.")
    rows = [("few", [step for start in few for step in (("load", start, start + LATENCY, GLOBAL), ("", start + LATENCY, start + LATENCY + 1, OUTPUT))])]
    for i in range(vectors):
        rows.append(("inflight" if i == 0 else "", [(f"load {i}", i, i + LATENCY, GLOBAL), ("", i + LATENCY, i + LATENCY + 1, OUTPUT)]))
    axis = card.time(66, rows, 96, 34, end, "time in ticks")
    card.text(240, axis + 50, "Blue: a load, 4 ticks. Green: its store, 1 tick.", 16, SOFT)
    card.text(240, axis + 76, f"few: {vectors} vectors in {end} ticks. inflight: in {LATENCY + vectors}.", 16, bold=True)
    return card


@picture("littles_law.svg")
def littles_law():
    """The issue slots that 1, 2, 4 and 8 chains of dependent multiply-adds use."""
    card = Card("What one scheduler issues", 346,
                "One chain uses a quarter of the slots, two a half, four and eight all of them.")
    for row, chains in enumerate((1, 2, 4, 8)):
        slots, y = schedule(chains), 66 + 54 * row
        card.text(20, y + 19, f"ilp{chains}", 16, at="start", bold=True)
        card.owned(y, slots, 19.5, height=28, left=72)
        card.text(WIDTH - 16, y + 19, f"{sum(s is not None for s in slots)} of {CYCLES}", 16, SOFT, "end")
    card.text(240, 300, "A cell is a cycle, a number the chain that issues.", 16, SOFT)
    card.text(240, 324, f"A chain must wait {LATENCY} cycles for itself.", 16, SOFT)
    return card


@picture("halves.svg")
def halves():
    """The registers that multiply-adds read in four cycles, if each half of the register file delivers one a cycle.

    An instruction's reads of x, a and b, by the numbers that nvcc 13.0 gave them: (12, 6, 7) with one chain, x alone with four chains.
    """
    card = Card("If each half reads one register a cycle", 382,
                "One chain: R12 and R6 are both in the even half, so two multiply-adds in four cycles. Four chains: each reads one "
                "register, so four in four.")
    cycles, size, left = 4, 60, 132
    for top, name, instructions in ((92, "1 chain", [(12, 6, 7)] * cycles), (216, "4 chains", [(4,), (2,), (20,), (6,)])):
        free, done = [0, 0], 0  # the first cycle in which each half is free
        for number, registers in enumerate(instructions):
            start, end = max(free), 0
            free = [start, start]
            for place, register in enumerate(registers):
                at, half = free[register % 2], register % 2
                if at < cycles:
                    card.box(left + at * size, top + half * 34, size, 34, THREADS[number])
                    card.text(left + (at + 0.5) * size, top + half * 34 + 23, f"{'xab'[place]} R{register}", 16, WHITE, bold=True)
                free[half] += 1
                end = max(end, free[half])
            done += end <= cycles
        for half, words in enumerate(("even", "odd")):
            card.box(left, top + half * 34, cycles * size, 34)
            card.text(left - 10, top + half * 34 + 23, words, 16, at="end")
        card.text(left, top - 10, name, 16, at="start", bold=True)
        card.text(left + cycles * size + 12, top + 40, f"{done} in {cycles}", 16, SOFT, "start")
    axis = 316
    card.arrow(left, axis, left + cycles * size, axis)
    card.text(left + cycles * size, axis + 20, "time in cycles", 15, SOFT, "end")
    card.text(240, 364, "A cell is a read, a colour one multiply-add.", 16, SOFT)
    return card


@picture("read_roofline.svg")
def read_roofline():
    """A roofline with two kernels under it."""
    tables = json.loads(RESULTS.read_text(encoding="utf-8"))["tables"]
    memory, arithmetic = (next(t for t in tables if t["ladder"] == name)["limit"]["per_second"] for name in ("copy", "fma"))
    ridge = arithmetic / memory
    card = Card("How to read a roofline", 352,
                f"Left of {ridge:.1f} operations a byte a kernel is under the slope, which is memory; right of it under the roof, arithmetic.")
    left, right, bottom, top = 48, 452, 288, 92
    x = lambda intensity: left + (log10(intensity) + 1.4) / 4.6 * (right - left)
    y = lambda rate: top + (log10(arithmetic) - log10(rate)) / 3 * (bottom - top)
    card.line(left, bottom, right, bottom, INK)
    card.line(left, bottom, left, top - 24, INK)
    first = 10 ** -1.4
    card.line(x(first), y(memory * first), x(ridge), y(arithmetic), THREADS[0], 4)
    card.line(x(ridge), y(arithmetic), right, y(arithmetic), THREADS[0], 4)
    card.line(x(ridge), y(arithmetic), x(ridge), bottom, SOFT, dashed=True)
    for intensity, name, color, at, shift in ((1 / 12, "1/12: add vectors", BAD, "start", 12), (4096 / 6, "683: matmul", GOOD, "end", -12)):
        roof = y(min(arithmetic, memory * intensity))
        card.arrow(x(intensity), bottom - 2, x(intensity), roof + 4, color, 2.4)
        card.text(x(intensity) + shift, bottom - 14, name, 15, color, at, bold=True)
    card.text(x(ridge) + 8, top + 30, f"ridge {ridge:.1f}", 16, at="start")
    for mark in (0.1, 1, 10, 100, 1000):
        card.line(x(mark), bottom, x(mark), bottom + 5, INK)
        card.text(x(mark), bottom + 20, f"{mark:,}", 14)
    for mark in (0.1, 1, 10):
        card.line(left - 5, y(mark * 1e12), left, y(mark * 1e12), INK)
        card.text(left - 8, y(mark * 1e12) + 5, str(mark), 14, at="end")
    card.line(left - 5, top, left, top, INK)
    card.text(left - 8, top + 5, f"{arithmetic / 1e12:.1f}", 14, at="end")
    card.text(140, 132, "memory", 16, THREADS[0], bold=True)
    card.text((x(ridge) + right) / 2, top - 12, "arithmetic", 16, THREADS[0], bold=True)
    card.text(left, bottom + 44, "Across: operations a byte. Up: trillions a second.", 16, SOFT, "start")
    return card
