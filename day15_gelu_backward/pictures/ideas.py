# SPDX-License-Identifier: MIT
"""Day 15's ideas: the slope, what waits in memory between the passes, the bytes of each way, and which step a judge takes.

    tools/pictures.py 15
"""
import math
import struct

from drawing import BAD, EMPTY, GLOBAL, GOOD, HALO, INK, LINE, OUTPUT, REGISTERS, SHARED, SOFT, THREADS, Card, constant, picture

STEPS = constant("day15_gelu_backward/gelu_backward.h", "kSteps")
ZERO = constant("day15_gelu_backward/gelu_backward.h", "kZeroCode")


def fp32(value):
    return struct.unpack("f", struct.pack("f", value))[0]


def gelu(x):
    return 0.5 * x * math.erfc(-x * math.sqrt(0.5))


def gelu_in_fp32(x):
    return fp32(fp32(0.5 * x) * fp32(math.erfc(fp32(-fp32(math.sqrt(0.5)) * x))))


def slope(x):
    return 0.5 * math.erfc(-x * math.sqrt(0.5)) + x * math.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def curve(card, points, color, thick=3):
    for (x1, y1), (x2, y2) in zip(points, points[1:]):
        card.line(x1, y1, x2, y2, color, thick, through=True)


@picture("slope.svg")
def slopes():
    card = Card("The slope of GELU", 330, "The slope falls from 0 to -0.129 at x = -1.41, rises through 0.5 at x = 0 to 1.129 at x = 1.41, and falls to 1.")
    left, right, top, bottom = 60, 440, 70, 270
    at_x = lambda x: left + (x + 4) / 8 * (right - left)
    at_y = lambda y: bottom - (y + 0.2) / 1.4 * (bottom - top)
    for value, words in ((0, "0"), (1, "1")):
        card.line(left, at_y(value), right, at_y(value), LINE, 1.2, dashed=True, through=True)
        card.text(left - 10, at_y(value) + 5, words, 16, SOFT, "end")
    curve(card, [(at_x(i / 20), at_y(slope(i / 20))) for i in range(-80, 81)], GOOD)
    low, high = -math.sqrt(2), math.sqrt(2)
    assert all(slope(low) <= slope(i / 100) <= slope(high) for i in range(-800, 801))
    card.text(at_x(low) - 6, at_y(slope(low)) + 24, f"{slope(low):.3f}".replace("-", "−"), 16, BAD, bold=True)
    card.text(at_x(high) + 6, at_y(slope(high)) - 12, f"{slope(high):.3f}", 16, BAD, bold=True)
    card.text(at_x(0) + 16, at_y(0.5) + 6, "0.5 at x = 0", 16, at="start")
    for x in (-4, 4):
        card.text(at_x(x), bottom + 30, f"x = {x}".replace("-", "−"), 15, SOFT)
    card.text(240, 318, "slope(x) + slope(−x) = 1", 16, SOFT)
    return card


WAYS = (("inner", ("x", "P"), ("x", "y", "P"), ("x", "P", "dy", "dx")),
        ("slope", ("slope",), ("x", "y", "slope"), ("slope", "dy", "dx")),
        ("recompute", ("x",), ("x", "y"), ("x", "dy", "dx")),
        ("byte", ("code",), ("x", "y", "code"), ("code", "dy", "dx")))
FILLS = {"x": GLOBAL, "dy": GLOBAL, "y": OUTPUT, "dx": OUTPUT, "P": HALO, "slope": HALO, "code": HALO}


@picture("kept.svg")
def kept():
    card = Card("What waits for backward", 346, "Between forward and backward lie all other layers. inner lets x and P wait, slope the slope, recompute x, and byte a byte.")
    card.box(128, 52, 76, 36, EMPTY)
    card.text(166, 75, "forward", 16, bold=True)
    card.box(212, 52, 142, 36, EMPTY)
    card.text(283, 75, "other layers", 16, SOFT)
    card.box(362, 52, 94, 36, EMPTY)
    card.text(409, 75, "backward", 16, bold=True)
    for i, (name, waiting, _, _) in enumerate(WAYS):
        y = 106 + 52 * i
        card.text(24, y + 24, name, 16, at="start", bold=True)
        card.line(166, 88, 166, 296, LINE, 1.2, dashed=True, through=True)
        card.line(409, 88, 409, 296, LINE, 1.2, dashed=True, through=True)
        width = 28 if waiting == ("code",) else 60
        for j, what in enumerate(waiting):
            x = 283 + (j - len(waiting) / 2) * (width + 8) + 4
            card.box(x, y + 4, width, 32, FILLS[what])
            card.text(x + width / 2, y + 26, {"code": "1 B"}.get(what, what), 15)
        card.line(168, y + 20, 283 - len(waiting) * (width + 8) / 2, y + 20, SOFT)
        card.arrow(283 + len(waiting) * (width + 8) / 2, y + 20, 405, y + 20)
    card.text(240, 332, "A box is 4 bytes of each fp32 element, byte's is one.", 16, SOFT)
    return card


@picture("bytes.svg")
def moved():
    card = Card("Bytes that an fp32 element moves", 372, "Forward and backward together: inner 28 bytes, slope 24, recompute 20, byte 18.")
    card.text(120, 66, "forward", 16, SOFT, "start")
    for i, (name, _, forward, backward) in enumerate(WAYS):
        y = 78 + 66 * i
        size = lambda what: 1 if what == "code" else 4
        x, total = 120, 0
        card.text(24, y + 23, name, 15, at="start", bold=True)
        for part in (forward, backward):
            for what in part:
                width = 11 * size(what)
                card.box(x, y, width - 1, 32, FILLS[what])
                if size(what) > 1:
                    card.text(x + width / 2, y + 22, {"slope": "sl."}.get(what, what), 15)
                x, total = x + width, total + size(what)
            if part is forward:
                card.line(x + 2, y - 6, x + 2, y + 38, INK, 2)
                x += 5
        color = GOOD if total <= 20 else BAD
        card.text(x + 8, y + 23, total, 18, color, "start", bold=True)
    card.text(416, 66, "backward", 16, SOFT, "end")
    card.text(240, 346, "Blue is read, green is written,", 16, SOFT)
    card.text(240, 366, "light: kept forward, read backward.", 16, SOFT)
    return card


@picture("steps.svg")
def steps():
    def quotient(x, step, rounded):
        if not rounded:
            return (gelu(x + step) - gelu(x - step)) / (2 * step)
        high, low = fp32(x + fp32(step)), fp32(x - fp32(step))
        return fp32(fp32(gelu_in_fp32(high) - gelu_in_fp32(low)) / fp32(high - low)) if high != low else 0
    numbers = [fp32(-8 + 0.004 * i) for i in range(4001)]
    worst = {rounded: [max(abs(quotient(x, 10.0 ** -k, rounded) - slope(x)) for x in numbers) for k in range(1, 10)]
             for rounded in (True, False)}
    card = Card("The error of a difference quotient", 350,
                "From step 0.1 on both errors fall with the square of the step. In fp32 the error rises again from 0.01 on, in double from 0.00001 on.")
    left, right, top, bottom = 92, 440, 62, 262
    at_x = lambda k: left + (k - 1) / 8 * (right - left)
    at_y = lambda error: top + (0 - math.log10(error)) / 11 * (bottom - top)
    for power in (0, -4, -7, -10):
        card.line(left, at_y(10.0 ** power), right, at_y(10.0 ** power), LINE, 1, dashed=True, through=True)
        card.text(left - 10, at_y(10.0 ** power) + 5, ("1" if power == 0 else f"1e{power}").replace("-", "−"), 15, SOFT, "end")
    for rounded, color in ((True, THREADS[1]), (False, THREADS[2])):
        curve(card, [(at_x(k + 1), at_y(min(error, 1))) for k, error in enumerate(worst[rounded])], color)
    card.text(at_x(3.5), at_y(0.6) + 22, "fp32", 17, THREADS[1], "start", bold=True)
    card.text(at_x(6.8), at_y(1e-8) + 34, "double", 17, THREADS[2], "start", bold=True)
    for k in (1, 3, 5, 7, 9):
        card.text(at_x(k), bottom + 22, f"1e−{k}", 15, SOFT)
    card.text((left + right) / 2, bottom + 46, "step h", 16, SOFT)
    best = min(worst[True])
    assert 1e-5 < best < 1e-4 and min(worst[False]) < 1e-9
    card.text(240, 338, f"In fp32 no step does better than {best:.0e}.".replace("e-0", "e−"), 16, BAD, bold=True)
    return card


@picture("budget.svg")
def budget():
    # Instructions of a thread up to its 16-byte store, by nvcc 13.0 for sm_90a, of 4 elements in fp32 and of 8 in bf16; of
    # grad_single of one element.
    counted = (("grad_single", 70, 73), ("grad_vectors", 183 / 4, 355 / 8), ("grad_one_power", 91 / 4, 179 / 8))
    slots = 132 * 128 * 1.98e9  # an H200's instructions of threads in a second
    card = Card("Backward: what fits into memory's time", 304, "Instructions for an element: in fp32 all fit into the 94 that can be issued while 12 bytes move; "
                "in bf16 grad_vectors just fits into the 47 of 6 bytes, and grad_one_power takes half of them.")
    left, scale = 166, 2.9
    for top, name, size, copied, which in ((62, "fp32", 12, 4271e9, 1), (180, "bf16", 6, 4279e9, 2)):  # day15.json's limits
        room = slots / (copied / size)
        card.text(24, top + 4, name, 16, at="start", bold=True)
        card.text(left + room * scale, top + 4, f"memory: {room:.0f}", 15, SOFT, "end" if room > 60 else "middle")
        y = top + 16
        for row in counted:
            count = row[which]
            card.text(24, y + 16, row[0], 15, at="start")
            card.box(left, y, count * scale, 20, GLOBAL if count < room else REGISTERS)
            card.text(left + count * scale - 6, y + 15, f"{count:.0f}", 15, INK if count < room else BAD, "end", count >= room)
            y += 26
        card.line(left + room * scale, top + 12, left + room * scale, y, SOFT, 2, dashed=True, through=True)
    return card


@picture("codes.svg")
def codes():
    card = Card("A slope in a byte", 236, f"253 codes cover slopes from -0.13 to 1.13 in steps of 0.005; code {ZERO} is exactly 0 and {ZERO + STEPS} exactly 1; 255 is NaN.")
    left, width = 40, 400
    at = lambda code: left + width * code / 255
    card.box(at(0), 86, at(2 * ZERO + STEPS) - at(0), 40, HALO)
    card.box(at(254), 86, at(255) - at(254) + 8, 40, SHARED)
    for code, words in ((0, f"−{ZERO / STEPS:.2f}"), (ZERO, "0"), (ZERO + STEPS // 2, "0.5"), (ZERO + STEPS, "1"), (2 * ZERO + STEPS, f"{1 + ZERO / STEPS:.2f}")):
        card.line(at(code), 86, at(code), 134, INK, 1.6)
        shift = {0: -6, 2 * ZERO + STEPS: -4}.get(code, 0)
        card.text(at(code) + shift, 74, words, 16, bold=True)
        card.text(at(code) + shift, 154, code, 15, SOFT)
    card.text(at(255) + 6, 178, "255: NaN", 15, BAD, "end")
    card.text(240, 212, f"Step 1/{STEPS}: off by at most {0.5 / STEPS:g}. 0 and 1 are exact.", 16, SOFT)
    return card
