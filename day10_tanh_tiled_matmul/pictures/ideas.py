# SPDX-License-Identifier: MIT
"""Day 10's ideas: how often an element of C travels, a tile's four sums a thread, epilogues in a row, and what k makes of it all.

    tools/pictures.py 10

What memory needs is worked out from the copy that day 13 recorded on an H200; points in gain.svg are those of day10.json, once measured.
"""
import json
import math
from pathlib import Path

from drawing import BAD, GLOBAL, GOOD, INK, OUTPUT, REGISTERS, SOFT, THREADS, WHITE, Card, constant, picture

RESULTS = Path(__file__).resolve().parent.parent.parent / "docs" / "results" / "h200"
TURNS_OF_128_BYTES = 15.5 / 2  # day 13
REQUESTS_A_STEP = 0.5  # of shared memory, nvcc's: 8 of 4 and 8 of 16 bytes a lane for 32 multiply-adds


def _kernel(card, left, top, words, wide=104):
    place = card.box(left, top, wide, 36, REGISTERS)
    card.text(place.x, place.y + 6, words, 16, bold=True)
    return place


@picture("trips.svg")
def trips():
    """An element between multiprocessor and memory: two kernels and one."""
    card = Card("How often an element of C travels", 330,
                "With two kernels an element is written, read and written; with a fused one it is written once.")
    for left, right, y, name in ((20, 300, 60, "two launches"), (326, 460, 60, "fused")):
        card.text((left + right) / 2, y, name, 17, bold=True)
    memory = card.box(20, 214, 440, 40, GLOBAL)
    card.text(memory.x, memory.y + 6, "memory", 16, bold=True)
    product, tanh = _kernel(card, 30, 96, "A * B"), _kernel(card, 190, 96, "tanh")
    fused = _kernel(card, 330, 96, "tanh(A * B)", 126)
    for place, dx, down, colour, number in ((product, 0, True, BAD, 1), (tanh, -30, False, BAD, 2), (tanh, 30, True, GOOD, 3),
                                            (fused, 0, True, GOOD, 1)):
        x = place.x + dx
        card.arrow(x, *((place.bottom + 3, x, memory.top - 3) if down else (memory.top - 3, x, place.bottom + 3)), colour, 2.4)
        card.disc(x + 20, (place.bottom + memory.top) / 2, number, colour, 12)
    card.text(160, 284, "12 bytes", 17, BAD, bold=True)
    card.text(393, 284, "4 bytes", 17, GOOD, bold=True)
    card.text(240, 314, "A and B are small beside C where k is small.", 16, SOFT)
    return card


@picture("four_each.svg")
def four_each():
    """Which elements of a tile are a thread's: a column of them, some rows apart."""
    tile, rows = constant("day10_tanh_tiled_matmul/tile.cuh", "kTile"), constant("day10_tanh_tiled_matmul/tile.cuh", "kRows")
    card = Card("Four sums a thread", 290, "In a toy tile of 8 x 8 a block of 8 x 2 threads makes four elements of a column with each thread.")
    toy = 2
    m = card.matrix(60, 62, 8, 8, 22, "", OUTPUT, values=lambda r, c: r % toy * 8 + c,
                    fills=lambda r, c: THREADS[r % toy] if c == 3 else None, inks=lambda r, c: WHITE if c == 3 else None)
    card.text(m.right + 14, m.cell(0, 0).y + 6, "thread 3: rows 0, 2, 4, 6", 15, THREADS[0], "start")
    card.text(240, 262, f"Ours: a tile of {tile} x {tile}, rows {rows} apart. Sums in registers.", 16, SOFT)
    return card


@picture("in_a_row.svg")
def in_a_row():
    """An epilogue of three steps."""
    card = Card("An epilogue is steps in a row", 236, "The sum passes AddBias, Tanh and AddResidual, all in registers, before one store.")
    y = 96
    names = [("AddBias", "bias[col]"), ("Tanh", ""), ("AddResidual", "residual[row, col]")]
    card.text(12, y + 24, "sum", 16, at="start", bold=True)
    left = 74
    for name, reads in names:
        wide = 116 if name == "AddResidual" else 92
        place = card.box(left, y, wide, 38, REGISTERS)
        card.text(place.x, place.y + 6, name, 15, bold=True)
        card.arrow(left - 18, place.y, left - 2, place.y)
        if reads:
            card.arrow(place.x, place.bottom + 38, place.x, place.bottom + 3, THREADS[0])
            card.text(place.x, place.bottom + 56, reads, 15, THREADS[0])
        left += wide + 21
    card.arrow(left - 20, y + 19, left - 2, y + 19)
    card.text(left + 2, y + 25, "C", 16, at="start", bold=True)
    card.text(240, 222, "Nothing but the store goes back to memory.", 16, SOFT)
    return card


def _measured():
    """{k: how many times as fast as in_place fused is}, at m = 8192."""
    path, found = RESULTS / "day10.json", {}
    for table in json.loads(path.read_text(encoding="utf-8"))["tables"] if path.exists() else ():
        if table["ladder"] == "tanh_matmul" and table["shape"]["m"] == 8192:
            seconds = {row["name"]: row["seconds"] for row in table["rows"] if "seconds" in row}
            if "in_place" in seconds and "fused" in seconds:
                found[table["shape"]["k"]] = seconds["in_place"] / seconds["fused"]
    return found


@picture("gain.svg")
def gain():
    """How many times as fast fused can be as two launches, by k."""
    card = Card("What fusing can gain, by k", 340, "Three times at k = 8, falling towards one as k grows.")
    left, right, bottom, top = 66, 440, 246, 66
    x = lambda k: left + (math.log2(k) - 2) / 10 * (right - left)  # 4 to 4096
    y = lambda times: bottom - (times - 1) / 2.2 * (bottom - top)  # 1 to 3.2
    for k in (8, 32, 128, 512, 2048):
        card.line(x(k), bottom, x(k), bottom + 5)
        card.text(x(k), bottom + 22, k, 15, SOFT)
    for times in (1, 2, 3):
        card.line(left - 5, y(times), left, y(times))
        card.text(left - 9, y(times) + 5, f"{times} x", 15, SOFT, "end")
    card.line(left, bottom, right, bottom)
    card.line(left, bottom, left, top - 6)
    def times(k):
        product = max(TURNS_OF_128_BYTES, REQUESTS_A_STEP * k)
        return (product + 2 * TURNS_OF_128_BYTES) / product
    ks = [2 ** (i / 4) for i in range(8, 49)]
    for a, b in zip(ks, ks[1:]):
        card.line(x(a), y(times(a)), x(b), y(times(b)), THREADS[0], 3)
    points = _measured()
    for k, ratio in points.items():
        card.parts.append(f'<circle cx="{x(k):g}" cy="{y(ratio):g}" r="6" fill="{INK}"/>')
    card.text(x(40), y(2.6), "memory's 12 bytes against 4", 16, THREADS[0], "start")
    card.text(right, y(1.75), "the product's own time", 16, SOFT, "end")
    card.text(240, 296, "k, along; times as fast as two launches, up", 16, SOFT)
    card.text(240, 324, "Line: by the counts. Point: measured." if points else "Not timed on a GPU yet: no points.", 16, SOFT)
    return card
