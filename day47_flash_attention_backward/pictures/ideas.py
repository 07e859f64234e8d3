# SPDX-License-Identifier: MIT
"""Day 47's ideas: what a gradient is made of, whose sum lies across, and two kernels in place of one.

    tools/pictures.py 47
"""
from drawing import BAD, EMPTY, GOOD, INK, OUTPUT, SHARED, SOFT, THREADS, Card, picture


@picture("gradients.svg")
def gradients():
    """The note's example, from one query and two keys to the three gradients."""
    card = Card("From weights to three gradients", 428,
                "The weights 0.731 and 0.269 and the gradient 1 0 of o. dout times the values 10 20 and 30 40 gives 10 and 30; their weighted mean "
                "is D = 15.38. dS is weight times the difference: -3.93 and 3.93. dv, dk and dq follow by a product each.")
    put = lambda left, top, values, fill, name="", size=46: card.matrix(
        left, top, len(values), len(values[0]), size, name, fill, values=lambda r, c: values[r][c])
    put(30, 92, [[".73", ".27"]], SHARED, "P")
    put(190, 92, [[10, 30]], SHARED, "dP")
    put(350, 92, [["-3.9", "3.9"]], SHARED, "dS")
    card.text(240, 166, "D = .73 · 10 + .27 · 30 = 15.4", 16)
    card.text(240, 190, "dS = P · (dP - D)", 16, bold=True)
    put(30, 238, [["-3.9", "19.7"]], OUTPUT, "dq")
    put(190, 238, [["-3.9", 0], ["3.9", 0]], OUTPUT, "dk")
    put(350, 238, [[".73", 0], [".27", 0]], OUTPUT, "dv")
    card.text(240, 362, "q is 1 0, the keys 2 0 and 1 5,", 16, SOFT)
    card.text(240, 386, "the values 10 20 and 30 40, dout 1 0.", 16, SOFT)
    card.text(240, 414, "Yellow: one number for each query and key.", 16, SOFT)
    return card


@picture("across.svg")
def across(tiles=4, mine=1):
    """All pairs of queries and keys. A block owns a band of keys: the sums of dk and dv run down its band, those of dq across all."""
    card = Card("Down is mine, across is everybody's", 400,
                "Queries down, keys across. A block that owns keys adds up dk and dv down its own band. A row of dq is a sum across all bands, so "
                "all blocks add to it.")
    pairs = card.matrix(120, 96, tiles, tiles, 52, "keys", EMPTY, fills=lambda r, c: SHARED if c == mine else None)
    card.text(110, pairs.y + 6, "queries", at="end", bold=True)
    band = pairs.tile(0, mine, tiles, 1)
    card.arrow(band.x, band.top + 8, band.x, band.bottom + 30, GOOD, 2.6)
    card.text(band.x, band.bottom + 50, "dk, dv", 16, GOOD, bold=True)
    row = pairs.tile(2, 0, 1, tiles)
    card.arrow(row.left + 8, row.y, row.right + 34, row.y, BAD, 2.6)
    card.text(row.right + 40, row.y + 6, "dq", 16, BAD, "start", bold=True)
    card.text(240, 388, "Yellow: one block's keys, and all queries.", 16, SOFT)
    return card


@picture("apart.svg")
def apart(tiles=4):
    """Left a block of the first kernel, which owns keys; right one of the second, which owns queries."""
    card = Card("Two kernels: every sum has an owner", 330,
                "In the first kernel a block owns a band of keys and walks down the queries: dk and dv are its own. In the second a block owns a "
                "band of queries and walks along the keys: dq is its own.")
    for left, name, fills, words in ((40, "keys stay", lambda r, c: SHARED if c == 1 else None, "4 products: dk, dv"),
                                     (280, "queries stay", lambda r, c: SHARED if r == 1 else None, "3 products: dq")):
        pairs = card.matrix(left, 92, tiles, tiles, 40, name, EMPTY, fills=fills)
        places = [pairs.cell(i, 1) if left == 40 else pairs.cell(1, i) for i in range(tiles)]
        card.path(places, THREADS[0], steps=True)
        card.text(pairs.x, 284, words, 16, INK, bold=True)
    card.text(240, 316, "A step is a tile of rows.", 16, SOFT)
    return card
