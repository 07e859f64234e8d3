# SPDX-License-Identifier: MIT
"""Day 37's ideas: which floats have a square, a row scaled by a power of two, what Blue's three sums take, and which part of dy changes a
direction.

    tools/pictures.py 37
"""
from math import log2, sqrt

from drawing import GLOBAL, GOOD, OUTPUT, REGISTERS, SHARED, SOFT, THREADS, WIDTH, Card, picture

LEAST, MOST = -149, 128  # exponents of fp32: of its least number, and of where infinity begins
LOW, HIGH = -63, 64  # a float from 2^LOW on below 2^HIGH has a square that is a normal float
assert 2 * LOW == -126 and 2 * HIGH == MOST


def across(exponent):
    return 24 + 432 * (exponent - LEAST) / (MOST - LEAST)


def zones(card, top, words, low=LOW, high=HIGH):
    for first, last, fill, text in ((LEAST, low, SHARED, words[0]), (low, high, OUTPUT, words[1]), (high, MOST, SHARED, words[2])):
        card.box(across(first), top, across(last) - across(first), 36, fill)
        card.text((across(first) + across(last)) / 2, top + 23, text, 15)


@picture("squares.svg")
def squares():
    card = Card("Half of all floats have no square", 250,
                "The exponents of fp32 on a line, from -149 to 128. Squares of floats below 2^-63 are denormal or 0, from 2^64 on infinite; a "
                "multiplication by a power of two moves a row into the middle.")
    card.text(24, 72, "x, by its exponent", 16, at="start", bold=True)
    zones(card, 82, ("x² loses digits", "x² is a float", "x² is inf"))
    for exponent in (LOW, 0, HIGH):
        card.text(across(exponent), 138, f"2^{exponent}" if exponent else "1", 15, SOFT)
    card.text(across(LEAST), 138, f"2^{LEAST}", 15, SOFT, "start")
    card.text(across(MOST), 138, f"2^{MOST}", 15, SOFT, "end")
    card.curve(across(100), 196, across(1), 150, 6, GOOD, 2.6)
    card.curve(across(-120), 196, across(-1), 150, 6, GOOD, 2.6)
    card.text(across(100), 214, "x · 2^-100", 15, GOOD)
    card.text(across(-120), 214, "x · 2^120", 15, GOOD)
    card.text(WIDTH / 2, 240, "A power of two moves a row here, and rounds nothing.", 15, SOFT)
    return card


@picture("scale.svg")
def scale():
    x = [3e20, 4e20]
    power = int(log2(max(x)))
    scaled = [value / 2 ** power for value in x]
    total = sum(value * value for value in scaled)
    assert abs(sqrt(total) * 2.0 ** power - 5e20) < 1e6
    card = Card("Down, square, and up again", 310,
                f"3e20 and 4e20 times 2^-{power} are {scaled[0]:.3f} and {scaled[1]:.3f}; the root of the sum of their squares, {sqrt(total):.3f}, "
                f"times 2^{power} is 5e20.")
    card.cells(66, "", ["3e20", "4e20"], left=40, size=90, height=36, fill=GLOBAL)
    card.text(334, 90, "the largest: in 2^68 … 2^69", 15, SOFT)
    assert power == 68
    card.arrow(130, 104, 130, 134, GOOD, 2.4)
    card.text(146, 125, f"times 2^-{power}: exact", 15, GOOD, "start")
    card.cells(138, "", [f"{value:.3f}" for value in scaled], left=40, size=90, height=36, fill=REGISTERS)
    card.arrow(130, 176, 130, 206)
    card.text(146, 197, "squares, their sum, its root", 15, SOFT, "start")
    card.box(85, 210, 90, 36, REGISTERS)
    card.text(130, 233, f"{sqrt(total):.3f}", 16)
    card.arrow(178, 228, 290, 228, GOOD, 2.4)
    card.text(234, 218, f"times 2^{power}", 15, GOOD)
    card.box(294, 210, 90, 36, OUTPUT)
    card.text(339, 233, "5e20", 16, bold=True)
    card.text(WIDTH / 2, 286, "y needs no way up: scaled x over scaled root.", 15, SOFT)
    return card


@picture("three.svg")
def three():
    card = Card("Three sums, no largest", 292,
                "Small numbers are scaled up by 2^75, big ones down by 2^-76, the rest are squared as they are. Each kind has a sum of its own.")
    zones(card, 66, ("small", "middle", "big"), -63, 52)
    ends = ((LEAST, -63, "· 2^75"), (-63, 52, "· 1"), (52, MOST, "· 2^-76"))
    for i, (first, last, words) in enumerate(ends):
        x = (across(first) + across(last)) / 2
        card.arrow(x, 104, x, 166, THREADS[i], 2.4)
        card.text(x + (-10 if i == 2 else 10), 146, words, 16, THREADS[i], "end" if i == 2 else "start", bold=True)
        card.box(x - 50, 170, 100, 40, REGISTERS)
        card.text(x, 195, "Σ square", 16)
    card.text(across(-63), 122, "2^-63", 15, SOFT)
    card.text(across(52), 122, "2^52", 15, SOFT)
    card.text(WIDTH / 2, 242, "Each x goes to one sum, as soon as it is seen.", 15, SOFT)
    card.text(WIDTH / 2, 268, "In the end: big + middle; without big, middle + small.", 15, SOFT)
    return card


@picture("along.svg")
def along():
    card = Card("What a length takes away", 300,
                "y has length 1. The part of dy along y would make x longer or shorter, which the norm undoes. The part across y is left, and that is the gradient.")
    left, bottom = 90, 250
    y, dy = (190, -30), (150, -150)
    share = (y[0] * dy[0] + y[1] * dy[1]) / (y[0] ** 2 + y[1] ** 2)
    foot = (y[0] * share, y[1] * share)
    card.arrow(left, bottom, left + y[0], bottom + y[1], THREADS[0], 3)
    card.text(left + y[0] + 14, bottom + y[1] + 6, "y", 17, THREADS[0], "start", bold=True)
    card.arrow(left, bottom, left + dy[0], bottom + dy[1], THREADS[3], 3)
    card.text(left + dy[0] - 14, bottom + dy[1] - 8, "dy", 17, THREADS[3], "end", bold=True)
    card.line(left + foot[0], bottom + foot[1], left + dy[0], bottom + dy[1], GOOD, 3)
    card.text(left + dy[0] + 30, bottom - 92, "across: dy - y · s", 16, GOOD, "start", bold=True)
    card.text(left + foot[0] - 60, bottom + 26, "along: y · s", 16, THREADS[0], bold=True)
    return card
