# SPDX-License-Identifier: MIT
"""Day 25's ideas: what Triton's words become, what the rounding of a product drops, and how errors grow to the left.

    tools/pictures.py 25
"""
import struct
from fractions import Fraction

from drawing import BAD, EMPTY, GOOD, INK, OUTPUT, SOFT, Card, constant, picture

FOLDER = "day25_triton_sigmoid/"
LOG2E = constant(FOLDER + "04_mended.py", "LOG2E")
REST = constant(FOLDER + "04_mended.py", "LOG2E_REST")
X = 86.640625  # the program's shown problem is nowhere further from its reference than near here


def to_float(value):
    """Rounded to fp32."""
    return struct.unpack("f", struct.pack("f", value))[0]


# What is in the PTX of each word: ./days asm 25 plain --stage ptx, and of the other rungs.
WORDS = (("tl.exp(x)", "mul, ex2.approx", "fast"), ("a / b", "div.full", "fast"), ("tl.exp2(x)", "ex2.approx.ftz", "fast, tiny is 0"),
         ("libdevice.exp(x)", "more, and ex2.approx.ftz", "all digits"), ("tl.div_rn(a, b)", "div.rn", "all digits"))


@picture("words.svg")
def words():
    card = Card("Which word gives which digits", 272, "Triton's words and the instructions that they become: " +
                "; ".join(f"{word} is {made}, {digits}" for word, made, digits in WORDS))
    for left, title in ((24, "you write"), (184, "PTX has"), (456, "you get")):
        card.text(left, 66, title, 15, SOFT, "end" if left > 400 else "start")
    for row, (word, made, digits) in enumerate(WORDS):
        y = 78 + 38 * row
        card.box(16, y, 448, 32, OUTPUT if digits.startswith("all") else EMPTY)
        card.text(24, y + 21, word, 15, INK, "start", True)
        card.text(184, y + 21, made, 15, INK, "start")
        card.text(456, y + 21, digits, 15, GOOD if digits.startswith("all") else BAD, "end", True)
    return card


@picture("dropped.svg")
def dropped():
    exact, rounded = Fraction(X) * (Fraction(LOG2E) + Fraction(REST)), Fraction(to_float(X * LOG2E))
    step = Fraction(1, 2 ** 17)  # between floats from 64 to 128
    if not 64 < rounded < 128 or (exact - rounded) / step >= 1:
        raise ValueError("the picture has another step")
    card = Card("What the product drops", 232, "Two neighbouring floats near 125. The exact product lies seven tenths of a step right of the one that is computed; an fma gives the rest.")
    left, width, y = 90, 300, 112
    card.text(240, 64, f"e^{X:g}: floats near {float(exact):.0f}, one step apart", 16, SOFT)
    card.line(left - 40, y, left + width + 40, y, INK, 2)
    for number in range(2):
        card.line(left + number * width, y - 16, left + number * width, y + 16, INK, 3)
    at = left + width * float((exact - rounded) / step)
    card.line(at, y - 14, at, y + 30, GOOD, 3)
    card.text(left, y - 24, "computed", 16, BAD, bold=True)
    card.text(at, y + 50, "x log2(e), exact", 16, GOOD, bold=True)
    card.arrow(left + 8, y + 24, at - 6, y + 24, BAD)
    card.text((left + at) / 2 - 20, y + 46, "dropped", 16, BAD, bold=True)
    card.text(240, 208, "2^exact = 2^computed · (1 + dropped · ln 2)", 17, INK, bold=True)
    return card
