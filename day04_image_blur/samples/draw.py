#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws city.png, the picture that the note of day 04 blurs: lit windows and lamps at night, sharp edges and single points.

    python3 draw.py city.png
"""
import struct
import sys
import zlib

WIDTH, HEIGHT = 320, 200
# left, right, top of each house, and the colour of its walls
HOUSES = ((0, 46, 96, (26, 28, 44)), (50, 84, 52, (34, 32, 52)), (88, 140, 112, (24, 30, 40)), (146, 178, 38, (40, 36, 56)),
          (182, 236, 88, (30, 30, 48)), (240, 272, 60, (36, 34, 54)), (276, 320, 104, (26, 30, 42)))


def scatter(x, y):
    """A number from 0 to 255 for each (x, y), without a pattern."""
    value = (x * 0x9E3779B1 + y * 0x85EBCA77) & 0xFFFFFFFF
    value = ((value ^ value >> 15) * 0x2C1B3C6D) & 0xFFFFFFFF
    return (value ^ value >> 12) & 255


def colour(x, y):
    if y >= 176:  # the street, with lamps
        if y in (177, 178) and x % 40 in (19, 20):
            return (255, 214, 140)
        return (18, 18, 26) if (x + 2 * y) % 48 < 40 else (30, 30, 38)
    for left, right, top, walls in HOUSES:
        if left <= x < right and y >= top:
            column, row = (x - left - 4) // 8, (y - top - 5) // 10
            window = 0 <= (x - left - 4) % 8 < 4 and (y - top - 5) % 10 < 6 and x < right - 4 and y >= top + 5 and x >= left + 4
            if not window:
                return walls
            light = scatter(column + left, row + top)
            return (250, 208, 120) if light < 90 else (150, 190, 220) if light < 110 else (20, 22, 34)
    if (x - 262) ** 2 + (y - 28) ** 2 < 169:
        return (244, 240, 214)
    if scatter(x, y + 1000) < 1 and y < 120:
        return (255, 255, 255)
    return (12 + y // 10, 18 + y // 8, 44 + y // 4)


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def main(path):
    rows = b"".join(b"\0" + bytes(c for x in range(WIDTH) for c in colour(x, y)) for y in range(HEIGHT))
    header = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, 0)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b""))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip())
    main(sys.argv[1])
