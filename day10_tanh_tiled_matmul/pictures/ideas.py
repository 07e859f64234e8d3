# SPDX-License-Identifier: MIT
"""Day 10's ideas: how often an element of C travels, a tile's four sums a thread, what fusing saves, epilogues in a row, and what k makes
of it all.

    tools/pictures.py 10

Times are those of day10.json, recorded on an H200.
"""
import json
import math
from pathlib import Path

from drawing import BAD, GLOBAL, GOOD, INK, OUTPUT, REGISTERS, SOFT, THREADS, WHITE, Card, constant, picture

RESULTS = Path(__file__).resolve().parent.parent.parent / "docs" / "results" / "h200"
TURNS_OF_A_PIECE = 78 / 16  # fused_kernel's loop over pieces of k has 78 instructions for 4 elements, and 4 start in a turn


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


def _recorded():
    """{ladder: {name: seconds}} of k = 8, at m = 8192, and of tanh alone, and a clock in GHz and the multiprocessors."""
    results = json.loads((RESULTS / "day10.json").read_text(encoding="utf-8"))
    found = {table["ladder"]: {row["name"]: row["seconds"] for row in table["rows"] if "seconds" in row} for table in results["tables"]
             if table["shape"] in ({"n": 2 ** 28}, {"m": 8192, "n": 8192, "k": 8})}
    return found, results["clocks"]["sm_mhz"]["median"] / 1000, results["device"]["multiprocessors"]


@picture("saved.svg")
def saved():
    """Two bars of time: two launches and fused, in product and tanh."""
    found, _, _ = _recorded()
    both, fused = (found["tanh_matmul"][name] * 1e6 for name in ("two_launches", "fused"))
    own = found["tanh"]["alone"] / 4 * 1e6  # a quarter of its elements
    product = both - own
    card = Card("Fusing saves the pass, not the product", 224,
                f"Two launches: product {product:.0f} and tanh {own:.0f} microseconds. Fused: {product:.0f} and {fused - product:.0f}.")
    scale = 440 / both
    for y, name, tanh in ((82, f"two_launches, {both:.0f} µs", own), (160, f"fused, {fused:.0f} µs", fused - product)):
        card.text(20, y - 10, name, 16, at="start", bold=True)
        bar = card.box(20, y, product * scale, 38, REGISTERS)
        card.text(bar.x, bar.y + 6, f"product {product:.0f}", 16)
        rest = card.box(20 + product * scale, y, tanh * scale, 38, GLOBAL)
        if tanh == own:
            card.text(rest.x, rest.y + 6, f"tanh's own pass {tanh:.0f}", 16)
        else:
            card.text(rest.right + 10, rest.y + 6, f"tanh in the epilogue {tanh:.0f}", 16, at="start")
    return card


@picture("gain.svg")
def gain():
    """How many times as fast fused can be as two launches, by k."""
    found, ghz, multiprocessors = _recorded()
    turns = {name: seconds * ghz * 1e9 / (8192 * 8192 / 32 / multiprocessors) for name, seconds in found["tanh_matmul"].items()}
    pass_saved = turns["in_place"] - turns["fused"]
    card = Card("What fusing can gain, by k", 340, "Two times at k = 8, measured; by the counts it falls towards one as k grows.")
    left, right, bottom, top = 66, 440, 246, 76
    x = lambda k: left + 14 + (math.log2(k) - 3) / 9 * (right - left - 14)  # 8 to 4096
    y = lambda times: bottom - (times - 1) / 1.2 * (bottom - top)  # 1 to 2.2
    for k in (8, 32, 128, 512, 2048):
        card.line(x(k), bottom, x(k), bottom + 5)
        card.text(x(k), bottom + 22, k, 15, SOFT)
    for times in (1, 1.5, 2):
        card.line(left - 5, y(times), left, y(times))
        card.text(left - 9, y(times) + 5, f"{times:g} x", 15, SOFT, "end")
    card.line(left, bottom, right, bottom)
    card.line(left, bottom, left, top - 6)
    times = lambda k: 1 + pass_saved / (turns["fused"] + TURNS_OF_A_PIECE * (k / 8 - 1))
    ks = [2 ** (i / 4) for i in range(12, 49)]
    for a, b in zip(ks, ks[1:]):
        card.line(x(a), y(times(a)), x(b), y(times(b)), THREADS[0], 3)
    card.parts.append(f'<circle cx="{x(8):g}" cy="{y(times(8)):g}" r="6" fill="{INK}"/>')
    card.text(x(8) + 12, y(times(8)) - 4, "measured", 16, INK, "start")
    card.text(x(64), y(1.5), "at most, by instructions", 16, THREADS[0], "start")
    card.text(240, 296, "k, along; times as fast as two launches, up", 16, SOFT)
    card.text(240, 324, "The pass costs the same for all k, the product more.", 16, SOFT)
    return card
