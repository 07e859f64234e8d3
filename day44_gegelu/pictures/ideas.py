# SPDX-License-Identifier: MIT
"""Day 44's ideas: where gates and values lie, what one load of a warp asks for in each layout, and why 16 bytes of results
are the wrong size for pairs.

    tools/pictures.py 44
"""
from drawing import BAD, GLOBAL, GOOD, OUTPUT, SOFT, WHITE, Card, picture

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
