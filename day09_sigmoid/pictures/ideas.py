# SPDX-License-Identifier: MIT
"""Day 09's ideas: what floats there are near 0 and near 1, which divisors a form meets, how far it reaches, and what each flag saves.

    tools/pictures.py 9
"""
import math

from drawing import BAD, GLOBAL, GOOD, INK, OUTPUT, REGISTERS, SOFT, Card, picture


@picture("two_ends.svg")
def two_ends():
    """A toy float with 3 binary digits: the numbers from 0 to 1, with s(4) and s(-4) among them."""
    card = Card("Many numbers near 0, few near 1", 300, "A toy float of three binary digits: its numbers crowd near 0 and are an eighth apart near 1. "
                "s of minus 4, 0.018, is among them. s of 4, 0.982, is rounded to 1.")
    left, width, y = 40, 400, 120
    card.text(240, 62, "all numbers of a toy float with three digits, 0 to 1", 16, SOFT)
    card.line(left, y, left + width, y, INK, 2)
    for exponent in range(-8, 0):
        for fraction in range(4):
            at = left + width * (1 + fraction / 4) * 2.0 ** exponent
            card.line(at, y - 12, at, y + 12, SOFT, 1.6)
    for at in (left, left + width):
        card.line(at, y - 18, at, y + 18, INK, 3)
    card.text(left, y + 40, "0", 16)
    card.text(left + width, y + 40, "1", 16)
    small = 1 / (1 + math.exp(4))
    for value, label, good, top in ((small, "s(−4) = 0.018: rounded to 0.0195", True, 194), (1 - small, "s(4) = 0.982: rounded to 1", False, 226)):
        at = left + width * value
        colour = GOOD if good else BAD
        card.line(at, y + 16, at, top - 18, colour, 2, dashed=True, through=True)
        card.text(at - (12 if good else -18), top, label, 16, colour, "start" if good else "end", True)
    card.text(240, 262, "1 − s(4) is then 0. s(−4), the same number,", 16, SOFT)
    card.text(240, 284, "has its three digits.", 16, SOFT)
    return card


# From this power of two on nvcc's division takes its slow path: ISETP on the divisor's exponent in tools/instructions.py's listing.
SLOW, LARGEST = 126, 128


@picture("divisor.svg")
def divisor():
    """The divisors of naive, 1 + e^-x, and of tails, 1 + e^-|x|, on an axis of powers of two."""
    card = Card("tails divides by at most 2", 236, "Divisors of naive go from 1 to infinity, and from two to the 126 on IEEE's division takes a slow path. "
                "Divisors of tails lie between 1 and 2.")
    left, scale = 92, 2.2
    card.text(240, 60, "divisors that can occur, in powers of two", 16, SOFT)
    for y, name, words, low, high, fill in ((82, "naive", "1 + e^−x", 0, LARGEST, GLOBAL), (134, "tails", "1 + e^−|x|", 0, 1, OUTPUT)):
        card.text(left - 12, y + 21, name, 16, at="end")
        card.box(left + low * scale, y, max(high - low, 2) * scale, 30, fill)
        card.text(left + high * scale + 12 if name == "tails" else left + 12, y + 21, words, 16, at="start")
    card.line(left + SLOW * scale, 76, left + SLOW * scale, 190, BAD, 2, dashed=True, through=True)
    card.text(left + SLOW * scale + 10, 154, "slow path", 16, BAD, "start")
    for power, words in ((0, "1"), (64, "2^64"), (SLOW, f"2^{SLOW}")):
        card.text(left + power * scale, 214, words, 15, SOFT)
    return card


# x from which on the result is 0 and the one from which on it is 1, by programs/tails.cu in fp32.
ENDS = (("vectors", -88.7, 16.6), ("tails", -104.0, 16.6), ("fast", -87.3, 16.6), ("tanh", -9.0, 9.0))


@picture("reach.svg")
def reach():
    card = Card("How far each form reaches", 300, "Where results of each form are neither 0 nor 1, in fp32: vectors from -88.7 to 16.6, tails from -104, fast from -87.3, tanh from -9 to 9.")
    scale, zero = 3.3, 384
    card.text(240, 60, "x for which the result is neither 0 nor 1, fp32", 16, SOFT)
    for i, (name, low, high) in enumerate(ENDS):
        y = 78 + 38 * i
        card.box(zero + low * scale, y, (high - low) * scale, 26, OUTPUT if name == "tails" else REGISTERS if name == "tanh" else GLOBAL)
        card.text(zero - 12 if name != "tanh" else zero + low * scale - 10, y + 19, name, 16, at="end")
    card.line(zero, 70, zero, 236, SOFT, 2, dashed=True, through=True)
    for i, (_, low, _) in enumerate(ENDS[:3]):
        card.text(zero + low * scale + 6, 97 + 38 * i, f"{low:.0f}".replace("-", "−"), 15, SOFT, "start")
    for x in (-9, 9, 17):
        card.text(zero + x * scale, 256, f"{x}".replace("-", "−"), 15)
    card.text(zero, 256, "0", 15, SOFT)
    card.text(240, 286, "Left of 0 only tanh ends before the denormals.", 16, SOFT)
    return card


# Instructions for an element in fp32 by tools/instructions.py 9 vectors --fast, nvcc 13.0 for sm_90a.
# and what each takes from the result.
COUNTED = (("no flag", 25.0, ""), ("−ftz=true", 26.0, "0 for denormals"), ("−prec-div=false", 22.0, "off by 2 units"),
           ("both of these", 16.8, "2 units, and denormals"), ("−use_fast_math", 10.2, "takes 7 of 24 digits"))


@picture("flags.svg")
def flags():
    card = Card("What each flag saves, and takes", 278, "Instructions an element of rung vectors by flag: none 25, ftz 26, prec-div=false 22, ftz and prec-div=false 17, use_fast_math 10, which takes 7 of 24 digits; memory's time has room for 63.")
    left, scale = 160, 4.4
    card.text(240, 60, "instructions for one fp32 element", 16, SOFT)
    for i, (name, count, takes) in enumerate(COUNTED):
        y = 78 + 32 * i
        card.text(left - 12, y + 17, name, 16, at="end")
        card.box(left, y, count * scale, 22, GLOBAL)
        card.text(left + count * scale + 8, y + 17, f"{count:.0f}", 16, at="start")
        card.text(left + count * scale + 36, y + 17, takes, 16, BAD, "start")
    card.text(240, 260, "Memory's time has room for 63.", 16, SOFT)
    return card
