# SPDX-License-Identifier: MIT
"""Day 36's ideas: where a row meets itself and where it does not, who adds to a column's sum, two stages, what a wait brings, and warps
whose sums meet.

    tools/pictures.py 36
"""
from drawing import BAD, GLOBAL, GOOD, OUTPUT, REGISTERS, SHARED, SOFT, THREADS, Card, constant, picture

PARTS = constant("day36_dyt/dyt.h", "kMaxParts")
TILE = constant("day36_dyt/dyt.h", "kTileCols")


@picture("rows.svg")
def rows():
    card = Card("What a block must hold", 300, "Layer norm's block needs a whole row, because its mean is made of all of it. DyT's block may take any tile.")
    for left, name, words, color in ((36, "layer norm", "a whole row", BAD), (262, "DyT", "any tile", GOOD)):
        matrix = card.matrix(left, 82, 6, 8, 23, "", fills=lambda row, col, left=left: GLOBAL if (row == 1 if left == 36 else row in (1, 2, 3) and col in (2, 3, 4)) else None)
        card.text(matrix.x, 66, name, 17, bold=True)
        card.frame(matrix.tile(1, 0, 1, 8) if left == 36 else matrix.tile(1, 2, 3, 3), THREADS[0], 2.6, 1)
        card.text(matrix.x, 250, words, 17, color, bold=True)
    card.text(240, 284, "DyT: tanh of an element asks nothing of its neighbours.", 16, SOFT)
    return card


@picture("sums.svg")
def sums():
    card = Card("Where the gradients come from", 356, "dx stays in its place. dgamma and dbeta add up each column over all rows, and dalpha adds up everything.")
    matrix = card.matrix(40, 92, 5, 6, 30, "dy, x", fill=GLOBAL)
    dx = card.matrix(276, 92, 5, 6, 30, "dx", fill=OUTPUT)
    card.arrow(matrix.right + 6, matrix.y, dx.left - 6, matrix.y, GOOD)
    for col in range(6):
        place = matrix.cell(4, col)
        card.arrow(place.x, place.bottom + 2, place.x, place.bottom + 20)
        card.box(place.left + 1, place.bottom + 22, 28, 26, REGISTERS)
    card.text(matrix.right + 12, matrix.bottom + 40, "dgamma, dbeta: one a column", 15, at="start")
    total = card.box(matrix.left + 1, matrix.bottom + 68, 28, 26, REGISTERS)
    side = matrix.left - 16
    card.line(matrix.left - 3, matrix.top, side, matrix.top, SOFT)
    card.line(matrix.left - 3, matrix.bottom, side, matrix.bottom, SOFT)
    card.line(side, matrix.top, side, total.y, SOFT)
    card.arrow(side, total.y, total.left - 1, total.y)
    card.text(matrix.right + 12, total.y + 6, "dalpha: one for everything", 15, at="start")
    return card


@picture("atomics.svg")
def atomics():
    card = Card("Who adds to a column's sum", 352, "grad_atomic: every row adds to the sum. grad_tiles: a thread adds up its part in a register, and each part adds once. "
                "grad_partials: each part writes a line of its own, and a second kernel adds the lines up.")
    for i, (name, words, color) in enumerate((("grad_atomic", "8 atomics", BAD), ("grad_tiles", "2 atomics", SOFT), ("grad_partials", "no atomics", GOOD))):
        left = 24 + 154 * i
        card.text(left + 64, 66, name, 16, bold=True)
        column = card.matrix(left + 10, 82, 8, 1, 22, "", fill=GLOBAL)
        if i == 0:
            for row in range(8):
                place = column.cell(row, 0)
                card.arrow(place.right + 2, place.y, left + 92, 172, BAD, 1.2)
            card.box(left + 94, 156, 34, 32, OUTPUT)
        else:
            for part in range(2):
                tile = column.tile(4 * part, 0, 4, 1)
                card.frame(tile, THREADS[part], 2.4, 1)
                card.box(left + 50, tile.y - 13, 30, 26, REGISTERS)
                card.line(tile.right + 3, tile.y, left + 49, tile.y, SOFT)
                if i == 1:
                    card.arrow(left + 80, tile.y, left + 103, 156 if part == 0 else 188, BAD, 1.6)
                else:
                    card.arrow(left + 80, tile.y, left + 100, tile.y, GOOD)
                    card.box(left + 102, tile.y - 13, 26, 26, SHARED)
            if i == 1:
                card.box(left + 94, 156, 34, 32, OUTPUT)
            else:
                card.arrow(left + 115, 139, left + 115, 158)
                card.arrow(left + 115, 201, left + 115, 186)
                card.box(left + 98, 158, 34, 28, OUTPUT)
        card.text(left + 64, 288, words, 17, color, bold=True)
    card.text(240, 318, "Blue: a column's rows, framed: a part. Violet: a register.", 15, SOFT)
    card.text(240, 340, "Yellow: a part's own place. Green: the column's sum.", 15, SOFT)
    return card


@picture("stages.svg")
def stages():
    card = Card("Two stages", 330, f"Stage 1: a block for {TILE} columns of a part of the rows fills its places in the part's line. Stage 2 adds up the lines, part after part.")
    matrix = card.matrix(60, 84, 6, 8, 26, "x, dy", fills=lambda row, col: GLOBAL,
                         row_names=[f"part {row // 2}" if row % 2 == 0 else "" for row in range(6)])
    for part in range(3):
        for tile in range(2):
            card.frame(matrix.tile(2 * part, 4 * tile, 2, 4), THREADS[(part + tile) % 2], 2.4, 1)
    lines = card.matrix(312, 84, 3, 8, 18, "", fill=SHARED)
    card.text(lines.x, 74, "lines", 16, bold=True)
    for part in range(3):
        place = matrix.tile(2 * part, 0, 2, 8)
        card.arrow(matrix.right + 4, place.y, lines.left - 4, lines.cell(part, 0).y)
        for tile in range(2):
            card.frame(lines.tile(part, 4 * tile, 1, 4), THREADS[(part + tile) % 2], 2, 0)
    out = card.matrix(312, 190, 1, 8, 18, "", fill=OUTPUT)
    card.arrow(lines.x, lines.bottom + 3, lines.x, out.top - 3)
    card.text(out.x, out.bottom + 22, "dgamma; dbeta alike", 15)
    card.text(240, 284, f"Real blocks: {TILE} columns, 1/{PARTS} of the rows.", 16, SOFT)
    card.text(240, 312, "A fixed order: the same bits on every run.", 16, GOOD, bold=True)
    return card


@picture("waits.svg")
def waits():
    card = Card("What each wait brings a thread", 224, "In seven waits a thread of grad_partials gets eight bytes and six times four, because it loads x and dy of the first row together and "
                "of three more rows apart. A thread of grad_wide gets 128 bytes in each wait.")
    cols, ahead = 16 // 4, constant("day36_dyt/07_grad_wide.cu", "kAhead")
    bytes_of_partials = [4 + 4] + [4] * 6  # x and dy of row 1 together, then x and dy of three rows one by one
    for row, (name, each, fill) in enumerate((("rung 6", bytes_of_partials, GLOBAL), ("rung 7", [ahead * 2 * cols * 4] * 7, GLOBAL))):
        y = 62 + 64 * row
        card.text(30, y + 24, name, 16, at="start", bold=True)
        for i, count in enumerate(each):
            card.box(100 + 50 * i, y, 46, 36, fill)
            card.text(123 + 50 * i, y + 24, count, 16)
    card.text(240, 190, "A box: a wait. Its number: bytes.", 16, SOFT)
    card.text(240, 212, f"{sum(bytes_of_partials)} bytes in 7 waits, or {7 * ahead * 2 * cols * 4}.", 16, GOOD, bold=True)
    return card


@picture("wide.svg")
def wide():
    groups, ahead = constant("day36_dyt/strip.cuh", "kStripThreads") // 32, constant("day36_dyt/07_grad_wide.cu", "kAhead")
    assert (groups, ahead) == (8, 4)
    card = Card("Eight warps leave one sum a column", 440, "A block's eight warps have eight rows of the same columns, and then three times eight more further down. Each keeps its sums "
                "in registers. At the end the eight meet in shared memory, and one sum a column leaves the block.")
    left, width, height = 92, 150, 8
    for part in range(ahead):
        top = 76 + part * (groups + 1) * height
        for warp in range(groups):
            card.box(left, top + warp * height, width, height, GLOBAL)
        card.text(left - 10, top + 4 * height + 5, "8 rows" if part == 0 else "8 more", 15, SOFT, "end")
    card.text(left + width / 2, 66, "x, dy", 16, bold=True)
    bottom = 76 + (ahead * (groups + 1) - 1) * height
    middle = (76 + bottom) / 2
    sums = card.box(302, middle - 4 * 20, 130, 8 * 20, "none", line="none")
    card.text(sums.x, sums.top - 14, "shared memory", 15, bold=True)
    for warp in range(groups):
        card.box(sums.left, sums.top + 20 * warp, 130, 20, SHARED)
        card.text(sums.x, sums.top + 20 * warp + 15, warp, 15)
    card.arrow(left + width + 8, middle, sums.left - 6, middle)
    card.arrow(sums.x, sums.bottom + 4, sums.x, sums.bottom + 32)
    card.box(sums.left, sums.bottom + 34, 130, 20, OUTPUT)
    card.text(sums.left - 10, sums.bottom + 49, "lines", 15, at="end")
    card.text(240, 400, "Warps 0 to 7 have 512 bytes of a row each. A warp", 15, SOFT)
    card.text(240, 422, f"loads its {ahead} rows before it works on one.", 15, SOFT)
    return card
