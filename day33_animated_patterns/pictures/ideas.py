# SPDX-License-Identifier: MIT
"""Day 33's ideas: threads over pixels, two buffers, what may be overwritten, and a tile that is good for several steps.

    tools/pictures.py 33
"""
from drawing import BAD, EMPTY, GLOBAL, GOOD, HALO, INK, OUTPUT, SHARED, SOFT, THREADS, WHITE, Card, constant, picture

STEPS = constant("day33_animated_patterns/08_steps.cu", "kSteps")
WIDE, HIGH = (constant("day33_animated_patterns/08_steps.cu", name) for name in ("kWide", "kHigh"))
BLOCK = [constant("day33_animated_patterns/patterns.h", name) for name in ("kBlockX", "kBlockY")]
WARP = [constant("day33_animated_patterns/03_squares.cu", name) for name in ("kWarpX", "kWarpY")]


@picture("pixels.svg")
def pixels():
    card = Card("A thread a pixel, a launch a frame", 300,
                "Three frames, one after the other in time. Each is covered by blocks; some threads of the last blocks lie outside.")
    for i, name in enumerate(("frame 0", "frame 1", "frame 2")):
        left, top = 28 + 150 * i, 84
        grid = card.matrix(left, top, 8, 8, 16, "", EMPTY, fills=lambda r, c: WHITE if r >= 6 or c >= 7 else GLOBAL)
        for row in (0, 4):
            for col in (0, 4):
                card.tile(grid.tile(row, col, 4, 4), "", "none")
        card.text(grid.x, top - 12, name, 16, bold=True)
        if i < 2:
            card.arrow(grid.right + 4, grid.y, grid.right + 19, grid.y)
    card.text(240, 246, "Four blocks cover a picture of 7 x 6 pixels.", 16, SOFT)
    card.text(240, 272, "White: threads that have no pixel, and leave.", 16, SOFT)
    return card


@picture("single.svg")
def single():
    card = Card("One buffer: half of it is already new", 292,
                "Cell 3 reads its neighbours 2 and 4. Cell 2 has been overwritten by its thread, cell 4 has not.")
    row = card.cells(80, "u", ["0'", "1'", "2'", "3", "4", "5"], size=52, height=44, fill=GLOBAL, fills={0: OUTPUT, 1: OUTPUT, 2: OUTPUT})
    mine = row.cell(3)
    card.disc(mine.x, 196, 3, THREADS[1])
    for i, colour in ((2, BAD), (3, GOOD), (4, GOOD)):
        card.arrow(row.cell(i).x, 126, mine.x + 14 * (i - 3), 182, colour)
    card.text(128, 168, "of the next step", 15, BAD, bold=True)
    card.text(348, 168, "of this step", 15, GOOD, at="start", bold=True)
    card.text(240, 246, "Thread 3 reads one new and one old neighbour.", 16, SOFT)
    card.text(240, 270, "Which ones are new depends on who came first.", 16, BAD, bold=True)
    return card


@picture("double.svg")
def double():
    card = Card("Two buffers change places", 330,
                "Three steps. Step 1 reads A and writes B, step 2 reads B and writes A, step 3 reads A and writes B.")
    for step in range(3):
        left = 36 + 148 * step
        card.text(left + 56, 72, f"step {step + 1}", 16, bold=True)
        reads, writes = ("A", "B") if step % 2 == 0 else ("B", "A")
        for name, top in (("A", 92), ("B", 212)):
            fill = GLOBAL if name == reads else OUTPUT
            place = card.box(left, top, 112, 44, fill)
            card.text(place.x, place.y + 6, f"{name}: {'read' if name == reads else 'written'}", 16, bold=name == writes)
        if reads == "A":
            card.arrow(left + 56, 140, left + 56, 208, INK, 3)
        else:
            card.arrow(left + 56, 208, left + 56, 140, INK, 3)
    card.text(240, 292, "The host exchanges two pointers.", 16, SOFT)
    card.text(240, 314, "No byte is copied.", 16, GOOD, bold=True)
    return card


@picture("waves.svg")
def waves():
    card = Card("Two arrays, three moments", 322,
                "The new value of cell 2 needs its own old value, and now's cells 1, 2 and 3. It replaces the old value.")
    old = card.cells(84, "before", ["", "", "b", "", ""], 120, 56, 44, GLOBAL, fills={2: OUTPUT})
    now = card.cells(232, "now", ["", "n", "n", "n", ""], 120, 56, 44, GLOBAL)
    thread = (old.cell(2).x, 180)
    for i in (1, 2, 3):
        card.arrow(now.cell(i).x, 228, thread[0] + 15 * (i - 2), 196, SOFT)
    card.arrow(thread[0] - 8, 130, thread[0] - 8, 164, SOFT)
    card.arrow(thread[0] + 8, 164, thread[0] + 8, 131, GOOD, 2.6)
    card.disc(*thread, 2, THREADS[0])
    card.text(thread[0] + 22, 154, "after", 16, GOOD, at="start", bold=True)
    card.text(thread[0] + 22, 184, "thread 2", 16, SOFT, at="start")
    card.text(240, 306, "b has one reader, n has several.", 16, SOFT)
    return card


@picture("warps.svg")
def warps():
    card = Card("A warp's 32 pixels, in two shapes", 360,
                "A border crosses a block of 32 by 8 pixels. Of eight warps in rows it meets all, of eight in rectangles four.")
    for top, (wide, high), name in ((78, (BLOCK[0], 1), "rows"), (206, tuple(WARP), "squares")):
        size = 11
        block = card.matrix(100, top, BLOCK[1], BLOCK[0], size)
        hit = 0
        for row in range(0, BLOCK[1], high):
            for col in range(0, BLOCK[0], wide):
                crossed = any(len({border(r, c) for c in range(col, col + wide)}) == 2 for r in range(row, row + high)) or \
                    len({border(r, c) for r in range(row, row + high) for c in range(col, col + wide)}) == 2
                hit += crossed
                card.tile(block.tile(row, col, high, wide), "", HALO if crossed else GLOBAL, INK)
        card.text(90, block.y + 6, name, 16, at="end", bold=True)
        card.text(block.x, block.bottom + 20, f"the border crosses {hit} of 8 warps", 16, BAD if name == "rows" else GOOD, bold=True)
        for row in range(BLOCK[1]):  # the border between the pixels on its sides, row by row
            beyond = next(col for col in range(BLOCK[0]) if border(row, col))
            x, y = block.left + beyond * size, block.top + row * size
            card.line(x, y, x, y + size, BAD, 3, through=True)
            if row + 1 < BLOCK[1]:
                below = next(col for col in range(BLOCK[0]) if border(row + 1, col))
                card.line(x, y + size, block.left + below * size, y + size, BAD, 3, through=True)
    card.text(240, 344, "Yellow: lanes that are through wait for others.", 16, SOFT)
    return card


def border(row, col):
    """Whether a pixel lies beyond the border that the picture shows: a slope across the block."""
    return 3 * (BLOCK[1] - row) < 2 * (col - 4)


@picture("ring.svg")
def ring():
    wide, high = BLOCK[0] + 2, BLOCK[1] + 2
    card = Card("A ring costs each row a second request", 268,
                f"A tile of {high} rows of {wide} cells. A warp's first request fetches {BLOCK[0]} cells of a row, its second the last 2.")
    size = 12
    tile = card.matrix((480 - wide * size) / 2, 76, high, wide, size,
                       fills=lambda r, c: GLOBAL if 0 < r < high - 1 and 0 < c < wide - 1 else HALO)
    card.frame(tile.tile(0, 0, high, BLOCK[0]), THREADS[0], pad=-2)
    card.frame(tile.tile(0, BLOCK[0], high, 2), BAD, pad=-2)
    card.text(tile.left + BLOCK[0] * size / 2, 64, f"request 1: {BLOCK[0]} cells", 16, THREADS[0], bold=True)
    card.text(tile.right, tile.bottom + 26, "request 2: 2 cells", 16, BAD, "end", bold=True)
    card.text(240, 250, "Blue: the block's cells. Yellow: the ring.", 16, SOFT)
    return card


@picture("steps.svg")
def steps():
    card = Card(f"A halo of {STEPS} lasts {STEPS} steps", 330,
                "A tile in shared memory. With each step the cells that are right lose a ring; after four the middle is left.")
    left, top, width, height = 60, 70, 360, 180
    shades = [HALO, SHARED, "#ffd48a", "#ffc56b", OUTPUT]
    for ring in range(STEPS + 1):
        inset = 18 * ring
        card.box(left + inset, top + inset, width - 2 * inset, height - 2 * inset, shades[min(ring, 4)], round=1)
        if ring < STEPS:
            card.text(left + inset + 9, top + height / 2 + 5, ring, 15)
    card.text(240, 157, f"{WIDE - 2 * STEPS} x {HIGH - 2 * STEPS} results", 17, bold=True)
    card.text(240, 173, f"after {STEPS} steps", 16)
    card.text(240, 276, f"{WIDE} x {HIGH} cells are fetched; a number says", 16, SOFT)
    card.text(240, 298, "after how many steps a cell is still right.", 16, SOFT)
    return card
