# SPDX-License-Identifier: MIT
"""Day 05's ideas: what one element of C needs, how a matrix lies in lines and sectors, and what a warp touches in one step of its loop.

    tools/pictures.py 5
"""
from drawing import BAD, EMPTY, GLOBAL, GOOD, INK, OUTPUT, SOFT, THREADS, WHITE, Card, Place, picture

SIZE, LANES, STEP = 6, 4, 2  # a toy: 6 x 6 matrices, a warp of 4 lanes, step i = 2 of the loop over k
SECTOR, LINE = 8, 32  # floats: 32 bytes and 128
WALK = "#8db7de"  # what the thread reads in its other steps: GLOBAL, darker


@picture("element.svg")
def element():
    """The elements of A and B that one thread multiplies."""
    row, col, size = 1, 3, 24
    card = Card("A row times a column", 250,
                f"Element ({row}, {col}) of C is made of row {row} of A and column {col} of B; the thread is at step {STEP} of its walk along both.")
    for left, name, fill, mine in ((28, "A", GLOBAL, lambda r, c: r == row), (186, "B", GLOBAL, lambda r, c: c == col),
                                   (322, "C", OUTPUT, lambda r, c: (r, c) == (row, col))):
        def colour(r, c, name=name, mine=mine):
            now = (r, c) == {"A": (row, STEP), "B": (STEP, col), "C": (row, col)}[name]
            return THREADS[0] if now else WALK if mine(r, c) else None
        rows, cols = {"A": (4, 5), "B": (5, 5), "C": (4, 5)}[name]
        card.matrix(left, 86, rows, cols, size, name, fill, fills=colour,
                    row_names=(range(rows) if name == "A" else ()), col_names=range(cols) if name != "A" else ())
    card.text(240, 230, f"One thread makes one element. Dark: its step i = {STEP}.", 16, SOFT)
    return card


@picture("sectors.svg")
def sectors():
    """Four lanes in one matrix, side by side and below one another, over the sectors in which it is stored. README.md shows it."""
    card = Card("A sector is a piece of a row", 332,
                "Four rows of a matrix, each of two sectors of 8 floats. Lanes side by side touch one sector, lanes below one another four.")
    size, gap = 11.5, 7
    for left, words, said, colour, cell in ((22, "side by side", "1 sector", GOOD, lambda lane: (1, lane)),
                                            (252, "below one another", "4 sectors", BAD, lambda lane: (lane, 2))):
        card.text(left + 100, 66, words, 16, bold=True)
        for row in range(LANES):
            for part in range(2):
                x, y = left + part * (SECTOR * size + gap), 84 + row * 34
                lanes = {cell(lane)[1] - part * SECTOR: lane for lane in range(LANES) if cell(lane)[0] == row and
                         0 <= cell(lane)[1] - part * SECTOR < SECTOR}
                array = card.cells(y, "", [""] * SECTOR, x, size, 24, GLOBAL if lanes else EMPTY, fills={i: THREADS[lane] for i, lane in lanes.items()})
                if lanes:
                    card.frame(array, INK, 3)
        card.text(left + 100, 246, said + " moved", 16, colour, bold=True)
    card.text(240, 276, f"A line of cells is a row. A box of {SECTOR} cells is a sector.", 16, SOFT)
    card.text(240, 298, "Coloured cells are what four lanes want.", 16, SOFT)
    card.text(240, 320, "With 32 lanes it is 4 sectors against 32.", 16, SOFT)
    return card


@picture("lines.svg")
def lines():
    """What 32 lanes want, over the lines of L1: side by side all of one line, below one another one cell of each."""
    card = Card("Side by side: one line", 362,
                f"{LINE} lanes side by side want all {LINE} floats of one line. {LINE} lanes below one another want one float of each of {LINE} lines.")
    size, gap, left, shown = 13, 6, 23, 3

    def line(top, wanted):
        for sector in range(LINE // SECTOR):
            mine = [i for i in range(SECTOR) if sector * SECTOR + i in wanted]
            card.cells(top, "", [""] * SECTOR, left + sector * (SECTOR * size + gap), size, 24, GLOBAL if mine else EMPTY,
                       fills=dict.fromkeys(mine, THREADS[0]))
        card.frame(Place(left, top, LINE * size + (LINE // SECTOR - 1) * gap, 24), INK, 3)

    card.text(left, 66, f"{LINE} lanes side by side", 16, at="start", bold=True)
    card.text(480 - left, 66, "1 line, 4 sectors", 16, GOOD, "end", bold=True)
    line(80, range(LINE))
    card.text(left, 142, f"{LINE} below one another", 16, at="start", bold=True)
    card.text(480 - left, 142, f"{LINE} lines, {LINE} sectors", 16, BAD, "end", bold=True)
    for row in range(shown):
        line(156 + row * 34, [STEP])
    card.text(240, 276, f"and {LINE - shown} lines more", 16, SOFT)
    card.text(240, 318, f"Frame: a line. {SECTOR} cells: a sector.", 16, SOFT)
    card.text(240, 342, "Dark: wanted. Light: asked for with it.", 16, SOFT)
    return card


@picture("warp_steps.svg")
def warp_steps():
    card = Card("Which way the lanes stand", 472,
                "Lanes below one another touch four rows of A and of C, so four sectors. Lanes side by side touch one row of B and of C, "
                "one sector, and the same element of A.")
    lanes = range(LANES)
    for top, name, words, color, touched in (
            (96, "lanes_down", "apart in A and C", BAD,
             ({(lane, STEP): lane for lane in lanes}, {(STEP, 1): -1}, {(lane, 1): lane for lane in lanes})),
            (280, "lanes_across", "neighbours in B and C", GOOD,
             ({(1, STEP): -1}, {(STEP, lane): lane for lane in lanes}, {(1, lane): lane for lane in lanes}))):
        card.text(28, top - 32, name, 15, at="start", bold=True)
        card.text(452, top - 32, words, 15, color, "end")
        for left, matrix, fill, cells in zip((28, 176, 324), ("A", "B", "C"), (GLOBAL, GLOBAL, OUTPUT), touched):
            card.matrix(left, top, SIZE, SIZE, 21, matrix, fill, lambda r, c, cells=cells: {-1: "all"}.get(cells.get((r, c)), cells.get((r, c))),
                        lambda r, c, cells=cells: None if (r, c) not in cells else SOFT if cells[r, c] < 0 else THREADS[cells[r, c]],
                        lambda r, c, cells=cells: WHITE if (r, c) in cells else None)
    card.text(240, 436, f"Step i = {STEP} of a warp of {LANES} lanes.", 16, SOFT)
    card.text(240, 460, "A number is a lane; “all” is all of them.", 16, SOFT)
    return card
