# SPDX-License-Identifier: MIT
"""Day 06's ideas: which element a thread's number becomes, what a warp loads in four steps of its loop, and what L1 has to deliver.

    tools/pictures.py 6
"""
from drawing import BAD, GLOBAL, GOOD, INK, OUTPUT, REGISTERS, SOFT, THREADS, WHITE, Card, picture

LANES, VECTOR = 4, 4  # a toy: a warp of 4 lanes; floats in a 16-byte load are 4 in earnest
ALL_LANES = "#8db7de"  # what all lanes want: GLOBAL, darker


@picture("numbers.svg")
def numbers():
    """A block of two warps, its threads' numbers laid out by % and /."""
    card = Card("Which way does % face?", 274,
                "With row = number % 4 the lanes of a warp stand below one another; with column = number % 4 they stand side by side.")
    for left, rows, cols, words, colour, number in (
            (92, 4, 2, "row = number % 4", BAD, lambda r, c: c * 4 + r), (288, 2, 4, "col = number % 4", GOOD, lambda r, c: r * 4 + c)):
        top = 116 + (4 - rows) * 14
        card.text(left + cols * 14, 84, words, 16, colour, bold=True)
        card.matrix(left, top, rows, cols, 28, "", OUTPUT, values=number,
                    fills=lambda r, c, number=number: THREADS[number(r, c)] if number(r, c) < LANES else None,
                    inks=lambda r, c, number=number: WHITE if number(r, c) < LANES else None)
    card.text(240, 58, "a block's part of C, 8 threads", 16, SOFT)
    card.text(240, 258, "Coloured: lanes 0 to 3, the first warp.", 16, SOFT)
    return card


def _loads(card, top, name, requests, of_a, size=26, columns=1):
    """A's row and B's rows as a warp reads them in four steps; of_a has the (first step, steps) of each request."""
    card.text(28, top - 34, name, 16, at="start", bold=True)
    card.text(452, top - 34, requests, 16, SOFT, "end")
    a = card.matrix(46, top + 1.5 * size - 6, 1, VECTOR, 26, "A", GLOBAL, fills=lambda r, c: ALL_LANES)
    card.text(a.tile(0, 0, 1, VECTOR).x, a.bottom + 20, "for all lanes", 15, SOFT)
    wide = LANES * columns
    b = card.matrix(252, top, VECTOR, wide, size, "B", GLOBAL,
                    fills=lambda r, c: THREADS[c // columns],
                    values=lambda r, c: c if columns == 1 else None, inks=lambda r, c: WHITE)
    for first, steps in of_a:
        card.frame(a.tile(0, first, 1, steps), INK, 3.5, -1)
    for row in range(VECTOR):
        card.frame(b.tile(row, 0, 1, wide), INK, 3.5 if columns == 1 else 2.5, -1)


@picture("four_steps.svg")
def four_steps():
    """What a warp asks for in four passes through k: one float of A at a time, four of them, and four columns a lane."""
    card = Card("A warp's requests along four rows of B", 556,
                "coalesced: four requests for single floats of A and four for rows of B. broadcast: one request for four floats of A. "
                "wide: the same five requests, but each of B brings four columns a lane.")
    _loads(card, 112, "coalesced", "4 + 4 = 8 requests for 4 steps", [(i, 1) for i in range(VECTOR)])
    _loads(card, 272, "broadcast", "1 + 4 = 5 requests for 4 steps", [(0, VECTOR)])
    _loads(card, 432, "wide", "1 + 4 = 5 requests for 16 steps", [(0, VECTOR)], 13, VECTOR)
    card.text(240, 516, "A black frame is a request.", 16, SOFT)
    card.text(240, 540, "A colour is a lane, numbered where there is room.", 16, SOFT)
    return card


@picture("delivery.svg")
def delivery():
    """One sector of A becomes 16 bytes in the registers of each lane, four bytes a lane in a turn."""
    card = Card("One sector in, four turns out", 372,
                "All lanes want the same four floats. They are fetched once, but each of four turns writes one of them "
                "into every lane's registers.")
    names = ["x", "y", "z", "w"]
    card.text(240, 62, "one sector of A", 16, SOFT)
    card.cells(72, "", [*names, "", "", "", ""], size=34, fill=GLOBAL)
    for lane in range(LANES):
        card.disc(138 + lane * 94, 144, lane, THREADS[lane])
    card.text(84, 149, "lane", 16, at="end")
    for turn in range(VECTOR):
        top = 170 + turn * 36
        card.text(84, top + 19, f"turn {turn + 1}", 16, at="end")
        for lane in range(LANES):
            card.cells(top, "", [name if i <= turn else "" for i, name in enumerate(names)], 98 + lane * 94, 20, 26,
                       fills={i: THREADS[lane] if i == turn else REGISTERS for i in range(turn + 1)}, inks={turn: WHITE})
    card.text(240, 336, "A turn fills 4 bytes of each lane, so 16 bytes", 16, SOFT)
    card.text(240, 360, "take four, however few L1 fetched.", 16, SOFT)
    return card


@picture("columns.svg")
def columns():
    """The rung wide: a lane owns four neighbouring columns, and uses each float of A four times."""
    card = Card("wide: four columns a lane", 316,
                "Each lane reads four neighbouring floats of a row of B, and multiplies all four by the same float of A.")
    size = 24
    left = (480 - LANES * VECTOR * size) / 2
    owner = lambda r, c: c // VECTOR
    a = card.cells(76, "", ["a"], left, size, 26, SOFT, inks={0: WHITE})
    card.text(a.right + 10, a.y + 6, "one float of A, kept in a register", 16, at="start")
    b = card.matrix(left, 138, 1, LANES * VECTOR, size, "", GLOBAL, fills=lambda r, c: THREADS[owner(r, c)], values=owner, inks=lambda r, c: WHITE)
    c = card.matrix(left, 222, 1, LANES * VECTOR, size, "", OUTPUT, values=owner)
    card.text(left - 8, b.y + 6, "B", 16, at="end", bold=True)
    card.text(left - 8, c.y + 6, "C", 16, at="end", bold=True)
    for i in range(VECTOR):
        card.arrow(b.cell(0, i).x, b.bottom + 4, c.cell(0, i).x, c.top - 4, THREADS[0], 2)
    card.text(b.cell(0, VECTOR).left + 8, 198, "a times each, added to four sums", 16, at="start")
    card.text(240, 284, f"A number is a lane. One load of B brings {VECTOR} floats a lane.", 16, SOFT)
    return card
