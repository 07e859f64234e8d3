# SPDX-License-Identifier: MIT
"""Day 06's ideas: which element a thread's number becomes, what a warp loads in four steps of its loop, and what L1 has to deliver.

    tools/pictures.py 6
"""
from drawing import BAD, GLOBAL, GOOD, INK, OUTPUT, REGISTERS, SOFT, THREADS, WHITE, Card, picture

LANES, VECTOR = 4, 4  # a toy: a warp of 4 lanes; floats in a 16-byte load are 4 in earnest


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


def _loads(card, top, name, requests, of_a, of_b):
    """A's row and B's rows as a warp reads them in four steps; of_a and of_b are (first step, steps) of each request."""
    card.text(28, top - 34, name, 16, at="start", bold=True)
    card.text(452, top - 34, requests, 16, SOFT, "end")
    a = card.matrix(46, top + 33, 1, VECTOR + 2, 26, "A", GLOBAL, fills=lambda r, c: SOFT if c < VECTOR else None,
                    values=lambda r, c: "all" if c < VECTOR else None, inks=lambda r, c: WHITE if c < VECTOR else None)
    b = card.matrix(268, top, VECTOR, LANES + 2, 26, "B", GLOBAL, fills=lambda r, c: THREADS[c] if c < LANES else None,
                    values=lambda r, c: c if c < LANES else None, inks=lambda r, c: WHITE if c < LANES else None)
    for first, steps in of_a:
        card.frame(a.tile(0, first, 1, steps), INK, 3.5, -1)
    for first in of_b:
        card.frame(b.tile(first, 0, 1, LANES), INK, 3.5, -1)


@picture("four_steps.svg")
def four_steps():
    """What a warp asks for in four steps: with floats of A one by one, and with four of them at once."""
    card = Card("A warp's requests in four steps", 420,
                "coalesced: four requests for single floats of A and four for rows of B. broadcast: one request for four floats of A.")
    _loads(card, 112, "coalesced", "4 + 4 = 8 requests", [(i, 1) for i in range(VECTOR)], range(VECTOR))
    _loads(card, 272, "broadcast", "1 + 4 = 5 requests", [(0, VECTOR)], range(VECTOR))
    card.text(240, 404, "A black frame is a request. A number is a lane.", 16, SOFT)
    return card


@picture("delivery.svg")
def delivery():
    """One sector of A becomes 16 bytes in the registers of each lane."""
    card = Card("One sector in, four turns out", 330,
                "All lanes want the same four floats. They are fetched once, but written into each lane's registers.")
    sector = card.cells(72, "", ["w", "x", "y", "z", "", "", "", ""], size=34, fill=GLOBAL)
    card.text(240, 62, "one sector of A", 16, SOFT)
    for lane in range(LANES):
        left = 40 + lane * 104
        registers = card.cells(196, "", ["w", "x", "y", "z"], left, 22, 30, REGISTERS)
        card.arrow(sector.cells(0, 3).x, sector.bottom + 4, registers.x, registers.top - 6, THREADS[lane], 2)
        card.disc(registers.x, 244, lane, THREADS[lane])
    card.text(240, 288, "L1 writes 4 bytes a lane in a turn, so these", 16, SOFT)
    card.text(240, 312, "16 bytes a lane take four, however few it fetched.", 16, SOFT)
    return card


@picture("columns.svg")
def columns():
    """The rung wide: a lane owns four neighbouring columns, and uses each float of A four times."""
    card = Card("wide: four columns a lane", 316,
                "Each lane reads four neighbouring floats of a row of B, and multiplies all four by the same float of A.")
    size = 24
    left = (480 - LANES * VECTOR * size) / 2
    owner = lambda r, c: c // VECTOR
    a = card.cells(76, "", ["x"], left, size, 26, SOFT, inks={0: WHITE})
    card.text(a.right + 10, a.y + 6, "one float of A, kept in a register", 16, at="start")
    b = card.matrix(left, 138, 1, LANES * VECTOR, size, "", GLOBAL, fills=lambda r, c: THREADS[owner(r, c)], values=owner, inks=lambda r, c: WHITE)
    c = card.matrix(left, 222, 1, LANES * VECTOR, size, "", OUTPUT, values=owner)
    card.text(left - 8, b.y + 6, "B", 16, at="end", bold=True)
    card.text(left - 8, c.y + 6, "C", 16, at="end", bold=True)
    for i in range(VECTOR):
        card.arrow(b.cell(0, i).x, b.bottom + 4, c.cell(0, i).x, c.top - 4, THREADS[0], 2)
    card.text(b.cell(0, VECTOR).left + 8, 198, "x times each, added to four sums", 16, at="start")
    card.text(240, 284, f"A number is a lane. One load of B brings {VECTOR} floats a lane.", 16, SOFT)
    return card
