# SPDX-License-Identifier: MIT
"""Day 39's ideas: the micro-tile as an outer product, a quarter warp's reads of b at their banks, two buffers over time, and the
tiles in tiles.

    tools/pictures.py 39
"""
from drawing import BAD, GLOBAL, GOOD, INK, OUTPUT, REGISTERS, SHARED, SOFT, THREADS, WHITE, Card, constant, picture

DAY = "day39_matmul_thread_coarsening/"
EACH = 4  # of a toy's thread; 8 in earnest
BANKS, LANES = 32, 8  # lanes whose 16-byte loads are answered together


@picture("outer.svg")
def outer():
    """Four floats of a times four of b are sixteen multiply-adds."""
    card = Card("Eight loads, sixteen multiply-adds", 400,
                "A thread loads four floats of a column of a's tile and four of a row of b's tile, and adds the sixteen products to its sums.")
    size = 52
    sums = card.matrix(140, 136, EACH, EACH, size, "", REGISTERS, values=lambda r, c: f"a{r}b{c}")
    a = card.matrix(74, 136, EACH, 1, size, "", SHARED, values=lambda r, c: f"a{r}")
    b = card.matrix(140, 68, 1, EACH, size, "", SHARED, values=lambda r, c: f"b{c}")
    card.text(62, a.y + 6, "of A", 16, at="end", bold=True)
    card.text(b.right + 16, b.y + 6, "of B", 16, at="start", bold=True)
    card.text(sums.right + 16, sums.y - 4, "16 sums", 16, at="start")
    card.text(sums.right + 16, sums.y + 16, "in registers", 16, at="start")
    card.frame(sums.tile(1, 0, 1, EACH), THREADS[0], 3, -2)
    card.frame(a.cell(1, 0), THREADS[0], 3, -2)
    card.text(240, 366, "One step of k. a1 is loaded once and used four times;", 16, SOFT)
    card.text(240, 386, "with 8 + 8 loads it would be 64 multiply-adds.", 16, SOFT)
    return card


def _row(card, top, name, apart, color):
    """Where lanes 0 to 7 read four floats each, `apart` floats from lane to lane, as a row of the banks for each pass."""
    passes = max(apart * lane + 3 for lane in range(LANES)) // BANKS + 1
    size = 13.2
    left = (480 - BANKS * size) / 2
    owner = {apart * lane + i: lane for lane in range(LANES) for i in range(4)}
    card.text(left, top - 14, name, 16, at="start", bold=True)
    card.text(left + BANKS * size, top - 14, f"{passes} turn{'s' if passes > 1 else ''}", 16, color, "end", bold=True)
    for row in range(passes):
        cells = card.matrix(left, top + row * 22, 1, BANKS, size, "", SHARED,
                            fills=lambda r, c, row=row: THREADS[owner[row * BANKS + c] % 4] if row * BANKS + c in owner else None)
        for lane in range(LANES):
            if apart * lane // BANKS == row:
                place = cells.tile(0, apart * lane % BANKS, 1, 4)
                card.text(place.x, place.bottom - 2.5, lane, 11, WHITE, bold=True)
    return left, size


@picture("banks.svg")
def banks():
    """A quarter warp reads float4s of a row of b: 8 floats from lane to lane, and 4."""
    each = constant(DAY + "04_vectors.cu", "kEach")
    card = Card("Eight lanes read a float4 each", 246,
                "With eight floats from lane to lane, lanes 0 and 4 want the same four banks, and so on: two turns. "
                "With four floats from lane to lane the eight lanes want all 32 banks once: one turn.")
    _row(card, 92, f"vectors: {each} floats from lane to lane", each, BAD)
    left, size = _row(card, 178, "spread: 4 floats from lane to lane", 4, GOOD)
    for bank in (0, 8, 16, 24, 31):
        card.text(left + (bank + 0.5) * size, 212, bank, 14, SOFT)
    card.text(240, 234, "banks; a white number is a lane", 16, SOFT)
    return card


@picture("buffers.svg")
def buffers():
    """One pair of tiles, and two, over time."""
    card = Card("One pair of tiles, and two", 352,
                "With one pair of tiles a block fetches, waits, multiplies and waits by turns. With two it asks for the next pair, "
                "multiplies this one, and then stores what has come.")
    card.text(24, 70, "spread: one pair", 16, at="start", bold=True)
    card.time(80, [("loads", [("fetch 0", 0, 2.5, GLOBAL), ("fetch 1", 6.5, 9, GLOBAL)]),
                   ("FFMA", [("tile 0", 2.5, 6.5, OUTPUT), ("tile 1", 9, 13, OUTPUT)])], end=13, words="")
    card.text(24, 212, "buffered: two pairs", 16, at="start", bold=True)
    card.time(222, [("loads", [("fetch 0", 0, 2.5, GLOBAL), ("fetch 1", 2.5, 5, GLOBAL), ("fetch 2", 6.5, 9, GLOBAL)]),
                    ("FFMA", [("tile 0", 2.5, 6.5, OUTPUT), ("tile 1", 6.5, 10.5, OUTPUT), ("2", 10.5, 13, OUTPUT)])], end=13)
    return card


@picture("tiles.svg")
def tiles():
    """A block's part of c, a warp's in it, a thread's in that."""
    file = DAY + "07_warps.cu"
    block, warp = constant(file, "kTile"), constant(file, "kWarpTile")
    rows, cols, row_lanes, col_lanes = (constant(file, name) for name in ("kRows", "kCols", "kRowLanes", "kColLanes"))
    card = Card("Tiles in tiles", 322,
                "A block's part of c is made by four warps, each a square; a warp's square by 32 lanes in groups of four floats.")
    card.text(116, 62, f"a block: {block} x {block}", 16)
    card.box(32, 76, 168, 168, SHARED, INK, 2.4, 1)
    for r in range(block // warp):
        for c in range(block // warp):
            card.box(32 + 84 * c, 76 + 84 * r, 84, 84, OUTPUT if (r, c) == (0, 1) else "none", INK, 1.6, 1)
            card.text(32 + 84 * c + 42, 76 + 84 * r + 47, f"warp {r * 2 + c}", 15)
    left, top, size = 276, 76, 168
    card.text(left + size / 2, 62, f"a warp: {warp} x {warp}", 16)
    card.box(left, top, size, size, OUTPUT, INK, 2.4, 1)
    unit = size / warp
    for r in range(0, rows, 4):
        for c in range(0, cols, 4):
            card.box(left + (4 + c * col_lanes) * unit, top + (8 + r * row_lanes) * unit, 4 * unit, 4 * unit, THREADS[0], THREADS[0], 1, 0)
    for r in range(1, rows // 4):
        card.line(left, top + r * 4 * row_lanes * unit, left + size, top + r * 4 * row_lanes * unit)
    for c in range(1, cols // 4):
        card.line(left + c * 4 * col_lanes * unit, top, left + c * 4 * col_lanes * unit, top + size)
    card.arrow(206, 118, 270, 118, SOFT)
    card.text(240, 272, f"Blue: lane 9's {rows} x {cols}, in {rows * cols // 16} squares of 4 x 4.", 16, SOFT)
    card.text(240, 296, f"Its 31 neighbours fill the fields, {row_lanes} x {col_lanes} lanes in each.", 16, SOFT)
    return card


@picture("transposed.svg")
def transposed(each=4):
    """A corner of a in global memory and in rung vectors' shared memory: a float4 along k becomes a column."""
    card = Card("Loaded along k, stored down the tile", 262,
                "A thread loads a float4 of a row of A, and stores its floats into four rows of the transposed tile. A float4 of a row of the tile "
                "is then one step of k for four rows of A.")
    size = 36
    a = card.matrix(40, 84, each, each, size, "", GLOBAL, values=lambda r, c: f"{r}{c}")
    card.text(a.x, 68, "A: k to the right", 16, bold=True)
    tile = card.matrix(280, 84, each, each, size, "", SHARED, values=lambda r, c: f"{c}{r}")
    card.text(tile.x, 68, "the tile: k down", 16, bold=True)
    card.frame(a.tile(1, 0, 1, each), THREADS[0], 3, -2)
    card.frame(tile.tile(0, 1, each, 1), THREADS[0], 3, -2)
    card.arrow(a.right + 8, a.cell(1, 0).y, tile.left - 8, tile.cell(1, 0).y, THREADS[0], 2.4)
    card.text(240, 252, "Blue: what one thread copies.", 16, SOFT)
    return card


@picture("ahead.svg")
def ahead(first=3, steps=3):
    """What a warp of autotuned has under way in three steps of a tile, of which 24 pieces are copied in twelve steps."""
    card = Card("Everything is asked for early", 228,
                "While a warp multiplies the floats of one step, it loads those of the next from shared memory, and cp.async brings pieces of the "
                "next tile from global memory.")
    rows = [[], [], []]
    for i in range(steps):
        step, start = first + i, 3 * i
        rows[0].append((f"pieces {2 * step}, {2 * step + 1}", start, start + 3, GLOBAL))
        rows[1].append((f"step {step + 1}", start, start + 1.5, SHARED))
        rows[2].append((f"step {step}", start, start + 3, OUTPUT))
    card.time(52, list(zip(("cp.async", "loads", "FFMA"), rows)), end=3 * steps, left=104)
    return card
