# SPDX-License-Identifier: MIT
"""Day 66's ideas: one mma.sync, who names what for ldmatrix, swizzled rows of two lengths, stages over time, a warp's tile, the
order of its products and of blocks, and a float in two parts.

    tools/pictures.py 66
"""
from drawing import BAD, EMPTY, GLOBAL, GOOD, INK, OUTPUT, SHARED, SOFT, THREADS, WHITE, Card, constant, picture

DAY = "day66_tensor_core_matmul/"
STAGES = constant(DAY + "04_staged.cu", "kStages")
GROUP = constant(DAY + "06_grouped.cu", "kGroup")


@picture("operands.svg")
def operands(size=13, lane=5):
    """a (16 x 16) times b (16 x 8) is d (16 x 8): what one lane brings and gets."""
    card = Card("One lane's share of one mma.sync", 560,
                "The left operand a has 16 x 16 elements, b 16 x 8, the result d 16 x 8. Lane 5 brings eight elements of a in four "
                "registers and four of b in two, and gets four of d.")
    own_a = lambda r, c: r % 8 * 4 + c % 8 // 2 == lane
    own_b = lambda r, c: c * 4 + r % 8 // 2 == lane
    own_d = lambda r, c: r % 8 * 4 + c // 2 == lane
    register_a = lambda r, c: r // 8 + c // 8 * 2
    left, top = 46, 310
    card.matrix(left, top, 16, 16, size, "a: 16 × 16", GLOBAL, fills=lambda r, c: THREADS[register_a(r, c)] if own_a(r, c) else None)
    b = card.matrix(left + 16 * size + 58, top - 16 * size - 20, 16, 8, size, "b: 16 × 8", GLOBAL,
                    fills=lambda r, c: THREADS[r // 8] if own_b(r, c) else None)
    d = card.matrix(b.left, top, 16, 8, size, "", OUTPUT, fills=lambda r, c: THREADS[r // 8] if own_d(r, c) else None)
    card.text(d.x, d.bottom + 22, "d: 16 × 8", bold=True)
    for r in (0, 8):
        card.text(left - 6, top + (r + 1.5) * size + 5, f"{r + 1}", 15, SOFT, "end")
    for i, words in enumerate(("register 0", "register 1", "register 2", "register 3")):
        card.box(46, 100 + 30 * i, 16, 16, THREADS[i], round=1)
        card.text(70, 114 + 30 * i, words, 15, at="start")
    card.text(46, 74, f"lane {lane}: g = {lane // 4}, t = {lane % 4}", 17, INK, "start", bold=True)
    card.text(46, 236, "two cells are a register", 15, SOFT, "start")
    return card


@picture("ldmatrix.svg")
def ldmatrix(high=19, wide=58):
    """The two ldmatrix of rung 2: which lane gives the address of which 16 bytes, and in which register they arrive."""
    card = Card("Each lane names 16 bytes", 500,
                "ldmatrix loads four matrices of 8 rows of 16 bytes. Lanes 0 to 7 give the rows of the first, lanes 8 to 15 of the second, "
                "and so on. For a and b alike the second lies below the first, the third beside it.")
    for left, name, rows in ((70, "a", "16 rows of c, 16 of k"), (290, "b, with .trans", "16 of k, 16 columns of c")):
        card.text(left + wide, 64, name, 17, bold=True)
        card.text(left + wide, 84, rows, 15, SOFT)
        for lane in range(32):
            cell = card.box(left + lane // 16 * wide, 92 + lane % 16 * high, wide, high, THREADS[lane // 8], round=0)
            card.text(cell.x, cell.y + 5, lane, 15, WHITE, bold=True)
    for i, words in enumerate(("register 0", "register 1", "register 2", "register 3")):
        card.box(26 + 112 * i, 412, 14, 14, THREADS[i], round=1)
        card.text(44 + 112 * i, 425, words, 15, at="start")
    card.text(240, 458, "A cell is 16 bytes, 8 elements along a row;", 16, SOFT)
    card.text(240, 482, "its number is the lane that names it.", 16, SOFT)
    return card


@picture("swizzle.svg")
def swizzle(size=24):
    """Rows of a (64 bytes) and of b (128 bytes): a line of the table is 128 bytes, all 32 banks; a column is four banks."""
    card = Card("Eight rows, eight places", 470,
                "Wanted are the chunks number 1 of eight rows. Plain they lie in two columns of a tile with rows of 64 bytes, and in one "
                "column of a tile with rows of 128 bytes. Swizzled they lie in eight columns.")
    key_a = lambda row: row // 2 % 4
    panels = ((24, 92, "a, plain: 4 turns", 4, 4, lambda r, c: (c % 4), BAD), (264, 92, "a, swizzled: 1 turn", 4, 4, None, GOOD),
              (24, 240, "b, plain: 8 turns", 8, 8, lambda r, c: c, BAD), (264, 240, "b, swizzled: 1 turn", 8, 8, lambda r, c: c ^ r, GOOD))
    for left, top, words, lines, chunks, at, color in panels:
        def chunk(line, place, at=at, chunks=chunks):
            if chunks == 8:
                return at(line, place)
            row = line * 2 + place // 4
            return place % 4 if at else place % 4 ^ key_a(row)
        card.text(left + 4 * size, top - 10, words, 16, color, bold=True)
        card.matrix(left, top, lines, 8, size, "", SHARED, values=chunk, fills=lambda r, c, f=chunk: THREADS[0] if f(r, c) == 1 else None,
                    inks=lambda r, c, f=chunk: WHITE if f(r, c) == 1 else None)
    card.text(240, 456, "A cell is 16 bytes, a column four banks. Wanted: chunk 1.", 16, SOFT)
    return card


@picture("stages.svg")
def stages(places=STAGES, copy=3.6, math=1.4, end=15):
    """Tiles over time: a row is a place in shared memory. Tile t + places - 1 is asked for when tile t - 1 is done."""
    card = Card("Asked for three tiles early", 386,
                "Above: one place. Ask for a tile, wait, multiply. Below: four places. While one tile is multiplied, the next three are on "
                "their way, so that after the first wait there is always one to multiply.")

    def use(tile, start):
        return [(tile, start, start + copy, GLOBAL), (tile, start + copy, start + copy + math, SHARED)]

    card.text(32, 66, "swizzled: one place", 16, at="start", bold=True)
    card.time(74, [("place 0", sum((use(i, i * (copy + math)) for i in range(3)), []))], height=26, end=end, words="")
    card.text(32, 146, f"staged: {places} places", 16, at="start", bold=True)
    rows = [[] for _ in range(places)]
    for t in range(int((end - copy) / math)):
        begins = copy + t * math  # of its products; its place is free since tile t - places is done
        asked = 0 if t < places - 1 else begins - (places - 1) * math
        rows[t % places] += [(t, asked, asked + copy, GLOBAL), (t, begins, begins + math, SHARED)]
    card.time(154, [(f"place {i}", row) for i, row in enumerate(rows)], height=26, end=end)
    card.text(32, 370, "Blue: a tile is on its way. Yellow: it is multiplied.", 16, SOFT, "start")
    return card


@picture("warp_tile.svg")
def warp_tile(scale=2.3):
    """ldmatrix and mma of a warp for one step of 16 along k, for two sizes of its tile."""
    card = Card("Sides are loaded, area is made", 380,
                "32 x 32 elements take 4 ldmatrix and make 8 mma. 64 x 64 take 8 and make 32.")
    for left, side, rung in ((70, 32, "staged"), (262, 64, "wide")):
        top, size = 120, side * scale
        card.text(left + size / 2, 74, f"{rung}: {side} × {side}", 17, bold=True)
        for i in range(side // 16):
            card.box(left - 22, top + i * 16 * scale, 14, 16 * scale, GLOBAL, round=0)
            card.box(left + i * 16 * scale, top - 22, 16 * scale, 14, GLOBAL, round=0)
        for i in range(side // 16):
            for j in range(side // 8):
                card.box(left + j * 8 * scale, top + i * 16 * scale, 8 * scale, 16 * scale, OUTPUT, round=0)
        loads, products = side // 16 * 2, side // 16 * (side // 8)
        card.text(left + size / 2, 296, f"{loads} ldmatrix", 16, THREADS[0], bold=True)
        card.text(left + size / 2, 320, f"{products} mma", 16, GOOD, bold=True)
    card.text(240, 358, "Blue: a fragment of a or b. Green: an mma's result.", 16, SOFT)
    return card


@picture("products.svg")
def products(down=4, across=8, wide=23, high=46):
    """In which order a warp makes its 4 x 8 products, and which fragment two neighbours in that order share."""
    card = Card("Which product comes next", 392,
                "A warp has four by eight results of 16 x 8. Row by row, eight products in a row share a fragment of a, and at a row's end both are "
                "new. Column by column, down and up again, four share a fragment of b, and at each turn two share a fragment of a.")
    for left, name, at, words in ((40, "row by row", lambda r, c: r * across + c, "always a new b"),
                                  (272, "by columns, and back", lambda r, c: c * down + (r if c % 2 == 0 else down - 1 - r), "b stays for four")):
        top = 106
        card.text(left + across * wide / 2, 62, name, 17, bold=True)
        for r in range(down):
            card.box(left - 20, top + r * high, 14, high, GLOBAL, round=0)
        for c in range(across):
            card.box(left + c * wide, top - 20, wide, 14, GLOBAL, round=0)
        for r in range(down):
            for c in range(across):
                early = at(r, c) < 8
                cell = card.box(left + c * wide, top + r * high, wide, high, THREADS[0] if early else OUTPUT, round=0)
                card.text(cell.x, cell.y + 6, at(r, c) + 1, 15, WHITE if early else INK, bold=early)
        card.text(left + across * wide / 2, top + down * high + 28, words, 17, INK, bold=True)
    card.text(240, 346, "Pale blue: fragments of a (left) and of b (above).", 16, SOFT)
    card.text(240, 370, "Numbers: a step's products, the first eight dark.", 16, SOFT)
    return card


@picture("order.svg")
def order(down=8, across=8, running=16, group=4):
    """Which tiles of c sixteen blocks have, and which rows and columns of tiles they fetch."""
    card = Card("Sixteen blocks want a square", 330,
                "In the order of rows sixteen blocks have two rows of eight tiles and fetch two rows of a and eight columns of b. "
                "In groups they have a square of four by four and fetch four rows and four columns.")
    for left, name, mine, words, color in (
            (46, "row by row", lambda r, c: r * across + c < running, "2 + 8 strips", BAD),
            (270, "in groups of rows", lambda r, c: r // group * group * across + c * group + r % group < running, "4 + 4 strips", GOOD)):
        card.text(left + 84, 68, name, 17, bold=True)
        rows = [r for r in range(down) if any(mine(r, c) for c in range(across))]
        cols = [c for c in range(across) if any(mine(r, c) for r in range(down))]
        for r in rows:
            card.box(left - 20, 102 + 21 * r, 14, 21, THREADS[0], round=0)
        for c in cols:
            card.box(left + 21 * c, 82, 21, 14, THREADS[0], round=0)
        card.matrix(left, 102, down, across, 21, "", EMPTY, fills=lambda r, c, mine=mine: OUTPUT if mine(r, c) else None)
        card.text(left + 84, 292, words, 17, color, bold=True)
    card.text(240, 318, "Green: tiles of c under way. Blue: strips of a and b.", 16, SOFT)
    return card


@picture("parts.svg")
def parts():
    """A float's 24 bits of significand, the 11 that big keeps and the 11 that a tensor core reads of small."""
    card = Card("A float is two tf32 and a rest", 286,
                "Of the 24 bits of a float's significand big keeps the first 11, rounded. Small is x - big, and a tensor core reads the "
                "next 11 of it.")
    size, left = 17, 36
    card.text(left, 70, "x: 24 bits", 16, INK, "start", bold=True)
    for i in range(24):
        card.box(left + i * size, 80, size, 26, THREADS[0] if i < 11 else THREADS[1] if i < 22 else EMPTY, WHITE, round=0)
    card.text(left, 146, "big = tf32(x)", 16, THREADS[0], "start", bold=True)
    for i in range(11):
        card.box(left + i * size, 156, size, 26, THREADS[0], WHITE, round=0)
    card.text(left + 11 * size, 222, "small = x - big: 11 are read", 16, THREADS[1], "start", bold=True)
    for i in range(11):
        card.box(left + (11 + i) * size, 232, size, 26, THREADS[1], WHITE, round=0)
    return card
