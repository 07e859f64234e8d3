# SPDX-License-Identifier: MIT
"""Day 50's ideas: keys read once for a group, a product turned round until its tile is full, weights transposed in registers.

    tools/pictures.py 50
"""
from drawing import BAD, EMPTY, GLOBAL, GOOD, INK, SHARED, SOFT, THREADS, Card, constant, picture

COLUMNS = constant("day50_gqa/columns.cuh", "kColumns")
SLICE = constant("day50_gqa/columns.cuh", "kSlice")
ROWS = constant("day50_gqa/03_rows.cu", "kRows")


@picture("shared.svg")
def shared(group=4):
    """Left: each query of a group reads the group's keys; right: one block has the queries, and reads them once."""
    card = Card("One read for the whole group", 330,
                f"{group} queries share their keys. On the left each has a block of its own, and the keys are read {group} times. On the right one "
                "block has all of them, and reads the keys once.")
    for left, title in ((30, "a block a query"), (270, "a block a group")):
        card.text(left + 90, 72, title, 17, INK, bold=True)
        keys = card.sheet(left + 20, 90, 140, 46, "", GLOBAL)
        card.text(keys.x, keys.y + 6, "keys", 16)
        for h in range(group):
            x = left + 6 + h * 46
            card.box(x, 216, 32, 32, THREADS[h], THREADS[h])
            card.text(x + 16, 238, f"q{h}", 15, "#ffffff", bold=True)
            if left < 200:
                card.arrow(x + 16, keys.bottom + 4, x + 16, 212)
        if left > 200:
            card.box(left - 2, 206, 184, 52, "none", INK, thick=2)
            card.arrow(keys.x, keys.bottom + 4, keys.x, 202)
    card.text(120, 286, f"{group} reads", 17, BAD, bold=True)
    card.text(360, 286, "1 read", 17, GOOD, bold=True)
    card.text(240, 316, "Each query has a maximum and a sum of its own.", 16, SOFT)
    return card


@picture("turned.svg")
def turned(size=13):
    """The scores of 8 queries and 16 keys by m16n8k16: queries as rows, or keys as rows."""
    card = Card("Turned round, the tile is full", 420,
                f"A product of tensor cores has 16 rows and 8 columns. {COLUMNS} queries as rows leave half of them empty, and {SLICE} keys take two "
                f"products. {SLICE} keys as rows and {COLUMNS} queries as columns fill one.")
    card.text(120, 72, "rows: queries", 17, INK, bold=True)
    for tile in range(2):
        left = 12 + tile * 116
        card.matrix(left, 110, ROWS, 8, size, "", EMPTY, fills=lambda r, c: SHARED if r < COLUMNS else EMPTY)
        card.text(left + 4 * size, 100, f"keys {8 * tile} to {8 * tile + 7}", 15, SOFT)
    card.text(120, 346, "2 products,", 16, BAD, bold=True)
    card.text(120, 368, "half of each for nothing", 16, BAD, bold=True)
    card.text(370, 72, "rows: keys", 17, INK, bold=True)
    card.matrix(318, 110, SLICE, COLUMNS, size, "", SHARED)
    card.text(318 + 4 * size, 100, "queries 0 to 7", 15, SOFT)
    card.text(370, 346, "1 product,", 16, GOOD, bold=True)
    card.text(370, 368, "all of it wanted", 16, GOOD, bold=True)
    card.text(240, 404, "Yellow: scores. Grey: rows without a query.", 16, SOFT)
    return card


@picture("movmatrix.svg")
def movmatrix(size=22, lane=5):
    """8 x 8 weights: which lane holds which, as they come out of the first product and as the second wants them."""
    card = Card("Two of a row become two of a column", 368,
                "The first product leaves a lane two queries of one key; the second wants two keys of one query. movmatrix exchanges them "
                "between the lanes' registers.")
    out = card.fragment(36, 110, 8, 8, lambda row, col: row * 4 + col // 2, size, "out of the first", lanes=(0, lane))
    into = card.fragment(268, 110, 8, 8, lambda row, col: col * 4 + row // 2, size, "into the second", lanes=(0, lane))
    card.arrow(out.right + 8, out.y, into.left - 8, out.y)
    card.text(240, 312, "Cells name lanes. Rows: keys. Columns: queries.", 16, SOFT)
    card.text(240, 340, f"Lane {lane} gives away key 1, and gets query 1.", 16, SOFT)
    return card
