# SPDX-License-Identifier: MIT
"""Day 60's ideas: where pageable memory's time goes, one stream and four, an event, a chain of launches, a dependent launch.

    tools/pictures.py 60

The two timelines come from what the note shows of `./days explain 60`, which CI holds against what it prints today.
"""
import re
from pathlib import Path

from drawing import BAD, EMPTY, GLOBAL, GOOD, OUTPUT, REGISTERS, SOFT, Card, constant, picture

NOTE = Path(__file__).resolve().parent.parent / "README.md"
CHUNKS = constant("day60_streams_and_graphs/03_overlapped.cu", "kChunks")
KERNELS = constant("day60_streams_and_graphs/05_launches.cu", "kKernels")
COLOURS = {"copy in": GLOBAL, "kernel": REGISTERS, "copy out": OUTPUT}


def shown(program):
    """[(engine, [(stream, from, to, colour)])] of the timeline that the note shows of a program."""
    block = re.search(rf"<!-- output: \./days explain 60 {program}[^\n]*-->\n(.*?)<!-- /output -->", NOTE.read_text(encoding="utf-8"),
                      re.DOTALL)
    if not block:
        raise ValueError(f"the note shows no ./days explain 60 {program}")
    rows = []
    for engine, steps in re.findall(r"^ +(copy in|kernel|copy out) +([0-9.]+)$", block[1], re.MULTILINE):
        rows.append((engine, [(mark, at, at + 1, COLOURS[engine]) for at, mark in enumerate(steps) if mark != "."]))
    if len(rows) != 3:
        raise ValueError(f"the note's timeline of {program} has {len(rows)} engines, not 3")
    return rows


@picture("pinned.svg")
def pinned():
    card = Card("One stream: two engines stand idle", 240, "Copy in, then the kernel, then copy out, one after the other.")
    card.time(60, shown("pinned"), left=96, words="3 steps; order, not time")
    return card


@picture("overlapped.svg")
def overlapped():
    rows = shown("overlapped")
    steps = max(step[2] for _, row in rows for step in row)
    if len(rows[0][1]) != CHUNKS or steps != CHUNKS + 2:
        raise ValueError(f"{CHUNKS} chunks in {steps} steps")
    card = Card(f"Four streams: {CHUNKS} chunks in {steps} steps", 240, "From the third step on, all three engines are busy.")
    card.time(60, rows, left=96, words="in each box its stream; order, not time")
    return card


@picture("staging.svg")
def staging():
    card = Card("Pageable memory takes a detour", 270, "From a pageable array the CPU copies into a pinned buffer, from which the "
                                                       "copy engine takes it; from a pinned array the copy engine takes it at once.")
    for top, word in ((70, "pageable"), (186, "pinned")):
        card.box(24, top, 150, 52, EMPTY)
        card.text(99, top + 24, "your array", 15)
        card.text(99, top + 43, word, 15, bold=True)
        card.box(358, top, 98, 52, GLOBAL)
        card.text(407, top + 24, "GPU's", 15)
        card.text(407, top + 43, "memory", 15)
    card.box(226, 70, 80, 52, EMPTY)
    card.text(266, 94, "driver's", 15)
    card.text(266, 113, "buffer", 15)
    card.arrow(178, 96, 222, 96, BAD)
    card.arrow(310, 96, 354, 96)
    card.text(200, 148, "the CPU copies", 15, BAD)
    card.text(350, 148, "the engine copies", 15)
    card.arrow(178, 212, 354, 212, GOOD)
    card.text(266, 252, "the engine copies, the CPU is free", 15, GOOD)
    return card


@picture("event.svg")
def event():
    card = Card("An event makes one stream wait", 216, "Stream 1 makes x and records an event; stream 2 waits for the event and then "
                                                       "uses x.")
    card.text(86, 92, "stream 1", at="end", bold=True)
    card.text(86, 158, "stream 2", at="end", bold=True)
    card.box(98, 68, 120, 36, REGISTERS)
    card.text(158, 92, "make x", 15)
    card.box(222, 68, 60, 36, EMPTY)
    card.text(252, 92, "event", 15)
    card.box(286, 68, 120, 36, REGISTERS)
    card.text(346, 92, "more work", 15)
    card.box(98, 134, 120, 36, REGISTERS)
    card.text(158, 158, "other work", 15)
    card.box(222, 134, 60, 36, EMPTY)
    card.text(252, 158, "wait", 15)
    card.box(286, 134, 120, 36, REGISTERS)
    card.text(346, 158, "use x", 15)
    card.arrow(252, 106, 252, 132, GOOD)
    card.text(240, 200, "only what follows the wait has to wait", 15, SOFT)
    return card


@picture("launches.svg")
def launches():
    card = Card("A launch outlasts a small kernel", 340, "The CPU launches kernel after kernel; between two short kernels the "
                                                                  "GPU waits for the next launch. As a graph, kernels follow each other.")
    card.text(240, 62, f"four of {KERNELS:,}, launched one at a time", 15, SOFT)
    card.time(76, [("CPU", [(f"launch {i}", 4 * i, 4 * i + 4, EMPTY) for i in range(4)]),
                   ("GPU", [("", 4 * i + 4, 4 * i + 5.5, REGISTERS) for i in range(4)])], left=64, end=18, words="not to scale")
    card.text(240, 204, "the same as a graph", 15, SOFT)
    card.time(216, [("CPU", [("one launch", 0, 4.6, EMPTY)]),
                    ("GPU", [("", 4.6 + 1.7 * i, 4.6 + 1.7 * i + 1.5, REGISTERS) for i in range(4)])], left=64, end=18, words="not to scale")
    return card


@picture("dependent.svg")
def dependent():
    card = Card("A dependent launch starts early", 236, "The second kernel finds its elements while the first one still "
                                                                    "runs, and waits for it before it reads them.")
    card.time(62, [("kernel 1", [("find", 0, 2, EMPTY), ("read, turn, write", 2, 9, REGISTERS)]),
                   ("kernel 2", [("find", 3, 5, EMPTY), ("wait", 5, 9, None), ("read, turn, write", 9, 16, REGISTERS)])],
              left=92, end=16, words="not to scale")
    card.text(240, 216, "the wait ends where all of kernel 1 has ended", 15, SOFT)
    return card
