# SPDX-License-Identifier: MIT
"""Day 12's ideas: a variance that cancels, a tree, two parts' moments as one, those of all warps as one, how often a row is read,
blocks that stay and keep what belongs to a column, and a row that is loaded while another one is worked on.

    tools/pictures.py 12
"""
import struct

from drawing import BAD, GLOBAL, GOOD, OUTPUT, REGISTERS, SHARED, SOFT, THREADS, Card, constant, picture

GRAD_ELEMENTS = constant("day12_layer_norm/grad_share.cuh", "kGradElements")


def fp32(value):
    return struct.unpack("f", struct.pack("f", value))[0]


@picture("cancel.svg")
def cancel():
    x = [9998, 10000, 10000, 10002]
    mean = sum(x) / len(x)
    squares = [fp32(value * value) for value in x]
    total = 0.0
    for square in squares:
        total = fp32(total + square)
    lost, kept = fp32(fp32(total / len(x)) - fp32(mean * mean)), sum((value - mean) ** 2 for value in x) / len(x)
    assert (lost, kept) == (0, 2) and squares[0] != x[0] ** 2
    card = Card("The same variance, two ways, in fp32", 356,
                "The squares of 9998 and 10002 are rounded to multiples of 8, so that the mean of the squares minus the square of "
                "the mean is 0. The squared distances from the mean are 4, 0, 0 and 4, whose average is 2.")
    row = card.cells(56, "x", [f"{value:,}" for value in x], left=72, size=98, height=32, fill=GLOBAL)
    card.text(240, 118, "squares, rounded to multiples of 8", 16, SOFT)
    card.cells(130, "x²", [f"{value:,.0f}" for value in squares], left=50, size=104, height=22, fills={0: SHARED, 3: SHARED})
    card.text(240, 188, f"{total / 4:,.0f} − {mean:,.0f}² = {lost:.0f}", 18, BAD, bold=True)
    card.text(240, 234, f"distances from the mean, {mean:,.0f}", 16, SOFT)
    card.cells(246, "d", [f"{value - mean:.0f}".replace("-", "−") for value in x], left=72, size=98, height=32, fill=REGISTERS)
    card.text(240, 304, f"(4 + 0 + 0 + 4) / 4 = {kept:.0f}", 18, GOOD, bold=True)
    card.text(240, 338, f"9,998² is {x[0] ** 2:,}: 27 binary digits, and fp32 has 24.", 15, SOFT)
    assert row.count == 4
    return card


@picture("tree.svg")
def tree():
    card = Card("A tree in shared memory", 322, "Eight sums: after a barrier four threads add the upper half to the lower one; after the next "
                "barrier two threads, and after the third one.")
    card.tree(74, [3, 1, 4, 1, 5, 9, 2, 6], lambda a, b: a + b)
    for y in (120, 176, 236):
        card.text(454, y, "barrier", 16, BAD, "end", bold=True)
    card.text(240, 304, "A barrier before each step: 3 for 8 sums, 8 for 256.", 16, SOFT)
    return card


@picture("merge.svg")
def merge():
    left, right = [1, 2, 3], [5, 7, 9]
    moments = lambda part: (len(part), sum(part) / len(part), sum((x - sum(part) / len(part)) ** 2 for x in part))
    (n1, mean1, m1), (n2, mean2, m2), (n, mean, m) = moments(left), moments(right), moments(left + right)
    added = (mean2 - mean1) ** 2 * n1 * n2 / n
    assert abs(m1 + m2 + added - m) < 1e-12
    card = Card("Two parts' moments become one", 336,
                f"The left part has mean {mean1:g} and m2 {m1:g}, the right one {mean2:g} and {m2:g}. Together the mean is {mean:g}, and m2 "
                f"is the sum of both and {added:g}, because the means are {mean2 - mean1:g} apart.")
    card.cells(58, "", left, left=48, size=52, height=36, fill=GLOBAL)
    card.cells(58, "", right, left=276, size=52, height=36, fill=GLOBAL)
    for x, (count, of_mean, of_m2) in ((126, (n1, mean1, m1)), (354, (n2, mean2, m2))):
        card.arrow(x, 96, x, 118)
        card.box(x - 78, 120, 156, 58, REGISTERS)
        card.text(x, 143, f"n {count}   mean {of_mean:g}", 16, bold=True)
        card.text(x, 167, f"m2 {of_m2:g}", 16)
    card.line(206, 134, 274, 134, BAD, 2.4)
    card.text(240, 126, f"{mean2 - mean1:g} apart", 15, BAD, bold=True)
    card.arrow(126, 180, 190, 222)
    card.arrow(354, 180, 290, 222)
    card.box(66, 224, 348, 62, OUTPUT)
    card.text(240, 249, f"n {n}   mean {mean:g}", 16, bold=True)
    card.text(240, 275, f"m2 = {m1:g} + {m2:g} + {mean2 - mean1:g}² · {n1} · {n2} / {n} = {m:g}", 16)
    card.text(240, 316, "Third term: each part moves to the common mean.", 16, SOFT)
    return card


@picture("merge_all.svg")
def merge_all():
    parts = [[0, 2], [4, 6], [3, 5], [5, 7]]
    means = [sum(part) / len(part) for part in parts]
    m2 = [sum((x - mean) ** 2 for x in part) for part, mean in zip(parts, means)]
    values = [x for part in parts for x in part]
    mean = sum(means) / len(means)
    distances = [one - mean for one in means]
    m2_of_all = sum(m2) + sum(2 * distance ** 2 for distance in distances)
    assert m2_of_all == sum((x - sum(values) / len(values)) ** 2 for x in values)
    card = Card("All warps' parts at once", 356,
                "Four warps have two columns each, with means 1, 5, 4 and 6 and m2 2 each. Their mean is 4. Each warp adds its m2 and twice the "
                "square of its mean's distance from 4, together 36.")
    for i, part in enumerate(parts):
        left = 26 + 110 * i
        card.cells(58, "", part, left=left + 4, size=45, height=30, fill=REGISTERS)
        card.text(left + 49, 108, f"mean {means[i]:g}", 16, bold=True)
        card.text(left + 49, 129, f"m2 {m2[i]:g}", 16)
        card.arrow(left + 49, 188, left + 49, 208)
        card.box(left + 4, 210, 90, 58, SHARED)
        card.text(left + 49, 233, f"{abs(distances[i]):g} from {mean:g}", 16)
        card.text(left + 49, 258, f"2 + 2 · {abs(distances[i]):g}²", 16)
    card.text(240, 172, f"1. The mean of all: ({' + '.join(f'{one:g}' for one in means)}) / 4 = {mean:g}", 17, GOOD, bold=True)
    card.text(240, 300, f"2. The sum of what each adds: {m2_of_all:g}", 17, GOOD, bold=True)
    card.text(240, 338, "Two sums, and no step waits for a pair.", 16, SOFT)
    return card


@picture("passes.svg")
def passes():
    card = Card("How often a row is asked for", 370,
                "Naive and shared ask for the row three times: for the mean, the variance and y. Welford makes mean and variance in "
                "one. In registers all three passes go over what one load has brought. With 4,096 columns the reads of shared and "
                "welford after the first come from L1.")
    rows = (("naive, shared", (("mean", GLOBAL), ("variance", GLOBAL), ("y", GLOBAL)), "3 reads", BAD),
            ("welford, warp", (("mean and m2", GLOBAL), ("y", GLOBAL)), "2 reads", SOFT),
            ("registers, persistent", (("load", GLOBAL), ("mean", REGISTERS), ("variance", REGISTERS), ("y", REGISTERS)), "1 read", GOOD))
    for i, (name, steps, words, color) in enumerate(rows):
        top = 74 + 84 * i
        card.text(24, top, name, 16, at="start", bold=True)
        card.text(456, top, words, 17, color, "end", bold=True)
        width = 432 / len(steps)
        for j, (what, fill) in enumerate(steps):
            card.box(24 + j * width, top + 12, width - 8, 34, fill)
            card.text(24 + (j + 0.5) * width - 4, top + 34, what, 15)
    card.text(240, 308, "Blue: the whole row is asked of global memory.", 16, SOFT)
    card.text(240, 330, "Violet: the row lies in registers.", 16, SOFT)
    card.text(240, 352, "shared, welford: all but the first from L1 (4,096 columns)", 15, SOFT)
    return card


def down(card, left, top, keeps):
    """A matrix of nine rows, which three blocks take in turn; four threads of a block keep something a column pair."""
    blocks = 3
    matrix = card.matrix(left, top, 9, 8, 24, "x, row by row", fills=lambda row, col: None if row % blocks else GLOBAL,
                         row_names=[f"block {row % blocks}" for row in range(9)])
    for row in range(0, 9, blocks):
        card.frame(matrix.tile(row, 0, 1, 8), THREADS[0], 2.4, 1)
    for thread in range(4):
        place = matrix.tile(8, 2 * thread, 1, 2)
        card.box(place.left + 2, place.bottom + 14, 44, 30, REGISTERS)
        card.text(place.x, place.bottom + 34, keeps, 16, bold=True)
        card.disc(place.x, place.bottom + 62, thread, THREADS[0])
    card.text(left - 6, matrix.bottom + 67, "thread", 15, SOFT, "end")
    return matrix


@picture("columns.svg")
def columns():
    card = Card("The same columns in every row", 408,
                "Three blocks take every third row of a matrix. Each thread of block 0 has the same two columns in rows 0, 3 and 6, and "
                "keeps their gamma and beta in registers.")
    matrix = down(card, 100, 84, "γ β")
    card.text(306, matrix.cell(0, 0).y + 5, "now", 16, THREADS[0], "start", bold=True)
    card.text(306, matrix.cell(3, 0).y + 5, "next: on its way", 16, THREADS[0], "start", bold=True)
    card.text(306, matrix.cell(6, 0).y + 5, "later", 16, SOFT, "start")
    card.text(306, matrix.bottom + 34, "read once a block", 16, GOOD, "start", bold=True)
    return card


@picture("lines.svg")
def lines():
    card = Card("Sums over rows stay in their threads", 470,
                "Each thread of block 0 adds up two columns over rows 0, 3 and 6. Then each block leaves one line of partial sums, and a "
                "small kernel adds the lines up.")
    matrix = down(card, 100, 84, "Σ Σ")
    card.text(316, matrix.cell(0, 0).y + 5, "add", 16, THREADS[0], "start", bold=True)
    card.text(316, matrix.cell(3, 0).y + 5, "add", 16, THREADS[0], "start", bold=True)
    card.text(316, matrix.cell(6, 0).y + 5, "add, then write", 16, THREADS[0], "start", bold=True)
    for block in range(3):
        top = matrix.bottom + 14 + 24 * block
        card.box(320, top, 60, 20, GLOBAL)
        card.text(388, top + 15, f"line {block}", 15, at="start")
    card.arrow(350, matrix.bottom + 88, 350, matrix.bottom + 108)
    card.box(320, matrix.bottom + 110, 60, 22, OUTPUT)
    card.text(388, matrix.bottom + 126, "dγ, dβ", 15, at="start", bold=True)
    card.text(240, 454, f"In the kernel a thread has {GRAD_ELEMENTS} columns.", 15, SOFT)
    return card


@picture("time.svg")
def time():
    card = Card("What a block has under way", 376,
                "Block 0 of three, whose rows are 0, 3 and 6. Without cp.async it loads a row, then works on it, then loads its next. With "
                "it, the next row is loaded while this one is worked on.")
    card.text(240, 60, "Block 0 of three: its rows are 0, 3, 6, ...", 16, SOFT)
    card.text(24, 98, "grad_registers: by turns", 16, at="start", bold=True)
    card.time(110, (("loads", (("row 0", 0, 3, GLOBAL), ("", 3, 5, None), ("row 3", 5, 8, GLOBAL), ("", 8, 10, None))),
                    ("sums", (("", 0, 3, None), ("row 0", 3, 5, REGISTERS), ("", 5, 8, None), ("row 3", 8, 10, REGISTERS)))), end=10)
    card.text(24, 238, "grad_async: the next row meanwhile", 16, at="start", bold=True)
    card.time(250, (("loads", (("row 0", 0, 3, GLOBAL), ("row 3", 3, 6, GLOBAL), ("row 6", 6, 9, GLOBAL))),
                    ("sums", (("", 0, 3, None), ("row 0", 3, 5, REGISTERS), ("row 3", 6, 8, REGISTERS)))), end=10)
    return card
