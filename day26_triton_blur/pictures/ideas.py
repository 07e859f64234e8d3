# SPDX-License-Identifier: MIT
"""Day 26's ideas: a block with its halo inside, and a walk that keeps its last rows.

    tools/pictures.py 26
"""
from drawing import GLOBAL, GOOD, HALO, OUTPUT, REGISTERS, SOFT, Card, constant, picture

ROWS, COLS = (constant("day26_triton_blur/03_gathered.py", name) for name in ("ROWS", "COLS"))
R = 2


@picture("inside.svg")
def inside():
    rows, cols, scale = ROWS - 2 * R, COLS - 2 * R, 6
    card = Card("The halo lies inside the block", 330,
                f"A block of {ROWS} x {COLS}; with a radius of {R} its inner {rows} x {cols} places are stored, and the rest is halo.")
    left, top = 240 - COLS * scale / 2, 56
    card.box(left, top, COLS * scale, ROWS * scale, HALO)
    card.box(left + R * scale, top + R * scale, cols * scale, rows * scale, OUTPUT)
    card.text(240, top + 20, f"loaded: {ROWS} x {COLS}", 16, SOFT)
    card.text(240, top + ROWS * scale / 2 + 5, f"stored: {rows} x {cols}", 17, GOOD, bold=True)
    card.text(240, 280, f"The radius is {R}: {rows * cols / (ROWS * COLS):.0%} of the places are stored.", 16)
    card.text(240, 306, "Their neighbours come from other threads.", 16, SOFT)
    return card


@picture("walk.svg")
def walk():
    card = Card("A program walks and keeps rows", 378,
                "With a radius of 2 five rows, blurred along, meet in one row of y. In the next step the oldest leaves, the newest comes, and four stay.")
    for step, left in ((0, 24), (1, 256)):
        card.text(left + 100, 66, f"step {step}", 17, bold=True)
        for row in range(6):
            held, newest = step <= row < step + 4, row == step + 4
            top = 80 + 36 * row
            card.box(left, top, 200, 32, REGISTERS if held else GLOBAL if newest else "none", dashed=not (held or newest))
            words = "kept" if held else "loaded" if newest else "gone" if row < step else "still to come"
            card.text(left + 100, top + 21, f"row {row}: {words}", 15)
        card.arrow(left + 100, 298, left + 100, 314)
        card.box(left, 316, 200, 32, OUTPUT)
        card.text(left + 100, 337, f"y's row {step + 2}", 15)
    card.text(240, 370, "Radius 2: four rows stay in registers.", 16, GOOD, bold=True)
    return card
