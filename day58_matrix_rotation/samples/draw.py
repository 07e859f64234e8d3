#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws tower.png, the picture that the note of day 58 turns: it has an above and a below, a left and a right, and slanted edges.

    python3 draw.py tower.png
"""
import struct
import sys
import zlib

WIDTH, HEIGHT = 240, 160


def colour(x, y):
    if y >= 136:  # grass, with a path to the left
        return (206, 186, 140) if x < 96 - (y - 136) else (92, 140, 84)
    if 96 <= x < 132 and y >= 40:  # the tower, its door and its windows
        if y >= 116 and 106 <= x < 122:
            return (84, 56, 40)
        if (y - 52) % 22 < 8 and 108 <= x < 120 and y < 110:
            return (250, 222, 130)
        return (190, 178, 166) if (x // 9 + y // 6) % 2 else (176, 164, 152)
    if 8 <= y < 40 and abs(x - 114) <= (y - 8) * 26 // 32:  # its roof
        return (176, 62, 48)
    if 4 <= y < 8 and x == 114:
        return (60, 50, 50)
    if (x - 200) ** 2 + (y - 34) ** 2 < 18 ** 2:  # the sun, at the right
        return (255, 214, 92)
    return (150 + y // 4, 196 + y // 5, 240)


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
