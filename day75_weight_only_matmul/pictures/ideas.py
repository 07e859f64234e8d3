# SPDX-License-Identifier: MIT
"""Day 75's ideas: a code that is a number already, lanes that agree on the order of k, and work in a line.

    tools/pictures.py 75
"""
from drawing import BAD, EMPTY, GLOBAL, GOOD, REGISTERS, SHARED, SOFT, THREADS, WIDTH, Card, constant, picture

HEADER = "day75_weight_only_matmul/weight_only_matmul.h"
GROUP, ROWS, DEPTH, UNIT = (constant(HEADER, name) for name in ("kGroup", "kTileRows", "kTileDepth", "kRows"))


@picture("magic.svg")
def magic():
    card = Card("A code in the last bits of 1024", 300, "The half 1024 has ten zeros below its exponent, the last of which is worth 1. With a code in its last four bits it is 1024 + code.")
    bits = [f"{0x6400:016b}"[i] for i in range(16)]
    fills = {0: EMPTY, **dict.fromkeys(range(1, 6), SHARED)}
    one = card.cells(76, "", bits, left=32, size=26, height=32, fill=GLOBAL, fills=fills)
    card.text(32, 68, "1024 as a half: sign, exponent, fraction", 15, SOFT, "start")
    code = f"{13:04b}"
    two = card.cells(176, "", bits[:12] + list(code), left=32, size=26, height=32, fill=GLOBAL, fills={**fills, **dict.fromkeys(range(12, 16), REGISTERS)})
    card.text(32, 168, "with code 13 in its last four bits", 15, SOFT, "start")
    card.window(two, 12, 15, "the code")
    card.arrow(one.cells(12, 15).x, one.bottom + 4, two.cells(12, 15).x, two.top - 4, GOOD)
    card.text(WIDTH / 2, 270, "1037 - 1032 = 5 = 13 - 8", 17, GOOD, bold=True)
    card.text(WIDTH / 2, 292, "one mask, one subtraction: two weights", 15, SOFT)
    return card


@picture("order.svg")
def order():
    card = Card("Any order of k, if both sides have it", 300, f"A step of mma takes {ROWS} numbers of k. Lane 0 takes its first eight from the same places of a row of W and of a token.")
    chunks, mine = 16, dict.fromkeys(range(0, 16, 4), GLOBAL)
    card.text(32, 76, f"a row of W: {chunks} chunks of {DEPTH // chunks} codes, with their lanes", 15, SOFT, "start")
    row = card.cells(84, "", [i % 4 for i in range(chunks)], left=32, size=26, height=32, fills=mine)
    token = card.cells(168, "", [i % 4 for i in range(chunks)], left=32, size=26, height=32, fills=mine)
    card.text(32, 220, f"a token: {chunks} chunks of {DEPTH // chunks} numbers", 15, SOFT, "start")
    for i in mine:
        card.arrow(token.cell(i).x, token.top - 3, row.cell(i).x, row.bottom + 3, THREADS[0])
    card.text(WIDTH / 2, 252, "lane 0 has every chunk 0, of both", 16, GOOD)
    card.text(WIDTH / 2, 278, "a sum does not ask in which order", 15, SOFT)
    return card


@picture("stripes.svg")
def stripes():
    rows, depths, blocks = 3, 4, 5
    units = rows * depths
    card = Card("Equal shares of one line", 300, f"Three times {UNIT} rows, each cut along k into four units. Five blocks take equal shares of the line of units, and rows that two blocks have a part of are added up at the end.")
    begin = [b * units // blocks for b in range(blocks + 1)]
    colours = [THREADS[0], THREADS[1], THREADS[2], THREADS[3], SOFT]
    card.text(32, 66, f"a cell: {UNIT} rows, {DEPTH} of k", 15, SOFT, "start")
    for r in range(rows):
        owners = [max(b for b in range(blocks) if begin[b] <= r * depths + d) for d in range(depths)]
        array = card.cells(80 + 58 * r, "", [""] * depths, left=150, size=60, height=40, fill=EMPTY)
        card.text(140, array.y + 5, f"rows {r * UNIT} …", 15, SOFT, "end")
        for d, owner in enumerate(owners):
            card.disc(array.cell(d).x, array.y, owner, colours[owner])
        parts = len(set(owners))
        card.text(404, array.y + 5, f"{parts} parts", 15, BAD if parts > 2 else GOOD, "start")
    card.text(WIDTH / 2, 276, f"{blocks} blocks, {units} units: 2 or 3 each", 16, GOOD)
    return card
