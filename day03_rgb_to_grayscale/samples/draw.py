#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws balloons.png, the picture that the notes of days 03 and 04 show: balloons in the evening sky, with stripes whose
colours differ while their grays do not.

    python3 draw.py balloons.png
"""
import struct
import sys
import zlib

WIDTH, HEIGHT, FINE = 384, 256, 2  # FINE x FINE samples a pixel

# Stripes: a colour and a second one of nearly the same gray (77 R + 150 G + 29 B) / 256.
BALLOONS = (
    (104, 92, 58, (214, 48, 40), (40, 116, 214)),
    (262, 66, 40, (250, 176, 40), (120, 232, 120)),
    (318, 150, 26, (150, 60, 190), (60, 130, 60)),
)


def mix(a, b, t):
    return tuple(x + (y - x) * t for x, y in zip(a, b))


def hill(x, base, height, waves, shift):
    """The height of a range of hills at x: a triangle wave, smoothed."""
    t = (x * waves / WIDTH + shift) % 1.0
    t = 2 * min(t, 1 - t)
    return base - height * t * t * (3 - 2 * t)


def colour(x, y):
    for centre_x, centre_y, radius, one, other in BALLOONS:
        dx, dy = (x - centre_x) / radius, (y - centre_y) / radius
        if dx * dx + dy * dy < 1 and dy < 0.75:
            edge = (1 - dy * dy) ** 0.5
            stripe = int((dx / edge + 1) * 4)
            shade = 1 - 0.35 * max(0.0, dx * 0.8 + dy * 0.6)
            return mix((0, 0, 0), one if stripe % 2 else other, shade)
        if abs(dx) < 0.16 and 1.2 < dy < 1.42:
            return (92, 58, 34)
        if 0.66 < dy < 1.2 and abs(abs(dx) - 0.16 - 0.5 * (1.2 - dy)) < 0.025:
            return (70, 52, 40)
    if y > hill(x, 250, 44, 2.3, 0.1):
        return mix((34, 74, 48), (18, 40, 30), (y - 200) / 56)
    if y > hill(x, 226, 60, 1.6, 0.62):
        return mix((72, 92, 110), (50, 70, 84), (y - 160) / 96)
    dx, dy = x - 196, y - 176
    if dx * dx + dy * dy < 20 * 20:
        return (255, 240, 196)
    glow = max(0.0, 1 - (dx * dx + dy * dy) ** 0.5 / 150)
    return mix(mix((58, 92, 168), (246, 168, 110), y / 200), (255, 226, 160), 0.7 * glow)


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def main(path):
    rows = bytearray()
    before = bytearray(3 * WIDTH)
    for y in range(HEIGHT):
        row = bytearray()
        for x in range(WIDTH):
            samples = [colour(x + (i + 0.5) / FINE, y + (j + 0.5) / FINE) for i in range(FINE) for j in range(FINE)]
            row += bytes(min(255, max(0, round(sum(s[c] for s in samples) / len(samples)))) for c in range(3))
        rows += b"\2" + bytes((now - above) & 255 for now, above in zip(row, before))  # filter: the row above
        before = row
    header = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, 0)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(bytes(rows), 9)) +
                   chunk(b"IEND", b""))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip())
    main(sys.argv[1])
