# SPDX-License-Identifier: MIT
"""Day 04's ideas: how windows overlap, a block's tile with its halo, a window that moves on, two passes for one, both in one
block, a pixel that serves several sums from a register, and words of shared memory that are left empty.

    tools/pictures.py 4
"""
from drawing import BAD, EMPTY, GLOBAL, GOOD, HALO, INK, OUTPUT, REGISTERS, SHARED, SOFT, THREADS, WHITE, Card, constant, picture

RADIUS = 1  # of the toys
BOX, GAUSS = 7, 5  # the radii that are measured
SHARED_FILE = "day04_image_blur/02_box_shared.cu"
TILE = constant("day04_image_blur/blur.h", "kTile")


@picture("windows.svg")
def windows():
    """Two pixels side by side, and the windows that they need."""
    card = Card("Neighbours want nearly the same", 276,
                "The windows of two neighbouring pixels, 3 by 3 each, share two of their three columns.")
    both = lambda r, c: OUTPUT if r < 3 and c in (1, 2) else GLOBAL if r < 3 and c in (0, 3) else None
    matrix = card.matrix(142, 84, 3, 7, 28, fills=both)
    for col, thread in ((1, 0), (2, 1)):
        place = matrix.cell(1, col)
        card.disc(place.x, place.y, thread, THREADS[thread], 12)
    card.frame(matrix.tile(0, 0, 3, 3), THREADS[0])
    card.frame(matrix.tile(0, 1, 3, 3), THREADS[1], 3, 5)
    card.text(240, 206, "Threads 0 and 1, radius 1: 6 of 9 pixels are shared.", 16, SOFT)
    share = 2 * BOX * (2 * BOX + 1)
    card.text(240, 230, f"With radius {BOX} it is {share} of {(2 * BOX + 1) ** 2}.", 16, SOFT)
    card.text(240, 254, "Frame: a window. Green: in both windows.", 16, SOFT)
    return card


@picture("halo.svg")
def halo():
    """A block's pixels and the halo around them, to scale."""
    side = TILE + 2 * BOX
    card = Card("A tile and its halo", 356,
                f"A block blurs {TILE} by {TILE} pixels; the windows of all of them lie in a square of {side} by {side}.")
    scale, left, top = 5.2, 40, 62
    card.box(left, top, side * scale, side * scale, HALO, INK, 2, 1)
    card.box(left + BOX * scale, top + BOX * scale, TILE * scale, TILE * scale, SHARED, INK, 2, 1)
    card.text(left + side * scale / 2, top + 22, "halo", 16, bold=True)
    card.text(left + side * scale / 2, top + side * scale / 2 + 30, f"{TILE} x {TILE} pixels", 16, bold=True)
    card.text(left + side * scale / 2, top + side * scale / 2 + 52, "of the block", 16)
    # The window of the pixel in the block's upper right corner.
    x, y = BOX + TILE - 1, BOX
    card.box(left + (x - BOX) * scale, top + (y - BOX) * scale, (2 * BOX + 1) * scale, (2 * BOX + 1) * scale, line=BAD, thick=3)
    card.box(left + x * scale, top + y * scale, scale, scale, BAD, BAD)
    card.text(300, 92, "window of the", 16, BAD, "start")
    card.text(300, 112, "corner pixel", 16, BAD, "start")
    card.text(300, 178, f"to fetch: {side} x {side}", 16, at="start")
    card.text(300, 200, f"= {side * side:,} bytes", 16, at="start", bold=True)
    card.text(300, 236, "wanted:", 16, at="start")
    card.text(300, 258, f"{TILE * TILE:,} x {(2 * BOX + 1) ** 2}", 16, at="start")
    card.text(300, 280, f"= {TILE * TILE * (2 * BOX + 1) ** 2:,} bytes", 16, at="start", bold=True)
    card.text(240, 334, f"To scale, radius {BOX}.", 16, SOFT)
    return card


@picture("fetch.svg")
def fetch():
    """How the threads of a block go round over the tile, in a toy of 4 x 2 threads and a 4 x 4 block."""
    block, rows = 4, 2
    side = block + 2 * RADIUS
    card = Card("Eight threads fetch 36 pixels", 330,
                "A block of 4 by 2 threads covers a tile of 6 by 6 pixels in steps of 4 columns and 2 rows: six steps. "
                "The 4 by 4 pixels in the middle are the block's own, the others are halo.")
    step = lambda r, c: r // rows * 2 + c // block
    own = range(RADIUS, RADIUS + block)
    matrix = card.matrix(44, 74, side, side, 34, fill=SHARED, values=lambda r, c: r % rows * block + c % block,
                         fills=lambda r, c: SHARED if r in own and c in own else HALO)
    for r in range(0, side, rows):
        card.frame(matrix.tile(r, 0, rows, block), INK, 2.4, 0)
        card.frame(matrix.tile(r, block, rows, side - block), INK, 2.4, 0)
    for r in range(side // rows):
        y = matrix.tile(r * rows, 0, rows, 1).y + 6
        card.text(270, y, f"steps {step(r * rows, 0) + 1} and {step(r * rows, block) + 1}", 16, at="start")
    card.text(240, 308, "Number: a thread. Frame: one step. Pale: the halo.", 16, SOFT)
    return card


@picture("running.svg")
def running():
    """The window of a column sum goes one row down."""
    card = Card("One comes in, one goes out", 322,
                "A window of three rows moves down by one: the row below enters the sum, the row above leaves.")
    values = [7, 2, 5, 9, 4, 6]
    first, second = sum(values[1:4]), sum(values[2:5])
    for left, start, words, total in ((90, 1, "sum for row 2", first), (300, 2, "sum for row 3", second)):
        fills = {(r, 0): OUTPUT for r in range(start, start + 3)}
        matrix = card.matrix(left, 84, 6, 1, 30, fill=EMPTY, values=lambda r, c: values[r], fills=fills)
        card.frame(matrix.tile(start, 0, 3, 1), INK, 3)
        card.text(matrix.x, 290, f"{words}: {total}", 16, bold=True)
        if start == 2:
            for r, words, color in ((1, f"- {values[1]}  goes out", BAD), (4, f"+ {values[4]}  comes in", GOOD)):
                card.text(left + 42, matrix.cell(r, 0).y + 6, words, 16, color, "start", bold=True)
    card.arrow(150, 174, 280, 174)
    card.text(215, 162, f"{first} - {values[1]} + {values[4]}", 16)
    card.text(105, 70, "column", 16, SOFT)
    card.text(315, 70, "same column", 16, SOFT)
    return card


@picture("padding.svg")
def padding(banks=8, run=4):
    """Where the runs of eight threads start in shared memory of eight banks, without and with a word of padding after each run."""
    card = Card("An empty word spreads the starts", 300,
                f"Threads that start {run} words apart start in 2 of {banks} banks; with an empty word after each {run} in all {banks}.")
    starts = {thread * run: thread for thread in range(banks)}
    for left, step, words in ((36, run, f"starts {run} apart: 2 banks"), (262, run + 1, f"{run + 1} apart: all {banks} banks")):
        word = lambda r, b, step=step: (r * banks + b) // step * run + (r * banks + b) % step if (r * banks + b) % step < run else None
        rows = banks * step // banks
        table = card.matrix(left, 90, rows, banks, 24, fill=SHARED, col_names=range(banks),
                            values=lambda r, b, word=word: starts.get(word(r, b)),
                            fills=lambda r, b, word=word: WHITE if word(r, b) is None else THREADS[0] if word(r, b) in starts else SHARED,
                            inks=lambda r, b, word=word: WHITE if word(r, b) in starts else None)
        card.text(table.x, 66, "bank", 15, SOFT)
        card.text(table.x, 240, words, 16, bold=True)
    card.text(240, 276, "Blue: a thread's first word. White: left empty.", 16, SOFT)
    return card


@picture("separable.svg")
def separable():
    """Nine products in one step, or three and three."""
    card = Card("Rows first, then columns", 300,
                "A pixel's 3 by 3 window takes 9 products; along the rows 3, and of what they leave 3 more along the column.")
    size, n = 26, 5
    one = card.matrix(26, 90, n, n, size, "picture", fill=EMPTY, fills=lambda r, c: GLOBAL if 1 <= c <= 3 and 1 <= r <= 3 else None)
    two = card.matrix(176, 90, n, n, size, "between", fill=EMPTY, fills=lambda r, c: SHARED if c == 2 and 1 <= r <= 3 else None)
    three = card.matrix(326, 90, n, n, size, "blurred", fill=EMPTY, fills=lambda r, c: OUTPUT if (r, c) == (2, 2) else None)
    for r in (1, 2, 3):
        card.frame(one.tile(r, 1, 1, 3), THREADS[0], 2, -1)
        card.arrow(one.cell(r, 3).right + 2, one.cell(r, 3).y, two.cell(r, 2).left - 2, two.cell(r, 2).y, THREADS[0])
    card.frame(two.tile(1, 2, 3, 1), THREADS[1], 3, 1)
    card.arrow(two.cell(2, 2).right + 4, two.cell(2, 2).y, three.cell(2, 2).left - 2, three.cell(2, 2).y, THREADS[1])
    card.text(150, 252, "3 products, kept", 16, THREADS[0])
    card.text(345, 252, "3 products more", 16, THREADS[1])
    taps = 2 * GAUSS + 1
    card.text(240, 282, f"With radius {GAUSS}: {taps} + {taps} in place of {taps * taps}.", 16, SOFT)
    return card


@picture("both.svg")
def both():
    """The arrays of shared memory of gauss_shared, to scale."""
    side = TILE + 2 * GAUSS
    card = Card("Both passes on the chip", 318,
                f"A block's tile of {side} by {side} becomes {side} rows of {TILE} sums in shared memory, and {TILE} by {TILE} pixels of these.")
    scale, top = 3.1, 92
    for left, width, height, name, words, fill in ((24, side, side, "tile", f"{side} x {side}", SHARED),
                                                   (186, TILE, side, "between", f"{side} x {TILE}", SHARED),
                                                   (330, TILE, TILE, "blurred", f"{TILE} x {TILE}", OUTPUT)):
        y = top + (side - height) / 2 * scale
        card.box(left, y, width * scale, height * scale, fill, INK, 2, 1)
        card.text(left + width * scale / 2, top - 12, name, 16, bold=True)
        card.text(left + width * scale / 2, top + side * scale / 2 + 6, words, 16)
    middle = top + side * scale / 2
    card.arrow(24 + side * scale + 4, middle, 182, middle, THREADS[0])
    card.arrow(186 + TILE * scale + 4, middle, 326, middle, THREADS[1])
    card.text(160, 248, "along rows", 16, THREADS[0])
    card.text(312, 248, "along columns", 16, THREADS[1])
    card.text(168, 276, "shared memory, a barrier after each", 16, SOFT)
    card.text(404, 276, "global", 16, SOFT)
    card.text(240, 302, f"Along x {side} rows are blurred, not {TILE}.", 16, SOFT)
    return card


@picture("registers.svg")
def registers():
    """One pixel goes into the sums of all outputs whose windows hold it."""
    run = 4
    card = Card("One load, several sums", 292,
                "A thread keeps four sums in registers; pixel 3 goes into the sums 1, 2 and 3, each with another weight.")
    pixels = card.cells(76, "", range(run + 2 * RADIUS), size=44, fill=SHARED, fills={3: THREADS[0]}, inks={3: WHITE})
    sums = card.cells(186, "", [f"sum {i}" for i in range(run)], size=66, height=44, fill=REGISTERS)
    for j in (1, 2, 3):
        card.arrow(pixels.cell(3).x, pixels.bottom + 3, sums.cell(j).x, sums.top - 3, THREADS[0])
    for j, x in ((1, 198), (2, 288), (3, 350)):
        card.text(x, 166, f"w{3 - j}", 16, bold=True)
    card.text(240, 256, "Pixel 3 is loaded once and added three times.", 16, SOFT)
    card.text(240, 278, "Above: shared memory. Below: one thread's registers.", 16, SOFT)
    return card
