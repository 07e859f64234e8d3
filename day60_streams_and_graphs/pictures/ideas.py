# SPDX-License-Identifier: MIT
"""Day 60's ideas: where pageable memory's time goes, one stream and four, an event, a chain of launches, a dependent launch.

    tools/pictures.py 60

The two timelines come from what the note shows of `./days explain 60`, which CI holds against what it prints today.
"""
import re
from pathlib import Path

from drawing import BAD, EMPTY, GLOBAL, GOOD, OUTPUT, REGISTERS, SOFT, THREADS, WHITE, Card, constant, picture

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
    card.time(60, [(engine, [("all elements", *step[1:]) for step in steps]) for engine, steps in shown("pinned")], left=96,
              words="3 steps; order, not time")
    return card


@picture("overlapped.svg")
def overlapped():
    rows = shown("overlapped")
    steps = max(step[2] for _, row in rows for step in row)
    if len(rows[0][1]) != CHUNKS or steps != CHUNKS + 2:
        raise ValueError(f"{CHUNKS} chunks in {steps} steps")
    card = Card(f"Four streams: {CHUNKS} chunks in {steps} steps", 292, f"Chunks 0 to {CHUNKS - 1} pass the three engines one step apart. "
                                                                       "From the third step on, all three engines are busy.")
    left, top, size, height = 92, 60, 21, 34
    for row, (engine, boxes) in enumerate(rows):
        y = top + row * (height + 10)
        card.text(left - 8, y + 23, engine, bold=True, at="end")
        for chunk, (stream, begin, _, _) in enumerate(boxes):  # an engine takes the chunks in their order
            card.box(left + begin * size, y, size, height, THREADS[int(stream) - 1], line=WHITE, round=2)
            card.text(left + (begin + 0.5) * size, y + 22, chunk, 13, WHITE)
    edge, first, last = top + 3 * (height + 10), left + 2 * size, left + CHUNKS * size
    card.line(first, edge, last, edge, SOFT, 2)
    card.line(first, edge - 6, first, edge, SOFT, 2)
    card.line(last, edge - 6, last, edge, SOFT, 2)
    card.text((first + last) / 2, edge + 22, f"steps 3 to {CHUNKS}: all three are busy")
    for stream, color in enumerate(THREADS, 1):
        card.box(94 + (stream - 1) * 92, 236, 14, 14, color, line=color)
        card.text(112 + (stream - 1) * 92, 248, f"stream {stream}", 15, at="start")
    card.text(240, 277, "in each box its chunk; order, not time", 15, SOFT)
    return card


@picture("staging.svg")
def staging():
    card = Card("Pageable memory takes a detour", 286, "From a pageable array the CPU copies into the driver's pinned buffer, from which "
                                                       "the copy engine takes it; from a pinned array the copy engine takes it at once.")
    for top, word in ((64, "pageable"), (174, "pinned")):
        card.box(14, top, 96, 56, EMPTY)
        card.text(62, top + 24, "your array", 15)
        card.text(62, top + 44, word, 15, bold=True)
        card.box(308, top + 10, 66, 36, EMPTY)
        card.text(341, top + 33, "engine", 15)
        card.box(398, top, 68, 56, GLOBAL)
        card.text(432, top + 24, "GPU's", 15)
        card.text(432, top + 44, "memory", 15)
        card.arrow(376, top + 28, 396, top + 28)
    card.box(134, 74, 46, 36, EMPTY, BAD)
    card.text(157, 97, "CPU", 15, BAD, bold=True)
    card.box(204, 54, 80, 76, EMPTY)
    card.text(244, 77, "driver's", 15)
    card.text(244, 97, "buffer", 15)
    card.text(244, 117, "pinned", 15, bold=True)
    card.arrow(112, 92, 132, 92, BAD)
    card.arrow(182, 92, 202, 92, BAD)
    card.arrow(286, 92, 306, 92)
    card.text(240, 152, "two copies, and the CPU makes one of them", 15, BAD)
    card.arrow(112, 202, 306, 202, GOOD)
    card.text(240, 258, "one copy, and the CPU is free", 15, GOOD)
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
    card = Card("Expected: launches outlast kernels", 376, "The CPU launches kernel after kernel; between two short kernels the GPU waits "
                                                         "for the next launch. As a graph, only short gaps remain between kernels.")
    card.text(240, 62, f"four of {KERNELS:,}, launched one at a time", 15, SOFT)
    card.time(76, [("CPU", [(f"launch {i}", 4 * i, 4 * i + 4, EMPTY) for i in range(4)]),
                   ("GPU", [("", 4 * i + 4, 4 * i + 5.5, REGISTERS) for i in range(4)])], left=64, end=18, words="not to scale")
    card.text(240, 210, "the same as a graph", 15, SOFT)
    begins = [4.6 + 2 * i for i in range(4)]
    card.time(222, [("CPU", [("one launch", 0, 4.6, EMPTY)]),
                    ("GPU", [("", begin, begin + 1.5, REGISTERS) for begin in begins])], left=64, end=18, words="not to scale")
    card.text(240, 358, "the short gaps that remain: program 6", 15, SOFT)
    return card


@picture("dependent.svg")
def dependent():
    card = Card("A dependent launch starts early", 424, "Plain launches leave a gap between two kernels, in which the second one's blocks "
                                                        "start and find their elements. With a dependent launch they do that while the "
                                                        "first kernel still computes, and wait for its end before they read.")
    left, start, work, end = 92, 2.6, 7.4, 20
    ends, unit = start + work, (480 - left - 24) / end
    first = ("kernel 1", [("start", 0, start, EMPTY), ("read, turn, write", start, ends, REGISTERS)])
    card.text(240, 62, "plain launches", 15, SOFT)
    card.time(76, [first, ("kernel 2", [("start", ends, ends + start, EMPTY), ("read, turn, write", ends + start, end, REGISTERS)])],
              left=left, end=end, words="not to scale")
    begin, over = left + ends * unit + 1, left + (ends + start) * unit - 1
    card.line(begin, 104, over, 104, BAD, 2)
    card.line(begin, 97, begin, 111, BAD, 2)
    card.line(over, 97, over, 111, BAD, 2)
    card.text((begin + over) / 2, 91, "gap", 15, BAD, bold=True)
    card.text(240, 222, "dependent launches: kernel 1 hides the start", 15, SOFT)
    card.time(236, [first, ("kernel 2", [("start", start, 2 * start, EMPTY), ("wait", 2 * start, ends, None),
                                         ("read, turn, write", ends, ends + work, REGISTERS)])],
              left=left, end=end, words="not to scale")
    card.text(240, 380, "start: blocks start and find their elements;", 15, SOFT)
    card.text(240, 404, "kernel 2 may, once all blocks of kernel 1 have started", 15, SOFT)
    return card
