# SPDX-License-Identifier: MIT
"""Day 71's ideas: three walks over a row and one, how a sum is mended when a larger element comes, and which warps share a short row.

    tools/pictures.py 71
"""
import math

from drawing import BAD, GLOBAL, GOOD, OUTPUT, REGISTERS, SOFT, THREADS, WHITE, Card, picture

ROW = [1, 3, 2, 5, 4, 1]


@picture("reads.svg")
def reads():
    card = Card("Three walks over a row, or one", 372,
                "In pieces a program walks over its row three times: for the largest element, the sum, the result. As one block it loads the row once "
                "and keeps it in registers.")
    card.text(28, 66, "in pieces: a row of any length", 16, at="start", bold=True)
    for number, (top, words) in enumerate(((76, "largest: 5"), (116, "sum of e^(x - 5)"), (156, "each / sum"))):
        row = card.cells(top, "", ROW, 28, 36, 32, GLOBAL)
        card.text(row.right + 12, row.y + 5, f"{number + 1}  {words}", 16, BAD if number < 2 else SOFT, "start")
    card.text(28, 226, "as one block: a row that fits", 16, at="start", bold=True)
    row = card.cells(236, "", [*ROW, "-∞", "-∞"], 28, 36, 32, GLOBAL, fills={6: REGISTERS, 7: REGISTERS}, inks={6: SOFT, 7: SOFT})
    card.text(row.right + 12, row.y + 5, "loaded once", 16, GOOD, "start")
    card.arrow(172, 272, 172, 290)
    kept = card.cells(294, "", [f"{math.exp(x - max(ROW)):.2f}".lstrip("0") for x in ROW] + ["0", "0"], 28, 36, 24, REGISTERS)
    card.text(kept.right + 12, kept.y + 5, "in registers", 16, SOFT, "start")
    card.text(240, 356, "A block of 8 for a row of 6: −∞ adds e^−∞ = 0.", 16, SOFT)
    return card


@picture("online.svg")
def online():
    pieces = [ROW[:2], ROW[2:4], ROW[4:]]
    card = Card("A sum that is mended", 318,
                "Three pieces of two. Where a piece brings a larger element, the sum so far is scaled down: 1.14 becomes 1.14 e^(3 - 5) and the new terms are added.")
    highest, whole, top = -math.inf, 0.0, 66
    for number, piece in enumerate(pieces):
        card.cells(top, "", piece, 28, 40, 34, GLOBAL)
        higher = max(highest, *piece)
        scale = math.exp(highest - higher)
        new = whole * scale + sum(math.exp(x - higher) for x in piece)
        grown = number > 0 and higher > highest
        if number == 0:
            words = f"sum = {new:.2f}"
        elif grown:
            words = f"sum = {whole:.2f} × e^({highest} − {higher}) + {new - whole * scale:.2f} = {new:.2f}"
        else:
            words = f"sum = {whole:.2f} + {new - whole:.2f} = {new:.2f}"
        card.text(124, top + 14, f"largest {higher}", 16, BAD if grown else SOFT, "start", bold=grown)
        card.text(124, top + 36, words, 16, at="start")
        highest, whole, top = higher, new, top + 66
    card.box(20, top - 4, 440, 34, OUTPUT)
    exact = sum(math.exp(x - max(ROW)) for x in ROW)
    if abs(exact - whole) > 1e-12:
        raise ValueError("the mended sum is not the sum")
    card.text(240, top + 18, f"the same as in two walks: {exact:.2f}", 16, GOOD, bold=True)
    return card


@picture("several.svg")
def several():
    lanes = warps = 4  # for 32 and 4
    card = Card("A row over four warps, or in one", 314,
                "In one_read each of the 16 threads of four warps has one element of a row of 16. In several each of four rows lies in one warp, and a "
                "thread has four neighbours.")
    card.text(32, 68, "one_read: each thread has one element", 16, at="start", bold=True)
    rows = [range(lanes * warps)]
    rows += [[lanes * warp + i // 4 for i in range(lanes * warps)] for warp in range(warps)]
    for number, threads in enumerate(rows):
        if number == 1:
            card.text(32, 148, "several: a row a warp, four neighbours a thread", 16, at="start", bold=True)
        top = 78 if number == 0 else 158 + 30 * (number - 1)
        card.cells(top, "", list(threads), 32, 26, 26, fills={i: THREADS[t // lanes] for i, t in enumerate(threads)},
                   inks=dict.fromkeys(range(lanes * warps), WHITE))
    card.text(240, 298, "number: thread, colour: warp", 16, SOFT)
    return card
