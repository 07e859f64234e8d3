# SPDX-License-Identifier: MIT
"""Day 38's ideas: what a row keeps for backward, a ballot's transposition, and bits that nobody exchanges.

    tools/pictures.py 38
"""
from drawing import BAD, GLOBAL, GOOD, OUTPUT, REGISTERS, SHARED, SOFT, THREADS, WIDTH, Card, picture

OF_X = 4  # bytes of an fp32 element, and of its gradient


def bytes_of(kept):
    return OF_X + 2 * kept + OF_X


@picture("kept.svg")
def kept():
    card = Card("Bytes an fp32 element", 282,
                "again reads x twice and writes dx, 12 bytes. A kept byte makes 10, two kept bits 8.5.")
    rows = (("again", ((OF_X, GLOBAL, "x"), (OF_X, BAD, "x again"), (OF_X, OUTPUT, "dx")), 3 * OF_X),
            ("bytes", ((OF_X, GLOBAL, "x"), (1, SHARED, ""), (1, SHARED, ""), (OF_X, OUTPUT, "dx")), bytes_of(1)),
            ("ballots, own_bits", ((OF_X, GLOBAL, "x"), (0.25, SHARED, ""), (0.25, SHARED, ""), (OF_X, OUTPUT, "dx")), bytes_of(0.25)))
    for i, (name, parts, total) in enumerate(rows):
        top, left = 74 + 64 * i, 24
        card.text(24, top - 8, name, 16, at="start", bold=True)
        for size, fill, words in parts:
            width = 30 * size
            card.box(left, top, width, 30, "#f7d9c9" if fill == BAD else fill, round=0)
            if words:
                card.text(left + width / 2, top + 21, words, 15)
            left += width
        card.text(456, top + 21, f"{total:g}", 18, BAD if i == 0 else GOOD, "end", bold=True)
    card.text(WIDTH / 2, 268, "Yellow: kept by forward, then read by backward.", 15, SOFT)
    return card


@picture("ballot.svg")
def ballot():
    x = [3, -4, 0, 1, -2, 0, 5, -1]
    card = Card("A ballot turns lanes into bits", 300,
                "Eight lanes, an x each. Each answers two questions, and each question's answers are one word, a bit a lane.")
    lanes = card.cells(70, "", x, left=120, size=40, height=34, fill=GLOBAL)
    card.text(108, 92, "x", 16, at="end", bold=True)
    above, below = [int(value > 0) for value in x], [int(value < 0) for value in x]
    for i, (name, bits, color) in enumerate((("above 0?", above, THREADS[0]), ("below 0?", below, THREADS[1]))):
        top = 156 + 62 * i
        card.cells(top, "", bits, left=120, size=40, height=34, fill=REGISTERS)
        card.text(108, top + 23, name, 15, color, "end", bold=True)
    for i in range(len(x)):
        card.arrow(lanes.cell(i).x, 106, lanes.cell(i).x, 152, SOFT)
    card.text(WIDTH / 2, 280, "Two words: in a warp, of 32 bits. One lane writes both.", 15, SOFT)
    assert all(a + b < 2 for a, b in zip(above, below))
    return card


@picture("own.svg")
def own():
    card = Card("Whoever packs, unpacks", 300,
                "In forward a thread packs the bits of its own elements into its word; in backward the same thread reads that word for the same elements.")
    for t in range(4):
        left = 30 + 112 * t
        for i in range(4):
            card.box(left + 24 * i, 62, 24, 28, GLOBAL, round=1)
            card.box(left + 24 * i, 218, 24, 28, OUTPUT, round=1)
        x = left + 48
        card.arrow(x, 92, x, 132, THREADS[t], 2.4)
        card.box(x - 34, 136, 68, 32, REGISTERS, line=THREADS[t])
        card.text(x, 157, "word", 15)
        card.arrow(x, 172, x, 214, THREADS[t], 2.4)
    card.text(WIDTH / 2, 284, "No lane ever needs another one's bits.", 15, SOFT)
    return card
