# SPDX-License-Identifier: MIT
"""Day 46's ideas: pairs are hands of clocks that turn at different speeds, the error of each way to make the angle by position,
where a product's digits go, one angle for all heads, which numbers are a pair, and what a thread with 16 bytes takes.

    tools/pictures.py 46
"""
import math
import struct

from drawing import BAD, EMPTY, GLOBAL, GOOD, INK, LINE, REGISTERS, SOFT, THREADS, WHITE, Card, constant, picture

DIM, BASE = 128, 10000
FREQUENCIES = [BASE ** (-2 * i / DIM) for i in range(DIM // 2)]
POSITIONS = [1, 10, 100, 1000, 10000, 100000, 1000000, 10000000]


def fp32(value):
    return struct.unpack("f", struct.pack("f", value))[0]


def towards_zero(value):
    """A positive number rounded to fp32 as the special function unit's angle is."""
    near = fp32(value)
    return struct.unpack("f", struct.pack("I", struct.unpack("I", struct.pack("f", near))[0] - 1))[0] if near > value else near


def bf16(value):
    bits = struct.unpack("I", struct.pack("f", value))[0]
    bits += 0x7fff + (bits >> 16 & 1)
    return struct.unpack("f", struct.pack("I", bits & 0xffff0000))[0]


@picture("hands.svg")
def hands():
    card = Card("Pairs are hands of clocks", 318, "Four pairs of a head of eight numbers at positions 0 to 4. The first turns by 1 radian a position, "
                "each further one ten times more slowly; the last hardly moves.")
    for pair in range(4):
        x, frequency = 92 + 98 * pair, 10.0 ** -pair
        card.text(x, 66, f"pair {pair}", 16, bold=True)
        card.parts.append(f'<circle cx="{x}" cy="124" r="42" fill="{EMPTY}" stroke="{LINE}"/>')
        for position in range(5):
            angle = position * frequency
            card.arrow(x, 124, x + 40 * math.cos(angle), 124 - 40 * math.sin(angle), THREADS[0] if position == 4 else LINE, 2.6 if position == 4 else 1.6)
        card.text(x, 190, f"{frequency:g} radian", 15, SOFT)
        card.text(x, 210, "a position", 15, SOFT)
    card.text(240, 246, "Grey: positions 0 to 3. Blue: position 4.", 16, SOFT)
    card.text(240, 274, "Near tokens differ in the fast hands,", 16, SOFT)
    card.text(240, 296, "far ones in the slow hands.", 16, SOFT)
    return card


def angle_errors(start):
    """The worst error of sine and cosine by each way, of 256 positions from `start` on, as programs/accuracy.cu has it."""
    worst = dict.fromkeys(("16 bits", "approx", "product", "table", "turns"), 0.0)
    for position in range(start, start + 256):
        for frequency in FREQUENCIES:
            exact = math.cos(position * frequency), math.sin(position * frequency)
            # of a turn, in two floats, as rung 4 has it; a double holds the product of two floats
            high = fp32(frequency / (2 * math.pi))
            low = fp32(frequency / (2 * math.pi) - high)
            turns = fp32(position * high)
            part = fp32(fp32(turns - round(turns)) + fp32(position * low + (position * high - turns)))
            product = fp32(position * fp32(frequency))
            of_unit = towards_zero(product * fp32(1 / (2 * math.pi)))
            of_unit = 2 * math.pi * (of_unit - round(of_unit))
            for way, angle, step in (("16 bits", fp32(bf16(position) * fp32(frequency)), 0), ("approx", of_unit, 2.0 ** -20), ("product", product, 0),
                                     ("table", None, 0), ("turns", 2 * math.pi * part, 0)):
                for function, right in ((math.cos, exact[0]), (math.sin, exact[1])):
                    value = right if angle is None else function(angle)
                    value = round(value / step) * step if step else fp32(value)
                    worst[way] = max(worst[way], abs(value - right))
    return worst


@picture("errors.svg")
def errors():
    card = Card("How far sine and cosine are off", 404, "Worst error of 256 positions, by the first of them, both logarithmic. Positions in 16 bits are useless from 257 on. A product in fp32 and "
                "its approximation grow with the position, from 1e-5 to 1. A table and turns stay at 1e-7 at every position.")
    left, right, top, bottom = 66, 392, 62, 330
    x_of = lambda position: left + (right - left) * math.log10(position) / 7
    y_of = lambda error: top + (bottom - top) * -math.log10(error) / 8
    for power in range(0, 9, 2):
        y = y_of(10.0 ** -power)
        card.line(left, y, right, y, LINE, 1)
        card.text(left - 8, y + 5, "1" if power == 0 else f"1e-{power}", 15, SOFT, "end")
    for position in POSITIONS[::2] + POSITIONS[-1:]:
        card.text(x_of(position), bottom + 22, f"1e{round(math.log10(position))}" if position > 1 else "1", 15, SOFT)
    card.text((left + right) / 2, bottom + 46, "position, and the 255 after it", 16, SOFT)
    # A bf16 number near 1 has steps of 2^-7, of fp16 of 2^-10: what a result is rounded to anyway.
    y = y_of(2.0 ** -8)
    card.line(left, y, right, y, INK, 1.6, dashed=True)
    found = [angle_errors(position) for position in POSITIONS]
    for way, color, shift in (("16 bits", THREADS[3], 14), ("approx", BAD, 34), ("product", THREADS[0], 54), ("turns", GOOD, 0), ("table", INK, 8)):
        points = [(x_of(position), y_of(min(1.0, max(1e-8, worst[way])))) for position, worst in zip(POSITIONS, found)]
        for (x1, y1), (x2, y2) in zip(points, points[1:]):
            card.line(x1, y1, x2, y2, color, 2.4, through=True)
        card.text(right + 8, points[-1][1] + shift, way, 15, color, "start", bold=True)
    card.text(240, 394, "Dashed: half a step of bf16 near 1.", 15, SOFT)
    return card


@picture("digits.svg")
def digits():
    position, high = 1000003, fp32(1 / (2 * math.pi))
    card = Card("Where a product's digits go", 300, "1,000,003 times 1 / (2 pi) has 44 binary digits: 18 before the point, which are whole turns, and 26 after it. A "
                "float keeps the first 24 of them, so 6 after the point; fmaf gives back the other 20.")
    product = int(position * high * 2 ** 26)  # a float of this size has 26 digits after the point
    bits = f"{product:b}"
    whole, size = len(bits) - 26, 10
    left = (480 - len(bits) * size) / 2
    card.text(240, 58, "1,000,003 x 0.159154937 turns, in binary", 16, SOFT)
    row = card.cells(106, "", [""] * len(bits), left, size, 34, fills={i: GLOBAL if i < whole else REGISTERS if i < 24 else EMPTY for i in range(len(bits))})
    card.window(row, 0, whole - 1, f"{whole} digits: whole turns", below=False)
    card.window(row, 0, 23, "what a float holds: 24 digits")
    card.window(row, 24, len(bits) - 1, f"lost: {len(bits) - 24}", color=BAD)
    card.text(240, 202, f"Of the angle {24 - whole} digits are left: steps of 1/{2 ** (24 - whole)} turn.", 16, BAD, bold=True)
    card.text(240, 232, "rintf takes the whole turns away, and fmaf", 16)
    card.text(240, 254, "gives back exactly what was lost.", 16)
    card.text(240, 284, "Only the sum of both parts is rounded.", 16, GOOD, bold=True)
    return card


@picture("column.svg")
def column():
    card = Card("One angle for all heads", 346, "The heads of one token as rows, pairs as columns. A thread owns a column: the angle of pair 2 is the same "
                "in each head of q and k.")
    matrix = card.matrix(150, 92, 6, 8, 32, fills=lambda r, c: THREADS[c % 4] if c == 2 else GLOBAL if r < 4 else REGISTERS,
                         row_names=["q head 0", "q head 1", "q head 2", "q head 3", "k head 0", "k head 1"], col_names=range(8))
    card.text(matrix.x, 64, "pairs of one token", 16, bold=True)
    card.frame(matrix.tile(0, 2, 6, 1), INK, 3)
    place = matrix.cell(5, 2)
    card.text(240, place.bottom + 26, "A thread makes sine and cosine once", 16)
    card.text(240, place.bottom + 47, "and turns its pair in every head.", 16)
    return card


@picture("pairs.svg")
def pairs():
    card = Card("Which numbers are a pair?", 268, "A head of eight numbers in two orders. Halves: pair i is elements i and 4 + i. Interleaved: pair i is the neighbours 2 i and "
                "2 i + 1.")
    for top, name, pair_of in ((84, "halves", lambda i: i % 4), (160, "interleaved", lambda i: i // 2)):
        row = card.cells(top, "", [pair_of(i) for i in range(8)], 130, 40, 34, fills={i: THREADS[pair_of(i)] for i in range(8)},
                         inks=dict.fromkeys(range(8), WHITE))
        card.text(row.left - 10, row.y + 6, name, 16, at="end", bold=True)
        card.places(row, {i: i for i in range(8)})
    card.text(240, 62, "a head of 8 numbers, each with the number of its pair", 16, SOFT)
    card.text(240, 252, "Same colour, same number: one pair.", 16)
    return card


@picture("groups.svg")
def groups():
    """A head's 8 pairs in fp32 are two threads' vectors; 10 heads are three groups'."""
    heads, each = 10, 4
    count = -(-heads // constant("day46_rope/turn.cuh", "kHeads"))
    card = Card("Four pairs in four heads", 384, "Ten heads of one token as rows, eight pairs as columns, fp32. A block has two lanes and three groups for the token. The thread of lane 0 "
                "and group 0 takes pairs 0 to 3 in heads 0, 3, 6 and 9.")
    matrix = card.matrix(150, 92, heads, 8, 23, fills=lambda r, c: THREADS[r % count] if c < each else EMPTY,
                         row_names=[f"head {h}" for h in range(heads)], col_names=range(8))
    card.text(matrix.x, 64, "pairs of one token", 16, bold=True)
    for head in range(0, heads, count):
        card.frame(matrix.tile(head, 0, 1, each), INK, 3)
    for head in range(count):
        card.text(matrix.right + 12, matrix.cell(head, 0).y + 5, f"group {head}", 15, THREADS[head], "start", bold=True)
    card.text(240, matrix.bottom + 24, "Framed: one thread, lane 0 of group 0.", 16)
    card.text(240, matrix.bottom + 45, "Lane 1 has the other four pairs.", 16, SOFT)
    return card
