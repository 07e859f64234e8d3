# SPDX-License-Identifier: MIT
"""Day 20's ideas: programs over an array, how Triton deals a block out to threads, what narrow loads
take, why a mask makes them, and a tile of addresses.

    tools/pictures.py 20
"""
from drawing import BAD, EMPTY, GLOBAL, GOOD, INK, OUTPUT, SOFT, THREADS, WHITE, Card, constant, picture

BLOCK, ELEMENTS = 4, 10  # a toy
WARPS, LANES, WIDTH = 4, 32, 4  # num_warps as Triton has it by default; fp32 elements in 16 bytes
FOLDER = "day20_triton_basics/"


@picture("programs.svg")
def programs():
    count, size = -(-ELEMENTS // BLOCK) * BLOCK, 36
    card = Card("A program handles a block", 330,
                f"Three programs over {ELEMENTS} elements, each with {BLOCK} index numbers at once. The last one's mask says that two of its elements are not there.")
    array = card.cells(62, "", [i if i < ELEMENTS else "" for i in range(count)], 24, size, 36, GLOBAL,
                       fills=dict.fromkeys(range(ELEMENTS, count), WHITE))
    for program in range(count // BLOCK):
        first = program * BLOCK
        place = card.box(array.cell(first).left + 2, 116, BLOCK * size - 4, 138, line=INK, thick=2)
        card.text(place.x, 138, f"program {program}", 16, bold=True)
        card.arrow(place.x, 114, place.x, array.bottom + 4)
        card.text(place.x, 166, "i =", 15, SOFT)
        card.cells(172, "", range(first, first + BLOCK), place.left + 6, 32, 28, EMPTY)
        card.text(place.x, 216, "there =", 15, SOFT)
        here = [i < ELEMENTS for i in range(first, first + BLOCK)]
        card.cells(222, "", [int(one) for one in here], place.left + 6, 32, 28, OUTPUT,
                   fills={i: EMPTY for i, one in enumerate(here) if not one}, inks={i: BAD for i, one in enumerate(here) if not one})
    card.text(240, 284, f"i = program x {BLOCK} + arange(0, {BLOCK})", 17, bold=True)
    card.text(240, 312, "No thread is named: a line is done for the whole block.", 16, SOFT)
    return card


@picture("dealt.svg")
def dealt():
    """Which thread has which elements of a program's block."""
    threads = WARPS * LANES
    narrow, wide = constant(FOLDER + "02_block.py", "BLOCK"), constant(FOLDER + "03_wide.py", "BLOCK")
    if narrow != threads or wide != 2 * WIDTH * threads:
        raise ValueError("the picture has one element a thread, and twice four")
    card = Card("How Triton deals a block out", 330,
                f"A block of {narrow} gives each of {threads} threads one element. A block of {wide:,} gives thread t four neighbours from 4t on, and four more from {wide // 2} + 4t on.")
    card.text(28, 66, f"BLOCK = {narrow}: one element a thread", 16, at="start", bold=True)
    card.cells(76, "", [0, 1, 2, 3, 4, 5, "...", threads - 1], 28, 53, 34, EMPTY, fills={i: THREADS[i % 4] for i in range(6)},
               inks=dict.fromkeys(range(6), WHITE))
    card.text(240, 132, "the number of the thread that has the element", 15, SOFT)
    card.text(28, 170, f"BLOCK = {wide:,}: twice four neighbours a thread", 16, at="start", bold=True)
    for top, first in ((180, 0), (246, wide // 2)):
        owners = [thread for thread in range(3) for _ in range(WIDTH)]
        row = card.cells(top, "", owners, 28, 35, 34, EMPTY, fills={i: THREADS[t] for i, t in enumerate(owners)},
                         inks=dict.fromkeys(range(len(owners)), WHITE))
        card.text(row.right + 16, row.y + 5, "...", 16)
        card.places(row, {0: first, WIDTH: first + WIDTH, 2 * WIDTH: first + 2 * WIDTH})
    card.text(240, 318, "Four neighbours are 16 bytes: one load.", 17, GOOD, bold=True)
    return card


@picture("narrow.svg")
def narrow():
    """Which of a thread's loads takes which of its four elements."""
    card = Card("Same owners, four times the loads", 290,
                "Threads 0 to 2 have four neighbours each. One wide load takes all four of every thread. Of four narrow loads each takes one "
                "of every thread, so each touches all sectors.")
    owners = [thread for thread in range(3) for _ in range(WIDTH)]
    for top, words, loads in ((96, "n = 4,096: one load", [1] * len(owners)),
                              (196, "n = 4,099: four loads", [1 + i % WIDTH for i in range(len(owners))])):
        card.text(28, top - 30, words, 16, GOOD if len(set(loads)) == 1 else BAD, "start", bold=True)
        row = card.cells(top, "", loads, 28, 35, 34, EMPTY, fills={i: THREADS[t] for i, t in enumerate(owners)},
                         inks=dict.fromkeys(range(len(owners)), WHITE))
        card.text(row.right + 16, row.y + 5, "...", 16)
        for thread in range(3):
            card.text(row.cells(thread * WIDTH, thread * WIDTH + WIDTH - 1).x, top - 8, f"thread {thread}", 15, SOFT)
    card.text(240, 266, "the number of the load that takes the element", 15, SOFT)
    return card


@picture("last_four.svg")
def last_four():
    n = 4099
    card = Card("Why a mask makes loads narrow", 354,
                f"With n = 4,096 each group of four elements is there or not there as a whole. With n = {n:,} the last group is there in part, and no load of 16 bytes may touch it.")
    for top, size, loud in ((106, 4096, GOOD), (226, n, BAD)):
        card.text(28, top - 34, f"n = {size:,}", 17, loud, "start", bold=True)
        first = 4088
        array = card.cells(top, "", [""] * 12, 24, 36, 30, EMPTY,
                           fills={i: GLOBAL for i in range(12) if first + i < size})
        for group in range(0, 12, WIDTH):
            inside = sum(first + group + i < size for i in range(WIDTH))
            card.text(array.cell(group).left + 2, array.top - 8, f"{first + group:,}", 15, SOFT, "start")
            partly = 0 < inside < WIDTH
            card.frame(array.cells(group, group + WIDTH - 1), BAD if partly else GOOD if inside else SOFT, 3, -1)
            words = f"{inside} of {WIDTH}" if partly else "all" if inside else "none"
            card.text(array.cells(group, group + WIDTH - 1).x, array.bottom + 24, words, 16, BAD if partly else SOFT, bold=partly)
    card.text(240, 316, "The compiler makes one code for all programs. It takes", 16, SOFT)
    card.text(240, 338, "16 bytes only where no group can be there in part.", 16, SOFT)
    return card


@picture("tile.svg")
def tile():
    rows, cols, pitch = 3, 4, 10
    card = Card("A column plus a row is a tile", 310,
                "Row numbers times the pitch stand in a column, column numbers in a row. Their sum is a tile of addresses: 20 to 23, 30 to 33, 40 to 43.")
    top, size, first_row, first_col = 92, 42, 2, 0
    left = card.matrix(40, top, rows, 1, size, values=lambda row, _: (first_row + row) * pitch, fill=EMPTY)
    card.text(left.x, top - 12, "row x pitch", 15, bold=True)
    card.text(104, top + 70, "+", 20, bold=True)
    across = card.matrix(122, top + size, 1, cols, 36, values=lambda _, col: first_col + col, fill=EMPTY)
    card.text(across.x, top + size - 12, "col", 15, bold=True)
    card.text(284, top + 70, "=", 20, bold=True)
    whole = card.matrix(302, top, rows, cols, 40, values=lambda row, col: (first_row + row) * pitch + first_col + col, fill=GLOBAL)
    card.text(whole.x, top - 12, "places of the tile", 15, bold=True)
    card.text(240, 252, f"[:, None] stands a block up, [None, :] lays it down. Pitch: {pitch}.", 15, SOFT)
    card.text(240, 280, "Neighbours in a row are neighbours in memory:", 16)
    card.text(240, 300, "threads are dealt out along the row.", 16)
    return card
