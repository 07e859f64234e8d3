# SPDX-License-Identifier: MIT
"""Day 60's ideas: where pageable memory's time goes, chunks, one stream and four, an event, a chain of launches, a dependent launch.

    tools/pictures.py 60

The two timelines come from what the note shows of `./days explain 60`, which CI holds against what it prints today. Times are those
of docs/results/h200/day60.json.
"""
import json
import math
import re
from pathlib import Path

from drawing import BAD, EMPTY, GLOBAL, GOOD, OUTPUT, REGISTERS, SOFT, THREADS, WHITE, Card, constant, picture

NOTE = Path(__file__).resolve().parent.parent / "README.md"
RESULTS = NOTE.parent.parent / "docs" / "results" / "h200" / "day60.json"
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


def recorded(program):
    """The rows that were recorded of a program: {name: row}."""
    tables = json.loads(RESULTS.read_text(encoding="utf-8"))["tables"]
    return {row["name"]: row for table in tables if table["ladder"] == program for row in table["rows"]}


def a_kernel(program, row):
    """What a kernel of a chain took, in words."""
    return f"{1e6 * recorded(program)[row]['seconds'] / KERNELS:.2f} µs a kernel"


def fitted(times):
    """(a, b) for which (times[1] + (C - 1) a) / C + (C - 1) b is nearest to times[C], by least squares; and that formula."""
    rows = [((c - 1) / c, c - 1, t - times[1] / c) for c, t in times.items()]
    pp, pq, qq = (sum(row[i] * row[j] for row in rows) for i, j in ((0, 0), (0, 1), (1, 1)))
    py, qy = (sum(row[i] * row[2] for row in rows) for i in (0, 1))
    a, b = (py * qq - qy * pq) / (pp * qq - pq * pq), (pp * qy - pq * py) / (pp * qq - pq * pq)
    return a, b, lambda c: (times[1] + (c - 1) * a) / c + (c - 1) * b


@picture("pinned.svg")
def pinned():
    card = Card("One stream: two engines stand idle", 240, "Copy in, then the kernel, then copy out, one after the other.")
    card.time(60, [(engine, [("all elements", *step[1:]) for step in steps]) for engine, steps in shown("pinned")], left=96,
              words="3 steps; order, not time")
    return card


@picture("chunks.svg")
def chunks():
    count = 4
    card = Card(f"{count} chunks: {count + 2} steps instead of {3 * count}", 268,
                f"Chunks 0 to {count - 1} pass copy in, kernel and copy out one step apart. In step 3 all three engines are busy.")
    rows = [(engine, [(chunk, late + chunk, late + chunk + 1, COLOURS[engine]) for chunk in range(count)])
            for late, engine in enumerate(COLOURS)]
    left, steps = 92, count + 2
    unit = (480 - left - 24) / steps
    for step in range(steps):
        card.text(left + (step + 0.5) * unit, 62, step + 1, 15, SOFT)
    card.text(left - 10, 62, "step", 15, SOFT, "end")
    card.time(74, rows, left=left, words="in each box its chunk; order, not time")
    card.text(240, 258, "steps 3 and 4: all three engines are busy", 15, GOOD)
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


@picture("model.svg")
def model():
    took = {int(name.split()[0]): 1e3 * row["seconds"] for name, row in recorded("model").items()}
    promised = {int(name.split()[0]): 1e3 * row["seconds"] * row["of_limit"] for name, row in recorded("model").items()}
    card = Card("First the model is too fast, then too slow", 392,
                "Milliseconds over the number of chunks. Up to 64 chunks the pipeline takes longer than the model says, from 128 on less.")
    left, right, top, bottom, low, high = 56, 452, 64, 276, 5, 10.7

    def at(chunks, ms):
        return left + math.log2(chunks) / 8 * (right - left), bottom - (ms - low) / (high - low) * (bottom - top)

    card.line(left, bottom, right, bottom)
    for ms in range(low, 11):
        card.text(left - 12, at(1, ms)[1] + 5, ms, 15, SOFT, "end")
        card.line(left - 6, at(1, ms)[1], left, at(1, ms)[1])
    card.text(left + 4, top - 8, "ms", 15, SOFT)
    lines = {}
    for times, color in ((promised, BAD), (took, GOOD)):
        slow, fixed, curve = lines[color] = fitted(times)
        worst = max(abs(curve(c) / t - 1) for c, t in times.items())
        if worst > 0.015:
            raise ValueError(f"two numbers do not describe these times: {worst:.1%} off")
        points = [at(2 ** (step / 8), curve(2 ** (step / 8))) for step in range(65)]
        for (x1, y1), (x2, y2) in zip(points, points[1:]):
            card.line(x1, y1, x2, y2, color, 2)
        for chunks, ms in times.items():
            card.disc(*at(chunks, ms), "", color, 4)
    for chunks in took:
        card.text(at(chunks, low)[0], bottom + 22, chunks, 15, SOFT)
    card.text((left + right) / 2, bottom + 44, "chunks", 15, SOFT)
    for y, color, name in ((342, BAD, "model"), (370, GOOD, "took")):
        slow, fixed, _ = lines[color]
        card.disc(30, y - 5, "", color, 5)
        card.text(44, y, name, 15, color, "start", bold=True)
        card.text(106, y, f"{slow:.2f} ms to copy 256 MiB, {1e3 * fixed:.1f} µs a chunk", 15, at="start")
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
    card = Card("Launches outlast kernels", 382, "The CPU launches kernel after kernel; between two short kernels the GPU waits "
                                                         "for the next launch. As a graph, only short gaps remain between kernels.")
    card.text(240, 62, f"four of {KERNELS:,}, launched one at a time", 15, SOFT)
    card.time(76, [("CPU", [(f"launch {i}", 4 * i, 4 * i + 4, EMPTY) for i in range(4)]),
                   ("GPU", [("", 4 * i + 4, 4 * i + 5.5, REGISTERS) for i in range(4)])], left=64, end=18, words="not to scale")
    card.text(64, 192, a_kernel("launches", "plain launches"), 15, BAD, "start", bold=True)
    card.text(240, 216, "the same as a graph", 15, SOFT)
    begins = [4.6 + 2 * i for i in range(4)]
    card.time(228, [("CPU", [("one launch", 0, 4.6, EMPTY)]),
                    ("GPU", [("", begin, begin + 1.5, REGISTERS) for begin in begins])], left=64, end=18, words="not to scale")
    card.text(64, 344, a_kernel("launches", "graph"), 15, GOOD, "start", bold=True)
    card.text(240, 366, "the short gaps that remain: program 6", 15, SOFT)
    return card


@picture("dependent.svg")
def dependent():
    card = Card("A dependent launch starts early", 424, "Kernels one after the other have a gap between them, in which the second one's blocks "
                                                        "start and find their elements. With a dependent launch they do that while the "
                                                        "first kernel still computes, and wait for its end before they read.")
    left, start, work, end = 92, 2.6, 7.4, 20
    ends, unit = start + work, (480 - left - 24) / end
    first = ("kernel 1", [("start", 0, start, EMPTY), ("read, turn, write", start, ends, REGISTERS)])
    card.text(240, 62, "one after the other", 15, SOFT)
    card.time(76, [first, ("kernel 2", [("start", ends, ends + start, EMPTY), ("read, turn, write", ends + start, end, REGISTERS)])],
              left=left, end=end, words="not to scale")
    begin, over = left + ends * unit + 1, left + (ends + start) * unit - 1
    card.line(begin, 104, over, 104, BAD, 2)
    card.line(begin, 97, begin, 111, BAD, 2)
    card.line(over, 97, over, 111, BAD, 2)
    card.text((begin + over) / 2, 91, "gap", 15, BAD, bold=True)
    card.text(left, 192, a_kernel("dependent", "one after the other"), 15, BAD, "start", bold=True)
    card.text(240, 222, "dependent launches: kernel 1 hides the start", 15, SOFT)
    card.time(236, [first, ("kernel 2", [("start", start, 2 * start, EMPTY), ("wait", 2 * start, ends, None),
                                         ("read, turn, write", ends, ends + work, REGISTERS)])],
              left=left, end=end, words="not to scale")
    card.text(left, 352, a_kernel("dependent", "dependent launches"), 15, GOOD, "start", bold=True)
    card.text(240, 380, "start: blocks start and find their elements;", 15, SOFT)
    card.text(240, 404, "kernel 2 may, once all blocks of kernel 1 have started", 15, SOFT)
    return card
