# SPDX-License-Identifier: MIT
"""Day 53's ideas: what an optimizer keeps and moves, how blocks find their tensor, and what the kernels of a step carry to one another.

    tools/pictures.py 53
"""
from drawing import BAD, GLOBAL, GOOD, OUTPUT, REGISTERS, SHARED, SOFT, WIDTH, Card, constant, picture

CHUNK = constant("day53_adam/adam.h", "kChunk")
SIZES = [2 * CHUNK, CHUNK, 3 * CHUNK]


@picture("weight.svg")
def weight():
    card = Card("What moves for one weight", 262, "Four numbers of four bytes come in, w, g, m and v; some fifteen operations; three go out, w, m and v. 28 bytes.")
    for i, (name, what) in enumerate((("w", "weight"), ("g", "gradient"), ("m", "mean of g"), ("v", "mean of g²"))):
        top = 62 + 46 * i
        card.text(108, top + 22, what, 15, SOFT, "end")
        card.box(116, top, 44, 34, GLOBAL)
        card.text(138, top + 23, name, 17)
        card.arrow(164, top + 17, 214, 145 + 6 * (i - 1.5))
    card.box(218, 112, 84, 66, REGISTERS)
    card.text(260, 140, "some 15", 15)
    card.text(260, 160, "operations", 15)
    for i, name in enumerate("wmv"):
        top = 78 + 50 * i
        card.arrow(306, 145 + 6 * (i - 1), 354, top + 17, GOOD)
        card.box(358, top, 44, 34, OUTPUT)
        card.text(380, top + 23, name, 17)
    card.text(132, 254, "16 bytes in", 16, SOFT)
    card.text(380, 254, "12 bytes out", 16, GOOD)
    return card


@picture("table.svg")
def table():
    card = Card("A block finds its tensor", 300, f"Three tensors of {', '.join(map(str, SIZES))} weights, in chunks of {CHUNK}: six blocks. The table has each tensor's first block, 0, 2 and 3. Block 4 takes the last tensor that does not begin behind it, number 2, and there chunk 4 - 3 = 1.")
    begins, blocks = [], 0
    for n in SIZES:
        begins.append(blocks)
        blocks += n // CHUNK
    card.text(28, 66, "the table: the first block of each tensor", 16, at="start", bold=True)
    row = card.cells(78, "", begins, left=90, size=70, height=32, fill=SHARED)
    for i in range(3):
        card.text(row.cell(i).x, 130, f"tensor {i}", 15, SOFT)
    card.text(28, 172, "blocks", 16, at="start", bold=True)
    cells = card.cells(184, "", list(range(blocks)), left=60, size=58, height=34, fills={i: (GLOBAL, OUTPUT, REGISTERS)[sum(i >= b for b in begins) - 1] for i in range(blocks)})
    card.frame(cells.cell(4), GOOD, 3, 0)
    card.arrow(cells.cell(4).x, 182, row.cell(2).x + 14, 136, GOOD, 2.6)
    card.text(WIDTH / 2, 252, "Block 4: begins 0, 2 and 3 are not behind it,", 15, SOFT)
    card.text(WIDTH / 2, 274, f"so tensor 2, chunk 4 − 3 = 1: weights {CHUNK} to {2 * CHUNK - 1}.", 15, SOFT)
    return card


@picture("step.svg")
def step():
    card = Card("What a step carries through memory", 372, "For each weight. apart: the norm reads g; scale reads and writes 4 bytes; the update reads 16 and writes 12; the cast reads 4 and writes 2: 46 bytes. mixed: the norm reads 4, the update reads 16 and writes 14: 34 bytes.")
    total = {}
    for top, name, parts in ((62, "apart", (("norm", 4, 0), ("scale", 4, 4), ("update", 16, 12), ("cast", 4, 2))), (214, "mixed", (("norm", 4, 0), ("update", 16, 14)))):
        total[name] = sum(r + w for _, r, w in parts)
        card.text(28, top + 8, f"{name}: {total[name]} bytes a weight", 16, BAD if name == "apart" else GOOD, "start", bold=True)
        left = 28
        for kernel, reads, writes in parts:
            width = 9 * (reads + writes)
            card.box(left, top + 26, 9 * reads, 34, GLOBAL, round=1)
            if writes:
                card.box(left + 9 * reads, top + 26, 9 * writes, 34, OUTPUT, round=1)
            card.text(left + width / 2, top + 82, kernel, 15, SOFT)
            left += width + 6
    card.text(28, 176, "scaled g and w are written, and read again", 15, BAD, "start")
    card.text(28, 328, "Blue: read. Green: written. Width: bytes.", 15, SOFT, "start")
    card.text(28, 350, "g is read twice: first all of it, for the norm.", 15, SOFT, "start")
    assert total == {"apart": 46, "mixed": 34}
    return card
