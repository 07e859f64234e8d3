# SPDX-License-Identifier: MIT
"""Day 56's ideas: two shapes of one sum, who meets whom in shared memory, and a tree that n alone shapes.

    tools/pictures.py 56
"""
from drawing import BAD, GLOBAL, GOOD, OUTPUT, REGISTERS, SHARED, SOFT, THREADS, WIDTH, Card, constant, picture

AHEAD, WAVE, MULTIPROCESSORS = constant("day56_reduction/reduction.h", "kAhead"), constant("day56_reduction/reduction.h", "kWave"), 132
THREADS_OF_BLOCK, ITEMS = constant("day56_reduction/reduction.h", "kThreads"), constant("day56_reduction/reduction.h", "kItems")


@picture("shapes.svg")
def shapes():
    card = Card("Seven additions, two shapes", 440, "Eight elements as a chain: the first one passes seven additions on its way to the sum. As a tree: each element passes three. The longest way is red.")
    card.text(40, 66, "a chain: depth 7", 17, BAD, "start", bold=True)
    x = card.cells(78, "", ["a", "b", "c", "d", "e", "f", "g", "h"], left=40, size=50, height=30, fill=GLOBAL)
    y = [132 + 7 * i for i in range(1, 8)]
    last = (x.cell(0).x, x.bottom)
    for i in range(1, 8):
        here = (x.cell(i).x, y[i - 1] + 8)
        card.line(*last, here[0] - 9, here[1], BAD, 2.6)
        card.line(x.cell(i).x, x.bottom, x.cell(i).x, here[1] - 9, SOFT)
        card.box(here[0] - 9, here[1] - 9, 18, 18, REGISTERS, round=9)
        last = (here[0] + 9, here[1])
    card.text(40, 246, "a tree: depth 3", 17, GOOD, "start", bold=True)
    x = card.cells(258, "", ["a", "b", "c", "d", "e", "f", "g", "h"], left=40, size=50, height=30, fill=GLOBAL)
    points = [(x.cell(i).x, x.bottom) for i in range(8)]
    for level in range(3):
        nodes = []
        for i in range(0, len(points), 2):
            here = ((points[i][0] + points[i + 1][0]) / 2, 322 + 42 * level)
            for k in (i, i + 1):
                card.line(points[k][0], points[k][1], here[0], here[1] - 9, BAD if k == 0 else SOFT, 2.6 if k == 0 else 1.6)
            card.box(here[0] - 9, here[1] - 9, 18, 18, REGISTERS, round=9)
            nodes.append((here[0], here[1] + 9))
        points = nodes
    card.text(40, 424, "Red: the most additions that one element passes.", 15, SOFT, "start")
    return card


@picture("meet.svg")
def meet():
    card = Card("Who meets whom", 356, "Eight sums in shared memory, three levels. pairs: thread t adds at places 2t, 4t, 8t, so that places move apart. halves: thread t adds at place t what lies half the length away.")
    for left, name, partner in ((30, "pairs", lambda level, t: (t << (level + 1), (t << (level + 1)) + (1 << level))), (262, "halves", lambda level, t: (t, t + (4 >> level)))):
        card.text(left, 66, name, 17, at="start", bold=True)
        for level in range(3):
            top = 82 + 80 * level
            row = card.cells(top, "", list(range(8)), left=left, size=24, height=24, fill=SHARED)
            for t in range(4 >> level):
                to, of = partner(level, t)
                card.frame(row.cell(to), THREADS[t], 2.6, 0)
                card.curve(row.cell(of).x, row.bottom + 2, row.cell(to).x, row.bottom + 3, -10 - 3 * abs(of - to), THREADS[t])
    card.text(WIDTH / 2, 322, f"A colour: a thread. In a block of {THREADS_OF_BLOCK} there are 8 levels,", 15, SOFT)
    card.text(WIDTH / 2, 343, "and pairs' last places lie 128 apart: all in one bank.", 15, SOFT)
    return card


@picture("shares.svg")
def shares():
    card = Card("A tree that n alone shapes", 372, f"Each of {WAVE} blocks has an equal share of x. A thread loads {AHEAD} vectors, adds them as a tree, adds that to its chain, and goes on. The block's sum goes to its place; the block with the last ticket adds up the places.")
    assert WAVE == 2 * MULTIPROCESSORS
    card.text(28, 66, "x, in equal shares", 16, at="start", bold=True)
    names = ["0", "1", "2", "…", str(WAVE - 1)]
    centres = []
    for i, name in enumerate(names):
        left = 28 + 86 * i
        for part in range(4):
            card.box(left + 19 * part, 78, 19, 30, GLOBAL, round=1)
        centres.append(left + 38)
        if name != "…":
            card.arrow(left + 38, 110, left + 38, 140)
            card.box(left + 8, 142, 60, 34, REGISTERS)
            card.text(left + 38, 164, f"block {name}" if len(name) == 1 else name, 15)
            card.arrow(left + 38, 178, left + 38, 204)
        card.box(left + 14, 206, 48, 26, SHARED if name != "…" else "none", line=SOFT if name != "…" else "none")
        card.text(left + 38, 225, f"[{name}]" if name != "…" else name, 15)
    for x in centres:
        card.line(x, 234, WIDTH / 2, 272, GOOD)
    card.box(WIDTH / 2 - 34, 274, 68, 30, OUTPUT)
    card.text(WIDTH / 2, 294, "sum", 16)
    card.text(WIDTH / 2 + 44, 294, "the last ticket's block", 15, GOOD, "start")
    card.text(28, 332, f"A box of x: a round, {AHEAD} vectors a thread, a tree.", 15, SOFT, "start")
    card.text(28, 354, "Round after round: a chain. Blocks and places: trees.", 15, SOFT, "start")
    return card
