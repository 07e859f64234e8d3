# SPDX-License-Identifier: MIT
"""Day 65's ideas: the star and the march, the pipeline over time, the ring, what Little's law makes of each rung and what was
measured, the names of the sums, a barrier's phase bit, who waits for whom.

    tools/pictures.py 65

The times in measured.svg are those of docs/results/h100/day65.json.
"""
import json
import math
from pathlib import Path

from drawing import (BAD, EMPTY, GLOBAL, GOOD, HALO, INK, LINE, OUTPUT, REGISTERS, SHARED, SOFT, THREADS, WHITE, Card, constant,
                     picture)

HEADER = "day65_async_copy/stencil.h"
RADIUS, THREADS_A_BLOCK, MARGIN, MOST_BLOCKS = (constant(HEADER, name) for name in ("kRadius", "kThreads", "kMargin", "kMostBlocks"))
STRIP = 4 * THREADS_A_BLOCK
TILE = STRIP + 2 * MARGIN
ROW_BYTES = 4 * TILE
SUMS = STAGES = 2 * RADIUS + 1  # stages9 has as many stages as there are sums
RESULTS = Path(__file__).resolve().parent.parent.parent / "docs" / "results" / "h100" / "day65.json"
LATENCY, RATE = 600, 11.5  # ns: day 16's guess. bytes/ns: half of an H100's copy, for each of 132 multiprocessors


@picture("star.svg")
def star():
    """The 17 elements of in that an element of out is made of, in a field of 11 x 13."""
    rows, cols, row, col = 11, 13, 5, 6
    card = Card("An element of out needs a star of in", 362,
                f"{4 * RADIUS + 1} elements: the one in the middle, and {RADIUS} on each side along its row and its column.")
    reach = lambda r, c: (c == col and abs(r - row) <= RADIUS) or (r == row and abs(c - col) <= RADIUS)
    distance = lambda r, c: abs(r - row) + abs(c - col)
    card.matrix(60, 78, rows, cols, 22, "in", EMPTY, values=lambda r, c: distance(r, c) if reach(r, c) else None,
                fills=lambda r, c: THREADS[0] if (r, c) == (row, col) else GLOBAL if reach(r, c) else None,
                inks=lambda r, c: WHITE if (r, c) == (row, col) else None)
    card.text(360, 120, "k", 16, at="start", bold=True)
    card.text(384, 120, "weight(k)", 16, at="start", bold=True)
    for k, words in enumerate(("−205/36", "8/5", "−1/5", "8/315", "−1/560")):
        card.text(360, 146 + 24 * k, k, 16, at="start")
        card.text(384, 146 + 24 * k, words, 16, at="start")
    card.text(240, 346, "A number is k, the distance from the middle.", 16, SOFT)
    return card


@picture("march.svg")
def march(now=4):
    """A block's strip: a row has come, and is added to the nine sums around it."""
    card = Card("A row is used once, in nine sums", 440,
                f"The row that has just come is added to nine sums, those of the rows from {RADIUS} above to {RADIUS} below it. The uppermost is "
                "then complete and is stored; all move up.")
    left, top, size, count = 20, 92, 30, 2 * RADIUS + 1
    card.text(left + 60, 70, "in", 17, bold=True)
    card.text(left + 275, 70, "sums of out, in registers", 17, bold=True)
    for i in range(count):
        y = top + i * size
        used = i < now
        card.box(left, y, 120, size, WHITE if used else GLOBAL if i == now else EMPTY, dashed=used, round=1)
        words = "used, forgotten" if i == 0 else "has just come" if i == now else "asked for" if i == now + 1 else ""
        if words:
            card.text(left + 60, y + 20, words, 14.5, SOFT if i != now else INK)
        card.box(left + 190, y, 140, size, OUTPUT if i == 0 else REGISTERS, round=1)
        card.text(left + 260, y + 20, "complete: stored" if i == 0 else f"lacks {i} row{'s' if i > 1 else ''}", 14.5)
        k = abs(i - now)
        card.arrow(left + 122, top + now * size + size / 2, left + 187, y + size / 2, THREADS[0] if k == 0 else SOFT, 1.6)
        card.text(left + 338, y + 20, f"+ weight({k}) × it" if k else "+ its own part", 14, SOFT, "start")
    card.text(240, top + count * size + 30, "One step of the march. Then the row below comes,", 16, SOFT)
    card.text(240, top + count * size + 54, "and each sum moves up by one place.", 16, SOFT)
    return card


@picture("strips.svg")
def strips():
    """How the field is dealt out: strips of columns, parts of rows, a tile that is wider than its strip."""
    card = Card("A block marches down a part of a strip", 402,
                f"A strip has {STRIP} columns. A block fetches {TILE} columns of each row, {MARGIN} more on each side, and {RADIUS} rows above and below "
                "its part.")
    left, top, wide, high = 14, 86, 90, 116
    card.text(left + 1.5 * wide, 72, "the field", 16, bold=True)
    for c in range(3):
        for r in range(2):
            card.box(left + c * wide, top + r * high, wide, high, EMPTY, round=0)
    x, y = left + wide, top + high
    card.box(x - 9, y - 12, wide + 18, high + 12, HALO, round=0)
    card.box(x, y, wide, high, GLOBAL, INK, 2.4, round=0)
    card.box(x - 9, y + 40, wide + 18, 12, SHARED, INK, 1.6, round=0)
    card.arrow(x + wide / 2, y + 56, x + wide / 2, y + 100, THREADS[0], 2.6)
    card.text(left + 3 * wide + 22, y + 52, f"tile: {TILE} columns", 16, at="start")
    card.text(left + 3 * wide + 22, y + 74, "of one row, 4.1 KiB", 16, SOFT, "start")
    card.arrow(left + 3 * wide + 18, y + 47, x + wide + 12, y + 46, SOFT)
    card.text(left + 3 * wide + 22, top + 40, f"strip: {STRIP} columns", 16, at="start")
    card.text(240, top + 2 * high + 32, f"Pale: {MARGIN} columns on each side and {RADIUS} rows above", 16, SOFT)
    card.text(240, top + 2 * high + 56, "(and below), which other blocks fetch as well.", 16, SOFT)
    return card


def _lanes(card, top, words, copies, computes, end, left=84):
    """Two rows of time: copies (row, from, to) and computations."""
    unit = (480 - left - 16) / end
    card.text(240, top - 10, words, 16, SOFT)
    lines = []
    for copy in copies:  # those that overlap lie below each other
        line = next((i for i, last in enumerate(lines) if last <= copy[1]), len(lines))
        if line == len(lines):
            lines.append(0)
        lines[line] = copy[2]
        y = top + 20 * line
        card.box(left + copy[1] * unit, y, (copy[2] - copy[1]) * unit, 18, GLOBAL, round=2)
        card.text(left + (copy[1] + copy[2]) / 2 * unit, y + 14, copy[0], 13.5)
    y = top + 20 * len(lines) + 3
    for number, start, stop in computes:
        card.box(left + start * unit, y, (stop - start) * unit, 18, OUTPUT, GOOD, round=2)
        card.text(left + (start + stop) / 2 * unit, y + 14, number, 13.5)
    card.text(left - 8, top + 10 * len(lines) + 5, "copy", 15, at="end", bold=True)
    card.text(left - 8, y + 14, "use", 15, at="end", bold=True)
    return y + 18


def schedule(stages, copy=4, use=2, end=24):
    """(copies, uses) of a block with a ring of that many stages; 1: plain, which asks after it has used."""
    copies, uses, ready, free, row = [], [], {}, 0, 0
    ask = [0] * max(1, stages - 1)
    while free < end:
        start = ask[row]
        ready[row] = start + copy
        copies.append((row, start, start + copy))
        begin = max(free, ready[row])
        free = begin + use
        uses.append((row, begin, free))
        # The stage of the row before is free once the use of this row may begin; plain's only one when it has ended.
        ask.append(begin if stages > 1 else free)
        row += 1
    inside = lambda bars: [(n, a, min(b, end)) for n, a, b in bars if a < end]
    return inside(copies), inside(uses)


@picture("time.svg")
def time():
    end, used = 24, [len([stop for _, _, stop in schedule(stages, end=10**3)[1] if stop <= 24]) for stages in (1, 2, 3)]
    card = Card("Ask early: copies beside the use", 470,
                f"A copy takes four ticks here and a use two. In {end} ticks plain uses {used[0]} rows, two stages {used[1]}, three stages {used[2]}: "
                "then one use follows the other without a gap.")
    y = 74
    for stages, words in ((1, "plain: load, wait, use, and so on"), (2, "two stages: row i + 1 comes while i is used"),
                          (3, "three stages: row i + 2 is asked for when i is used")):
        copies, uses = schedule(stages, end=end)
        y = _lanes(card, y, words, copies, uses, end) + 46
    card.arrow(84, y - 28, 464, y - 28)
    card.text(464, y - 8, "time", 15, SOFT, "end")
    card.text(240, y + 12, f"A number is a row. Used in {end} ticks: {used[0]}, {used[1]} and {used[2]} rows.", 16, SOFT)
    card.height = y + 30
    return card


@picture("ring.svg")
def ring(stages=4, first=8):
    """The stages of a ring at the moment when row `first` is used."""
    card = Card("A ring of four stages", 330,
                "Row 8 is used, rows 9, 10 and 11 are under way; row 11 is asked for into the stage that row 7 has left.")
    size, left, top = 96, 48, 110
    for s in range(stages):
        row = next(r for r in range(first, first + stages) if r % stages == s)
        now, newest = row == first, row == first + stages - 1
        fill = OUTPUT if now else GLOBAL
        place = card.box(left + s * size, top, size - 8, 74, fill, GOOD if now else LINE, 2.4 if now else 1.4)
        card.text(place.x, top - 12, f"stage {s}", 15, SOFT)
        card.text(place.x, top + 30, f"row {row}", 17, bold=True)
        card.text(place.x, top + 56, "used now" if now else "asked now" if newest else "under way", 15)
        if newest:
            card.text(place.x, top + 96, f"row {row - stages} was here", 15, BAD)
    card.text(240, 62, f"Row r lies in stage r mod {stages}.", 16)
    card.text(240, 250, "One barrier a row is enough. It says two things:", 16)
    card.text(240, 276, "row 8 has come for all threads, and row 7 has", 16)
    card.text(240, 300, "been read by all, so its stage may be filled.", 16)
    return card


@picture("phase.svg")
def phase():
    """The two mbarriers of one stage over time: their phase bits, what ends each phase, and who waits for that."""
    card = Card("A wait names the phase to end", 420,
                "Stage 0 over time. The phases of full have the bits 0, 1, 0; each ends when a row has come. Those of empty begin with a phase of bit 1 "
                "that has ended before the start; then each ends when a row has been read.")
    start, top, low = 120, 106, 208
    came, read, end = (222, 360), (250, 388), 466  # rows 0 and 9

    def bars(y, edges, first):
        for i, (a, b) in enumerate(zip(edges, edges[1:])):
            bit = (first + i) % 2
            card.box(a, y, b - a, 36, REGISTERS if bit else HALO, INK, 1.6, round=0)
            card.text((a + b) / 2, y + 24, f"bit {bit}", 15)
        return edges

    card.text(16, top - 16, "full", 17, at="start", bold=True)
    card.text(16, low - 16, "empty", 17, at="start", bold=True)
    bars(top, (start, *came, end), 0)
    card.box(16, low, start - 16, 36, REGISTERS, INK, 1.6, round=0, dashed=True)
    card.text((16 + start) / 2, low + 24, "bit 1", 15)
    bars(low, (start, *read, end), 0)
    for row, (x, y) in enumerate(zip(came, read)):
        card.disc(x, top + 54, "c", THREADS[0])
        card.disc(y, low + 54, "r", THREADS[2])
        middle = ((came[0] if row else start) + x) / 2
        card.text(middle, top - 34, f"to use row {STAGES * row}", 14.5, SOFT)
        card.text(middle, top - 15, f"wait(full, {row % 2})", 14.5, THREADS[2])
    for i, (a, b) in enumerate(((16, start), (start, read[0]), read)):
        card.text((a + b) / 2, low + 88, f"wait(empty, {(i + 1) % 2})", 14.5, THREADS[0])
        card.text((a + b) / 2, low + 107, f"to fill row {STAGES * i}", 14.5, SOFT)
    for i, (letter, colour, words) in enumerate((("c", THREADS[0], f"{THREADS_A_BLOCK} arrivals: row 0, then row {STAGES}, has come"),
                                                 ("r", THREADS[2], f"{THREADS_A_BLOCK // 32} arrivals: all warps have read it"))):
        card.disc(32, 344 + 30 * i, letter, colour, 12)
        card.text(54, 349 + 30 * i, words, 15.5, at="start")
    card.text(240, 409, "Dashed: counts as ended before the start.", 15.5, SOFT)
    return card


@picture("littles_law.svg")
def littles_law():
    """Bytes under way on a multiprocessor for 1 to kMostBlocks blocks, by rows ahead, against the floor."""
    card = Card("What each rung has under way", 494,
                f"A row in flight is {ROW_BYTES} bytes a block. With one block, one row is too little for a latency of {LATENCY} ns and three "
                "are enough; with two blocks one row is enough.")
    needed = LATENCY * RATE
    left, right, bottom, top = 76, 430, 384, 84
    ahead = (1, 3, 8)  # prefetch, stages4 and stages9
    x = lambda blocks: left + 40 + (blocks - 1) * (right - left - 80) / (MOST_BLOCKS - 1)
    y = lambda size: bottom - math.log2(size / 3000) * (bottom - top) / 5.2  # each doubling is as high as the one before
    card.line(left, bottom, right, bottom, INK)
    card.line(left, bottom, left, top - 10, INK)
    for kib in (4, 8, 16, 32, 64):
        card.text(left - 8, y(1024 * kib) + 5, f"{kib}", 15, SOFT, "end")
    for blocks in range(1, MOST_BLOCKS + 1):
        card.text(x(blocks), bottom + 20, blocks, 15, SOFT)
    card.line(left, y(needed), right, y(needed), INK, 2.4, dashed=True, through=True)
    for rows, colour in zip(ahead, THREADS):
        points = [(x(b), y(rows * ROW_BYTES * b)) for b in range(1, MOST_BLOCKS + 1)]
        for a, b in zip(points, points[1:]):
            card.line(*a, *b, colour, 2.4, through=True)
        for point in points:
            card.disc(*point, rows, colour, 8)
    card.text(left + 8, 66, "KiB under way on a multiprocessor", 15, SOFT, "start")
    card.text(right, bottom + 42, f"blocks of {THREADS_A_BLOCK} threads on it", 15, SOFT, "end")
    card.text(240, bottom + 70, f"Dashed: {needed / 1024:.1f} KiB, the floor at {LATENCY} ns.", 15.5)
    card.text(240, bottom + 94, "A number: rows ahead. A step on the left doubles.", 15.5, SOFT)
    return card


@picture("measured.svg")
def measured():
    """What the H100 reached with prefetch, stages4 and stages9, by bytes under way on a multiprocessor, whoever asked for them."""
    tables = json.loads(RESULTS.read_text(encoding="utf-8"))["tables"]
    share = {(row["name"], table["shape"]["blocks"]): row["of_limit"] for table in tables for row in table["rows"] if row.get("of_limit")}
    rungs = {"prefetch": 1, "stages4": 3, "stages9": 8}
    first, best = share["prefetch", 1], share["stages9", 1]
    card = Card("What the H100 made of them", 482,
                f"Share of the copy's speed by KiB under way, on an H100. Points with the same KiB lie together, whether one, two or three "
                f"blocks asked: {first:.0%} with 4 KiB, {best:.0%} with 32. A latency that did not grow would reach 100% with {4 / first:.0f} KiB.")
    left, right, bottom, top = 62, 460, 390, 98
    x = lambda kib: left + 24 + math.log2(kib / 4) * (right - left - 44) / math.log2(24)
    y = lambda part: bottom - part * (bottom - top)
    card.line(left, bottom, right, bottom, INK)
    card.line(left, bottom, left, top - 12, INK)
    for part in (0.25, 0.5, 0.75, 1):
        card.line(left - 5, y(part), left, y(part), INK)
        card.text(left - 8, y(part) + 5, f"{100 * part:.0f}%", 15, SOFT, "end")
    for kib in (4, 8, 12, 16, 24, 32, 48, 64, 96):
        card.line(x(kib), bottom, x(kib), bottom + 5, INK)
        card.text(x(kib), bottom + 20, kib, 14, SOFT)
    steps = [4 / first ** (i / 24) for i in range(25)]  # a straight line, on an axis that doubles
    for a, b in zip(steps, steps[1:]):
        card.line(x(a), y(first * a / 4), x(b), y(first * b / 4), SOFT, 1.8, through=True)
    card.line(x(steps[-1]), y(1), right, y(1), SOFT, 1.8, through=True)
    points = [(rows * blocks, blocks, share[name, blocks]) for name, rows in rungs.items() for blocks in range(1, MOST_BLOCKS + 1)]
    for under_way, blocks, part in points:  # beside each other where two have the same bytes
        others = [b - blocks for u, b, _ in points if u == under_way and b != blocks]
        card.disc(x(4 * under_way) - (math.copysign(5, others[0]) if others else 0), y(part), "", THREADS[blocks - 1], 6)
    for blocks in range(1, MOST_BLOCKS + 1):
        card.disc(270, 220 + 28 * blocks, "", THREADS[blocks - 1], 6)
        card.text(286, 225 + 28 * blocks, f"{blocks} block{'s' if blocks > 1 else ''} asked for them", 15.5, at="start")
    card.text(left + 8, 72, "share of the copy's speed", 15, SOFT, "start")
    card.text(right, bottom + 44, "KiB under way on a multiprocessor", 15, SOFT, "end")
    card.text(240, bottom + 76, "Line: if no row took longer than prefetch's, one block.", 15.5, SOFT)
    return card


@picture("names.svg")
def names(rows=3):
    """Which sum each register vector holds, in three steps: moved up, and under other names."""
    card = Card("Sums that keep their place", 424,
                "Nine register vectors and three rows. Above, each sum moves up by one place after a row. Below, it stays, and the vector whose "
                "sum was stored begins the sum of the row that is nine further on.")
    size, left = 36, 118
    for block, (words, top) in enumerate((("all move up: 8 vectors of 4 sums a row", 84), ("none moves: the code of each row knows its own names", 252))):
        card.text(240, top - 12, words, 16, SOFT)
        for step in range(rows):
            y = top + step * (size + 4)
            card.text(left - 10, y + 23, f"row {10 + step}", 15, at="end")
            for place in range(SUMS):
                sum_of = 6 + step + (place if block == 0 else (place - step) % SUMS)
                fill = OUTPUT if sum_of == 6 + step else REGISTERS
                card.box(left + place * size, y, size - 4, size - 2, fill, round=2)
                card.text(left + place * size + (size - 4) / 2, y + 22, sum_of, 15)
    card.text(240, 394, "A number is the row of out whose sum the vector holds.", 15.5, SOFT)
    card.text(240, 416, "Green: complete, and stored.", 15.5, SOFT)
    return card


@picture("roles.svg")
def roles(stages=4, computing=THREADS_A_BLOCK // 32):
    """The ring between the warp that asks and the warps that compute."""
    card = Card("A warp that only asks", 400,
                f"One warp waits for an empty stage and asks the copy engine to fill it. The engine makes it full. {computing} warps wait for "
                "full stages, compute, and make them empty.")
    card.box(24, 62, 130, 66, WHITE, THREADS[0], 2)
    card.text(89, 90, "1 warp", 16, bold=True)
    card.text(89, 112, "asks", 15.5)
    card.box(326, 62, 130, 66, WHITE, THREADS[2], 2)
    card.text(391, 90, f"{computing} warps", 16, bold=True)
    card.text(391, 112, "compute", 15.5)
    size, left, top = 108, 27, 196
    states = (("rows 9–11", "in use", OUTPUT), ("rows 12–14", "full", OUTPUT), ("rows 15–17", "under way", GLOBAL), ("", "empty", WHITE))
    for s, (rows, state, fill) in enumerate(states[:stages]):
        card.box(left + s * size, top, size - 6, 62, fill)
        if rows:
            card.text(left + s * size + (size - 6) / 2, top + 25, rows, 14.5)
        card.text(left + s * size + (size - 6) / 2, top + 49, state, 15, bold=True)
    empty, used = left + 3 * size + size / 2 - 3, left + size / 2 - 3
    card.arrow(130, 130, empty - 20, top - 4, THREADS[0], 2, through=True)
    card.arrow(used + 14, top - 4, 350, 130, THREADS[2], 2, through=True)
    card.text(240, 292, "It waits for “empty”, and announces the bytes.", 15.5, THREADS[0])
    card.text(240, 318, "The engine's bytes end the phase of “full”.", 15.5, SOFT)
    card.text(240, 344, "A computing warp waits for “full”, once for three rows,", 15.5, THREADS[2])
    card.text(240, 368, "and arrives at “empty” when it has read them.", 15.5, THREADS[2])
    return card
