# SPDX-License-Identifier: MIT
"""Day 07's ideas: how a sum loses its digits far left of 0, and what fits into the time of memory.

    tools/pictures.py 7
"""
import math
import struct

from drawing import BAD, GLOBAL, GOOD, INK, OUTPUT, REGISTERS, SOFT, Card, picture


def fp32(value):
    return struct.unpack("f", struct.pack("f", value))[0]


@picture("cancel.svg")
def cancel():
    card = Card("1 + erf loses its digits", 300, "Binary digits of 1 + erf(x / sqrt 2) that are right in fp32: they fall from about 24 at x = -1 to none at x = -6.")
    card.text(240, 62, "right binary digits of 1 + erf(x / √2), fp32", 16, SOFT)
    left, bottom, height = 52, 250, 160
    for i, x in enumerate((-1, -2, -3, -4, -5, -6)):
        true = math.erfc(-x / math.sqrt(2))
        got = fp32(1 + fp32(math.erf(x / math.sqrt(2))))
        off = abs(got - true) / true
        digits = min(24, max(0, int(-math.log2(off))))
        at = left + i * 66
        card.box(at, bottom - height * max(digits, 0.4) / 24, 44, height * max(digits, 0.4) / 24, OUTPUT if digits > 11 else REGISTERS)
        card.text(at + 22, bottom - height * max(digits, 0.4) / 24 - 8, digits, 16, GOOD if digits > 11 else BAD, bold=True)
        card.text(at + 22, bottom + 22, f"x = {x}".replace("-", "−"), 15)
    card.text(240, 292, "With erfc 18 or more are right, down to x = −8.", 16, SOFT)
    return card


# Instructions of a thread up to its 16-byte store, by nvcc 13.0 for sm_90a, of 4 elements in fp32 and of 8 in bf16.
COUNTED = (("vectors", 126, 240), ("erfc", 220, 436), ("tanh", 108, 204), ("sigmoid", 54, 98), ("fast", 50, 90), ("pairs", None, 57))


@picture("budget.svg")
def budget():
    slots = 132 * 128 * 1.98e9  # an H200's instructions of threads in a second
    card = Card("What fits into memory's time", 420, "Instructions for an element: in fp32 all forms fit into the 63 that can be issued while 8 bytes move; "
                "in bf16 erfc does not fit into the 31 of 4 bytes, and erf hardly.")
    scale, left = 4.9, 108
    for top, name, each, size, which in ((62, "fp32", 4, 8, 1), (238, "bf16", 8, 4, 2)):
        room = slots / (4278e9 / size)
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
    card.text(240, 408, "instructions for one element", 16, SOFT)
    return card
