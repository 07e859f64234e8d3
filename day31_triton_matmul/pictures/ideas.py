# SPDX-License-Identifier: MIT
"""Day 31's ideas: a tile and its walk along k, what a wave of programs wants in two orders, stages over time, a descriptor, the digits of
tf32, and an operand that is turned on the chip.

    tools/pictures.py 31
"""
from drawing import BAD, EMPTY, GLOBAL, GOOD, INK, OUTPUT, REGISTERS, SHARED, SOFT, THREADS, WHITE, Card, constant, picture

FOLDER = "day31_triton_matmul/"
TILE, DEPTH = constant(FOLDER + "01_tile.py", "ROWS"), constant(FOLDER + "01_tile.py", "DEPTH")
GROUP, STAGES = constant(FOLDER + "02_grouped.py", "GROUP"), constant(FOLDER + "03_staged.py", "STAGES")
WAVE, SIDE = 16, 16  # of ladder.py's shape that is shown: 1,024 in tiles of 64


def row_by_row(program, down, along):
    return program // along, program % along


def in_groups(program, down, along, group=GROUP):
    """As 02_grouped.py has it."""
    first = program // (group * along) * group
    rows, place = min(down - first, group), program % (group * along)
    return first + place % rows, place // rows


def strips(order, wave, side):
    """(rows of A, columns of B) that the first wave of programs wants, in tiles."""
    tiles = [order(program, side, side) for program in range(wave)]
    return len({row for row, _ in tiles}), len({col for _, col in tiles})


@picture("tile.svg")
def tile():
    card = Card("A program walks along k", 352,
                "The tile of C needs a strip of A, as high as the tile, and a strip of B, as wide. The program walks along both, a step at a time.")
    a = card.sheet(40, 170, 170, 130, "", GLOBAL)
    b = card.sheet(236, 66, 200, 90, "", GLOBAL)
    card.sheet(236, 170, 200, 130, "", OUTPUT)
    card.text(54, 162, "A", 17, at="start", bold=True)
    card.text(222, 84, "B", 17, bold=True)
    card.text(450, 240, "C", 17, bold=True)
    for i in range(4):
        step = card.box(a.left + i * 42.5, 210, 42.5, 40, SHARED if i == 1 else "#e9f1fb", round=1)
        card.text(step.x, step.y + 6, i, 15, bold=i == 1)
        step = card.box(310, b.top + i * 22.5, 44, 22.5, SHARED if i == 1 else "#e9f1fb", round=1)
        card.text(step.x, step.y + 6, i, 15, bold=i == 1)
    place = card.box(310, 210, 44, 40, REGISTERS, INK, 2.4, 1)
    card.text(place.x, place.y + 6, "+=", 15, bold=True)
    card.text(126, 200, f"strip: {TILE} rows", 15)
    card.text(126, 270, f"step: {DEPTH} columns", 15)
    card.text(332, 270, f"{TILE} x {TILE}", 15)
    card.text(240, 322, "At step 1: total += (tile 1 of A) x (tile 1 of B).", 16, bold=True)
    card.text(240, 342, f"The sum, {TILE} x {TILE}, stays in registers.", 15, SOFT)
    return card


@picture("order.svg")
def order():
    size = 10
    card = Card("What 16 programs want at a time", 330,
                f"Of {SIDE} x {SIDE} tiles the first {WAVE} programs are in colour. Row by row they lie in a strip and want 1 + 16 strips of A and B; in groups of "
                f"{GROUP} rows they want {GROUP} + 2.")
    for left, words, numbered in ((46, "row by row", row_by_row), (278, f"in groups of {GROUP} rows", in_groups)):
        wave = {numbered(program, SIDE, SIDE) for program in range(WAVE)}
        rows, cols = {row for row, _ in wave}, {col for _, col in wave}
        card.text(left + SIDE * size / 2, 62, words, 16, bold=True)
        card.matrix(left, 100, SIDE, SIDE, size, fills=lambda r, c, wave=wave: THREADS[0] if (r, c) in wave else None)
        for row in range(SIDE):
            card.box(left - 16, 100 + row * size, 10, size, GLOBAL if row in rows else WHITE, round=0, thick=0.8)
        for col in range(SIDE):
            card.box(left + col * size, 84, size, 10, GLOBAL if col in cols else WHITE, round=0, thick=0.8)
        down, along = strips(numbered, WAVE, SIDE)
        card.text(left + SIDE * size / 2, 284, f"A: {down}   B: {along}   together {down + along}", 16, BAD if down + along > 12 else GOOD, bold=True)
    card.text(240, 314, "C's tiles; left of them A's strips, above them B's", 15, SOFT)
    return card


@picture("waves.svg")
def waves():
    """The same count for an H200, whose 132 multiprocessors hold eight programs of 64 registers each, and for 8,192 in tiles of 64."""
    side, wave = 8192 // TILE, 132 * 8
    card = Card(f"Strips that a wave of {wave:,} wants", 242,
                f"Of {side} x {side} tiles: row by row, in groups of {GROUP} and in groups of 32.")
    for number, (words, group) in enumerate((("row by row", 1), (f"groups of {GROUP}", GROUP), ("groups of 32", 32))):
        down, along = strips(lambda program, down, along, group=group: in_groups(program, down, along, group), wave, side)
        top, unit = 62 + 52 * number, 1.2
        card.text(132, top + 20, words, 16, at="end", bold=True)
        card.box(144, top, down * unit, 30, SHARED)
        card.box(144 + down * unit, top, along * unit, 30, GLOBAL)
        card.text(152 + (down + along) * unit, top + 20, f"{down} + {along} = {down + along}", 16, GOOD if number == 2 else BAD, "start", bold=True)
    card.text(240, 228, "Strips of A (yellow) and of B (blue), 64 wide.", 15, SOFT)
    return card


@picture("stages.svg")
def stages():
    card = Card("Stages: load ahead, multiply meanwhile", 330,
                f"With one stage each step waits for its load. With {STAGES} the loads of the next two steps are under way while one is multiplied.")
    card.text(28, 62, "num_stages=1", 16, at="start", bold=True)
    one = [(f"{i}", 5 * i, 5 * i + 3, GLOBAL) for i in range(4)], [(f"{i}", 5 * i + 3, 5 * i + 5, OUTPUT) for i in range(4)]
    card.time(74, [("load", one[0]), ("multiply", one[1])], 96, 26, end=21, words="")
    card.text(28, 186, f"num_stages={STAGES}", 16, at="start", bold=True)
    # A load takes three units and begins when its place is free: the multiplication STAGES steps before has ended.
    ends, loads, products = [], [], []
    for i in range(6):
        begins = 0 if i < STAGES else ends[i - STAGES]
        starts = max(begins + 3, ends[-1] if ends else 0)
        ends.append(starts + 2)
        loads.append((f"{i}", begins, begins + 3, GLOBAL))
        products.append((f"{i}", starts, starts + 2, OUTPUT))
    rows = [(f"place {place}", [step for i, step in enumerate(loads) if i % STAGES == place]) for place in range(STAGES)]
    card.height = 364
    card.time(198, [*rows, ("multiply", products)], 96, 22, end=21)
    card.text(96, 356, f"4 products by {5 * 4}; then 6 by {ends[-1]}", 16, GOOD, "start", bold=True)
    return card


@picture("descriptor.svg")
def descriptor():
    card = Card("Addresses of all, or two indices", 262,
                "With pointers 128 threads compute addresses and a mask for their part of a tile. With a descriptor one thread names the corner of the tile; the rest is known.")
    for left, words in ((28, "pointers"), (268, "a descriptor")):
        card.text(left + 90, 64, words, 16, bold=True)
        sheet = card.sheet(left, 78, 184, 104, "", GLOBAL)
        place = card.box(left + 70, 98, 64, 48, SHARED, INK, 2, 1)
        if left < 100:
            for row in range(4):
                for col in range(4):
                    card.parts.append(f'<circle cx="{place.left + 8 + 16 * col}" cy="{place.top + 6 + 12 * row}" r="3" fill="{THREADS[1]}"/>')
            card.text(sheet.x, 206, "each thread: its addresses", 15, BAD)
            card.text(sheet.x, 226, "and whether they are there", 15, BAD)
        else:
            card.disc(place.left, place.top, "0", THREADS[2], 11)
            card.text(sheet.x, 206, "one thread: row, col", 15, GOOD)
            card.text(sheet.x, 226, "known before: shape, pitch", 15, SOFT)
    card.text(240, 250, "a tile of a matrix in memory", 15, SOFT)
    return card


@picture("digits.svg")
def digits():
    card = Card("Which digits take part", 330,
                "fp32 has 23 digits behind the point, tf32 the first 10 of them. tf32x3 keeps the next ones as a second number.")
    unit, left = 11.5, 118
    for number, (words, kept, note) in enumerate((("ieee", 23, "24 count"), ("tf32", 10, "11 count"))):
        top = 62 + 84 * number
        card.text(left - 12, top + 20, words, 16, at="end", bold=True)
        for bit in range(32):
            fill = EMPTY if bit < 1 else GLOBAL if bit < 9 else OUTPUT if bit < 9 + kept else WHITE
            card.box(left + bit * unit * 0.94, top, unit * 0.94, 28, fill, round=0, thick=0.7)
        card.text(left, top + 46, f"sign, exponent, {kept} of 23 digits; with the", 15, SOFT, "start")
        card.text(left, top + 64, f"leading 1, which is not stored: {note}", 15, SOFT, "start")
    top = 236
    card.text(left - 12, top + 20, "tf32x3", 16, at="end", bold=True)
    card.box(left, top, 150, 28, OUTPUT)
    card.text(left + 75, top + 20, "large part", 15)
    card.box(left + 172, top, 150, 28, SHARED)
    card.text(left + 247, top + 20, "what it lacks", 15)
    card.text(left + 161, top + 20, "+", 16, bold=True)
    card.text(240, 292, "large x large + large x small + small x large", 16, bold=True)
    card.text(240, 314, "three products instead of one; small x small is left out", 15, SOFT)
    return card


@picture("turned.svg")
def turned():
    card = Card("Loaded as it lies, turned on the chip", 300,
                "The weights lie row by row of outputs. A tile is loaded along its rows, and read the other way round from shared memory.")
    w = card.sheet(28, 84, 130, 150, "", GLOBAL)
    card.text(w.x, 74, "W: (n, k)", 16, bold=True)
    place = card.box(w.left + 40, 118, 60, 84, SHARED, INK, 2, 1)
    for i in range(4):
        card.arrow(place.left + 5, 130 + 20 * i, place.right - 4, 130 + 20 * i, GOOD, through=True)
    card.text(w.x, 254, "along k: 16 bytes", 15, GOOD)
    card.arrow(168, 160, 206, 160)
    chip = card.box(214, 118, 60, 84, SHARED, INK, 2, 1)
    for i in range(4):
        card.arrow(chip.left + 5, 130 + 20 * i, chip.right - 4, 130 + 20 * i, SOFT, through=True)
    card.text(chip.x, 222, "shared", 15, SOFT)
    card.text(chip.x, 240, "memory", 15, SOFT)
    card.arrow(284, 160, 322, 160)
    card.text(303, 148, ".T", 16, bold=True)
    back = card.box(334, 130, 84, 60, REGISTERS, INK, 2, 1)
    for i in range(4):
        card.arrow(back.left + 13 + 19 * i, back.top + 5, back.left + 13 + 19 * i, back.bottom - 4, SOFT, through=True)
    card.text(back.x, 212, "as tl.dot", 15, SOFT)
    card.text(back.x, 230, "wants it: (k, n)", 15, SOFT)
    card.text(240, 284, "Nothing is written back to memory.", 16, bold=True)
    return card
