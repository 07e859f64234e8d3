# SPDX-License-Identifier: MIT
"""Draws halo.svg: what a block of 32 x 32 pixels needs of the picture, and how often each rung asks for a byte.

    tools/pictures.py 04

Counted here from the kernels' own loops, at radius 7 for the box and 5 for the Gaussian.
"""
from drawing import picture

TILE, SCALE = 32, 5
WIDTH, HEIGHT = 720, 300


def side(radius):
    return TILE + 2 * radius


def registers_tile(radius, tile_x=128, tile_y=64):
    return (tile_x + 2 * ((radius + 3) // 4 * 4)) * (tile_y + 2 * radius) / (tile_x * tile_y)


# (rung, bytes of the picture that it asks global memory for, for each pixel)
READS = (
    ("box_direct", (2 * 7 + 1) ** 2),
    ("box_shared", side(7) ** 2 / TILE ** 2),
    ("box_running", (2 * 7 + 2 * 64) / 64),
    ("gauss_direct", (2 * 5 + 1) ** 2),
    ("gauss_separable", 2 * 5 + 1),
    ("gauss_shared", side(5) ** 2 / TILE ** 2),
    ("gauss_registers", registers_tile(5)),
)


@picture("halo.svg")
def halo():
    radius = 7
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" font-size="12">',
           '<rect width="100%" height="100%" fill="#ffffff"/>',
           f'<rect x="20" y="40" width="{side(radius) * SCALE}" height="{side(radius) * SCALE}" fill="#bcd4ee"/>',
           f'<rect x="{20 + radius * SCALE}" y="{40 + radius * SCALE}" width="{TILE * SCALE}" height="{TILE * SCALE}" '
           'fill="#1f5fa8"/>',
           f'<text x="20" y="26" font-size="14">{TILE} x {TILE} pixels and their halo, radius {radius}</text>',
           f'<rect x="{20 + 24 * SCALE}" y="{40 + 3 * SCALE}" width="{15 * SCALE}" height="{15 * SCALE}" fill="none" '
           'stroke="#d05a10" stroke-width="2"/>',
           f'<rect x="{20 + 31 * SCALE}" y="{40 + 10 * SCALE}" width="{SCALE}" height="{SCALE}" fill="#d05a10"/>',
           f'<text x="20" y="{40 + side(radius) * SCALE + 18}" fill="#444">one pixel and its window</text>',
           '<text x="330" y="26" font-size="14">bytes of the picture asked for, a pixel</text>']
    for row, (name, reads) in enumerate(READS):
        y = 46 + 32 * row
        width = 6 + 190 * (reads / 225) ** 0.5
        out.append(f'<text x="330" y="{y + 14}">{name}</text>')
        out.append(f'<rect x="440" y="{y}" width="{width:.0f}" height="20" fill="#1f5fa8"/>')
        out.append(f'<text x="{448 + width:.0f}" y="{y + 14}">{reads:.3g}</text>')
    out.append(f'<text x="440" y="{46 + 32 * len(READS) + 10}" fill="#444">(lengths: square roots)</text>')
    out.append("</svg>")
    return "\n".join(out) + "\n"
