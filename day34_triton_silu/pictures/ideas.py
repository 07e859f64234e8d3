# SPDX-License-Identifier: MIT
"""Day 34's ideas: what lives between forward and backward, and a block that is read before it is written over.

    tools/pictures.py 34
"""
from drawing import BAD, EMPTY, GLOBAL, GOOD, INK, OUTPUT, SOFT, WHITE, Card, picture

# What the backward of each rung loads, but for dy: ./days explain 34.
KEPT = (("ops", ("gate", "value", "silu")), ("kept", ("value", "sigmoid", "silu")), ("again", ("gate", "value")))


@picture("alive.svg")
def alive():
    card = Card("What waits for the backward", 236, "; ".join(f"{name} keeps {', '.join(tensors)}" for name, tensors in KEPT))
    card.text(240, 62, "tensors that lie in memory from the forward on", 16, SOFT)
    for row, (name, tensors) in enumerate(KEPT):
        y = 78 + 50 * row
        card.text(96, y + 24, name, 16, INK, "end", True)
        for column, tensor in enumerate(tensors):
            left = 112 + 116 * column
            card.box(left, y, 108, 36, GLOBAL if tensor in ("gate", "value") else EMPTY)
            card.text(left + 54, y + 24, tensor, 16, INK if tensor in ("gate", "value") else BAD)
    return card


@picture("over.svg")
def over():
    card = Card("Read first, then write over it", 216, "Three programs over one array of gates. The first has written its gradients, the second has its gates in registers, the third has not begun. No program reads another's block.")
    size, block = 36, 4
    words = ["dg"] * block + ["g"] * 2 * block
    fills = {i: OUTPUT if i < block else WHITE if i < 2 * block else GLOBAL for i in range(3 * block)}
    row = card.cells(92, "", words, 24, size, 36, GLOBAL, fills=fills, inks=dict.fromkeys(range(block, 2 * block), BAD))
    for number, (state, colour) in enumerate((("has written", GOOD), ("has read", BAD), ("not begun", SOFT))):
        place = row.cells(number * block, number * block + block - 1)
        card.text(place.x, 80, f"program {number}", 15, SOFT)
        card.text(place.x, 150, state, 16, colour, bold=True)
    card.text(240, 188, "In any order: nobody reads another program's block.", 16, SOFT)
    return card
