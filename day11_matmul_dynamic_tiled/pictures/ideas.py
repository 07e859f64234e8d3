# SPDX-License-Identifier: MIT
"""Day 11's ideas: who uses what was fetched, how tiles walk along k, zeros beyond an edge, the race of the second barrier, a tile
larger than its block, blocks that share a multiprocessor, and what a tile's side allows.

    tools/pictures.py 11

The limits in intensity.svg are those of docs/results/h200, and so are its points.
"""
import json
import math
from pathlib import Path

from drawing import BAD, EMPTY, GLOBAL, GOOD, HALO, INK, OUTPUT, SHARED, SOFT, THREADS, WHITE, Card, constant, picture

RESULTS = Path(__file__).resolve().parent.parent.parent / "docs" / "results" / "h200"
TILE = constant("day11_matmul_dynamic_tiled/02_tiled.cu", "kTile")
DEPTH = constant("day11_matmul_dynamic_tiled/matmul.h", "kDepth")
THREADS_A_BLOCK = constant("day11_matmul_dynamic_tiled/03_dynamic.cu", "kThreads")


@picture("shared_use.svg")
def shared_use():
    """A tile of C of 4 x 4, one float of A and one of B, and who uses them."""
    card = Card("Who uses one float of A, one of B", 300,
                "A float of A is used by a row of the tile of C, a float of B by a column of it: four elements each.")
    a = card.matrix(52, 128, 4, 1, 30, "A", GLOBAL, fills={(1, 0): THREADS[0]}, values={(1, 0): "a"}, inks={(1, 0): WHITE})
    c = card.matrix(180, 128, 4, 4, 30, "", OUTPUT,
                    fills=lambda r, c: HALO if r == 1 and c == 2 else THREADS[0] if r == 1 else THREADS[1] if c == 2 else None)
    b = card.matrix(180, 78, 1, 4, 30, "", GLOBAL, fills={(0, 2): THREADS[1]}, values={(0, 2): "b"}, inks={(0, 2): WHITE})
    card.text(170, b.y + 6, "B", at="end", bold=True)
    card.text(c.right + 16, c.y + 6, "a tile of C", at="start", bold=True)
    card.text(a.right + 14, a.cell(1, 0).y - 10, "4 uses", 15, SOFT, "start")
    card.arrow(a.right + 6, a.cell(1, 0).y, c.left - 4, c.cell(1, 0).y, THREADS[0])
    card.arrow(b.cell(0, 2).x, b.bottom + 2, c.cell(0, 2).x, c.top - 3, THREADS[1])
    card.text(240, 282, "8 floats fetched feed 16 multiply-adds.", 16, SOFT)
    return card


@picture("steps.svg")
def steps():
    """The tiles of A go right, those of B go down; the tile of C stays."""
    card = Card("Tiles walk along k, C's stays", 366,
                "For piece 0, 1, 2 of k the block fetches the next tile of A to the right and the next tile of B below.")
    size, tile = 17, 3
    a = card.matrix(44, 190, 6, 9, size, "", GLOBAL, fills=lambda r, c: SHARED if 3 <= r < 6 else None)
    b = card.matrix(250, 52, 9, 9, size, "", GLOBAL, fills=lambda r, c: SHARED if 3 <= c < 6 else None)
    c = card.matrix(250, 226, 6, 9, size, "", EMPTY, fills=lambda r, c: OUTPUT if 3 <= r < 6 and 3 <= c < 6 else None)
    for i in range(3):
        for place in (a.tile(3, i * tile, tile, tile), b.tile(i * tile, 3, tile, tile)):
            card.frame(place, INK, 2.4, -1)
            card.disc(place.x, place.y, i, BAD, 12)
    card.frame(c.tile(3, 3, tile, tile), GOOD, 3, 0)
    card.text(a.left, a.top - 10, "A", at="start", bold=True)
    card.text(b.right + 10, b.y, "B", at="start", bold=True)
    card.text(c.right + 10, c.y + 6, "C", at="start", bold=True)
    card.text(132, 84, "a number is a piece", 16, SOFT)
    card.text(132, 106, "of k, 3 positions", 16, SOFT)
    card.text(120, 326, "along k", 16, SOFT)
    card.arrow(152, 321, 196, 321)
    card.text(240, 354, "The next piece is fetched over the last one.", 16, SOFT)
    return card


@picture("edges.svg")
def edges():
    """A matrix of 6 x 7 in tiles of 4: what sticks out is filled with zeros."""
    card = Card("Beyond the edge: zeros", 276,
                "A matrix of 6 rows and 7 columns is covered by tiles of 4 x 4; places outside of it hold zeros.")
    a = card.matrix(120, 62, 8, 8, 20, "", GLOBAL, fills=lambda r, c: WHITE if r >= 6 or c >= 7 else None,
                    values=lambda r, c: 0 if r >= 6 or c >= 7 else None)
    for row in (0, 4):
        for col in (0, 4):
            card.frame(a.tile(row, col, 4, 4), INK, 2.4, 0)
    card.text(a.right + 16, 112, "6 x 7 floats,", 16, SOFT, "start")
    card.text(a.right + 16, 134, "tiles of 4 x 4", 16, SOFT, "start")
    card.text(240, 258, "Zeros add nothing, so the loop need not ask.", 16, SOFT)
    return card


@picture("barriers.svg")
def barriers():
    """Two warps without the second barrier: the fast one fetches the next tile over the one that is still read."""
    card = Card("Why there is a second barrier", 326, "A fast warp overwrites the tile while a slow one still reads it; with the barrier it waits.")
    card.text(240, 62, "without it", 17, BAD, bold=True)
    card.time(78, [("fast", [("fetch 0", 0, 2, GLOBAL), ("use 0", 2, 4, SHARED), ("fetch 1", 4, 6, BAD), ("", 6, 8, "")]),
                   ("slow", [("fetch 0", 0, 2, GLOBAL), ("use 0", 2, 4, SHARED), ("uses 1 as 0", 4, 8, HALO)])], 84, 28, 8, "")
    card.text(240, 196, "with it", 17, GOOD, bold=True)
    card.time(210, [("fast", [("fetch 0", 0, 2, GLOBAL), ("use 0", 2, 4, SHARED), ("wait", 4, 6, ""), ("fetch 1", 6, 8, GLOBAL)]),
                    ("slow", [("fetch 0", 0, 2, GLOBAL), ("use 0", 2, 6, SHARED), ("fetch 1", 6, 8, GLOBAL)])], 84, 28, 8, "")
    return card


@picture("larger.svg")
def larger():
    """A block of 4 x 2 threads makes a tile of 8 x 8 elements: each thread eight of them."""
    card = Card("A tile larger than its block", 330,
                "Eight threads in two rows of four make a tile of 8 x 8: each thread makes every fourth column of every second row.")
    size = 24
    owner = lambda r, c: r % 2 * 4 + c % 4
    block = card.matrix(40, 118, 2, 4, size, "block", EMPTY, values=owner,
                        fills=lambda r, c: THREADS[0] if owner(r, c) == 1 else None, inks=lambda r, c: WHITE if owner(r, c) == 1 else None)
    tile = card.matrix(232, 74, 8, 8, size, "", OUTPUT, values=owner,
                       fills=lambda r, c: THREADS[0] if owner(r, c) == 1 else None, inks=lambda r, c: WHITE if owner(r, c) == 1 else None)
    card.text(tile.x, 62, "tile of C", bold=True)
    card.arrow(block.right + 10, block.y, tile.left - 10, block.y)
    card.text(182, 162, "again", 15, SOFT)
    card.text(182, 182, "and again", 15, SOFT)
    card.text(240, 296, f"A number is a thread. The real block has {THREADS_A_BLOCK};", 16, SOFT)
    card.text(240, 318, "the sums lie in shared memory, too.", 16, SOFT)
    return card


@picture("residents.svg")
def residents():
    """Blocks of three tiles in the 228 KiB of a multiprocessor's shared memory."""
    card = Card("Blocks that fit a multiprocessor", 300,
                "Shared memory of 228 KiB holds six blocks of tile 64, of which the threads allow four, two of tile 128 and one of tile 192.")
    whole, left, wide = 228, 112, 330
    for row, tile in enumerate((64, 128, 192)):
        y = 76 + row * 62
        card.text(left - 12, y + 25, f"{tile} x {tile}", 16, at="end", bold=True)
        card.box(left, y, wide, 38, EMPTY)
        each = 4 * (2 * tile * DEPTH + tile * tile) / 1024 + 1
        blocks = min(int(whole / each), 2048 // THREADS_A_BLOCK)
        for i in range(blocks):
            card.box(left + i * each / whole * wide, y, each / whole * wide, 38, SHARED, INK, 1.6)
            card.text(left + (i + 0.5) * each / whole * wide, y + 25, i, 16)
    card.text(240, 274, f"A bar is {whole} KiB. 2,048 threads are four blocks.", 16, SOFT)
    return card


def _limits():
    """(FFMA operations a second, bytes a second) of the H200, as days 06 and 13 recorded them."""
    rate = json.loads((RESULTS / "day06.json").read_text(encoding="utf-8"))["tables"][0]["limit"]["per_second"]
    tables = json.loads((RESULTS / "day13.json").read_text(encoding="utf-8"))["tables"]
    return rate, next(table for table in tables if table["ladder"] == "transpose")["limit"]["per_second"]


def _measured():
    """{tile: operations a second} of the kernel of 03_dynamic.cu for 4096 x 4096 x 4096; none where nothing was measured."""
    path, found = RESULTS / "day11.json", {}
    for table in json.loads(path.read_text(encoding="utf-8"))["tables"] if path.exists() else ():
        if table["shape"]["m"] != 4096:
            continue
        tiles = {"by_hand": table["shape"].get("tile"), "dynamic": 64, "picked": 128}
        for row in table["rows"]:
            if row["name"] in tiles and "flops_per_second" in row:
                found[tiles[row["name"]]] = row["flops_per_second"]
    return found


@picture("intensity.svg")
def intensity():
    """Speed at most by the side of the tile: what memory allows if everything is fetched from there, and two flat limits."""
    rate, bandwidth = _limits()
    card = Card("What the side of a tile allows", 400,
                "Operations a second that memory allows rise with the tile's side and cross the arithmetic's limit at about 62; "
                "shared memory's limit of one element a thread lies far below.")
    left, right, bottom, top = 76, 440, 300, 76
    x = lambda tile: left + (math.log2(tile)) / 8 * (right - left)  # 1 to 256
    y = lambda tera: bottom - (math.log2(tera)) / 7 * (bottom - top)  # 1 to 128 TFLOP/s
    for tile in (1, 4, 16, 32, 64, 128):
        card.line(x(tile), bottom, x(tile), bottom + 5)
        card.text(x(tile), bottom + 22, tile, 15, SOFT)
    for tera in (1, 4, 16, 64):
        card.line(left - 5, y(tera), left, y(tera))
        card.text(left - 9, y(tera) + 5, tera, 15, SOFT, "end")
    card.line(left, bottom, right, bottom)
    card.line(left, bottom, left, top - 8)
    memory = lambda tile: tile / 4 * bandwidth / 1e12  # 2 t^2 operations for 2 t floats of 4 bytes
    card.line(x(1), y(memory(1)), x(120), y(memory(120)), THREADS[0], 3)
    card.line(left, y(rate / 1e12), right, y(rate / 1e12), GOOD, 2.4)
    card.line(left, y(rate / 8e12), right, y(rate / 8e12), BAD, 2.4, dashed=True)
    card.line(left, y(rate / 5e12), right, y(rate / 5e12), BAD, 2.4, dashed=True)
    card.text(left + 10, y(rate / 1e12) - 8, "arithmetic", 16, GOOD, "start", bold=True)
    card.text(right, y(rate / 5e12) - 8, "1.25 turns a step", 15, BAD, "end")
    card.text(right, y(rate / 8e12) + 20, "2 turns a step,", 15, BAD, "end")
    card.text(right, y(rate / 8e12) + 40, "shared memory", 15, BAD, "end", bold=True)
    card.text(right, y(1.6), "memory, t / 4 operations a byte", 15, THREADS[0], "end", bold=True)
    points = _measured()
    for tile, speed in points.items():
        card.parts.append(f'<circle cx="{x(tile):g}" cy="{y(speed / 1e12):g}" r="6" fill="{INK}"/>')
    card.text(240, 346, "side t of the tile, along; TFLOP/s, up", 16, SOFT)
    words = "Points: rung 3's kernel at 4,096, measured." if points else "No tile has been timed on a GPU yet: no points."
    card.text(240, 374, words, 16, SOFT)
    return card
