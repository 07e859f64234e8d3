# SPDX-License-Identifier: MIT
"""Day 51's ideas: where a key lies, what waits for what, and who has which keys.

    tools/pictures.py 51
"""
from drawing import BAD, GLOBAL, GOOD, OUTPUT, REGISTERS, SHARED, SOFT, WIDTH, Card, constant, picture

CHUNK = constant("day51_paged_attention/paged_attention.h", "kChunk")


@picture("table.svg")
def table():
    card = Card("Token 5 is row 1 of page 2", 262, "Pages of four rows. The sequence's table says 7, 2, -1. Its token 5 lies in the table's entry 1, which is page 2, as row 1. Rows 2 and 3 of page 2 and all of page 3 are nobody's.")
    entries = card.cells(66, "", [7, 2, -1], left=190, size=52, height=34, fill=SHARED)
    card.text(176, 88, "table", 16, at="end", bold=True)
    pages = {}
    for i, (page, owned) in enumerate(((2, 2), (3, 0), (7, 4))):
        left = 40 + 145 * i
        pages[page] = card.cells(160, "", list(range(4)), left=left, size=30, height=34, fills={r: GLOBAL if r < owned else "#f3f4f6" for r in range(4)})
        card.text(left + 60, 218, f"page {page}", 15, SOFT)
    card.arrow(entries.cell(0).x, entries.bottom + 2, pages[7].x, pages[7].top - 3, SOFT)
    card.arrow(entries.cell(1).x, entries.bottom + 2, pages[2].x, pages[2].top - 3, GOOD, 2.6)
    card.frame(pages[2].cell(1), GOOD, 2.6, 1)
    card.text(WIDTH / 2, 250, "5 = 1 x 4 + 1: entry 1, row 1. Grey rows are nobody's.", 15, SOFT)
    return card


@picture("waits.svg")
def waits():
    card = Card("Two waits a tile, or one", 312, "A time line of three tiles. Above, each tile's rows are looked up, then its keys are loaded, then used. Below, the next tile's rows are looked up while this tile's keys are loaded.")
    card.text(24, 66, "chased", 16, BAD, "start", bold=True)
    step = [(("table", 6 * i, 6 * i + 2.4, SHARED), ("keys", 6 * i + 2.4, 6 * i + 5, GLOBAL), ("", 6 * i + 5, 6 * i + 6, OUTPUT)) for i in range(3)]
    card.time(76, [("warp", [part for tile in step for part in tile])], end=18)
    card.text(24, 170, "ahead", 16, GOOD, "start", bold=True)
    table_steps = [("table", 0, 2.4, SHARED)] + [("table", 2.4 + 3.6 * i, 4.8 + 3.6 * i, SHARED) for i in range(3)]
    keys = [step for i in range(3) for step in (("keys", 2.4 + 3.6 * i, 5 + 3.6 * i, GLOBAL), ("", 5 + 3.6 * i, 6 + 3.6 * i, OUTPUT))]
    card.time(180, [("looks", table_steps), ("warp", keys)], end=18)
    return card


@picture("shares.svg")
def shares():
    lengths = [8, 1, 2, 5]
    card = Card("Equal shares, not a block a sequence", 330, f"Four sequences of 8, 1, 2 and 5 chunks of keys. Above, a block for each: three end early and wait for the first. Below, the 16 chunks in a row, four for each of four workers. A chunk of the kernel has {CHUNK} keys.")
    card.text(24, 64, "a block a sequence", 16, BAD, "start", bold=True)
    card.time(74, [(f"{s}", [("", i, i + 1, (GLOBAL, SHARED, REGISTERS, OUTPUT)[s]) for i in range(n)]) for s, n in enumerate(lengths)], left=60, height=16, end=8.4)
    card.text(24, 236, "a list of chunks, in equal shares", 16, GOOD, "start", bold=True)
    owner = [s for s, n in enumerate(lengths) for _ in range(n)]
    row = card.cells(250, "", owner, left=48, size=24, height=28, fills={i: (GLOBAL, SHARED, REGISTERS, OUTPUT)[s] for i, s in enumerate(owner)})
    for w in range(4):
        card.frame(row.cells(4 * w, 4 * w + 3), SOFT, 2.4, 0)
        card.text(row.cells(4 * w, 4 * w + 3).x, 298, f"warp {w}", 15, SOFT)
    card.text(WIDTH / 2, 322, f"A number is a sequence, a cell a chunk of {CHUNK} keys.", 15, SOFT)
    return card
