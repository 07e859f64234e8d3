# SPDX-License-Identifier: MIT
"""Day 41's ideas: three ways to one number, the ticket that tells who is last, and a running sum that stands still.

    tools/pictures.py 41
"""
from drawing import BAD, GLOBAL, GOOD, INK, OUTPUT, REGISTERS, SOFT, Card, picture


@picture("ways.svg")
def ways():
    card = Card("Three ways to one number", 470, "Eight elements in two blocks: an atomic addition for each element; one for each block; or a place for each block, added up in order.")
    for top, name, hint in ((62, "atomic: one addition an element", "any order"), (194, "block: one a block", "any order"), (326, "stages, ticket: places, in order", "one order")):
        card.text(28, top, name, 16, at="start", bold=True)
        card.text(452, top, hint, 16, GOOD if hint == "one order" else BAD, "end")
        cells = [(30 + i * 36 + (i // 4) * 12, top + 12) for i in range(8)]
        for i, (x, y) in enumerate(cells):
            card.box(x, y, 32, 26, GLOBAL)
            card.text(x + 16, y + 19, i, 15)
        target = (400, top + 76)
        card.box(target[0], target[1], 52, 28, OUTPUT)
        card.text(target[0] + 26, target[1] + 20, "dβ", 16)
        if name.startswith("atomic"):
            for x, y in cells:
                card.line(x + 16, y + 26, target[0], target[1] + 14, BAD, 1.5)
            continue
        for block in range(2):
            x0, x1 = cells[4 * block][0], cells[4 * block + 3][0] + 32
            middle = (x0 + x1) / 2
            for i in range(4):
                card.line(cells[4 * block + i][0] + 16, top + 38, middle, top + 62, SOFT, 1.5)
            if name.startswith("block"):
                card.line(middle, top + 62, target[0], target[1] + 14, BAD, 1.5)
            else:
                card.box(middle - 22, top + 62, 44, 26, REGISTERS)
                card.text(middle, top + 81, f"[{block}]", 15)
        if name.startswith("stages"):
            centres = [(cells[4 * block][0] + cells[4 * block + 3][0] + 32) / 2 for block in range(2)]
            card.arrow(centres[0] + 22, top + 87, target[0], target[1] + 22, GOOD)
            card.arrow(centres[1] + 22, top + 72, target[0], target[1] + 8, GOOD)
            card.text(target[0] - 50, top + 74, "2nd", 15, GOOD)
            card.text(target[0] - 125, top + 112, "1st", 15, GOOD)
    return card


@picture("ticket.svg")
def ticket():
    card = Card("The last ticket adds up", 330, "Four blocks end in the order 2, 0, 3, 1. Each writes its sum to its own place and draws the next ticket. Block 1 draws ticket 3, the last, and adds up places 0 to 3 in order.")
    card.text(28, 62, "block", 16, SOFT, "start")
    card.text(452, 62, "time goes right", 16, SOFT, "end")
    ends = {2: (0, 120), 0: (1, 168), 3: (2, 216), 1: (3, 264)}
    for block in range(4):
        y = 76 + 44 * block
        number, end = ends[block]
        card.text(40, y + 21, block, 16, bold=True)
        card.box(62, y, end - 62, 30, GLOBAL)
        card.box(end, y, 56, 30, REGISTERS if number < 3 else OUTPUT)
        card.text(end + 28, y + 20, f"t = {number}", 15)
        if number == 3:
            card.text(end + 66, y + 20, "last: [0] to [3]", 15, GOOD, "start", True)
    for i in range(4):
        card.box(130 + 62 * i, 268, 54, 26, REGISTERS)
        card.text(157 + 62 * i, 287, f"[{i}]", 15)
    card.text(28, 287, "places", 16, SOFT, "start")
    card.text(240, 318, "Any block may be last. The order of the places stays.", 16, SOFT)
    return card


# By programs/order.cu: elements, running sum of fp32, truth, in millions.
SUMS = ((22, 0.605, 0.607), (23, 1.201, 1.213), (24, 2.359, 2.426), (25, 4.577, 4.853), (26, 8.389, 9.705), (27, 8.389, 19.409))


@picture("standstill.svg")
def standstill():
    card = Card("A running sum that stands still", 330, "Running sums of fp32 beside the truth, 2^22 to 2^27 elements of one sign: at 2^26 the sum has stopped at 8.4 million, at 2^27 the truth is 19.4.")
    card.text(240, 62, "millions: green the truth, violet in fp32", 16, SOFT)
    bottom, scale = 280, 9.6
    for i, (power, got, truth) in enumerate(SUMS):
        x = 44 + 70 * i
        card.box(x, bottom - truth * scale, 24, truth * scale, OUTPUT)
        card.box(x + 26, bottom - got * scale, 24, got * scale, REGISTERS)
        if power >= 26:
            card.text(x + 38, bottom - got * scale - 6, f"{got:.1f}", 15, BAD, bold=True)
            card.text(x + 12, bottom - truth * scale - 6, f"{truth:.1f}", 15, GOOD)
        card.text(x + 25, bottom + 22, f"2^{power}", 15)
    card.line(36, bottom, 452, bottom, INK, 2)
    card.text(240, 322, "At 8.4 million floats are 1 apart, and no term is 0.5.", 15, SOFT)
    return card
