# SPDX-License-Identifier: MIT
"""Day 29's ideas: lanes down a column of rows, and the two layouts of one tile between which a conversion stands.

    tools/pictures.py 29
"""
from drawing import BAD, EMPTY, GLOBAL, GOOD, OUTPUT, SHARED, SOFT, THREADS, WHITE, Card, constant, picture

FOLDER = "day29_triton_transpose/"
LANES, SECTOR = 32, 8  # fp32 elements in 32 bytes
WIDE = 4  # fp32 elements in 16 bytes
ACROSS = constant(FOLDER + "02_naive.py", "COLS") // WIDE  # threads along a row of the tile


@picture("column.svg")
def column():
    rows = 6
    card = Card("Lanes that go down x", 288,
                f"Six lanes load six elements that lie below each other. Each is alone in its sector of {SECTOR} elements, so seven eighths of what moves is for nobody.")
    x = card.matrix(92, 66, rows, 2 * SECTOR, 24, fill=EMPTY,
                    fills=lambda _, col: THREADS[0] if col == 0 else GLOBAL if col < SECTOR else None,
                    values=lambda row, col: row if col == 0 else None, inks=lambda _, col: WHITE if col == 0 else None)
    for row in range(rows):
        card.frame(x.tile(row, 0, 1, SECTOR), BAD, 2, -1)
        card.text(84, x.cell(row, 0).y + 5, f"lane {row}", 15, SOFT, "end")
    card.text(240, 240, f"One request, {LANES} lanes: {LANES} sectors of x.", 17, BAD, bold=True)
    card.text(240, 266, f"In each, one of {SECTOR} elements was asked for.", 16, SOFT)
    return card


def _owner_of_load(row, col):
    return row * ACROSS + col // WIDE


def _owner_of_store(row, col):
    return col * ACROSS + row // WIDE


@picture("layouts.svg")
def layouts():
    """The number of the thread that has each element, in the corner of the tile."""
    rows, cols, size = 8, 8, 24
    shown = {0: THREADS[0], 1: THREADS[1], ACROSS: THREADS[2]}
    card = Card("One tile, two layouts", 372,
                "The corner of a tile, with the number of the thread that has each element. For the load a thread has four neighbours of a row, for the store four of a column.")
    for left, name, owner in ((24, "for the load", _owner_of_load), (264, "for the store", _owner_of_store)):
        card.matrix(left, 92, rows, cols, size, name,
                    fills=lambda row, col, of=owner: shown.get(of(row, col), EMPTY),
                    values=lambda row, col, of=owner: of(row, col), inks=lambda row, col, of=owner: WHITE if of(row, col) in shown else None)
    card.arrow(220, 188, 260, 188)
    card.text(120, 312, "a row of x: 16 bytes", 16, GOOD)
    card.text(360, 312, "a row of y: 16 bytes", 16, GOOD)
    card.text(240, 346, "Between them: the conversion.", 17, bold=True)
    return card


@picture("conversion.svg")
def conversion():
    """What a thread does with four elements: the way through shared memory."""
    card = Card("What stands between", 236,
                "A thread loads four neighbours of x at once, puts them into shared memory, takes four others that lie below each other, and stores them as neighbours of y.")
    left = 14
    for words, fill in (("x", GLOBAL), ("registers", EMPTY), ("shared", SHARED), ("registers", EMPTY), ("y", OUTPUT)):
        place = card.box(left, 78, 80, 52, fill)
        card.text(place.x, 114, words, 15)
        if left > 14:
            card.arrow(left - 13, 84, left - 1, 84)
        left += 93
    card.text(28, 160, "1 load of 16 bytes", 15, SOFT, "start")
    card.text(240, 188, "4 stores, a barrier, 4 loads", 15, SOFT)
    card.text(452, 160, "1 store of 16 bytes", 15, SOFT, "end")
    card.text(240, 220, "You write none of it.", 17, bold=True)
    return card
