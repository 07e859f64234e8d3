# SPDX-License-Identifier: MIT
"""Day 01's ideas: two memories, the grid over an array, its blocks, warps and lanes, loads under way, how threads share an array out, who asks, and a
matrix on a 2-D grid.

    tools/pictures.py 1
"""
from drawing import BAD, EMPTY, GLOBAL, GOOD, INK, OUTPUT, SHARED, SOFT, THREADS, WHITE, Card, constant, picture

THREADS_OF_BLOCK, BLOCKS, ELEMENTS = 4, 3, 10  # a toy: add<<<3, 4>>> over 10 elements
SECTOR = 8  # floats: 32 bytes
LANES = 4
WARP = 32
LATENCY = 4  # ticks that a load of the toy takes


@picture("host_and_device.svg")
def host_and_device():
    card = Card("Two memories, and a bus between", 300,
                "The host has a and b in its memory. They are copied to the device's memory, a kernel adds them there, and c is copied back.")
    host, device = card.box(20, 76, 150, 158, EMPTY), card.box(310, 76, 150, 158, EMPTY)
    for place, name, unit in ((host, "host: the CPU", "its memory"), (device, "device: the GPU", "its memory")):
        card.text(place.x, 66, name, 16, bold=True)
        card.text(place.x, 100, unit, 15, SOFT)
    for i, (array, fill) in enumerate((("a", GLOBAL), ("b", GLOBAL), ("c", OUTPUT))):
        for place in (host, device):
            card.cells(112 + i * 38, "", [array, "", "", ""], place.left + 15, 30, 30, fill)
    for y, words, forward in ((127, "1 copy a in", True), (165, "2 copy b in", True), (203, "4 copy c out", False)):
        card.text(240, y - 8, words, 16)
        card.arrow(*((172, y, 308, y) if forward else (308, y, 172, y)), SOFT)
    card.text(385, 258, "3 run: c = a + b", 16, bold=True)
    card.text(240, 286, "Neither can use the other's pointers.", 16, SOFT)
    return card


@picture("index.svg")
def index():
    """Which thread of which block has which element."""
    card = Card("A grid laid over an array", 306,
                f"{BLOCKS} blocks of {THREADS_OF_BLOCK} threads over {ELEMENTS} elements. Block 2's thread 1 has element 9; "
                "its threads 2 and 3 have none and do nothing.")
    count, size = BLOCKS * THREADS_OF_BLOCK, 36
    array = card.cells(62, "", [i if i < ELEMENTS else "" for i in range(count)], 24, size, 36, GLOBAL,
                       fills=dict.fromkeys(range(ELEMENTS, count), WHITE))
    card.threads(array, {i: i % THREADS_OF_BLOCK for i in range(ELEMENTS)}, 122)
    for i in range(ELEMENTS, count):
        card.disc(array.cell(i).x, 135, i % THREADS_OF_BLOCK, THREADS[i % THREADS_OF_BLOCK])
        card.text(array.cell(i).x, 86, "–", 16, SOFT)
    for block in range(BLOCKS):
        first = block * THREADS_OF_BLOCK
        place = card.box(array.cell(first).left + 2, 116, THREADS_OF_BLOCK * size - 4, 68, line=INK, thick=2)
        card.text(place.x, 174, f"block {block}", 16, bold=True)
    card.box(16, 108, count * size + 16, 112, line=SOFT, dashed=True)
    card.text(240, 208, f"the grid: {BLOCKS} blocks", 16, SOFT)
    card.text(240, 250, "element = block x 4 + thread", 17, bold=True)
    card.text(240, 276, "Cells are elements, discs are threads.", 16, SOFT)
    card.text(240, 298, "Threads 2 and 3 of block 2 have no element.", 16, SOFT)
    return card


@picture("levels.svg")
def levels():
    """One of rung 1's threads, found from the grid down."""
    elements, threads = 1 << 20, constant("day01_vector_add/01_one_each.cu", "kThreads")
    blocks, warps, block, warp, lane = elements // threads, threads // WARP, 1, 2, 5
    thread = warp * WARP + lane
    element = block * threads + thread
    card = Card("Grid, block, warp, lane", 374,
                f"A grid of {blocks:,} blocks; block {block} has {warps} warps; its warp {warp} has {WARP} lanes. Lane {lane} is thread {thread} of "
                f"the block and has element {element}.")
    marked = lambda i: {"fills": {i: THREADS[0]}, "inks": {i: WHITE}}
    card.text(32, 66, f"grid: {blocks:,} blocks", 16, at="start", bold=True)
    grid = card.cells(78, "", [0, block, 2, 3, "...", blocks - 1], 32, 69, 34, GLOBAL, **marked(block))
    card.text(112, 162, f"block {block}: {warps} warps", 16, at="start", bold=True)
    block_cells = card.cells(174, "", range(warps), 32, 52, 34, GLOBAL, **marked(warp))
    card.text(112, 258, f"warp {warp}: {WARP} lanes", 16, at="start", bold=True)
    lanes = card.cells(270, "", [0, 1, 2, 3, 4, lane, 6, 7, "...", WARP - 1], 32, 41.6, 34, GLOBAL, **marked(lane))
    for above, i, below in ((grid, block, block_cells), (block_cells, warp, lanes)):
        for x, end in ((above.cell(i).left, below.left), (above.cell(i).right, below.right)):
            card.line(x, above.bottom + 2, end, below.top - 4, SOFT, dashed=True)
    card.text(240, 334, f"Lane {lane} is thread {warp} x {WARP} + {lane} = {thread} of its block.", 16, SOFT)
    card.text(240, 360, f"Its element is {block} x {threads} + {thread} = {element}.", 16, bold=True)
    return card


@picture("under_way.svg")
def under_way():
    """Loads of one thread, and of four that wait at the same time."""
    card = Card("Wait together, and more arrives", 352,
                "One thread that waits for each load gets one every four ticks. Four threads that wait at the same time get one every tick.")
    end = 3 * LATENCY
    rows = [("1 thread", [(f"load {i}", i * LATENCY, (i + 1) * LATENCY, GLOBAL) for i in range(3)])]
    for late in range(LANES):
        steps = [(start, min(end, start + LATENCY)) for start in range(late, end, LATENCY)]
        rows.append(("4 threads" if late == 0 else "", [("load" if stop - start > 1 else "", start, stop, OUTPUT) for start, stop in steps]))
    axis = card.time(62, rows, 108, 28, end, "time in ticks")
    card.text(240, axis + 48, f"A load takes {LATENCY} ticks; one can begin in each tick.", 16, SOFT)
    card.text(240, axis + 72, f"1 thread: 3 loads in {end}. 4 threads: one in each tick.", 16, SOFT)
    return card


@picture("stride.svg")
def stride():
    card = Card("Walk on by the whole grid", 220,
                "A grid of four threads over twelve elements: thread 1 adds elements 1, 5 and 9.")
    array = card.cells(66, "", [i % LANES for i in range(12)], 24, 36, 36, fills={i: THREADS[i % LANES] for i in range(12)},
                       inks=dict.fromkeys(range(12), WHITE))
    card.places(array, {i: i for i in range(12)})
    for start in (1, 5):
        card.curve(array.cell(start).x, 64, array.cell(start + 4).x, 64, 9, THREADS[1])
    for step in range(3):
        card.window(array, step * LANES, step * LANES + LANES - 1, f"step {step}", gap=28)
    card.text(240, 204, "A number in a cell is the thread that adds it.", 16, SOFT)
    return card


@picture("wide.svg")
def wide():
    card = Card("Four elements in one load", 268,
                "Above, a warp of four threads loads four elements with one instruction; below, each thread loads four, and the warp sixteen.")
    for top, owners, name, words, color in ((78, [0, 1, 2, 3] + [None] * 12, "float", "4 elements a request", SOFT),
                                            (166, [i // 4 for i in range(16)], "float4", "16 elements a request", GOOD)):
        card.text(32, top - 12, name, 16, at="start", bold=True)
        card.text(448, top - 12, words, 16, color, "end")
        card.owned(top, owners, 25.5, 4, gap=2)
    card.text(240, 226, "Both are one load instruction of a warp of 4 threads.", 16, SOFT)
    card.text(240, 252, "A number in a cell is the thread that loads it.", 16, SOFT)
    return card


@picture("shared.svg")
def shared():
    card = Card("A detour through shared memory", 322,
                "A block of four threads stages sixteen elements, four neighbours a thread; after a barrier thread t adds elements t, t + 4, t + 8 and t + 12.")
    for top, owner, words in ((76, lambda i: i // 4, "stage: 4 neighbours each"), (232, lambda i: i % 4, "add: every 4th element")):
        card.text(32, top - 12, words, 16, at="start", bold=True)
        card.owned(top, [owner(i) for i in range(16)], 25.5, 16)
    card.cells(140, "", [""] * 16, 36, 25.5, 22, SHARED)
    card.text(240, 130, "the tile, in shared memory", 15, SOFT)
    card.barrier(190)
    card.text(240, 288, "A number is the thread. Thread 0 adds", 16, SOFT)
    card.text(240, 310, "element 4, which thread 1 has staged.", 16, SOFT)
    return card


@picture("bulk.svg")
def bulk():
    card = Card("One thread asks for all", 268,
                "Above, each of four threads asks for four of sixteen elements; below, thread 0 asks for all sixteen at once.")
    for top, owner, name, words, color in ((78, lambda i: i // 4, "float4", "4 threads ask", SOFT),
                                           (166, lambda i: 0, "bulk", "1 thread asks", GOOD)):
        card.text(32, top - 12, name, 16, at="start", bold=True)
        card.text(448, top - 12, words, 16, color, "end")
        card.owned(top, [owner(i) for i in range(16)], 25.5, 4, gap=2)
    card.text(240, 226, "A number in a cell is the thread that asks for it.", 16, SOFT)
    card.text(240, 252, "The same bytes are under way.", 16, SOFT)
    return card


@picture("pitch.svg")
def pitch():
    rows, cols, step, size = 3, 6, 8, 30
    card = Card("Rows lie a pitch apart", 282, f"A matrix of {rows} rows and {cols} columns with a pitch of {step}: each row is followed by two cells of padding.")
    card.matrix(120, 84, rows, step, size, values=lambda r, c: r * step + c if c < cols else "",
                fills=lambda r, c: EMPTY if c >= cols else THREADS[0] if (r, c) == (2, 3) else GLOBAL,
                inks=lambda r, c: WHITE if (r, c) == (2, 3) else None, row_names=[f"row {r}" for r in range(rows)], col_names=range(step))
    card.text(120 + 7 * size, 196, "padding", 15, SOFT)
    card.text(240, 224, f"row 2, col 3: 2 x {step} + 3 = {2 * step + 3}", 17, bold=True)
    card.text(240, 250, "A number in a cell is its place in memory.", 16, SOFT)
    card.text(240, 272, "Nobody reads or writes the padding.", 16, SOFT)
    return card


@picture("orientation.svg")
def orientation():
    card = Card("Which way a warp lies", 310,
                "Four threads below one another touch four sectors and use one float of each; four threads side by side touch one sector.")
    size, gap = 11.5, 7
    for left, name, said, colour, cell in ((22, "wrong_way: x is the row", "4 sectors moved", BAD, lambda t: (t, 2)),
                                           (252, "right_way: x is the col", "1 sector moved", GOOD, lambda t: (1, t))):
        card.text(left + 102, 66, name, 15, bold=True)
        for row in range(LANES):
            for part in range(2):
                mine = {cell(t)[1]: t for t in range(LANES) if cell(t)[0] == row and part == 0}
                array = card.cells(84 + row * 34, "", [""] * SECTOR, left + part * (SECTOR * size + gap), size, 24, GLOBAL if mine else EMPTY,
                                   fills={i: THREADS[t] for i, t in mine.items()})
                if mine:
                    card.frame(array, INK, 3)
        card.text(left + 102, 246, said, 16, colour, bold=True)
    card.text(240, 276, f"A box of {SECTOR} cells is a sector; coloured: four threads.", 16, SOFT)
    card.text(240, 300, "With 32 threads it is 32 sectors against 4.", 16, SOFT)
    return card
