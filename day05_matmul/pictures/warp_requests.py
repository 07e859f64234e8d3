# SPDX-License-Identifier: MIT
"""Draws which sectors the 32 lanes of a warp touch, from what programs/sectors.cu prints.

    sectors 256 256 256 --addresses > day05_matmul/pictures/warp_requests.txt
    tools/pictures.py 5        # reads that file, writes warp_requests.svg beside it
"""
import re
from pathlib import Path

from drawing import picture

HERE = Path(__file__).resolve().parent
SECTOR = 32  # bytes
FLOAT = 4
LEFT, STEP = 44, 20  # pixels: where lane 0 is, and from lane to lane and sector to sector
PANEL = 132
REQUESTS = ("read a[row * k + i]", "read b[i * n + col]", "write c[row * n + col]")
COLOURS = {"rows": "#cf222e", "columns": "#1a7f37"}
TITLES = {
    "rows": "rows: lane = row, the wrong way round",
    "columns": "columns: lane = column, the right way round",
}


def text(x, y, words, size=12, colour="#24292f", anchor="start", weight="normal"):
    return (
        f'<text x="{x:g}" y="{y:g}" font-size="{size}" fill="{colour}" text-anchor="{anchor}" '
        f'font-weight="{weight}">{words}</text>'
    )


def panel(top, rung, request, addresses):
    """One request: the lanes above, the sectors they touch below, a line from each lane to its four bytes."""
    sectors = sorted({address // SECTOR for address in addresses})
    used = len(set(addresses)) * FLOAT
    colour = COLOURS[rung]
    plural = "" if len(sectors) == 1 else "s"
    out = [
        text(
            24,
            top,
            f"{REQUESTS[request]}: <tspan font-weight='bold' fill='{colour}'>{len(sectors)} sector{plural}</tspan>"
            f" moved, {used} of {len(sectors) * SECTOR:,} bytes used",
            13,
        )
    ]
    lane_y, sector_y = top + 16, top + 78
    place = {sector: LEFT + STEP * i for i, sector in enumerate(sectors)}
    for lane, address in enumerate(addresses):
        x = LEFT + STEP * lane
        cell = place[address // SECTOR] + (address % SECTOR) / FLOAT * 2.25
        out.append(
            f'<line x1="{x + 8}" y1="{lane_y + 16}" x2="{cell + 1:g}" y2="{sector_y}" stroke="{colour}" '
            'stroke-opacity="0.45"/>'
        )
        out.append(f'<rect x="{x}" y="{lane_y}" width="16" height="16" rx="3" fill="#ddf4ff" stroke="#54aeff"/>')
        out.append(text(x + 8, lane_y + 12, lane, 10, anchor="middle"))
    for sector, x in place.items():
        for i in range(SECTOR // FLOAT):
            hit = sector * SECTOR + i * FLOAT in addresses
            fill = colour if hit else "#d0d7de"
            out.append(f'<rect x="{x + 2.25 * i:g}" y="{sector_y}" width="2" height="14" fill="{fill}"/>')
    for i, sector in enumerate(sectors):
        if i % 4 == 0 and (len(sectors) > 4 or i == 0):
            out.append(text(place[sector], sector_y + 27, f"byte {sector * SECTOR:,}", 10, "#57606a"))
    return out


@picture("warp_requests.svg")
def warp_requests():
    dump = (HERE / "warp_requests.txt").read_text(encoding="utf-8")
    size = re.search(r"one warp of a (\d+) x (\d+) x (\d+) matmul", dump).groups()
    found = re.findall(r"^addresses (rows|columns) (\d): ([\d ]+)$", dump, re.MULTILINE)
    requests = {(rung, int(which)): [int(a) for a in numbers.split()] for rung, which, numbers in found}

    out = [text(24, 34, "What one warp asks for in one step of the loop over k", 17)]
    caption = f"{' x '.join(size)} matmul, fp32. A blue box is a lane, a strip of 8 a sector of 32 bytes; used bytes are coloured."
    out.append(text(24, 54, caption, 12, "#57606a"))
    y = 88
    for rung in ("rows", "columns"):
        out.append(text(24, y, TITLES[rung], 15, COLOURS[rung], weight="bold"))
        for request in (0, 1):
            out += panel(y + 26, rung, request, requests[rung, request])
            y += PANEL
        y += 38
    height = y - 10
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 {height}" width="720" height="{height}" '
        'font-family="Helvetica, Arial, sans-serif" role="img">\n'
        "<title>Sectors touched by a warp: 33 a step the wrong way round, 5 the right way</title>\n"
        f'<rect width="720" height="{height}" rx="8" fill="#ffffff"/>\n' + "\n".join(out) + "\n</svg>\n"
    )
