# SPDX-License-Identifier: MIT
"""Day 32's ideas: two blocks of halves become one of numbers, whose outputs a thread stores, and what is loaded once for all.

    tools/pictures.py 32
"""
from drawing import BAD, EMPTY, GLOBAL, GOOD, INK, OUTPUT, REGISTERS, SHARED, SOFT, THREADS, WHITE, WIDTH, Card, constant, picture

FOLDER = "day32_triton_dequantize/"
CODES = (12, 0, 10, 7)
VALUES = ("0.44", "-1", "0.25", "0")  # NF4's of these codes, rounded to be drawn


@picture("interleave.svg")
def interleave():
    card = Card("Two bytes become four numbers", 336,
                "Two bytes, hexadecimal C0 and A7. Their upper halves have the values 0.44 and 0.25, their lower halves -1 and 0. "
                "Interleaved they are 0.44, -1, 0.25, 0.")
    size = 70
    both = card.cells(66, "byte", [f"{a:X} {b:X}" for a, b in zip(CODES[::2], CODES[1::2])], 170, size, 36, GLOBAL)
    upper = card.cells(156, "", VALUES[::2], 60, size, 36, REGISTERS)
    lower = card.cells(156, "", VALUES[1::2], 280, size, 36, SHARED)
    card.text(upper.x, 150, "upper: byte >> 4", 15, bold=True)
    card.text(lower.x, 150, "lower: byte & 15", 15, bold=True)
    card.arrow(both.cell(0).x - 20, both.bottom + 4, upper.x, 132)
    card.arrow(both.cell(1).x + 20, both.bottom + 4, lower.x, 132)
    y = card.cells(256, "", VALUES, 100, size, 36, fills={i: SHARED if i % 2 else REGISTERS for i in range(4)})
    for i in range(4):
        source = (lower if i % 2 else upper).cell(i // 2)
        card.arrow(source.x, source.bottom + 2, y.cell(i).x, y.top - 3, through=True)
    card.text(240, 320, "tl.interleave(upper, lower): in turns", 16, bold=True)
    return card


@picture("own_bytes.svg")
def own_bytes():
    """Whose outputs they are where a thread loads a certain number of bytes, and where it stores 16 bytes of y."""
    size, threads, wide = constant(FOLDER + "03_interleaved.py", "BYTES"), constant(FOLDER + "04_own_bytes.py", "THREADS"), constant(FOLDER + "04_own_bytes.py", "WIDE")
    outputs = wide // 2  # of 16 bits
    many, own = 2 * size // threads // outputs, 2 * (threads * outputs // 2) // threads // outputs
    if own != 1:
        raise ValueError("the picture has a store a thread")
    card = Card("Whose numbers are they?", 350,
                f"A cell is {outputs} numbers of 16 bits. In interleaved a thread computes {many} neighbouring cells and stores cells that lie apart, "
                "so most change hands. In own_bytes it stores the one that it computed.")
    count, side = 12, 35
    for top, words, each, loud in ((104, f"interleaved: {size // threads} bytes a thread", many, BAD),
                                   (240, f"own_bytes: {size // threads // many} bytes a thread", own, GOOD)):
        card.text(24, top - 28, words, 16, loud, "start", bold=True)
        for at, line, owners in ((top, "computes", [i // each for i in range(count)]), (top + 48, "stores", list(range(count)))):
            row = card.cells(at, "", [o if o < 4 else "." for o in owners], 24, side, 24, fills={i: THREADS[o % 4] if o < 4 else EMPTY for i, o in enumerate(owners)},
                             inks={i: WHITE for i, o in enumerate(owners) if o < 4})
            card.text(row.left, at - 5, line, 15, SOFT, "start")
    card.text(240, 336, f"number: the thread; a cell: {outputs} numbers, {wide} bytes", 15, SOFT)
    return card


@picture("handed_out.svg")
def handed_out():
    card = Card("Loaded once, handed out", 330,
                "A table of 16 values is loaded once, and each code picks its value from it. A scale stands beside its row of 64 numbers and is multiplied with all of them.")
    table = card.cells(64, "", ["-1", *["."] * 6, "0", *["."] * 7, "1"], 24, 27, 30, REGISTERS)
    card.text(24, 58, "table: a block of 16, loaded once", 15, at="start", bold=True)
    codes = card.cells(144, "", [7, 15, 0, 7, "..."], 160, 44, 32, SHARED)
    card.text(24, 164, "codes", 15, at="start", bold=True)
    for i, code in enumerate((7, 15, 0, 7)):
        card.arrow(table.cell(code).x, table.bottom + 2, codes.cell(i).x, codes.top - 3, through=True)
    card.text(WIDTH / 2, 206, "tl.gather(table, codes, axis=0)", 16, bold=True)
    left = card.matrix(60, 226, 3, 1, 26, values=lambda row, _: "abc"[row], fill=GLOBAL)
    card.text(110, 270, "x", 18, bold=True)
    rows = card.matrix(134, 226, 3, 8, 26, values=lambda row, col: "..." if col == 7 else "", fill=OUTPUT)
    card.frame(rows.tile(0, 0, 1, 8), INK, 2, 0)
    card.text(left.x, 322, "scale[:, None]", 15)
    card.text(rows.x + 30, 322, "a row: the 64 numbers of a scale", 15)
    return card
