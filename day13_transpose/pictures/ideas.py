# SPDX-License-Identifier: MIT
"""Day 13's ideas: a tile that changes hands, its banks, loads under way, the order of blocks, pieces that begin where sectors do,
squares that are turned in registers, and diagonals of them.

    tools/pictures.py 13
"""
import re
from pathlib import Path

from drawing import BAD, GLOBAL, GOOD, INK, OUTPUT, SHARED, SOFT, THREADS, WHITE, Card, constant, picture

TILE = constant("day13_transpose/03_padded.cu", "kTile")
ALIGN = constant("day13_transpose/07_aligned.cu", "kAlign")


@picture("turn.svg")
def turn():
    """One 4 x 4 tile: a warp (4 lanes here) takes a row of in, and after the barrier a column of the tile."""
    card = Card("A tile turns in shared memory", 300,
                "A warp reads a row of in into a row of the tile. After the barrier it reads a column of the tile and writes "
                "it as a row of out.")
    letters = [["a", "b", "c", "d"], ["e", "f", "g", "h"], ["i", "j", "k", "l"], ["m", "n", "o", "p"]]
    lane = lambda at: lambda row, col: THREADS[at(row, col)] if at(row, col) is not None else None
    white = lambda at: lambda row, col: WHITE if at(row, col) is not None else None
    row1 = lambda row, col: col if row == 1 else None  # lane = column of in
    column1 = lambda row, col: row if col == 1 else None  # lane = row of the tile
    for left, name, at, values, fill in ((30, "in", row1, lambda r, c: letters[r][c], GLOBAL),
                                         (180, "tile", None, lambda r, c: letters[r][c], SHARED),
                                         (330, "out", row1, lambda r, c: letters[c][r], OUTPUT)):
        if at:
            card.matrix(left, 96, 4, 4, 30, name, fill, values, lane(at), white(at))
        else:
            card.matrix(left, 96, 4, 4, 30, name, fill, values, lane(column1), white(column1))
    card.arrow(154, 156, 176, 156)
    card.arrow(304, 156, 326, 156)
    card.text(90, 244, "1. along a row", 16)
    card.text(240, 244, "2. down a column", 16)
    card.text(390, 244, "3. along a row", 16)
    card.text(240, 280, "A colour is a lane. Global memory only sees rows.", 16, SOFT)
    return card


@picture("banks.svg")
def banks():
    card = Card("Where a column of the tile lies", 330,
                f"Four banks stand for the {TILE} of a GPU. The column's four elements are all in bank 0 of a plain tile, and in "
                "four different banks of a padded and of a swizzled one.")
    names = "abcdefghijklmnop"
    wanted = {"a": 0, "e": 1, "i": 2, "m": 3}

    def padded(row, bank):
        place = row * 4 + bank
        return names[place // 5 * 4 + place % 5] if place % 5 < 4 and place < 19 else None

    plain = lambda row, bank: names[row * 4 + bank]
    swizzled = lambda row, bank: names[row * 4 + (bank ^ row)]
    for left, name, rows, word, turns, color in ((58, "plain", 4, plain, "4 turns", BAD),
                                                 (202, "padded", 5, padded, "1 turn", GOOD),
                                                 (346, "swizzled", 4, swizzled, "1 turn", GOOD)):
        card.text(left + 54, 70, name, 17, bold=True)
        card.banks(left, 104, rows, 4, word, wanted, 27, label=left == 58)
        for bank in range(4 if left > 58 else 0):
            card.text(left + (bank + 0.5) * 27, 98, bank, 15, SOFT)
        card.text(left + 54, 268, turns, 18, color, bold=True)
    card.text(240, 308, "Colours: lanes 0 to 3 want a, e, i and m at once.", 16, SOFT)
    return card


@picture("flight.svg")
def flight():
    """What one thread has under way: a bar is a load from its issue to its answer. Between two lots of loads, or two threads, are gaps."""
    card = Card("Fewer gaps with nothing under way", 270,
                "A thread of padded begins four loads, waits for them, and has nothing under way until a thread of a new block loads. A thread "
                "of several begins sixteen loads, in lots of four, five and seven, before it has such a gap.")
    four = TILE // constant("day13_transpose/03_padded.cu", "kBlockRows")
    sixteen = constant("day13_transpose/05_several.cu", "kTile") ** 2 // constant("day13_transpose/05_several.cu", "kThreads")
    lots = (4, 5, 7)  # of several in fp32, as nvcc 13.0 compiles it for sm_90
    assert sum(lots) == sixteen
    left, right, wait, step, gap, height = 128, 452, 28, 3, 98, 9
    for name, top, threads in (("padded", 74, [(four,)] * 4), ("several", 140, [lots] * 2)):
        middle = top + max(threads[0]) * height / 2 + 6
        card.text(28, middle, name, at="start", bold=True)
        x = left
        for thread in threads:
            for loads in thread:
                for load in range(loads):
                    begin = x + load * step
                    if begin < right:
                        card.box(begin, top + load * height, min(wait, right - begin), height - 2, GLOBAL, round=1)
                x += (loads - 1) * step + wait
            if x < right:
                card.box(x, top, min(gap, right - x), max(thread) * height - 2, BAD, round=1)
            x += gap
    card.arrow(left, 222, right, 222)
    card.text(right, 242, "time", 15, SOFT, "end")
    card.text(28, 242, "Blue: a load. Red: a gap. (A sketch.)", 16, SOFT, "start")
    return card


@picture("order.svg")
def order():
    """Sixteen blocks of a 4 x 4 grid of tiles; the first four stand out."""
    card = Card("Neighbours in number, neighbours in out", 312,
                "With blocks numbered across in, the first four blocks write to four groups of rows of out. Numbered down, "
                "they write neighbouring pieces of the same rows.")
    for left, name, first, words, color in ((36, "several: numbered across", lambda r, c: r * 4 + c, "beside tile 0: tile 4", BAD),
                                            (270, "down: numbered down", lambda r, c: c * 4 + r, "beside tile 0: tile 1", GOOD)):
        card.text(left + 87, 66, name, 16, bold=True)
        running = lambda r, c, first=first: first(r, c) < 4
        card.matrix(left, 104, 4, 4, 20, "in", GLOBAL, lambda r, c, first=first: first(r, c),
                    lambda r, c: THREADS[0] if running(r, c) else None, lambda r, c: WHITE if running(r, c) else None)
        card.arrow(left + 84, 144, left + 90, 144)
        turned = lambda r, c, first=first: first(c, r)
        card.matrix(left + 94, 104, 4, 4, 20, "out", OUTPUT, turned,
                    lambda r, c: THREADS[0] if turned(r, c) < 4 else None, lambda r, c: WHITE if turned(r, c) < 4 else None)
        card.text(left + 87, 220, words, 17, color, bold=True)
    card.text(240, 266, "A cell is a tile, its number the block that moves it.", 16, SOFT)
    card.text(240, 292, "Blue: the first four blocks.", 16, SOFT)
    return card


@picture("aligned.svg")
def aligned(rows=3, length=9, sector=4):
    """Toy: rows of 9 elements, sectors and tiles of 4."""
    card = Card("Pieces that begin where a sector begins", 372,
                "Three rows of out, each nine elements long, so that rows begin at odd places within sectors of four. Cut where the "
                "tiles are, pieces straddle sectors. Moved back to the start of a sector, each piece stays within one.")
    size, left = 15.2, 30
    for top, words, back, color in ((96, "cut where the tiles are", False, BAD), (222, "moved back to where a sector begins", True, GOOD)):
        pieces = []  # of each element: which piece of its row it belongs to
        for row in range(rows):
            moved = row * length % sector if back else 0
            pieces += [(i + moved) // sector for i in range(length)]
        torn = sum(any(len({pieces[p] for p in range(first, min(first + sector, rows * length)) if p // length == row}) > 1
                       for row in range(rows)) for first in range(0, rows * length, sector))
        card.text(32, top - 18, words, 15, at="start", bold=True)
        card.text(448, top - 18, f"{torn} torn" if torn else "none torn", 16, color, "end", bold=True)
        for place, piece in enumerate(pieces):
            card.box(left + place * size, top, size, 30, THREADS[piece], round=0, thick=0.6)
        for first in range(0, rows * length, sector):
            card.box(left + first * size, top - 4, min(sector, rows * length - first) * size, 38, line=INK, thick=2.2, round=1)
        for row in range(rows):
            card.text(left + (row + 0.5) * length * size, top + 56, f"row {row} of out", 15, SOFT)
            if row:
                card.line(left + row * length * size, top + 36, left + row * length * size, top + 60, SOFT, 1.4, dashed=True)
    card.text(240, 318, "A colour is a tile's piece, a frame a sector.", 16, SOFT)
    card.text(240, 344, f"In the kernel pieces begin at multiples of {ALIGN} bytes.", 16, SOFT)
    return card


@picture("back.svg")
def back(length=9, sector=4, columns=4, tile=1):
    """The same toy seen in in: a column of in is a row of out, and each column's piece of tile 1 moves up by its own number."""
    card = Card("What one block loads and stores", 350,
                "Nine rows and four columns of in. The block's pieces begin 0, 1, 2 and 3 rows above its tile, a different number for "
                "each column; so it loads three rows more than the tile has.")
    moved = [(col * length + tile * sector) % sector for col in range(columns)]
    piece = lambda row, col: (row + moved[col]) // sector
    matrix = card.matrix(92, 92, length, columns, 24, "in", fills=lambda r, c: THREADS[piece(r, c)],
                         values=lambda r, c: "", row_names=[f"row {r}" for r in range(length)], col_names=range(columns))
    first = tile * sector - (sector - 1)
    card.frame(matrix.tile(first, 0, sector - 1 + sector, columns), INK, 4, 1)
    middle = lambda row: matrix.cell(row, 0).y + 5
    card.text(210, middle(first + 1), f"{sector - 1} rows more: to move back into", 16, at="start")
    card.text(210, middle(tile * sector + 1), f"the tile, {sector} rows of in", 16, at="start")
    card.line(196, matrix.cell(tile * sector, 0).top, 448, matrix.cell(tile * sector, 0).top, SOFT, 1.6, dashed=True)
    card.text(240, 332, f"Frame: what block {tile} loads. Orange: what it stores.", 16, SOFT)
    return card


@picture("squares.svg")
def squares():
    """Two threads with a square of 4 x 4 each: rows of in, turned in registers, are columns, which are rows of out."""
    card = Card("A thread turns a square in its registers", 340,
                "Two threads each load four rows of four elements from in, turn them in registers, and keep four columns, which "
                "are rows of out.")
    side = 4
    names = ["abcdefghijklmnop", "ABCDEFGHIJKLMNOP"]
    loaded = lambda row, col: names[col // side][row * side + col % side]
    turned = lambda row, col: names[row // side][col * side + row % side]
    card.matrix(30, 128, side, 2 * side, 25, "in: 4 vectors a thread", GLOBAL, loaded,
                lambda row, col: THREADS[col // side], lambda row, col: WHITE)
    card.arrow(240, 178, 312, 178)
    card.text(276, 166, "turn", 16)
    card.matrix(326, 90, 2 * side, side, 25, "rows of out", SHARED, turned,
                lambda row, col: THREADS[row // side], lambda row, col: WHITE)
    for row in range(side):
        for square in range(2):
            card.box(30 + 100 * square, 128 + 25 * row, 100, 25, line=INK, thick=2, round=1)
    for row in range(2 * side):
        card.box(326, 90 + 25 * row, 100, 25, line=INK, thick=2, round=1)
    card.text(240, 322, "A colour is a lane, a frame one vector of 16 bytes.", 16, SOFT)
    return card


def kernels(name, pattern):
    """The function of `names` that the kernel file computes: an expression of it, found by a pattern with one group."""
    text = (Path(__file__).resolve().parent.parent / name).read_text(encoding="utf-8")
    found = re.findall(pattern, text)
    if len(found) != 1:
        raise ValueError(f"{name} has {len(found)} expressions that look like {pattern}")
    compiled = compile(found[0].replace("/", "//"), name, "eval")
    return lambda **names: eval(compiled, {"__builtins__": {}}, names)  # pylint: disable=eval-used; digits, names, operators


@picture("diagonals.svg")
def diagonals(side=4, lanes=8):
    """Eight lanes of bulk, fp32. Where their first vectors lie in shared memory before and after the turn."""
    place = kernels("09_bulk.cu", r"piece\[square / 8\]\[row\]\[([\w %^]+)\]")
    across = kernels("09_bulk.cu", r"int across = ([\w %]+),")
    down = kernels("09_bulk.cu", r", down = ([\w %+*/()]+);")
    card = Card("On a diagonal no two lanes meet", 496,
                "Eight lanes whose squares are side by side load from eight different groups of banks, but store into two. On a diagonal "
                "the groups are different both times.")
    ways = ((36, "side by side", lambda lane, warp: (lane % 8, lane // 8 + warp * 4)),
            (272, "on a diagonal", lambda lane, warp: (across(lane=lane), down(lane=lane, warp=warp))))
    for left, name, square in ways:
        card.text(left + 88, 66, name, 17, bold=True)
        owner = {square(lane, 0)[::-1]: lane for lane in range(lanes)}
        card.matrix(left, 78, 8, 8, 22, fill=GLOBAL, values=owner, fills=lambda r, c, o=owner: THREADS[o[r, c] % 4] if (r, c) in o else None,
                    inks=lambda r, c, o=owner: WHITE if (r, c) in o else None)
        for top, words, at in ((284, "read", lambda col, row, i: place(row=side * row + i, square=col)),
                               (342, "write", lambda col, row, i: place(row=side * col + i, square=row))):
            depths = set()  # turns of each eight lanes, in each step
            for first in range(0, 64, lanes):
                for step in range(side):
                    squares = [square(lane % 32, lane // 32) for lane in range(first, first + lanes)]
                    places = [at(col, row, step) for col, row in squares]
                    depths.add(max(places.count(p) for p in places))
            turns, = depths  # the same for all
            queues = {p: [lane for lane in range(lanes) if at(*square(lane, 0), 0) == p] for p in range(8)}
            shown = {(i, p): lane for p, queue in queues.items() for i, lane in enumerate(queue)}
            card.text(left + 88, top - 10, f"{words}: {turns} turn{'s' * (turns > 1)}", 16, GOOD if turns == 1 else BAD, bold=True)
            card.matrix(left, top, turns, 8, 22, fill=SHARED, values=shown,
                        fills=lambda r, c, s=shown: THREADS[s[r, c] % 4] if (r, c) in s else None,
                        inks=lambda r, c, s=shown: WHITE if (r, c) in s else None)
    card.text(240, 454, "Above: the box in squares, with their lanes.", 16, SOFT)
    card.text(240, 480, "Below: a row is a turn, a column a place (4 banks).", 16, SOFT)
    return card
