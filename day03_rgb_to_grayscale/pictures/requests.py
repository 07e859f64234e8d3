# SPDX-License-Identifier: MIT
"""Draws requests.svg: which bytes of the picture a warp's first load touches, for each rung of day 03.

    tools/pictures.py 03

The addresses come from the kernels' own index expressions, written once more below.
"""
from drawing import picture

LANES, SECTOR = 32, 32

# (rung, what a lane loads first, bytes a lane, address of that load for a lane, requests until all is loaded)
RUNGS = (
    ("bytes", "rgb[3 * i]", 1, lambda lane: 3 * lane, 3),
    ("words", "words[0]", 4, lambda lane: 12 * lane, 3),
    ("vectors", "from[0]", 16, lambda lane: 48 * lane, 3),
    ("staged", "from[lane]", 16, lambda lane: 16 * lane, 3),
)
WIDTH, LEFT, ROW, TOP = 720, 96, 62, 40
SCALE = (WIDTH - LEFT - 20) / 1536


@picture("requests.svg")
def requests():
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{TOP + ROW * len(RUNGS) + 26}" '
           'font-family="sans-serif" font-size="12">',
           '<rect width="100%" height="100%" fill="#ffffff"/>',
           '<text x="10" y="20" font-size="14">One warp\'s first load: the bytes it asks for (dark), in sectors '
           'that it touches (light)</text>']
    for row, (name, _, size, address, _) in enumerate(RUNGS):
        y = TOP + ROW * row
        asked = [(address(lane), address(lane) + size) for lane in range(LANES)]
        sectors = sorted({byte // SECTOR for begin, end in asked for byte in range(begin, end)})
        out.append(f'<text x="10" y="{y + 20}" font-weight="bold">{name}</text>')
        for sector in sectors:
            out.append(f'<rect x="{LEFT + SECTOR * sector * SCALE:.1f}" y="{y + 6}" width="{SECTOR * SCALE - 0.6:.1f}" '
                       'height="20" fill="#bcd4ee"/>')
        for begin, end in asked:
            out.append(f'<rect x="{LEFT + begin * SCALE:.2f}" y="{y + 6}" width="{max(0.4, (end - begin) * SCALE):.2f}" '
                       'height="20" fill="#1f5fa8"/>')
        moved = SECTOR * len(sectors)
        out.append(f'<text x="{LEFT}" y="{y + 42}" fill="#444">{size * LANES} bytes asked for, {len(sectors)} sectors: '
                   f'{moved} bytes touched, {1 - size * LANES / moved:.0%} of them not asked for</text>')
    y = TOP + ROW * len(RUNGS)
    for byte in range(0, 1537, 256):
        out.append(f'<text x="{LEFT + byte * SCALE:.0f}" y="{y + 12}" fill="#444" text-anchor="middle">{byte}</text>')
    out.append(f'<text x="10" y="{y + 12}" fill="#444">byte</text>')
    out.append("</svg>")
    return "\n".join(out) + "\n"
