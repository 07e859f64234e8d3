# SPDX-License-Identifier: MIT
"""Day 17's ideas: where sixteen values stand, two codes in a byte, and cells with one threshold each.

    tools/pictures.py 17
"""
import math
import re
from pathlib import Path

from drawing import BAD, EMPTY, GLOBAL, GOOD, INK, OUTPUT, REGISTERS, SHARED, SOFT, WIDTH, Card, constant, picture

TABLE = (Path(__file__).resolve().parents[2] / "common/nf4.h").read_text(encoding="utf-8").split("kValues[16]")[1].split("};")[0]
VALUES = [float(value) for value in re.findall(r"(-?\d\.\d+)f,", TABLE)]
CELLS = constant("day17_nf4_quantization/cells.h", "kCells")
THRESHOLDS = [(a + b) / 2 for a, b in zip(VALUES, VALUES[1:])]
assert len(VALUES) == 16


@picture("levels.svg")
def levels():
    card = Card("Sixteen values where the numbers are", 300, "The bell of a normal distribution above an axis from -1 to 1. NF4's sixteen values are close around 0, where most numbers are, and far apart at the ends.")
    at = lambda v: 240 + 205 * v
    bell = [(v / 50, 190 - 120 * math.exp(-(2.4 * v / 50) ** 2 / 2)) for v in range(-50, 51)]
    for (a, ya), (b, yb) in zip(bell, bell[1:]):
        card.line(at(a), ya, at(b), yb, GOOD, 2.4)
    card.line(at(-1), 190, at(1), 190, INK)
    for value in VALUES:
        card.line(at(value), 190, at(value), 206, BAD, 2.4)
    for value, words in ((-1, "-1"), (0, "0"), (1, "1")):
        card.text(at(value), 226, words, 15)
    card.text(at(-1), 250, "code 0", 15, SOFT)
    card.text(at(0), 250, "7", 15, SOFT)
    card.text(at(1), 250, "15", 15, SOFT)
    card.text(WIDTH / 2, 284, "Red: the table. Bell: how many of a block's numbers lie there.", 15, SOFT)
    return card


@picture("byte.svg")
def byte():
    card = Card("Two numbers in a byte", 252, "Four numbers 0.5, -1, 0.25, 0 get the codes 12, 0, 10, 7. The first of two is the upper half of a byte: 0xC0, 0xA7.")
    x = card.cells(62, "x", ["0.5", "-1", "0.25", "0"], left=100, size=80, height=34, fill=GLOBAL)
    codes = card.cells(124, "code", ["12", "0", "10", "7"], left=100, size=80, height=34, fill=REGISTERS)
    for i in range(4):
        card.arrow(x.cell(i).x, x.bottom + 2, codes.cell(i).x, codes.top - 2)
    bytes_ = card.cells(190, "byte", ["C 0", "A 7"], left=100, size=160, height=34, fill=OUTPUT)
    for i in range(4):
        card.line(codes.cell(i).x, codes.bottom + 2, bytes_.cell(i // 2).x + (-14 if i % 2 == 0 else 14), bytes_.top - 2, SOFT)
    card.text(WIDTH / 2, 244, "The first number is the upper half.", 15, SOFT)
    return card


@picture("cells.svg")
def cells():
    first, last = -1, 6
    card = Card("At most one threshold a cell", 268, "Part of the axis, cut into cells a fifteenth wide. In each is at most one threshold, so a number in it has one of two codes.")
    size, left = 52, 32
    at = lambda v: left + (CELLS * v - first + 0.5) * size
    codes = []
    for cell in range(first, last + 1):
        inside = [i for i, t in enumerate(THRESHOLDS) if abs(CELLS * t - cell) < 0.5]
        assert len(inside) <= 1
        below = sum(CELLS * t < cell - 0.5 for t in THRESHOLDS)
        codes.append(f"{below}, {below + 1}" if inside else str(below))
    row = card.cells(84, "", [""] * len(codes), left=left, size=size, height=44, fill=SHARED, fills={i: EMPTY for i, c in enumerate(codes) if "," not in c})
    for threshold in THRESHOLDS:
        if left < at(threshold) < left + len(codes) * size:
            card.line(at(threshold), 72, at(threshold), 140, BAD, 2.6, through=True)
    for i, cell in enumerate(range(first, last + 1)):
        card.text(row.cell(i).x, 64, codes[i], 15)
        card.text(row.cell(i).x, 164, f"{cell}/15" if cell else "0", 14, SOFT)
    card.text(WIDTH / 2, 200, "Above a cell: the codes that a number there may have.", 15, SOFT)
    card.text(WIDTH / 2, 222, "Red: a threshold. Above it the second code.", 15, BAD)
    card.text(WIDTH / 2, 250, "A lane of the warp keeps a cell: threshold and first code.", 15, GOOD)
    return card
