# SPDX-License-Identifier: MIT
"""Day 59's ideas: a chain of loads, ways to have many under way, who hands out words, and the memory system as it was measured.

    tools/pictures.py 59

The numbers of the memory system are those of docs/results/h200/day59.json; what is not measured is a question mark.
"""
import json
from pathlib import Path

from drawing import BAD, EMPTY, GLOBAL, GOOD, HALO, REGISTERS, SHARED, SOFT, THREADS, WHITE, Card, constant, picture

RESULTS = Path(__file__).resolve().parent.parent.parent / "docs" / "results" / "h200" / "day59.json"
STATE = constant("day59_memory_hierarchy/memory.h", "kState")


@picture("chain.svg")
def chain():
    card = Card("Each load says where the next one goes", 270,
                "Six lines of memory in random order. The walk goes from line 0 to 3, 1, 5, 2, 4 and back to 0.")
    order = [0, 3, 1, 5, 2, 4]
    following = dict(zip(order, order[1:] + order[:1]))
    row = card.cells(116, "line", [following[i] for i in range(6)], 90, 60, 44, GLOBAL)
    card.places(row, {i: i for i in range(6)}, below=True)
    for step, (a, b) in enumerate(zip(order, order[1:] + order[:1])):
        bend = 20 + 5 * abs(a - b) if step % 2 == 0 else -(36 + 5 * abs(a - b))
        top = row.top - 3 if step % 2 == 0 else row.bottom + 26
        card.curve(row.cell(a).x, top, row.cell(b).x - 4, top, bend / 2, BAD)
    card.text(240, 252, "Nobody can fetch ahead: one latency a step.", 16, BAD, bold=True)
    return card


@picture("under_way.svg")
def under_way(wait=40, group=80):
    """Ticks in L1, of the README's rungs 1 and 2. A group of eight is drawn to begin when the one before is back."""
    start = (group - wait) / 7
    card = Card("Eight loads: what waits for what", 300,
                f"One chain: eight loads one after the other, {8 * wait} ticks. Eight chains at once: the loads start {start:.1f} ticks apart, "
                f"and all are back after {group} ticks, when the next eight begin.")
    card.time(70, [("one", [(str(i + 1), wait * i, wait * (i + 1), HALO) for i in range(8)])], 84, 28, 8 * wait, f"{8 * wait} ticks")
    top = 138
    left, unit = 84, (480 - 84 - 24) / (8 * wait)
    for i in range(8):
        for begin, fill in ((0, THREADS[0] if i % 2 == 0 else GLOBAL), (group, EMPTY)):
            card.box(left + (begin + i * start) * unit, top + 14 * i, wait * unit, 11, fill, round=1)
    card.text(left - 10, top + 60, "eight", at="end", bold=True)
    card.text(left + group * unit, top + 128, f"{group} ticks", 15, SOFT)
    card.text(left + (2 * group + 8) * unit, top + 60, "then the next eight", 16, SOFT, at="start")
    card.text(240, 288, "A latency is not shorter. More pass at once.", 16, GOOD, bold=True)
    return card


@picture("handing_out.svg")
def handing_out():
    """Toy: four lanes, four banks, lines of four words."""
    card = Card("Which words share a turn", 470,
                "Turns for four lanes' words. L1 serves one line of four words in a turn, shared memory one word of each of four banks, "
                "constant memory one word.")
    cases = (("all the same", (0, 0, 0, 0)), ("neighbours", (0, 1, 2, 3)), ("across two lines", (2, 3, 4, 5)),
             ("far apart", (0, 5, 10, 15)), ("one bank", (0, 4, 8, 12)))
    columns = ((238, "L1"), (322, "shared"), (418, "constant"))
    for x, name in columns:
        card.text(x, 76, name, 16, bold=True)
    for i, (name, words) in enumerate(cases):
        y = 92 + 70 * i
        lines, banks = len({word // 4 for word in words}), [len({word for word in words if word % 4 == bank}) for bank in range(4)]
        card.text(30, y + 4, name, 16, at="start", bold=True)
        card.cells(y + 12, "", words, 30, 38, 32, fills={k: THREADS[word % 4] for k, word in enumerate(words)}, inks=dict.fromkeys(range(4), WHITE))
        for (x, _), turns in zip(columns, (lines, max(banks), len(set(words)))):
            card.text(x, y + 34, f"{turns} turn{'s' if turns > 1 else ''}", 17, BAD if turns > 1 else GOOD, bold=True)
    card.text(240, 454, "Word w: line w / 4, bank w mod 4 (its colour).", 16, SOFT)
    return card


@picture("squares.svg")
def squares(side=8, line_of=4, square=2):
    """Toy: a picture of 8 x 8 pixels, lines of four of them; the real layout is not documented."""
    card = Card("A column of a picture, in lines of memory", 296,
                "Laid out in rows, the eight pixels of a column lie in eight lines of memory. Laid out in squares, they lie in four.")
    for left, name, rows, cols, color in ((36, "rows", 1, line_of, BAD), (268, "squares", square, square, GOOD)):
        line = lambda r, c, rows=rows, cols=cols: (r // rows, c // cols)
        touched = {line(r, 2) for r in range(side)}
        grid = card.matrix(left, 84, side, side, 22, name, GLOBAL, fills=lambda r, c, line=line, touched=touched:
                           THREADS[0] if c == 2 else HALO if line(r, c) in touched else None)
        for row in range(0, side, rows):
            for col in range(0, side, cols):
                card.frame(grid.tile(row, col, rows, cols), SOFT, 2, 0)
        card.text(grid.x, 282, f"{len(touched)} lines", 18, color, bold=True)
    return card


@picture("spill.svg")
def spill():
    card = Card("What does not fit is carried to memory", 282,
                f"A thread with {STATE} words of state: in 71 registers all fit; in 32 registers most are stored to local memory and loaded again.")
    card.text(130, 70, "kept: 71 registers", 16, bold=True)
    card.box(50, 84, 160, 60, REGISTERS)
    card.text(130, 120, f"{STATE} words", 16)
    card.text(130, 172, "nothing leaves", 16, GOOD, bold=True)
    card.text(350, 70, "spilled: 32 registers", 16, bold=True)
    card.box(310, 84, 80, 60, REGISTERS)
    card.text(350, 120, "what fits", 16)
    card.arrow(336, 148, 336, 186, BAD)
    card.arrow(364, 186, 364, 148, BAD)
    card.box(250, 190, 200, 44, GLOBAL)
    card.text(350, 218, "local memory", 16)
    card.text(240, 266, "Each round: 44 words out, 44 back.", 16, SOFT)
    return card


def seconds(tables, ladder, shape, rung):
    """(time, table) of that rung in the ladder's table of those extents; (None, None) where it is not measured."""
    for table in tables:
        if table["ladder"] == ladder and list(table["shape"].values()) == shape:
            for row in table["rows"]:
                if row["name"] == rung and row.get("seconds"):
                    return row["seconds"], table
    return None, None


def measured():
    """{level: words}: latency in ns, width in bytes a tick of a multiprocessor or GB/s; ? for what is not measured."""
    found = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.is_file() else {"tables": [], "device": {}}
    tables, device = found["tables"], found["device"]

    def latency(lines):
        time, table = seconds(tables, "chase", [lines, 32, 15625], "one")
        return f"{1e9 * time / (table['shape']['chains'] * table['shape']['steps']):.0f} ns" if time else "?"

    def width(shape, rung):
        time, table = seconds(tables, "sweep", shape, rung)
        return f"{table['read_bytes'] / time / device['multiprocessors'] / (1e6 * device['max_clock_mhz']):.0f} B" if time else "?"
    near, _ = seconds(tables, "lookup", [32, 1024, 100000], "shared")
    time, table = seconds(tables, "fetch", [1 << 24], "pinned")
    return {"shared": (f"{1e4 * near:.0f} ns" if near else "?", width([1 << 20, 64], "held")),
            "L1": (latency(128), width([1 << 20, 64], "near")), "L2": (latency(8192), width([1 << 23, 16], "far")),
            "DRAM": (latency(2097152), width([1 << 28, 4], "far")),
            "host": ("–", f"{table['read_bytes'] / time / 1e9:.0f} GB/s" if time else "?")}


@picture("system.svg")
def system():
    numbers = measured()
    whole = not any("?" in words for words in numbers.values())
    card = Card("The memory system" + ("" if whole else ", measured so far"), 420,
                "Levels of an H200's memory from the registers to the host's memory: how much each holds, how far it is and how wide.")
    for x, words in ((70, "level"), (220, "holds"), (340, "a load"), (424, "a tick")):
        card.text(x, 62, words, 15, SOFT)
    for i, (name, holds, fill) in enumerate((("registers", "256 KiB", REGISTERS), ("shared", "to 227 KiB", SHARED), ("L1", "the rest of 256", SHARED),
                                             ("L2", "60 MiB", GLOBAL), ("DRAM", "141 GB", GLOBAL), ("host", "its memory", EMPTY))):
        place = card.box(16, 74 + 50 * i, 448, 42, fill)
        card.text(30, place.y + 6, {"L1": "L1, textures"}.get(name, name), 16, at="start", bold=True)
        card.text(220 if name != "L1" else 232, place.y + 6, holds, 15)
        for x, words in zip((340, 424), ("no request", "–") if name == "registers" else numbers[name]):
            card.text(x, place.y + 6, words, 15, bold=words not in ("?", "–", "no request"))
    card.text(240, 392, "A load: ns of one alone. A tick: bytes for each", 15, SOFT)
    card.text(240, 411, "multiprocessor. –: not asked." + ("" if whole else " ?: not measured."), 15, SOFT)
    return card
