# SPDX-License-Identifier: MIT
"""Day 57's ideas: steps that double an element's reach, the two sweeps over a tree, what a reader sees of two words, and the tasks of
a block that looks ahead.

    tools/pictures.py 57
"""
from drawing import BAD, EMPTY, GLOBAL, GOOD, OUTPUT, REGISTERS, SHARED, SOFT, Card, constant, picture

X = [3, 1, 0, 2, 4, 1, 1, 3]
AHEAD = constant("day57_prefix_sum/06_look_ahead.cu", "kAhead")


@picture("doubling.svg")
def doubling():
    card = Card("Each step reaches twice as far", 312,
                "Eight numbers. In three steps each adds what lies 1, 2 and 4 before it, and then has the sum of all up to itself.")
    row, top, before, step = X, 60, None, 0
    for distance in (1, 2, 4, None):
        cells = card.cells(top, "x" if before is None else "", row, left=64, size=48, height=32, fill=GLOBAL if distance else OUTPUT)
        if before is not None:
            for i in range(step, 8):
                a, b = before.cell(i - step), cells.cell(i)
                card.line(a.x, before.bottom, b.x - 4, cells.top, BAD if i == 7 else SOFT, 2.4 if i == 7 else 1.2)
        if distance:
            step, before = distance, cells
            row = [v + (row[i - step] if i >= step else 0) for i, v in enumerate(row)]
            card.text(54, cells.bottom + 22, f"d = {step}", 15, SOFT, "end")
        top += 64
    assert row[-1] == sum(X)
    card.text(240, 300, "Eight elements, three launches; 2²⁸ need 28.", 15, SOFT)
    return card


@picture("sweeps.svg")
def sweeps():
    card = Card("Up with sums, down with what is before", 398,
                "A tree over eight numbers. On the way up pairs become sums, 15 in all. On the way down the root is 0; each left child "
                "gets what its parent has, each right child that and the left child's sum.")
    levels = [X]
    while len(levels[-1]) > 1:
        levels.append([levels[-1][i] + levels[-1][i + 1] for i in range(0, len(levels[-1]), 2)])
    down = [[0]]
    for sums in levels[-2::-1]:
        down.append([down[-1][i // 2] + (sums[i - 1] if i % 2 else 0) for i in range(len(sums))])
    for name, left, tree, fill in (("up", 20, levels[::-1], GLOBAL), ("down", 250, down, OUTPUT)):
        for depth, values in enumerate(tree):
            size, top = 208 / len(values), 76 + 62 * depth
            for i, value in enumerate(values):
                x = left + (i + 0.5) * size
                last = depth == 3
                card.box(x - 12, top, 24, 26, fill if last or name == "up" else SHARED)
                card.text(x, top + 19, value, 15)
                if depth:
                    parent = left + (i // 2 + 0.5) * 2 * size
                    card.line(parent, top - 36, x, top, SOFT, 1.2)
        card.text(left + 104, 64, name, 16, bold=True)
    card.text(124, 322, "x, below", 15, SOFT)
    card.text(354, 322, "what comes before", 15, SOFT)
    card.text(240, 352, "Right child: its parent's + its left sibling's sum.", 15, SOFT)
    card.text(240, 380, "7 + 7 additions for 8 elements, 6 barriers", 16, BAD, bold=True)
    return card


@picture("two_words.svg")
def two_words():
    card = Card("A fresh flag, a stale sum", 330,
                "A block writes a sum and then a flag. Another sees the flag first and reads an old sum. With release and acquire the "
                "sum is there before the flag; in one word there is no between.")
    card.time(60, [("writer", [("sum = 7", 0, 2, GLOBAL), ("flag = 1", 2, 4, GLOBAL)]),
                   ("reader", [("flag: 1", 4.4, 6.4, GLOBAL), ("sum: 0", 6.4, 8.4, EMPTY)])], end=8.6, words="nothing says that the sum has come, too")
    card.text(24, 216, "released", 16, GOOD, "start", True)
    card.text(118, 216, "st.release: the sum first, then the flag", 15, at="start")
    card.text(118, 240, "ld.acquire: the flag first, then the sum", 15, at="start")
    card.text(24, 282, "one_word", 16, GOOD, "start", True)
    card.box(118, 262, 120, 32, SHARED)
    card.box(238, 262, 120, 32, GLOBAL)
    card.text(178, 284, "flag", 15)
    card.text(298, 284, "sum", 15)
    card.text(238, 318, "64 bits, written and read whole", 15, SOFT)
    return card


@picture("look_ahead.svg")
def look_ahead():
    assert AHEAD == 3
    card = Card("Three tasks of one block", 304,
                "One turn of a block: a warp fetches tile i + 5, eight warps scan tile i and then add up tile i + 3, and a warp "
                "publishes the sum of tile i + 2 and looks for what is before tile i + 1.")
    card.time(64, [("fetch", [("copy of tile i + 5", 0, 6, GLOBAL)]),
                   ("8 warps", [("scan, write i", 0, 4, OUTPUT), ("add up i + 3", 4, 8, REGISTERS)]),
                   ("look", [("publish i + 2", 0, 3, SHARED), ("before i + 1?", 3, 6.5, SHARED)])], left=92, words="one turn")
    card.line(457, 58, 457, 200, BAD, 3)
    card.text(456, 250, "barrier", 15, BAD, "end", bold=True)
    card.text(240, 288, "The sum of i + 3 is needed three turns later.", 16, GOOD, bold=True)
    return card
