# SPDX-License-Identifier: MIT
"""Day 40's ideas: the candidate's way through its tile, the order of the questions, multiprocessors without a block, chunks of samples,
where a warp's stores go, a column of the tile, and how far each profiler looks.

    tools/pictures.py 40
"""
from drawing import BAD, EMPTY, GLOBAL, GOOD, INK, OUTPUT, REGISTERS, SHARED, SOFT, THREADS, WHITE, WIDTH, Card, constant, picture

TILE = constant("day40_nsight_compute/columns.h", "kTile")
CHUNK = constant("day40_nsight_compute/columns.h", "kChunk")
SMS, FEATURES, SAMPLES = 132, 1024, 65536  # of an H200; the shape that `run` takes on a GPU


@picture("questions.svg")
def questions():
    card = Card("Four questions, in this order", 424,
                "First: are there enough blocks? Then: is anything busy? If memory is and DRAM is not: are sectors and banks used? If "
                "nothing is busy: what do the warps wait for? Each bad answer is mended, and the profile taken again.")
    left, width, height = 20, 230, 58
    rows = (("1  Are there enough?", "blocks, warps", "no", "mend the launch", BAD),
            ("2  Is anything busy?", "shares of peaks", "DRAM", "fewer bytes", GOOD),
            ("3  Are they used?", "sectors, banks", "no", "mend the access", BAD),
            ("4  Why do warps wait?", "reasons of a stall", "", "", SOFT))
    tops = (62, 152, 242, 332)
    for top, (question, what, answer, then, color) in zip(tops, rows):
        card.box(left, top, width, height, GLOBAL if top == 62 else EMPTY)
        card.text(left + width / 2, top + 25, question, 16, bold=True)
        card.text(left + width / 2, top + 46, what, 15, SOFT)
        if then:
            card.arrow(left + width, top + height / 2, 306, top + height / 2, color)
            card.text(left + width + 28, top + height / 2 - 8, answer, 15, color)
            card.text(312, top + height / 2 + 6, then, 15, color, "start", bold=True)
    for top, words in zip(tops, ("yes", "L1 or L2", "yes")):
        card.arrow(left + 60, top + height, left + 60, top + 90)
        card.text(left + 70, top + height + 21, words, 15, SOFT, "start")
    card.text(312, tops[3] + 25, "Nothing busy?", 15, SOFT, "start")
    card.text(312, tops[3] + 46, "From 2 go here.", 15, SOFT, "start")
    card.text(240, 412, "After each mend: a new profile, from the top.", 16, INK)
    return card


@picture("way.svg")
def way():
    """Toy: a warp of four lanes, a tile of 4 x 4; the access of one warp to each of the three."""
    card = Card("The candidate, tile by tile", 306,
                "The lanes of a warp load a row of x, four features of one sample; divided, they become a column of the tile, and later a "
                "column of z.")
    row, col = (lambda r, c: c if r == 1 else None), (lambda r, c: r if c == 1 else None)
    places = []
    for left, name, lane, fill, rows, cols in ((16, "x", row, GLOBAL, "s0 s1 s2 s3", "f0 f1 f2 f3"),
                                               (182, "tile", col, SHARED, "f0 f1 f2 f3", "s0 s1 s2 s3"),
                                               (346, "z", col, OUTPUT, "f0 f1 f2 f3", "s0 s1 s2 s3")):
        places.append(card.matrix(left + 24, 110, 4, 4, 25, name, fill, lambda r, c, lane=lane: lane(r, c),
                                  lambda r, c, lane=lane: THREADS[lane(r, c)] if lane(r, c) is not None else None,
                                  lambda r, c, lane=lane: WHITE if lane(r, c) is not None else None, rows.split(), cols.split()))
    card.arrow(143, 160, 180, 160)
    card.arrow(309, 160, 344, 160)
    card.text(240, 244, "s: sample, f: feature. Each number is a lane.", 15, SOFT)
    card.text(240, 266, "x is read along its rows. Tile and z are written", 15, SOFT)
    card.text(240, 286, "down a column.", 15, SOFT)
    return card


@picture("idle.svg")
def idle():
    blocks = FEATURES // TILE
    card = Card("Multiprocessors with and without a block", 286,
                f"The candidate has {blocks} blocks for {SMS} multiprocessors, so most stand idle. Cut into chunks, there are enough.")
    for left, name, busy, words, color in ((26, "candidate", blocks, f"{blocks} blocks", BAD),
                                           (262, "spread", SMS, f"{blocks * SAMPLES // CHUNK:,} blocks", GOOD)):
        card.matrix(left, 84, 11, 12, 16, name, EMPTY, fills=lambda r, c, busy=busy: THREADS[0] if r * 12 + c < busy else None)
        card.text(left + 96, 284 - 6, words, 16, color, bold=True)
    return card


@picture("chunks.svg")
def chunks():
    """Toy: x with four groups of features and four chunks of samples; a number is a block."""
    card = Card("Who takes which part of x", 276,
                "The candidate has a block for each 32 features, which goes down all samples. In spread each chunk of samples has blocks of its own.")
    for left, name, block, words, color in ((44, "candidate", lambda r, c: c, "4 blocks", BAD),
                                            (278, "spread", lambda r, c: 4 * r + c, "16 blocks", GOOD)):
        card.matrix(left, 92, 4, 4, 34, name, GLOBAL, lambda r, c, block=block: block(r, c),
                    lambda r, c, block=block: THREADS[(c + block(r, c) // 4) % 4], lambda r, c: WHITE)
        card.text(left + 68, 252 - 2, words, 18, color, bold=True)
    card.text(240, 270, f"Across: {TILE} features each. Down: {CHUNK} samples each.", 15, SOFT)
    return card


@picture("stores.svg")
def stores():
    """Toy: four lanes, sectors of four floats, z of four features with eight samples each."""
    card = Card("Where one store of a warp goes", 270,
                "In z a feature's samples are neighbours. A warp whose lanes are features touches a sector for each lane, a warp whose "
                "lanes are samples fills one.")
    for left, name, lane, words, color in ((30, "lanes are features", lambda r, c: r if c == 2 else None, "4 sectors", BAD),
                                           (262, "lanes are samples", lambda r, c: c if r == 1 and c < 4 else None, "1 sector", GOOD)):
        z = card.matrix(left, 92, 4, 8, 24, name, OUTPUT, lambda r, c, lane=lane: lane(r, c),
                        lambda r, c, lane=lane: THREADS[lane(r, c)] if lane(r, c) is not None else None,
                        lambda r, c, lane=lane: WHITE if lane(r, c) is not None else None)
        for row in range(4):
            if any(lane(row, col) is not None for col in range(4)):
                card.frame(z.tile(row, 0, 1, 4), INK, 3, 0)
        card.text(left + 96, 216, words, 18, color, bold=True)
    card.text(240, 252, "Number: a lane of 4. Frame: a sector, here of 4 floats.", 15, SOFT)
    return card


@picture("column.svg")
def column():
    """Toy: four lanes and banks. A tile's row is a feature; four lanes, four features, store the same sample."""
    card = Card("A column of the tile, in banks", 306,
                "Four lanes store to one column of a tile. Without padding the four words lie in one bank; with a word more in each row "
                "they lie in four.")
    for left, name, pitch, words, color in ((72, "turned", 4, "4 wavefronts", BAD), (292, "padded", 5, "1 wavefront", GOOD)):
        place = {pitch * feature + 1: feature for feature in range(4)}  # the word of each lane
        card.banks(left, 104, 5, 4, lambda r, b: r * 4 + b, place, 27)
        card.text(left + 54, 70, name, 17, bold=True)
        card.text(left + 54, 262, words, 18, color, bold=True)
    card.text(240, 290, "Toy: four banks. A number is a word's place.", 15, SOFT)
    return card


@picture("zoom.svg")
def zoom():
    card = Card("How far each tool looks", 330,
                "Nsight Systems shows the whole program over time: copies and kernels. Nsight Compute shows one kernel in units of the "
                "hardware. explain and asm show a line.")
    left = 120
    card.text(left, 62, "the program: which part takes long?", 15, SOFT, "start")
    card.text(left - 12, 92, "nsys", 17, at="end", bold=True)
    parts = (("copy in", 0, 5, GLOBAL), ("", 5, 5.35, REGISTERS), ("", 5.45, 6.2, REGISTERS), ("copy out", 6.3, 11, OUTPUT))
    unit = (WIDTH - left - 24) / 11
    for words, begin, end, fill in parts:
        card.box(left + begin * unit, 70, (end - begin) * unit, 34, fill)
        if words:
            card.text(left + (begin + end) / 2 * unit, 92, words, 15)
    card.text(left - 12, 180, "ncu", 17, at="end", bold=True)
    card.line(left + 5.45 * unit, 104, left, 152, SOFT, dashed=True)
    card.line(left + 6.2 * unit, 104, WIDTH - 24, 152, SOFT, dashed=True)
    shares = (("arithmetic", 0.12, THREADS[3]), ("L1", 0.95, BAD), ("L2", 0.4, THREADS[0]), ("DRAM", 0.3, THREADS[2]))
    for i, (words, share, color) in enumerate(shares):
        x = left + i * (WIDTH - 24 - left) / 4
        card.box(x + 4, 156, 72, 30, EMPTY)
        card.box(x + 4, 156, 72 * share, 30, color)
        card.text(x + 40, 206, words, 15, SOFT)
    card.text(left, 228, "one kernel: what is it waiting for? (example)", 15, SOFT, "start")
    card.text(left - 12, 280, "explain", 17, at="end", bold=True)
    card.text(left - 12, 300, "and asm", 17, at="end", bold=True)
    card.box(left, 256, WIDTH - left - 24, 34, SHARED)
    card.text((left + WIDTH - 24) / 2, 278, "z[feature * samples + s] = ...", 15)
    card.text(left, 312, "one line: which access does it?", 15, SOFT, "start")
    return card
