# SPDX-License-Identifier: MIT
"""Day 19's ideas: the trips of a matrix that lies between two products, weights over scores, and what a mask leaves out.

    tools/pictures.py 19
"""
from drawing import BAD, EMPTY, GLOBAL, GOOD, OUTPUT, REGISTERS, SHARED, SOFT, THREADS, Card, constant, picture

KEYS = constant("day19_self_attention/attention.h", "kKeys")
QUERIES = 128  # of a block: four warps of 32


@picture("trips.svg")
def trips():
    card = Card("Four trips of n x n numbers", 400, "The first product writes fp32 scores, 4 bytes each; the softmax reads them and writes weights of 2 bytes; the second product reads these. q, k, v and o are small beside them.")
    memory = card.box(28, 250, 424, 96, GLOBAL)
    card.text(memory.x, 338, "memory", 16, SOFT)
    scores = card.box(150, 262, 60, 56, SHARED)
    card.box(300, 262, 30, 56, SHARED)
    card.text(scores.x, 295, "scores", 15)
    card.text(376, 295, "weights", 15)
    for left, name in ((60, "q k"), (195, "softmax"), (330, "times v")):
        card.box(left, 80, 100, 44, REGISTERS)
        card.text(left + 50, 108, name, 16, bold=True)
    for x1, x2, down, bytes_ in ((110, 165, True, 4), (195, 225, False, 4), (262, 308, True, 2), (322, 380, False, 2)):
        ends = (x1, 128, x2, 258) if down else (x1, 258, x2, 128)
        card.arrow(*ends, BAD)
        card.text((x1 + x2) / 2 + (-22 if x1 in (110, 262) else 24), 186, bytes_, 18, BAD, bold=True)
    card.text(240, 376, "Red: bytes of a score's trip. All four: 12.", 16, SOFT)
    return card


@picture("in_place.svg")
def in_place():
    card = Card("Weights over scores", 300, "A row of eight fp32 scores, 4 bytes each. Its eight weights of 2 bytes take the place of scores 0 to 3. A thread that writes weight 2 destroys score 1, which another may not have read yet.")
    scores = card.cells(84, "", [f"s{i}" for i in range(8)], left=40, size=50, height=36, fill=GLOBAL)
    card.text(40, 72, "scores, 4 bytes each", 16, at="start", bold=True)
    for i in range(8):
        card.box(40 + 25 * i, 176, 25, 36, OUTPUT if i != 2 else BAD, round=1)
        card.text(52.5 + 25 * i, 199, f"w{i}", 15)
    card.box(240, 176, 200, 36, EMPTY, dashed=True)
    card.text(40, 164, "weights, 2 bytes each", 16, at="start", bold=True)
    card.text(340, 199, "free", 15, SOFT)
    card.frame(scores.cell(1), BAD)
    card.text(40, 250, "w2 lies on s1: has everybody read it?", 16, BAD, "start", bold=True)
    card.text(40, 278, "From s4 on, no score is written over.", 16, SOFT, "start")
    return card


@picture("lower.svg")
def lower(n=512, size=26):
    down, across = n // QUERIES, n // KEYS
    card = Card("Blocks above the diagonal", 330, f"Of {n} queries and {n} keys under a causal mask, in blocks of {QUERIES} queries and tiles of {KEYS} keys: a row of blocks ends with the last key that its last query sees. What lies beyond is neither computed, stored nor read.")
    ends = [(i + 1) * QUERIES // KEYS for i in range(down)]
    grid = card.matrix(40, 92, down, across, size * 1.6, "", EMPTY, fills=lambda r, c: SHARED if c < ends[r] else None)
    for row in range(down):
        card.line(grid.left + row * QUERIES / KEYS * size * 1.6, grid.cell(row, 0).top, grid.left + ends[row] * size * 1.6, grid.cell(row, 0).bottom, THREADS[0], 2.4)
    kept = sum(ends)
    card.text(40, 78, f"{n} keys, {KEYS} a tile", 16, at="start", bold=True)
    card.text(40, 290, f"Yellow: stored, {kept} of {down * across} tiles. Blue: the mask.", 16, GOOD, "start")
    card.text(40, 314, "At n = 2048 it is 17 of 32.", 16, SOFT, "start")
    return card
