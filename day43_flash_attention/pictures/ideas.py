# SPDX-License-Identifier: MIT
"""Day 43's ideas: the walk of the tiles, weights that stay where they are, a swizzle, copies under way, tiles that are skipped.

    tools/pictures.py 43
"""
from drawing import BAD, EMPTY, GLOBAL, GOOD, INK, OUTPUT, REGISTERS, SHARED, SOFT, THREADS, WHITE, Card, constant, picture

QUERIES = constant("day43_flash_attention/02_tiled.cu", "kQueries")
KEYS = constant("day43_flash_attention/02_tiled.cu", "kKeys")
ACROSS = constant("day43_flash_attention/02_tiled.cu", "kAcross")
TILE_KEYS = constant("day43_flash_attention/03_mma.cu", "kKeys")
MMA_STEPS = 64 // 16  # of 16 columns
ROWS, COLS = QUERIES // ACROSS, KEYS // ACROSS  # of a thread's scores


@picture("attention.svg")
def attention():
    """One query, two keys, two columns: scores, weights and the weighted mean, with the numbers of the note's example."""
    card = Card("One query asks two keys", 340,
                "The query 1 0 has the scores 2 and 1 with the keys 2 0 and 1 5. A softmax makes the weights 0.73 and 0.27 of them. "
                "The values 10 20 and 30 40, weighted, add up to 15.4 25.4.")
    put = lambda left, top, values, fill, name="", size=46: card.matrix(
        left, top, len(values), len(values[0]), size, name, fill, values=lambda r, c: values[r][c])
    put(22, 90, [[1, 0]], GLOBAL, "query")
    k = put(22, 190, [[2, 0], [1, 5]], GLOBAL, "keys")
    score = put(162, 190, [[2], [1]], SHARED, "scores")
    weight = put(256, 190, [[".73"], [".27"]], SHARED, "weights")
    v = put(366, 190, [[10, 20], [30, 40]], GLOBAL, "values")
    o = put(366, 90, [["15.4", "25.4"]], OUTPUT, "o")
    for left, right in ((k, score), (score, weight)):
        card.arrow(left.right + 6, left.y, right.left - 6, right.y)
    card.text(330, 242, "×", 20, INK, bold=True)
    card.arrow(v.x + 20, v.top - 34, v.x + 20, o.bottom + 4)
    card.text(240, 322, "Yellow: what flash attention never stores in memory.", 16, SOFT)
    return card


@picture("walk.svg")
def walk(queries=256, keys=256, block=1, now=2):
    """q and o on the left and right, k above, scores between; tiles in the kernel's proportions, the block's row of them is marked."""
    scale = 15 / 16
    high, side, columns = QUERIES * scale, KEYS * scale, 64 * scale
    down, steps = queries // QUERIES, keys // KEYS
    card = Card("Queries stay, tiles of keys walk by", 448,
                f"The block's tile of {QUERIES} queries stays. It walks along the tiles of {KEYS} keys and values; a tile of scores exists "
                "for one step, and what it contributes is added to the block's tile of o.")
    q = card.sheet(28, 156, columns, down * high, "q", GLOBAL)
    left = q.right + 28
    k = card.sheet(left, 78, steps * side, columns * 0.8, f"k: {keys} keys", GLOBAL)
    card.sheet(left, 156, steps * side, down * high, "", EMPTY)
    o = card.sheet(k.right + 36, 156, columns, down * high, "o", OUTPUT)
    row = q.top + block * high
    card.tile(type(q)(q.left, row, columns, high), QUERIES, SHARED)
    for step in range(steps):
        card.box(left + step * side, row, side, high, SHARED if step == now else WHITE, dashed=step != now)
        card.disc(left + (step + 0.5) * side, k.top + 20, step, THREADS[0] if step == now else SOFT, 11)
    card.tile(type(q)(left + now * side, k.top, side, k.height), "", "none", THREADS[0])
    card.tile(type(q)(left + now * side, row, side, high), KEYS, SHARED)
    card.tile(type(q)(o.left, row, columns, high), "o", REGISTERS)
    card.arrow(k.right + 3, row + high / 2, o.left - 4, row + high / 2)
    card.text(k.x, row + high + 28, "scores of step 2", 16, bold=True)
    card.text(k.x, row + high + 54, "v is walked in the same steps", 16, SOFT)
    card.text(240, 424, f"Rung 2: {QUERIES} queries a block, tiles of {KEYS} keys.", 16, SOFT)
    return card


@picture("columns.svg")
def columns(x=3, y=2, size=3.9):
    """In rung 2: which scores are a thread's, and which elements of o."""
    card = Card("Same rows twice, but other columns", 426,
                f"Thread x = {x}, y = {y * ROWS} computes the scores of queries {y * ROWS} to {y * ROWS + ROWS - 1} with keys {x} and {x + ACROSS}, "
                f"and of o the same rows, columns {4 * x} to {4 * x + 3}. The weights of the row come from the 16 threads that share it.")
    scores = card.sheet(34, 92, KEYS * size, QUERIES * size, "scores", SHARED)
    o = card.sheet(206, 92, 64 * size, QUERIES * size, "o", OUTPUT)
    band = scores.top + y * ROWS * size
    for place in (scores, o):
        card.box(place.left, band, place.width, ROWS * size, WHITE, SOFT, round=0)
    for j in range(COLS):
        card.box(scores.left + (x + j * ACROSS) * size, band, size, ROWS * size, THREADS[0], THREADS[0], round=0)
    card.box(o.left + 4 * x * size, band, 4 * size, ROWS * size, THREADS[0], THREADS[0], round=0)
    card.arrow(scores.right + 4, band + 2 * size, o.left - 4, band + 2 * size)
    card.text(scores.x, band + 44, f"keys {x}, {x + ACROSS}", 16, THREADS[0], bold=True)
    card.text(o.left + 12, band + 44, f"columns {4 * x} to {4 * x + 3}", 16, THREADS[0], "start", bold=True)
    card.text(scores.x, 366, f"{QUERIES} × {KEYS}", 16, SOFT)
    card.text(o.x, 366, f"{QUERIES} × 64", 16, SOFT)
    card.text(240, 394, f"Blue: thread x = {x}, y = {y * ROWS}. White: the {ACROSS} threads of its rows,", 15, SOFT)
    card.text(240, 416, "whose weights it needs: they go through s.weights.", 15, SOFT)
    return card


@picture("ldmatrix.svg")
def ldmatrix(lane=5):
    """What ldmatrix does with one of its four matrices, and where the four lie for q, k and v in rung 3."""
    card = Card("ldmatrix deals rows out to lanes", 420,
                "Of an 8 x 8 matrix lane r names row r, and lane 4 g + t receives elements 2 t and 2 t + 1 of row g. Four matrices are loaded at "
                "once: for q and v the second lies below the first, for k beside it.")
    matrix = card.fragment(148, 84, 8, 8, lambda row, col: row * 4 + col // 2, 26, "who receives", lanes=(0, lane))
    for row in range(8):
        card.text(matrix.left - 10, matrix.cell(row, 0).y + 5, f"lane {row} names", 15, SOFT, "end")
    for left, name, order in ((44, "q", ((0, 2), (1, 3))), (200, "k", ((0, 1), (2, 3))), (356, "v", ((0, 2), (1, 3)))):
        card.text(left - 10, 364, name, 17, at="end", bold=True)
        card.matrix(left, 320, 2, 2, 36, "", SHARED, values=lambda r, c, order=order: order[r][c])
    card.text(240, 410, "The order of the four. Rows: queries in q, keys in k and v.", 16, SOFT)
    return card


@picture("fragment.svg")
def fragment():
    """16 x 16 scores as the accumulators of two m16n8k16 hold them, which is how the left operand a of the next is held."""
    card = Card("Scores lie where they are needed next", 500,
                "Each cell of 16 x 16 scores shows the lane that holds it after two mma.sync. The next mma.sync wants its left operand "
                "from the same lanes, so no value moves.")
    lane = lambda row, col: row % 8 * 4 + col % 8 // 2
    card.fragment(66, 110, 16, 16, lane, 22, "16 queries × 16 keys: which lane holds a score", lanes=(0, 5), col_names=range(16))
    for half in (0, 1):
        card.box(66 + half * 176, 110, 176, 352, line=INK, thick=3, round=1)
    card.text(240, 488, "The left frame is one result of mma, the right the next.", 16, SOFT)
    return card


@picture("swizzle.svg")
def swizzle(chunks=8):
    """Eight rows of eight 16-byte chunks: a row of the table is 128 bytes, all 32 banks; a column four banks."""
    card = Card("ldmatrix wants one chunk of eight rows", 346,
                "Plain, the eight chunks number 2 lie in one column, the same four banks. Swizzled, chunk c of row r lies at c xor r: "
                "eight columns, all banks.")
    for left, name, at, words, color in ((24, "plain", lambda r, c: c, "8 turns", BAD), (256, "swizzled: c ^ r", lambda r, c: c ^ r, "1 turn", GOOD)):
        card.text(left + 100, 66, name, 17, bold=True)
        card.matrix(left, 78, 8, chunks, 25, "", SHARED, values=at, fills=lambda r, c, at=at: THREADS[0] if at(r, c) == 2 else None,
                    inks=lambda r, c, at=at: WHITE if at(r, c) == 2 else None)
        card.text(left + 100, 304, words, 18, color, bold=True)
    card.text(240, 332, "A cell is 16 bytes, a column four banks. Wanted: chunk 2.", 16, SOFT)
    return card


@picture("pipeline.svg")
def pipeline():
    card = Card("The next tile comes during this one", 336,
                "Above: load a tile, wait, multiply, and so on. Below: two places for tiles; the copy of the next runs beside the "
                "products of this one.")
    card.text(32, 66, "mma: one place for a tile", 16, at="start", bold=True)
    loads = [("0", 0, 2, GLOBAL), ("1", 5, 7, GLOBAL), ("2", 10, 12, GLOBAL)]
    uses = [("tile 0", 2, 5, SHARED), ("tile 1", 7, 10, SHARED), ("tile 2", 12, 15, SHARED)]
    card.time(76, [("copy", loads), ("math", uses)], height=26, end=15)
    card.text(32, 206, "async: two places, by turns", 16, at="start", bold=True)
    loads = [("0", 0, 2, GLOBAL), ("1", 2, 4, GLOBAL), ("2", 5, 7, GLOBAL), ("3", 8, 10, GLOBAL)]
    uses = [("tile 0", 2, 5, SHARED), ("tile 1", 5, 8, SHARED), ("tile 2", 8, 11, SHARED), ("tile 3", 11, 14, SHARED)]
    card.time(216, [("copy", loads), ("math", uses)], height=26, end=15)
    return card


@picture("causal.svg")
def causal(tiles=6):
    """Tiles of a causal attention: below the diagonal whole, on it masked, above it skipped."""
    seen = lambda r, c: "all" if c < r else "some" if c == r else "none"
    count = sum(seen(r, c) != "none" for r in range(tiles) for c in range(tiles))
    card = Card("A causal mask skips half of the tiles", 366,
                "A tile below the diagonal is seen whole and needs no mask, one on it is masked, one above it is never fetched.")
    card.matrix(60, 100, tiles, tiles, 36, "tiles of keys", WHITE,
                fills=lambda r, c: {"all": SHARED, "some": OUTPUT, "none": None}[seen(r, c)])
    for i, (words, fill) in enumerate((("seen whole: no mask", SHARED), ("seen in part: masked", OUTPUT), ("not seen: skipped", WHITE))):
        card.box(300, 124 + 54 * i, 26, 26, fill, round=2)
        card.text(334, 143 + 54 * i, words.split(":")[0], 16, at="start", bold=True)
        card.text(334, 162 + 54 * i, words.split(": ")[1], 15, SOFT, "start")
    card.text(240, 346, f"{count} of {tiles * tiles} tiles are left. A row is a block's queries.", 16, SOFT)
    return card


@picture("owners.svg")
def owners(across=4, down=2, rows=2):
    """A tile of scores, 4 queries x 8 keys, and the four that one of eight threads computes."""
    card = Card("A thread's scores share rows and keys", 408,
                "A tile of four queries and eight keys. Eight threads, four by two. Thread x,y computes the scores of queries y and "
                "y + 1 with keys x and x + 4: four scores from two queries and two keys.")
    mine = lambda r, c: r < rows and c % across == 1
    size, left, top = 38, 136, 176
    card.matrix(left, 96, 1, 2 * across, size, "a tile of k: 8 keys", GLOBAL, fills=lambda r, c: THREADS[0] if c % across == 1 else None,
                values=lambda r, c: c, inks=lambda r, c: WHITE if c % across == 1 else None)
    card.matrix(60, top, rows * down, 1, size, "", GLOBAL, fills=lambda r, c: THREADS[0] if r < rows else None,
                values=lambda r, c: r, inks=lambda r, c: WHITE if r < rows else None)
    card.text(79, top - 10, "4 queries", 16, bold=True)
    card.matrix(left, top, rows * down, 2 * across, size, "", SHARED, values=lambda r, c: f"{c % across},{r // rows * rows}",
                fills=lambda r, c: THREADS[0] if mine(r, c) else None, inks=lambda r, c: WHITE if mine(r, c) else None)
    card.text(240, 360, "A cell names its thread: x,y, where y is its first query.", 16, SOFT)
    card.text(240, 386, "Blue, thread 1,0: two queries, two keys, four scores.", 16, SOFT)
    return card


@picture("running.svg")
def running():
    """Scores 1 3, then 5 2, with values 10 20, then 30 40: what is kept after each tile."""
    card = Card("A larger score shrinks what was summed", 372,
                "Tile 0 has scores 1 and 3: largest 3, sum 1.135, weighted values 21.4. Tile 1 has scores 5 and 2: both sums are "
                "multiplied by e to the minus 2 before its own weights are added.")
    for left, name, scores, values in ((40, "tile 0", (1, 3), (10, 20)), (276, "tile 1", (5, 2), (30, 40))):
        card.text(left + 82, 68, name, 17, bold=True)
        card.text(left - 6 + 40, 104, "scores", 15, SOFT, "middle")
        card.text(left - 6 + 40, 146, "values", 15, SOFT, "middle")
        card.matrix(left + 72, 80, 1, 2, 38, "", SHARED, values=lambda r, c, scores=scores: scores[c])
        card.matrix(left + 72, 122, 1, 2, 38, "", GLOBAL, values=lambda r, c, values=values: values[c])
    for left, fill, lines in ((40, REGISTERS, ("largest 3", "sum 1.135", "o 21.4")), (276, REGISTERS, ("largest 5", "sum 1.203", "o 34.9"))):
        card.box(left, 200, 164, 104, fill, INK)
        for i, words in enumerate(lines):
            card.text(left + 82, 230 + 30 * i, words, 17, bold=i == 0)
        card.arrow(left + 82, 168, left + 82, 197)
    card.arrow(206, 252, 273, 252, INK, 2.4)
    card.text(240, 240, "× e^-2", 16, INK, bold=True)
    card.text(240, 336, "In the end: 34.9 / 1.203 = 29.0.", 16, SOFT)
    card.text(240, 360, "Purple is all that a row keeps.", 16, SOFT)
    return card


@picture("operands.svg")
def operands(size=13, lane=5, row=1, col=2):
    """a (16 x 16) times b (16 x 8) is d (16 x 8): what one lane brings and gets, and what one of its results is made of."""
    card = Card("One lane's share of one mma.sync", 564,
                "The left operand a has 16 x 16 elements, b 16 x 8, the result d 16 x 8. Lane 5 brings eight elements of a and four of b, "
                "and gets four of d. Framed: row 1 of a and column 2 of b, which make one element of d.")
    own_a = lambda r, c: r % 8 * 4 + c % 8 // 2 == lane
    own_b = lambda r, c: c * 4 + r % 8 // 2 == lane
    own_d = lambda r, c: r % 8 * 4 + c // 2 == lane
    mark = lambda own: lambda r, c: THREADS[0] if own(r, c) else None
    a = card.matrix(64, 302, 16, 16, size, "a: 16 × 16", REGISTERS, fills=mark(own_a))
    b = card.matrix(312, 74, 16, 8, size, "b: 16 × 8", REGISTERS, fills=mark(own_b))
    d = card.matrix(312, 302, 16, 8, size, "", REGISTERS, fills=mark(own_d))
    card.frame(a.tile(row, 0, 1, 16), BAD, 2.6, 1)
    card.frame(b.tile(0, col, 16, 1), BAD, 2.6, 1)
    card.frame(d.cell(row, col), BAD, 2.6, 1)
    card.text(d.right + 10, d.y, "d", at="start", bold=True)
    card.text(168, 160, f"Blue: lane {lane}.", 16, THREADS[0], bold=True)
    card.text(168, 190, f"Framed: d[{row}][{col}] is", 16, BAD, bold=True)
    card.text(168, 212, f"row {row} times column {col}.", 16, BAD, bold=True)
    card.text(240, 546, "32 lanes together hold every element once.", 16, SOFT)
    return card


@picture("scores.svg")
def scores(size=30, now=2):
    """A warp's tile of scores in rung 3: eight results side by side, and the four mma of one of them."""
    card = Card("Each result takes four mma.sync", 320,
                "16 queries of 64 columns are four fragments, q[0] to q[3]. 64 keys are eight groups of 8, each of four fragments b. "
                "scores[2] is the sum of four products, q[0] to q[3] with the four b of keys 16 to 23.")
    b = card.matrix(200, 100, MMA_STEPS, TILE_KEYS // 8, size, f"k: {TILE_KEYS} keys, 8 a column", SHARED,
                    values=lambda r, c: r if c == now else None, fills=lambda r, c: THREADS[r] if c == now else None,
                    inks=lambda r, c: WHITE if c == now else None)
    q = card.matrix(48, 238, 1, MMA_STEPS, size, "", REGISTERS, values=lambda r, c: c, fills=lambda r, c: THREADS[c],
                    inks=lambda r, c: WHITE)
    d = card.matrix(200, 238, 1, TILE_KEYS // 8, size, "", REGISTERS, values=lambda r, c: c)
    card.text(q.x, q.top - 10, "q[step]", bold=True)
    card.frame(d.cell(0, now), INK, 3, 1)
    card.text(b.left - 10, b.y - 4, "a step:", 15, SOFT, "end")
    card.text(b.left - 10, b.y + 14, "16 columns", 15, SOFT, "end")
    card.text(d.x, d.bottom + 24, f"scores[n]; scores[{now}] is framed", 16, bold=True)
    return card


@picture("rows.svg")
def rows(lanes=(4, 5, 6, 7), values=(3, 7, 2, 5)):
    """Who holds row 1 of a warp's 64 scores in rung 3, and how the four agree on the largest."""
    card = Card("Four lanes share a row of scores", 428,
                "Row 1 of 64 scores: of each result of 8 keys lanes 4, 5, 6 and 7 hold two scores each. Their largest are 3, 7, 2 and 5; "
                "after shuffles with distances 1 and 2 each has 7.")
    for line in range(2):
        for n in range(4):
            for i, lane in enumerate(lanes):
                cell = card.box(34 + n * 104 + i * 25, 82 + line * 62, 25, 30, THREADS[i], round=1)
                card.text(cell.x, cell.y + 6, lane, 15, WHITE, bold=True)
            card.text(34 + n * 104 + 50, 74 + line * 62, f"scores[{4 * line + n}]", 15, SOFT)
    card.text(240, 204, "Row 1. A cell is two scores and names its lane.", 16, SOFT)
    for i, lane in enumerate(lanes):
        card.text(94 + i * (480 - 140 - 24) / 3, 242, f"lane {lane}", 15, THREADS[i], bold=True)
    card.butterfly(268, values, max, 56, 70)
    card.text(240, 416, "Each lane's largest, then two shuffles.", 16, SOFT)
    return card


@picture("wide.svg")
def wide(cell=52):
    """What one ldmatrix of 16 keys serves: two products of 16 queries by 8 keys in rungs 3 to 5, four in rung 6."""
    card = Card("A fragment of keys serves four products", 362,
                "With 16 queries a warp, one ldmatrix of 16 keys serves two products of 16 queries by 8 keys. With 32 queries it serves four.")
    for left, name, tiles, words in ((76, "16 queries a warp", 1, "2 products"), (308, "32 queries a warp", 2, "4 products")):
        card.text(left + cell, 68, name, 17, bold=True)
        card.text(left + cell, 94, "16 keys: 1 ldmatrix", 15, SOFT)
        card.box(left, 102, 2 * cell, 30, SHARED)
        for m in range(tiles):
            top = 144 + m * (cell + 8)
            card.box(left - 46, top, 36, cell, REGISTERS)
            card.text(left - 28, top + 31, f"a[{m}]", 15)
            for n in range(2):
                card.box(left + n * cell, top, cell, cell, REGISTERS)
                card.text(left + (n + 0.5) * cell, top + 31, "mma", 16, bold=True)
        card.text(left + cell, 286, words, 18, GOOD if tiles == 2 else INK, bold=True)
    card.text(240, 322, "An mma multiplies 16 queries by 8 keys.", 16, SOFT)
    card.text(240, 346, "Purple is in registers; keys come from shared memory.", 16, SOFT)
    return card
