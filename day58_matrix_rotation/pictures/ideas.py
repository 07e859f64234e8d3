# SPDX-License-Identifier: MIT
"""Day 58's ideas: where pixels go, which side of a copy is scattered, a warp's squares, rings of four and who owns them, tiles that go
round, and what a slanted line of 32 places touches.

    tools/pictures.py 58
"""
import math

from drawing import BAD, EMPTY, GLOBAL, GOOD, INK, OUTPUT, SHARED, SOFT, THREADS, WHITE, Card, picture

FOLDER = "day58_matrix_rotation/"


def turned(row, col, height, width, quarters):
    return {1: (width - 1 - col, row), 2: (height - 1 - row, width - 1 - col), 3: (col, height - 1 - row)}[quarters]


@picture("where.svg")
def where():
    card = Card("A quarter turn: transpose, then mirror", 250,
                "A picture of two rows, a b c and d e f. Its transpose has the rows a d, b e, c f. With the order of the rows "
                "reversed it is the picture turned by 90 degrees counterclockwise: c f, b e, a d.")
    size, letters = 38, {(0, 0): "a", (0, 1): "b", (0, 2): "c", (1, 0): "d", (1, 1): "e", (1, 2): "f"}
    card.matrix(30, 110, 2, 3, size, "in", GLOBAL, letters)
    card.matrix(206, 92, 3, 2, size, "transposed", EMPTY, {(c, r): v for (r, c), v in letters.items()})
    card.matrix(368, 92, 3, 2, size, "turned by 90", OUTPUT,
                {turned(r, c, 2, 3, 1): v for (r, c), v in letters.items()})
    card.arrow(152, 149, 200, 149)
    card.arrow(290, 149, 360, 149)
    card.text(325, 139, "mirror", 15, SOFT)
    card.text(240, 234, "The mirror only chooses other addresses.", 16, SOFT)
    return card


@picture("sides.svg")
def sides():
    card = Card("A row becomes a column", 250,
                "A warp's neighbouring pixels of a row of in lie below each other in out: each in a sector of its own.")
    row = {(2, c): THREADS[0] for c in range(8)}
    card.matrix(48, 80, 8, 8, 16, "in", GLOBAL, fills=row)
    card.matrix(304, 80, 8, 8, 16, "out", EMPTY, fills={turned(r, c, 8, 8, 1): THREADS[0] for r, c in row})
    card.arrow(196, 128, 290, 128)
    card.text(243, 116, "a warp", 15, SOFT)
    card.text(112, 234, "4 sectors", 16, GOOD, bold=True)
    card.text(368, 234, "32 sectors", 16, BAD, bold=True)
    return card


@picture("half.svg")
def half():
    card = Card("180 degrees: the array reversed", 250,
                "Two rows a b c d and e f g h become h g f e and d c b a. In memory the rows follow each other: abcdefgh becomes "
                "hgfedcba.")
    size = 30
    card.matrix(70, 72, 2, 4, size, "", GLOBAL, {(i // 4, i % 4): "abcdefgh"[i] for i in range(8)})
    card.matrix(290, 72, 2, 4, size, "", OUTPUT, {(i // 4, i % 4): "hgfedcba"[i] for i in range(8)})
    card.arrow(204, 102, 278, 102)
    card.cells(160, "in memory", list("abcdefgh"), 136, size, size, GLOBAL)
    card.cells(200, "after", list("hgfedcba"), 136, size, size, OUTPUT)
    return card


@picture("squares.svg")
def squares():
    side, across = 4, 8
    down = 32 // across
    card = Card("Two lanes fill a sector on both sides", 308,
                f"Each lane has a square of {side} by {side} pixels. A warp's squares lie {across} across and {down} down. In out they "
                f"lie {down} across and {across} down, and each row of them is whole sectors on both sides.")
    size = 26
    card.text(140, 66, "in: 16 rows of 32", 16, bold=True)
    card.text(380, 66, "out: 32 rows of 16", 16, bold=True)
    numbers = {(r, c): r * across + c for r in range(down) for c in range(across)}
    left = card.matrix(36, 80, down, across, size, "", GLOBAL, numbers)
    right = card.matrix(328, 80, across, down, size, "", OUTPUT,
                        {turned(r, c, down, across, 1): lane for (r, c), lane in numbers.items()})
    for row in range(down):
        for col in range(0, across, 2):
            card.frame(left.tile(row, col, 1, 2), INK, 1.8, 0)
    for row in range(across):
        for col in range(0, down, 2):
            card.frame(right.tile(row, col, 1, 2), INK, 1.8, 0)
    card.arrow(256, 132, 318, 132)
    card.text(150, 226, "A number: a lane's square.", 15, SOFT)
    card.text(150, 246, f"A frame: {side} rows of one sector.", 15, SOFT)
    return card


@picture("ring.svg")
def ring():
    card = Card("A ring of four pixels", 262,
                "In a square of 4 by 4 the pixel a goes to the place of b, b to that of c, c to that of d and d to that of a.")
    side, size = 4, 40
    places, at = [], (0, 1)
    for _ in range(4):
        places.append(at)
        at = turned(*at, side, side, 1)
    names = dict(zip(places, "abcd"))
    one = card.matrix(50, 72, side, side, size, "", GLOBAL, names, dict.fromkeys(places, THREADS[0]), dict.fromkeys(places, WHITE))
    for first, second in zip(places, places[1:] + places[:1]):
        a, b = one.cell(*first), one.cell(*second)
        length = math.hypot(b.x - a.x, b.y - a.y)
        dx, dy = (b.x - a.x) / length * 17, (b.y - a.y) / length * 17
        card.arrow(a.x + dx, a.y + dy, b.x - dx, b.y - dy, INK, 2)
    card.matrix(276, 72, side, side, size, "", OUTPUT,
                {places[(i + 1) % 4]: "abcd"[i] for i in range(4)}, dict.fromkeys(places, THREADS[0]), dict.fromkeys(places, WHITE))
    card.text(240, 252, "Its one owner loads all four, then stores all four.", 16, SOFT)
    return card


@picture("owners.svg")
def owners():
    card = Card("Who owns the rings?", 268,
                "A side of 5: the owners are 2 rows of 3 pixels at the top left. Turned once, twice and three times they cover all but "
                "the middle. A side of 4 is covered by 2 rows of 2.")
    for left, side, size in ((48, 5, 32), (300, 4, 32)):
        fills = {}
        for row in range(side // 2):
            for col in range((side + 1) // 2):
                at = (row, col)
                for turns in range(4):
                    fills[at] = THREADS[turns]
                    at = turned(*at, side, side, 1)
        if len(fills) != side * side - side % 2:
            raise ValueError("the owners' rectangle does not cover the square")
        values = {(r, c): "" for r in range(side) for c in range(side)}
        matrix = card.matrix(left, 72, side, side, size, "", EMPTY, values, fills)
        card.frame(matrix.tile(0, 0, side // 2, (side + 1) // 2), INK, 3.5, 0)
    card.text(128, 252, "5: the middle stays", 16, SOFT)
    card.text(364, 252, "4", 16, SOFT)
    return card


@picture("tiles.svg")
def tiles():
    card = Card("A picture's row is tile 1's column", 318,
                "Four tiles of 2 by 2 pixels in a picture, each turned once more than the one before, with arrows from each to the "
                "next. In shared memory all four read a b, c d. The first row of each place is coloured: of tiles 0 and 2 it is a row, "
                "of tiles 1 and 3 a column.")
    size, width, loud = 27, 206, THREADS[0]
    sheet = card.sheet(26, 78, width, width, "the picture", GLOBAL)
    owner, at, spots = {(0, 0): "a", (0, 1): "b", (1, 0): "c", (1, 1): "d"}, (26, 40), []
    for turns in range(4):
        here = {place: place for place in owner}  # a place in this tile: its owner's
        for _ in range(turns):
            here = {turned(*place, 2, 2, 1): first for place, first in here.items()}
        first_row = {place: first for place, first in here.items() if place[0] == 0}
        spots.append(card.matrix(sheet.left + at[1], sheet.top + at[0], 2, 2, size, "", SHARED,
                                 {place: owner[first] for place, first in here.items()}, dict.fromkeys(first_row, loud),
                                 dict.fromkeys(first_row, WHITE)))
        card.text(spots[-1].x, spots[-1].top - 7 if turns in (0, 3) else spots[-1].top + 2 * size + 18, turns, 15, bold=True)
        card.matrix(306 + 84 * (turns % 2), 104 + 100 * (turns // 2), 2, 2, size, "", SHARED, owner,
                    dict.fromkeys(first_row.values(), loud), dict.fromkeys(first_row.values(), WHITE))
        card.text(333 + 84 * (turns % 2), 97 + 100 * (turns // 2), f"tile {turns}", 15)
        at = (width - at[1] - 2 * size, at[0])
    for a, b in zip(spots, spots[1:] + spots[:1]):
        length = math.hypot(b.x - a.x, b.y - a.y)
        dx, dy = (b.x - a.x) / length * 36, (b.y - a.y) / length * 36
        card.arrow(a.x + dx, a.y + dy, b.x - dx, b.y - dy, INK, 2)
    card.text(374, 68, "shared memory", 16, bold=True)
    card.text(240, 308, "Arrows: where each tile is stored.", 15, SOFT)
    return card


def seen(lanes, degrees):
    """The row and column of in that each lane's place lies in. The picture begins a pixel to the right of a sector's."""
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return [(math.floor(s * x + c * y + 1e-9), math.floor(c * x - s * y + 1 + 1e-9)) for x, y in lanes]


@picture("slant.svg")
def slant():
    degrees = 60
    line = [(i, 0) for i in range(32)]
    patch = [(i % 8, i // 8) for i in range(32)]
    rows = {name: seen(lanes, degrees) for name, lanes in (("line", line), ("patch", patch))}
    sectors = {name: len({(r, c // 8) for r, c in places}) for name, places in rows.items()}
    card = Card(f"32 places, seen at {degrees} degrees", 356,
                f"A warp that is a row of out sees a steep line in in, which lies in {sectors['line']} sectors. One of 8 by 4 pixels "
                f"sees a slanted patch, in {sectors['patch']} sectors.")
    for left, name, words in ((30, "line", "a line: 32 x 1"), (260, "patch", "a patch: 8 x 4")):
        size = 8
        card.text(left + 96, 66, words, 16, bold=True)
        low_row, low_col = min(r for r, _ in rows[name]), min(c for _, c in rows[name]) // 8 * 8
        places = [(r - low_row, c - low_col) for r, c in rows[name]]
        matrix = card.matrix(left, 80, 30, 24, size)
        for row, sector in sorted({(r, c // 8) for r, c in places}):
            spot = matrix.tile(row, 8 * sector, 1, 8)
            card.box(spot.left, spot.top, spot.width, spot.height, GLOBAL, INK, 1, 0)
        for row, col in places:
            spot = matrix.cell(row, col)
            card.box(spot.left, spot.top, size, size, THREADS[1], INK, 0.6, 0)
        card.text(left + 96, 344, f"{sectors[name]} sectors", 16, GOOD if name == "patch" else BAD, bold=True)
    return card


@picture("blend.svg")
def blend():
    card = Card("A place between four pixels", 262,
                "The place seen lies 0.25 to the right of a column of pixels and 0.5 below a row. It takes 0.375 and 0.125 of the upper "
                "two pixels and the same of the lower two.")
    left, top, step = 96, 84, 120
    right, lower = 0.25, 0.5
    x, y = left + right * step, top + lower * step
    for px, py in ((left, top), (left + step, top), (left, top + step), (left + step, top + step)):
        card.box(px - 9, py - 9, 18, 18, GLOBAL, INK)
    card.line(left + 9, top, left + step - 9, top, through=True)
    card.line(left + 9, top + step, left + step - 9, top + step, through=True)
    card.line(left, top + 9, left, top + step - 9, through=True)
    card.line(left + step, top + 9, left + step, top + step - 9, through=True)
    card.box(x - 5, y - 5, 10, 10, BAD, BAD, round=5)
    card.line(x, top, x, top + step, SOFT, 1.2, dashed=True, through=True)
    for i, (words, value) in enumerate((("upper left", (1 - right) * (1 - lower)), ("upper right", right * (1 - lower)),
                                        ("lower left", (1 - right) * lower), ("lower right", right * lower))):
        card.text(392, 96 + 30 * i, words, 16, at="end")
        card.text(446, 96 + 30 * i, f"{value:g}", 16, GOOD, at="end", bold=True)
    card.text(340, 222, "shares that add up to 1", 15, SOFT)
    card.text(156, 244, "0.25 to the right, 0.5 down", 15, SOFT)
    return card
