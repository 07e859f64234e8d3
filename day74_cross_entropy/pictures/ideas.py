# SPDX-License-Identifier: MIT
"""Day 74's ideas: the gradient that lies in the forward pass already, a ring in which the next row comes while one is written, and slices
of logits that live for three products.

    tools/pictures.py 74
"""
import math

from drawing import BAD, EMPTY, GLOBAL, GOOD, OUTPUT, SHARED, SOFT, WIDTH, Card, constant, picture

STAGES = constant("day74_cross_entropy/cross_entropy.h", "kStages")
SLICES = constant("day74_cross_entropy/linear.h", "kSlices")
BYTES = constant("day74_cross_entropy/cross_entropy.h", "kStageBytes")
LOGITS, TARGET = [1, 2, 3, 4], 2


@picture("gradient.svg")
def gradient():
    powers = [math.exp(x - max(LOGITS)) for x in LOGITS]
    shares = [power / sum(powers) for power in powers]
    dx = [share - (i == TARGET) for i, share in enumerate(shares)]
    card = Card("One sum: loss and gradient", 330,
                f"A row of four logits, 1, 2, 3, 4, with target 2. Their shares are {', '.join(f'{s:.3f}' for s in shares)}. The gradient is the shares, with 1 taken from the target's: {dx[TARGET]:.3f}. It takes the logits' place.")
    size, left = 84, 120
    x = card.cells(60, "x", LOGITS, left, size, 38, GLOBAL)
    card.frame(x.cell(TARGET), GOOD, 2.6, 0)
    card.text(x.cell(TARGET).x, x.top - 7, "target", 15, GOOD)
    p = card.cells(140, "p", [f"{share:.3f}" for share in shares], left, size, 38)
    d = card.cells(220, "dx", [f"{value:.3f}" for value in dx], left, size, 38, OUTPUT)
    for i in range(4):
        card.arrow(x.cell(i).x, x.bottom + 3, p.cell(i).x, p.top - 3)
        card.arrow(p.cell(i).x, p.bottom + 3, d.cell(i).x, d.top - 3, BAD if i == TARGET else SOFT)
    card.text(d.cell(TARGET).x + 26, d.top - 16, "- 1", 16, BAD, "start", bold=True)
    card.text(left - 10, 124, "max, sum", 15, SOFT, "end")
    card.text(WIDTH / 2, 290, f"loss = log(sum) + (max - x[target]) = {math.log(sum(powers)) + max(LOGITS) - LOGITS[TARGET]:.3f}", 16)
    card.text(WIDTH / 2, 316, "dx is written where x was.", 15, SOFT)
    return card


@picture("ring.svg")
def ring():
    cells = 14
    card = Card("The next row comes while one is written", 330,
                f"A ring of stages in shared memory, {cells} of the kernel's {STAGES}. Two loops go over the row that is there. What the second loop has read is free, and at once a stage of the next row is asked for.")
    for top, words, kinds in ((78, "first loop: max and sum", "r" * 7 + "n" * 5 + "e" * 2),
                              (158, "second loop: three stages are read", "w" * 3 + "r" * 4 + "n" * 7),
                              (238, "what they held is the next row", "n" * 3 + "r" * 4 + "n" * 7)):
        card.text(28, top - 8, words, 15, SOFT, "start")
        fills = {i: {"r": SHARED, "n": GLOBAL, "e": EMPTY, "w": OUTPUT}[kind] for i, kind in enumerate(kinds)}
        card.cells(top, "", [""] * cells, 28, 30, 34, fills=fills)
    card.text(28, 298, "yellow: this row; green: read twice, free; blue: the next", 15, SOFT, "start")
    card.text(28, 320, f"row; grey: on its way. {STAGES} stages of {BYTES // 1024} KiB in the kernel.", 15, SOFT, "start")
    return card


@picture("slices.svg")
def slices():
    card = Card("A slice lives for three products", 400,
                f"The logits of all rows are a tall sheet, of which a slice exists, one of {SLICES}. It is made of a slice of x and all of w, becomes its own gradient, and gives a slice of dx and a share of all of dw.")
    x = card.sheet(28, 84, 44, 160, "x", GLOBAL)
    card.box(150, 84, 180, 160, "none", dashed=True)
    card.text(240, 74, "logits", bold=True)
    dx = card.sheet(408, 84, 44, 160, "dx", OUTPUT)
    card.sheet(150, 290, 180, 40, "", GLOBAL)
    card.text(140, 315, "w", at="end", bold=True)
    card.sheet(150, 342, 180, 40, "", OUTPUT)
    card.text(140, 367, "dw", at="end", bold=True)
    height = 160 // SLICES
    top = 84 + height
    for sheet in (x, dx):
        card.box(sheet.left, top, sheet.width, height, "none", GOOD, 2.6, 0)
    live = card.box(150, top, 180, height, SHARED, GOOD, 2.6, 0)
    card.text(live.x, live.y + 6, "logits, then gradient", 15)
    card.arrow(x.right + 4, live.y, live.left - 5, live.y, GOOD)
    card.text(110, live.y - 8, "1", 16, GOOD, bold=True)
    card.arrow(live.right + 4, live.y, dx.left - 5, live.y, GOOD)
    card.text(368, live.y - 8, "2", 16, GOOD, bold=True)
    card.line(live.right + 1, live.bottom - 8, 356, live.bottom - 8, GOOD)
    card.line(356, live.bottom - 8, 356, 362, GOOD)
    card.arrow(356, 362, 334, 362, GOOD)
    card.text(370, 300, "3", 16, GOOD, bold=True)
    card.text(364, 368, "adds", 15, GOOD, "start")
    card.text(240, 266, "the others do not exist", 15, SOFT)
    return card
