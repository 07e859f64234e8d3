# SPDX-License-Identifier: MIT
"""Draws what one scheduler issues, cycle by cycle, for 1, 2, 4 and 8 chains of dependent multiply-adds.

    tools/pictures.py 16

The schedule is worked out here from the two numbers below, by the rule that the hardware follows: in each cycle issue one
instruction whose input is ready, the one that has waited longest first.
"""
from drawing import picture

LATENCY = 4  # cycles from a multiply-add's issue until a dependent one can issue
CYCLES = 16
RUNGS = (("ilp1", 1), ("ilp2", 2), ("ilp4", 4), ("ilp8", 8))
COLOURS = ("#0969da", "#bc4c00", "#1a7f37", "#8250df", "#bf3989", "#9a6700", "#1b7c83", "#57606a")
LEFT, CELL, TOP, ROW = 132, 33, 96, 58


def schedule(chains):
    """The chain that issues in each cycle, or None where all of them wait."""
    ready = [0] * chains
    slots = []
    for cycle in range(CYCLES):
        chain = min(range(chains), key=lambda c: (ready[c], c))
        if ready[chain] > cycle:
            slots.append(None)
            continue
        slots.append(chain)
        ready[chain] = cycle + LATENCY
    return slots


def text(x, y, words, size=12, colour="#24292f", anchor="start", weight="normal"):
    return (
        f'<text x="{x:g}" y="{y:g}" font-size="{size}" fill="{colour}" text-anchor="{anchor}" '
        f'font-weight="{weight}">{words}</text>'
    )


@picture("littles_law.svg")
def littles_law():
    height = TOP + ROW * len(RUNGS) + 26
    out = [
        text(24, 34, "What one scheduler issues: chains of multiply-adds that wait for themselves", 17),
        text(24, 55, f"One warp, latency {LATENCY} cycles, one issue a cycle at most. A number is the chain that issues.", 12, "#57606a"),
    ]
    for cycle in range(CYCLES):
        out.append(text(LEFT + CELL * cycle + CELL / 2 - 1, TOP - 12, cycle, 11, "#57606a", "middle"))
    out.append(text(LEFT - 12, TOP - 12, "cycle", 11, "#57606a", "end"))
    for row, (name, chains) in enumerate(RUNGS):
        y = TOP + ROW * row
        slots = schedule(chains)
        issued = sum(slot is not None for slot in slots)
        out.append(text(24, y + 16, name, 14, weight="bold"))
        out.append(text(24, y + 32, f"{issued} of {CYCLES} slots", 12, "#57606a"))
        for cycle, chain in enumerate(slots):
            fill = "#eaeef2" if chain is None else COLOURS[chain]
            x = LEFT + CELL * cycle
            out.append(f'<rect x="{x}" y="{y}" width="{CELL - 2}" height="32" rx="3" fill="{fill}"/>')
            if chain is not None:
                out.append(text(x + CELL / 2 - 1, y + 21, chain, 13, "#ffffff", "middle"))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 {height}" width="720" height="{height}" '
        'font-family="Helvetica, Arial, sans-serif" role="img">\n'
        "<title>Issue slots used by 1, 2, 4 and 8 chains: a quarter, a half, all, all</title>\n"
        f'<rect width="720" height="{height}" rx="8" fill="#ffffff"/>\n' + "\n".join(out) + "\n</svg>\n"
    )
