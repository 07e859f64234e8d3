# SPDX-License-Identifier: MIT
"""Day 27's ideas: what a thread's elements share, how many warps a multiprocessor's registers hold, and the one half of the curve that the
other follows from.

    tools/pictures.py 27
"""
import math

from drawing import BAD, GOOD, INK, LINE, OUTPUT, REGISTERS, SHARED, SOFT, Card, constant, picture

FOLDER = "day27_triton_gelu/"
FILE, LANES = 65536, 32  # registers of a multiprocessor, threads of a warp
TAKES = {"sixteen": 32, "sixty_four": 126}  # registers a thread, as `./days explain 27` has them


def elements(rung, number):
    """Of a thread."""
    file = f"{FOLDER}{number:02d}_{rung}.py"
    return constant(file, "BLOCK") // (constant(file, "WARPS") * LANES)


@picture("shared.svg")
def shared():
    one, eight = elements("one", 1), elements("eight", 2)
    card = Card("Done once, for one element or for eight", 300,
                f"Four threads of {one} element each do four times what has to be done once. A thread of {eight} elements does it once for all.")
    once, each, top = 60, 38, 72
    card.text(24, top, f"{one} element a thread: four threads", 16, at="start", bold=True)
    left = 24
    for _ in range(4):
        for words, width, fill in (("once", once, SHARED), ("each", each + 8, OUTPUT)):
            place = card.box(left, top + 14, width, 40, fill)
            card.text(place.x, top + 40, words, 15)
            left += width
    card.text(24, top + 96, f"{eight} elements a thread: one thread", 16, at="start", bold=True)
    place = card.box(24, top + 110, once, 40, SHARED)
    card.text(place.x, top + 136, "once", 15)
    for number in range(eight):
        place = card.box(24 + once + number * each, top + 110, each, 40, OUTPUT)
        card.text(place.x, top + 136, number, 15)
    card.text(24, top + 184, "once: the index, the mask, the addresses", 16, SOFT, "start")
    card.text(24, top + 208, "each: the formula", 16, SOFT, "start")
    return card


@picture("room.svg")
def room():
    card = Card("More registers a thread, fewer warps", 320,
                f"A multiprocessor's registers hold 64 warps whose threads take {TAKES['sixteen']} each, and 16 whose threads take {TAKES['sixty_four']}.")
    for left, (name, number) in zip((24, 258), (("sixteen", 3), ("sixty_four", 4))):
        warps = min(64, FILE // (LANES * (-(-TAKES[name] // 8) * 8)))
        across = 8 if warps == 64 else 4
        side = 198 / across
        card.text(left + 99, 66, f"{elements(name, number)} elements a thread", 16, bold=True)
        for warp in range(warps):
            card.box(left + warp % across * side, 80 + warp // across * side, side, side, REGISTERS, INK)
        card.text(left + 99, 304, f"room for {warps} warps", 16, GOOD if warps == 64 else BAD, bold=True)
    return card


@picture("halves.svg")
def halves():
    card = Card("The right half is the left one, turned", 300,
                "P(x) rises from 0 to 1. P(a) on the right is 1 minus P(-a) on the left, so a formula for the left half is enough.")
    at = lambda x: (240 + 50 * x, 240 - 160 * (1 + math.erf(x / math.sqrt(2))) / 2)  # noqa: E731
    card.line(24, 240, 456, 240)
    card.line(24, 80, 456, 80, dashed=True)
    card.line(240, 60, 240, 250, dashed=True, color=LINE)
    for step in range(-42, 42):
        x = step / 10
        card.line(*at(x), *at(x + 0.1), color=GOOD if x < 0 else INK, thick=3)
    card.text(456, 72, "1", 15, SOFT, "end")
    card.text(456, 258, "0", 15, SOFT, "end")
    for x, words, color in ((-1, "P(-a)", GOOD), (1, "1 - P(-a)", INK)):
        px, py = at(x)
        card.disc(px, py, "", color, 5)
        card.text(px - 12 if x < 0 else px + 14, py - 8 if x < 0 else py + 22, words, 16, color, "end" if x < 0 else "start", bold=True)
    card.text(190, 264, "-a", 15, SOFT)
    card.text(290, 264, "a", 15, SOFT)
    card.text(240, 290, "P(x): how likely a normal number is below x", 16, SOFT)
    return card
