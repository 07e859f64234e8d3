# SPDX-License-Identifier: MIT
"""Day 07's ideas: GELU's curve, how a sum loses its digits far left of 0, what fits into the time of memory, what a thread pays once.

    tools/pictures.py 7
"""
import math

from drawing import BAD, GLOBAL, GOOD, INK, OUTPUT, REGISTERS, SOFT, Card, picture


@picture("curve.svg")
def curve():
    card = Card("GELU is ReLU without the corner", 290, "y over x from -4 to 3: ReLU is 0 up to x = 0 and x from there on; GELU follows it at both ends, "
                "dips to -0.17 at x = -0.75 and has no corner.")

    def at(x, y):
        return 60 + (x + 4) * 54, 222 - y * 54

    def gelu(x):
        return x / 2 * math.erfc(-x / math.sqrt(2))

    card.line(*at(-4, 0), *at(3, 0), SOFT, 1.2)
    for x in range(-4, 4):
        card.text(at(x, 0)[0], 262, str(x).replace("-", "−"), 15, SOFT)
    card.text(at(3, 0)[0] + 20, 262, "x", 15, SOFT)
    card.line(*at(-4, 0), *at(0, 0), BAD, 2.4, dashed=True, through=True)
    card.line(*at(0, 0), *at(3, 3), BAD, 2.4, dashed=True, through=True)
    points = [i / 10 for i in range(-40, 31)]
    for left, right in zip(points, points[1:]):
        card.line(*at(left, gelu(left)), *at(right, gelu(right)), GOOD, 3, through=True)
    card.text(250, 120, "ReLU: max(x, 0)", 16, BAD)
    card.text(190, 180, "GELU: x times a probability", 16, GOOD)
    return card


@picture("cancel.svg")
def cancel():
    card = Card("1 + erf loses its digits", 312, "Binary digits of 1 + erf(x / sqrt 2) that are right in fp32 when erf is off by half a step: from 23 at x = -1 down to none at x = -6.")
    card.text(240, 62, "right binary digits of 1 + erf(x / √2), fp32", 16, SOFT)
    left, bottom, height = 52, 250, 160
    for i, x in enumerate((-1, -2, -3, -4, -5, -6)):
        left_over = math.erfc(-x / math.sqrt(2))  # 1 + erf
        digits = min(24, max(0, int(-math.log2(2**-25 / left_over))))  # erf's steps left of -1/2 are 2^-24
        at = left + i * 66
        card.box(at, bottom - height * max(digits, 0.4) / 24, 44, height * max(digits, 0.4) / 24, OUTPUT if digits > 11 else REGISTERS)
        card.text(at + 22, bottom - height * max(digits, 0.4) / 24 - 8, digits, 16, GOOD if digits > 11 else BAD, bold=True)
        card.text(at + 22, bottom + 22, f"x = {x}".replace("-", "−"), 15)
    card.text(240, 300, "erfc keeps 18 or more, down to x = −8.", 16, SOFT)
    return card


# Instructions of a thread up to its 16-byte store, by nvcc 13.0 for sm_90a, of 4 elements in fp32 and of 8 in bf16.
COUNTED = (("vectors", 126, 240), ("erfc", 220, 436), ("tanh", 108, 204), ("sigmoid", 54, 98), ("fast", 50, 90), ("pairs", None, 57))


@picture("budget.svg")
def budget():
    slots = 132 * 128 * 1.98e9  # an H200's instructions of threads in a second
    card = Card("What fits into memory's time", 428, "Instructions for an element: in fp32 all forms fit into the 63 that can be issued while 8 bytes move; "
                "in bf16 erfc does not fit into the 31 of 4 bytes, and erf hardly.")
    scale, left = 4.9, 108
    for top, name, each, size, which in ((62, "fp32", 4, 8, 1), (238, "bf16", 8, 4, 2)):
        room = slots / (4252e9 / size)
        card.text(28, top + 4, name, 16, at="start", bold=True)
        card.text(left + room * scale, top + 4, f"memory: {room:.0f}", 15, SOFT)
        y = top + 16
        for row in COUNTED:
            if row[which] is None:
                continue
            count = row[which] / each
            card.text(28, y + 15, row[0], 15, at="start")
            card.box(left, y, count * scale, 18, GLOBAL if count < room else REGISTERS)
            inside = count * scale > 60
            card.text(left + count * scale + (-6 if inside else 6), y + 14, f"{count:.0f}", 15, INK if count < room else BAD, "end" if inside else "start", count >= room)
            y += 24
        card.line(left + room * scale, top + 12, left + room * scale, y, SOFT, 2, dashed=True, through=True)
    card.text(240, 418, "instructions for one element", 16, SOFT)
    return card


# The same 126 of `vectors` and the 51 of `erf`: 24 of each element are GELU's own, the rest is paid once by the thread.
OWN = 24


@picture("once.svg")
def once():
    card = Card("What is paid once is shared", 226, "Instructions of a thread in fp32: erf pays 27 once and 24 for its element; vectors pays 30 once and 24 for each of its four, "
                "31.5 an element.")
    left, scale = 92, 2.9
    for y, name, total, count in ((58, "erf", 51, 1), (128, "vectors", COUNTED[0][1], 4)):
        rest = total - count * OWN
        card.text(20, y + 25, name, 15, at="start")
        card.box(left, y, rest * scale, 36, REGISTERS)
        card.text(left + rest * scale / 2, y + 24, rest, 16)
        for i in range(count):
            card.box(left + (rest + OWN * i) * scale, y, OWN * scale, 36, OUTPUT)
            card.text(left + (rest + OWN * (i + 0.5)) * scale, y + 24, OWN, 16)
        each = f"{total / count:g}"
        card.text(left, y + 56, f"{each} an element", 15, SOFT, "start")
    card.text(240, 212, "first box: once a thread; then: each element", 15, SOFT)
    return card
