# SPDX-License-Identifier: MIT
"""Day 43's ideas: the walk of the tiles, weights that stay where they are, a swizzle, copies under way, tiles that are skipped.

    tools/pictures.py 43
"""
from drawing import BAD, EMPTY, GLOBAL, GOOD, INK, OUTPUT, REGISTERS, SHARED, SOFT, THREADS, WHITE, Card, constant, picture

QUERIES = constant("day43_flash_attention/04_async.cu", "kQueries")
KEYS = constant("day43_flash_attention/04_async.cu", "kKeys")


@picture("walk.svg")
def walk(tiles=4, block=1):
    """q and o on the left, k and v on the right, scores between; the block's row of tiles is marked."""
    card = Card("Queries stay, tiles of keys walk by", 424,
                "The block's tile of queries stays. It walks along the tiles of keys and values; a tile of scores exists for one step, and "
                "what it contributes is added to the block's tile of o.")
    high, wide, side = 44, 74, 56
    q = card.sheet(40, 170, wide, tiles * high, "q, queries", GLOBAL)
    keys = card.sheet(146, 72, tiles * side, wide - 14, "k, keys", GLOBAL)
    card.sheet(146, 170, tiles * side, tiles * high, "", EMPTY)
    o = card.sheet(394, 170, wide - 14, tiles * high, "o", OUTPUT)
    row = q.top + block * high
    card.tile(type(q)(q.left, row, wide, high), "q", REGISTERS)
    for step in range(tiles):
        place = type(q)(146 + step * side, row, side, high)
        card.box(place.left, place.top, side, high, SHARED if step == 1 else WHITE, dashed=step != 1)
        if step == 1:
            card.text(place.x, place.y + 6, "scores", 15, bold=True)
        card.disc(146 + (step + 0.5) * side, keys.top + 22, step, BAD if step == 1 else SOFT, 12)
    card.tile(type(q)(146 + side, keys.top, side, keys.height), "", "none", BAD)
    card.path([type(q)(146 + side * s, keys.top + 36, side, 24) for s in range(tiles)], BAD)
    card.tile(type(q)(o.left, row, o.width, high), "o", REGISTERS)
    card.arrow(374, row + high / 2, 391, row + high / 2)
    card.text(258, 288, "v is walked in the same steps", 15, SOFT)
    card.text(240, 376, "Purple stays in registers. Orange exists for one step.", 16, SOFT)
    card.text(240, 402, f"In the kernel: {QUERIES} queries a block, tiles of {KEYS} keys.", 16, SOFT)
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
    uses = [("multiply 0", 2, 5, SHARED), ("multiply 1", 7, 10, SHARED), ("multiply 2", 12, 15, SHARED)]
    card.time(76, [("copy", loads), ("math", uses)], height=26, end=15)
    card.text(32, 206, "async: two places, by turns", 16, at="start", bold=True)
    loads = [("0", 0, 2, GLOBAL), ("1", 2, 4, GLOBAL), ("2", 5, 7, GLOBAL), ("3", 8, 10, GLOBAL)]
    uses = [("multiply 0", 2, 5, SHARED), ("multiply 1", 5, 8, SHARED), ("multiply 2", 8, 11, SHARED), ("multiply 3", 11, 14, SHARED)]
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
                "A tile of four queries and eight keys. Eight threads, four by two. Thread x of row y computes the scores of queries 2y and "
                "2y + 1 with keys x and x + 4: four scores from two queries and two keys.")
    mine = lambda r, c: r < rows and c % across == 1
    size, left, top = 38, 136, 176
    card.matrix(left, 96, 1, 2 * across, size, "a tile of k: 8 keys", GLOBAL, fills=lambda r, c: THREADS[0] if c % across == 1 else None,
                values=lambda r, c: c, inks=lambda r, c: WHITE if c % across == 1 else None)
    card.matrix(60, top, rows * down, 1, size, "", GLOBAL, fills=lambda r, c: THREADS[0] if r < rows else None,
                values=lambda r, c: r, inks=lambda r, c: WHITE if r < rows else None)
    card.text(79, top - 10, "4 queries", 16, bold=True)
    card.matrix(left, top, rows * down, 2 * across, size, "", SHARED, values=lambda r, c: f"{c % across},{r // rows}",
                fills=lambda r, c: THREADS[0] if mine(r, c) else None, inks=lambda r, c: WHITE if mine(r, c) else None)
    card.text(240, 360, "A cell names its thread: x,y. Blue is thread 1,0:", 16, SOFT)
    card.text(240, 386, "two queries and two keys give it four scores.", 16, SOFT)
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
    card.arrow(206, 252, 273, 252, BAD, 2.4)
    card.text(240, 240, "× e^-2", 16, BAD, bold=True)
    card.text(240, 336, "In the end: 34.9 / 1.203 = 29.0.", 16, SOFT)
    card.text(240, 360, "Purple is all that a row keeps.", 16, SOFT)
    return card


@picture("operands.svg")
def operands(size=11, lane=5):
    """a (16 x 16) times b (16 x 8) is d (16 x 8): what one lane brings and gets."""
    card = Card("One lane's share of one mma.sync", 516,
                "The left operand a has 16 x 16 elements, b 16 x 8, the result d 16 x 8. Lane 5 brings eight elements of a and four of b, "
                "and gets four of d.")
    own_a = lambda r, c: r % 8 * 4 + c % 8 // 2 == lane
    own_b = lambda r, c: c * 4 + r % 8 // 2 == lane
    own_d = lambda r, c: r % 8 * 4 + c // 2 == lane
    mark = lambda own: lambda r, c: THREADS[1] if own(r, c) else None
    card.matrix(50, 290, 16, 16, size, "a: 16 × 16", GLOBAL, fills=mark(own_a))
    card.matrix(276, 82, 16, 8, size, "b: 16 × 8", SHARED, fills=mark(own_b))
    card.matrix(276, 290, 16, 8, size, "d += a b", REGISTERS, fills=mark(own_d))
    card.text(138, 160, f"Lane {lane} is red:", 16, SOFT)
    card.text(138, 184, "8 elements of a,", 16, SOFT)
    card.text(138, 208, "4 of b, 4 of d.", 16, SOFT)
    card.text(240, 496, "32 lanes together hold every element once.", 16, SOFT)
    return card
