# SPDX-License-Identifier: MIT
"""Day 44's ideas: where gates and values lie, what one load of a warp asks for in each layout, how long the threads need beside
memory, why 16 bytes of results are the wrong size for pairs, and what backward reads and writes.

    tools/pictures.py 44
"""
from drawing import BAD, EMPTY, GLOBAL, GOOD, OUTPUT, REGISTERS, SOFT, WHITE, Card, picture

SECTOR = 8  # floats


@picture("layouts.svg")
def layouts():
    card = Card("One row in two layouts", 350, "A row of four gates and four values: halves have g0 to g3 and then v0 to v3; pairs have "
                "g0, v0, g1, v1 and so on. Output 1 needs g1 and v1 in both.")
    gates = dict.fromkeys(range(4), GLOBAL)
    card.text(240, 64, "halves (GeGLU)", 16, bold=True)
    y = card.cells(78, "y", ["y0", "y1", "y2", "y3"], left=160, fill=OUTPUT)
    x = card.cells(152, "x", ["g0", "g1", "g2", "g3", "v0", "v1", "v2", "v3"], left=80, fill=WHITE, fills=gates)
    for i in (1, 5):
        card.arrow(x.cell(i).x, x.top - 2, y.cell(1).x, y.bottom + 3)
    card.text(240, 222, "pairs (GeGELU)", 16, bold=True)
    y = card.cells(236, "y", ["y0", "y1", "y2", "y3"], left=160, fill=OUTPUT)
    x = card.cells(300, "x", ["g0", "v0", "g1", "v1", "g2", "v2", "g3", "v3"], left=80, fill=WHITE, fills=dict.fromkeys((0, 2, 4, 6), GLOBAL))
    for i in (2, 3):
        card.arrow(x.cell(i).x, x.top - 2, y.cell(1).x, y.bottom + 3)
    return card


def owners(wanted, count=2 * SECTOR):
    """The cells of two sectors: wanted(cell) is the thread that asks for it, or None."""
    return [wanted(i) for i in range(count)]


@picture("requests.svg")
def requests():
    card = Card("One load by eight threads", 322, "Eight threads load gates. From halves: 8 neighbours, one full sector. From pairs, a gate each: every "
                "second float of two sectors, half used. From pairs, a pair each: all of two sectors.")
    for top, words, wanted, said, color in (
            (62, "halves: a gate each", lambda i: i if i < SECTOR else None, "1 sector, all used", GOOD),
            (146, "pairs: a gate each", lambda i: i // 2 if i % 2 == 0 else None, "2 sectors, half used", BAD),
            (230, "pairs: a pair each", lambda i: i // 2, "2 sectors, all used", GOOD)):
        card.text(24, top, words, 16, at="start", bold=True)
        card.text(456, top, said, 16, color, "end")
        card.owned(top + 16, owners(wanted), group=SECTOR, frame=SOFT)
    card.text(240, 304, "Number: the thread that asks. Frame: a sector that moves.", 15, SOFT)
    return card


@picture("wide.svg")
def wide():
    card = Card("16 bytes of results need two loads", 322, "Results of 16 bytes a thread: two loads of 16 bytes, 32 bytes a thread apart, and each uses half "
                "of both sectors. Results of 8 bytes: one load, which four threads share two sectors for.")
    for top, words, wanted, said, color in (
            (62, "first load", lambda i: i // SECTOR if i % SECTOR < 4 else None, "half used", BAD),
            (146, "second load", lambda i: i // SECTOR if i % SECTOR >= 4 else None, "the same sectors, half used", BAD),
            (230, "8 bytes of results: one load", lambda i: i // 4, "all used", GOOD)):
        card.text(24, top, words, 16, at="start", bold=True)
        card.text(456, top, said, 16, color, "end")
        card.owned(top + 16, owners(wanted), group=SECTOR, frame=SOFT)
    card.text(240, 304, "Number: the thread that asks. Frame: a sector that moves.", 15, SOFT)
    return card


OUTPUTS, HELD, LIMIT = 8192 * 14336, 132 * 2048, 3060  # the results' shape; threads that an H100 holds; its 2:1 mix, bytes in a ns
PACE, WAIT = 132 * 128 * 1.98, 0.45  # instructions of a thread in a ns; microseconds that a generation waits
INSTRUCTIONS = {("fused", "fp32"): 60, ("halves", "fp32"): 22.25, ("fused", "bf16"): 63, ("halves", "bf16"): 18.6}  # for an output


@picture("generations.svg")
def generations():
    card = Card("halves hides behind memory", 288, "The threads of fused need 406 microseconds in fp32 and 417 in bf16, where memory needs 461 and 230; those of "
                "halves need 127 and 90. A bar is waiting, 0.45 microseconds a generation, and then instructions.")
    scale, left = 0.66, 96
    for top, name, size in ((78, "fp32", 4), (178, "bf16", 2)):
        memory = OUTPUTS * 3 * size / LIMIT / 1000
        card.text(20, top - 10, name, 16, at="start", bold=True)
        card.text(left + memory * scale, top - 10, f"memory: {memory:.0f} \u00b5s", 15, SOFT)
        for row, rung, each in ((0, "fused", 1), (1, "halves", 16 // size)):
            instructions, waits = OUTPUTS * INSTRUCTIONS[rung, name] / PACE / 1000, OUTPUTS / each / HELD * WAIT
            time, y = instructions + waits, top + 28 * row
            card.text(20, y + 16, rung, 15, at="start")
            card.box(left, y, waits * scale, 22, EMPTY)
            card.box(left + waits * scale, y, instructions * scale, 22, REGISTERS)
            card.text(456, y + 16, f"{time:.0f}", 15, GOOD if time < memory / 2 else BAD, "end", True)
        card.line(left + memory * scale, top - 4, left + memory * scale, top + 54, SOFT, 2, dashed=True, through=True)
    card.text(240, 270, "\u00b5s: grey waits, violet instructions", 16, SOFT)
    return card


@picture("backward.svg")
def backward():
    card = Card("Three elements in, two out", 328, "A row of pairs. The gradients of gate 1 and value 1, which are elements 2 and 3 of dx, are made of elements 2 and 3 "
                "of x, the gate and the value, and of dy's element 1.")
    own = dict.fromkeys((2, 3), GLOBAL)
    x = card.cells(70, "x", ["g0", "v0", "g1", "v1", "g2", "v2", "g3", "v3"], left=80, fill=WHITE, fills=own)
    dy = card.cells(132, "dy", ["d0", "d1", "d2", "d3"], left=260, fill=WHITE, fills={1: GLOBAL})
    dx = card.cells(250, "dx", ["dg0", "dv0", "dg1", "dv1", "dg2", "dv2", "dg3", "dv3"], left=80, fill=WHITE, fills=dict.fromkeys((2, 3), OUTPUT))
    middle = (x.cell(2).x + x.cell(3).x) / 2
    for i in (2, 3):
        card.arrow(x.cell(i).x, x.bottom + 2, middle + (i - 2.5) * 14, 182)
        card.arrow(middle + (i - 2.5) * 14, 212, dx.cell(i).x, dx.top - 3)
    card.arrow(dy.cell(1).x, dy.bottom + 2, middle + 16, 194)
    card.disc(middle, 197, "1")
    card.text(240, 316, "Disc: the thread of output 1. Blue: read. Green: written.", 15, SOFT)
    return card
