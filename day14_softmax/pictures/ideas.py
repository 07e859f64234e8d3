# SPDX-License-Identifier: MIT
"""Day 14's ideas: how two parts of a row become one, how often a row is read, lanes down and along the rows, which rows L1 holds, a
shuffle's butterfly, a row's edge, loads under way, blocks that load while others compute, a row over a cluster, what a larger x does
to every y.

    tools/pictures.py 14
"""
from math import exp

from drawing import BAD, EMPTY, GLOBAL, GOOD, OUTPUT, REGISTERS, SHARED, SOFT, THREADS, WHITE, Card, constant, picture

BLOCK = constant("day14_softmax/05_vectors.cu", "kThreads")  # shared, online and warp have as many
VECTORS = constant("day14_softmax/05_vectors.cu", "kVectors")
CLUSTER_THREADS = constant("day14_softmax/07_cluster.cu", "kThreads")
CLUSTER_ELEMENTS = constant("day14_softmax/07_cluster.cu", "kElements")


@picture("passes.svg")
def passes():
    card = Card("How often a row is asked for", 330,
                "Three passes over the row: maximum, sum, quotients. Online makes maximum and sum in one. Registers keep the row, "
                "so that it is asked for once.")
    rows = (("naive, shared", (("maximum", GLOBAL), ("sum", GLOBAL), ("divide", GLOBAL)), "3 reads", BAD),
            ("online, warp, vectors", (("maximum and sum", GLOBAL), ("divide", GLOBAL)), "2 reads", SOFT),
            ("registers, cluster", (("load", GLOBAL), ("maximum, sum, divide", REGISTERS)), "1 read", GOOD))
    for i, (name, steps, words, color) in enumerate(rows):
        top = 74 + 80 * i
        card.text(24, top, name, 16, at="start", bold=True)
        card.text(456, top, words, 17, color, "end", bold=True)
        left, width = 24, 432 / len(steps)
        for j, (what, fill) in enumerate(steps):
            if name.startswith("registers"):
                width = 110 if j == 0 else 322
            card.box(left, top + 12, width - 8, 34, fill)
            card.text(left + width / 2 - 4, top + 34, what, 15)
            left += width
    card.text(240, 312, "Blue: asked of global memory. L1 may answer.", 16, SOFT)
    return card


@picture("merge.svg")
def merge():
    left, right = [3, 1, 2], [5, 2, 4]
    part = lambda row: (max(row), sum(exp(x - max(row)) for x in row))
    (m1, s1), (m2, s2) = part(left), part(right)
    most, total = part(left + right)
    assert abs(s1 * exp(m1 - most) + s2 * exp(m2 - most) - total) < 1e-12
    card = Card("Two parts of a row become one", 326,
                f"The left part has maximum {m1} and sum {s1:.2f}, the right one {m2} and {s2:.2f}. The left sum shrinks by "
                f"e^({m1} - {most}) before the two are added.")
    card.cells(66, "", left, left=48, size=52, height=36, fill=GLOBAL)
    card.cells(66, "", right, left=276, size=52, height=36, fill=GLOBAL)
    for x, (most_of, sum_of) in ((126, (m1, s1)), (354, (m2, s2))):
        card.arrow(x, 104, x, 132)
        card.box(x - 78, 134, 156, 56, REGISTERS)
        card.text(x, 157, f"max {most_of}", 16, bold=True)
        card.text(x, 180, f"sum {sum_of:.2f}", 16)
    card.arrow(126, 192, 196, 236, BAD, 2.4)
    card.arrow(354, 192, 284, 236)
    card.text(130, 222, f"× e^({m1} − {most})", 16, BAD, "end", bold=True)
    card.text(350, 222, "× 1", 16, SOFT, "start", bold=True)
    card.box(112, 238, 256, 60, OUTPUT)
    card.text(240, 262, f"max {most}", 16, bold=True)
    card.text(240, 286, f"sum {s1:.2f} · {exp(m1 - most):.3f} + {s2:.2f} = {total:.2f}", 15)
    return card


@picture("butterfly.svg")
def butterfly():
    card = Card("Three shuffles: every lane has the sum", 344,
                "Eight lanes. In each step a lane adds what the lane with one bit of its number flipped has; after three steps all "
                "hold the sum.")
    bottom = card.butterfly(76, [3, 1, 4, 1, 5, 9, 2, 6], lambda a, b: a + b)
    card.text(240, bottom + 42, "A warp has 32 lanes: five steps, ^ 1 to ^ 16.", 16, SOFT)
    return card


@picture("edge.svg")
def edge(before=2, floats=11, vector=4):
    head = (vector - before) % vector
    vectors = (floats - head) // vector
    places = before + floats
    card = Card("A row's head, vectors and remainder", 296,
                f"A row of {floats} floats begins {before} floats past a multiple of 16 bytes. Thread 0 and thread 1 load a vector each; the "
                f"{floats - vectors * vector} floats of the edge go to one thread each.")
    size = 32
    left = (480 - places * size) / 2
    card.text(240, 66, "multiples of 16 bytes", 15, SOFT)
    for i in range(0, places + 1, vector):
        card.arrow(left + i * size, 74, left + i * size, 96)
    owners = [*range(head), *(t for t in range(vectors) for _ in range(vector)), *range(head, floats - vectors * vector)]
    for i, owner in enumerate(owners):
        inside = head <= i < head + vectors * vector
        card.box(left + (before + i) * size, 98, size, 40, GLOBAL if inside else OUTPUT)
        card.text(left + (before + i + 0.5) * size, 124, f"t{owner}", 15, bold=True)
    for first, count, words in ((0, head, "head"), *((head + v * vector, vector, f"vector {v}") for v in range(vectors)),
                                (head + vectors * vector, floats - head - vectors * vector, "rest")):
        start = left + (before + first) * size
        card.line(start + 3, 148, start + count * size - 3, 148)
        card.text(start + count * size / 2, 168, words, 15)
    card.text(240, 212, "Blue: 16 bytes with one load.", 16)
    card.text(240, 238, "Green: the edge, a float a thread.", 16)
    card.text(240, 272, "t0 is thread 0: it has a vector and a float.", 16, SOFT)
    return card


@picture("blocks.svg")
def blocks(count=4):
    card = Card("While one block computes, others load", 340,
                "Four blocks of a multiprocessor, each begun a little later than the one before. Each loads, computes, stores; then a new "
                "block takes its place.")
    rows = []
    for b in range(count):
        steps, at = [], b * 1.5 - 6
        while at < 9:
            for words, length, fill in (("load", 3, GLOBAL), ("compute", 2, REGISTERS), ("store", 1, OUTPUT)):
                start, stop = max(at, 0), min(at + length, 9)
                if stop > start:
                    steps.append((words if stop - start >= (2 if words == "compute" else 1) else "", start, stop, fill))
                at += length
        rows.append((f"block {b}", steps))
    bottom = card.time(70, rows, left=90)
    card.text(240, bottom + 50, "At every moment somebody loads.", 16, bold=True)
    return card


@picture("cluster.svg")
def cluster(blocks=4):
    card = Card("A row over the blocks of a cluster", 344,
                "Each block of the cluster keeps a quarter of the row in its registers and writes its maximum and sum into the "
                "shared memory of all four.")
    size = 104
    left = (480 - blocks * size) / 2
    card.text(240, 66, "one row of x", 16, bold=True)
    for b in range(blocks):
        x = left + b * size
        card.box(x, 76, size, 30, GLOBAL)
        card.arrow(x + size / 2, 108, x + size / 2, 128)
        card.box(x + 6, 130, size - 12, 48, REGISTERS)
        card.text(x + size / 2, 151, f"block {b}", 15, bold=True)
        card.text(x + size / 2, 170, "registers", 15)
        for to in range(blocks):
            card.line(x + size / 2, 180, left + to * size + 17 + b * 23, 236, THREADS[b], 1.4)
        for other in range(blocks):
            card.box(x + 6 + other * 23, 238, 23, 28, THREADS[other], round=1)
            card.text(x + 17.5 + other * 23, 257, other, 15, WHITE, bold=True)
    card.text(240, 290, "shared memory: everyone's maximum and sum", 16, bold=True)
    card.text(240, 320, f"In the kernel a block holds {CLUSTER_THREADS} × {CLUSTER_ELEMENTS} elements.", 16, SOFT)
    return card


@picture("lanes.svg")
def lanes(rows=4, cols=16, sector=8):
    card = Card("Lanes down the rows, or along a row", 330,
                "Above, four lanes read a float each of four rows, and touch four sectors of 8 floats. Below, the four lanes read four "
                "floats of one row, and touch one sector.")
    size, left = 19, 132
    for top, title, words, color, owner in (
            (86, "naive: a lane a row", f"{rows} sectors moved", BAD, lambda r, c: r if c == 0 else None),
            (212, "shared: lanes along a row", "1 sector moved", GOOD, lambda r, c: c if r == 0 and c < rows else None)):
        card.text(24, top - 14, title, 16, at="start", bold=True)
        card.text(456, top - 14, words, 16, color, "end", bold=True)
        touched = {(r, c // sector) for r in range(rows) for c in range(cols) if owner(r, c) is not None}
        card.matrix(left, top, rows, cols, size, fill=EMPTY, values=owner,
                    fills=lambda r, c, owner=owner, touched=touched: THREADS[owner(r, c) % 4] if owner(r, c) is not None
                    else GLOBAL if (r, c // sector) in touched else EMPTY,
                    inks=lambda r, c, owner=owner: WHITE if owner(r, c) is not None else None,
                    row_names=[f"row {r}" for r in range(rows)])
    card.text(240, 314, "Blue: a sector of 8 floats that one request moves.", 16, SOFT)
    return card


@picture("rows_in_l2.svg")
def rows_in_l2(cols=4096, resident=2048, registers=65536, l2=60 * 1024 // 132 // 2):  # of 60 MiB, half for y
    def blocks(threads, each):  # that one multiprocessor holds; a warp is given registers by the 256
        return min(resident // threads, registers // (threads * ((each + 7) // 8 * 8)))

    card = Card("Rows at work, and their part of L2", 306,
                f"Rows of {cols} floats that one multiprocessor works on at a time, beside its part of L2, {l2} KiB, if y takes as much.")
    unit, left, top = 0.36, 90, 74
    for i, (name, each, rows_of_block) in enumerate((("shared", 31, 1), ("online", 28, 1), ("warp", 28, BLOCK // 32), ("vectors", 38, 1))):
        rows = blocks(BLOCK, each) * rows_of_block
        kib, y = rows * cols * 4 // 1024, top + 46 * i
        fits = kib <= l2
        card.text(left - 10, y + 22, name, at="end", bold=True)
        card.box(left, y, kib * unit, 32, SHARED if fits else GLOBAL)
        words = f"{rows} rows, {kib} KiB"
        if fits:
            card.text(left + l2 * unit + 12, y + 22, words, 16, at="start")
        else:
            card.text(left + l2 * unit + 12, y + 22, words, 16, BAD, "start", bold=True)
    card.line(left + l2 * unit, top - 12, left + l2 * unit, top + 176, BAD, 2.4, dashed=True)
    card.text(left + l2 * unit, top + 196, f"L2: {l2} KiB, and as much for y", 16, BAD, bold=True)
    card.text(240, 292, "What fits is read from memory once only.", 16, SOFT)
    return card


@picture("gradient.svg")
def gradient(x=(1, 2, 3, 4), raised=2, by=1):
    def softmax(row):
        return [exp(value) / sum(map(exp, row)) for value in row]

    before, after = softmax(x), softmax([value + by * (i == raised) for i, value in enumerate(x)])
    card = Card(f"x[{raised}] grows: y[{raised}] takes from all others", 300,
                f"The softmax of {x} as bars, and beside each bar the same output once x[{raised}] is larger by {by}.")
    base, unit, width = 236, 240, 42
    for i, (old, new) in enumerate(zip(before, after)):
        at = 36 + 108 * i
        card.box(at, base - old * unit, width, old * unit, EMPTY)
        card.box(at + width, base - new * unit, width, new * unit, OUTPUT if i == raised else GLOBAL)
        card.text(at + width / 2, base - old * unit - 6, f"{old:.2f}", 15, SOFT)
        card.text(at + 1.5 * width, base - new * unit - 6, f"{new:.2f}", 15, GOOD if new > old else BAD, bold=True)
        card.text(at + width, base + 22, f"y[{i}]", 16, bold=True)
    card.text(240, 284, f"Grey: x = {' '.join(map(str, x))}. Colour: x[{raised}] is {x[raised] + by}.", 16, SOFT)
    return card


@picture("loads.svg")
def loads(load=3.0, use=1.0):
    card = Card("Last pass: one load under way, or four", 372,
                f"A thread's last pass: online loads 4 bytes and uses them before it loads the next 4; vectors has {VECTORS} loads of 16 "
                "bytes under way at once.")

    def steps(first, words, used):
        return [(words, first, first + load, GLOBAL), ("", used, used + use, REGISTERS)]

    one_by_one = [step for i in range(4) for step in steps(i * (load + use), "4 B", i * (load + use) + load)]
    at_once = [steps(0.3 * i, "16 B", load + i * use) for i in range(VECTORS)]
    bottom = card.time(66, [("online", one_by_one)] + [("vectors" if i == 0 else "", row) for i, row in enumerate(at_once)],
                       left=96, words="time of one thread")
    card.text(240, bottom + 46, "Blue: a load. Violet: exponential, quotient, store.", 16, SOFT)
    return card
