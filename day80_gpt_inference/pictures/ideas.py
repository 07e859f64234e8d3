# SPDX-License-Identifier: MIT
"""Day 80's ideas: where a text's keys lie, who is in which step, what a token waits for.

    tools/pictures.py 80
"""
import re
from pathlib import Path

from drawing import BAD, EMPTY, GLOBAL, GOOD, OUTPUT, REGISTERS, SHARED, SOFT, WIDTH, Card, constant, picture

PAGE = constant("serve/ops.h", "kPage")
MANY = (Path(__file__).resolve().parents[1] / "many.h").read_text(encoding="utf-8")
SLOTS = int(re.search(r"kSlots = (\d+)", MANY)[1])
WISHES = [int(word) for word in re.search(r"kTokens\[\] = \{([\d, ]+)\}", MANY)[1].split(",")]
FILLS = (GLOBAL, SHARED, REGISTERS, OUTPUT)


@picture("pages.svg")
def pages():
    lengths, tables = (PAGE + 5, 7), ((4, 1), (3,))
    card = Card("Two texts, five pages", 262, f"Text A has {lengths[0]} tokens: pages 4 and 1. Text B has {lengths[1]}: page 3. Pages 0 and 2 are free. A page holds {PAGE} tokens.")
    held = {page: (name, min(PAGE, length - PAGE * i), fill) for name, length, table, fill in zip("AB", lengths, tables, (GLOBAL, REGISTERS))
            for i, page in enumerate(table)}
    places = {}
    for page in range(5):
        left = 26 + page * 88
        name, count, fill = held.get(page, ("", 0, EMPTY))
        for token in range(PAGE):
            card.box(left + token % 4 * 18, 156 + token // 4 * 13, 18, 13, fill if token < count else EMPTY, round=1)
        card.text(left + 36, 228, f"page {page}", 15, SOFT)
        card.text(left + 36, 248, name or "free", 15, GOOD if not name else SOFT, bold=not name)
        places[page] = left + 36
    for i, (name, table) in enumerate(zip("AB", tables)):
        left = 120 + i * 180
        row = card.cells(66, f"text {name}", list(table), left=left, size=36, height=32, fill=(GLOBAL, REGISTERS)[i])
        for entry, page in enumerate(table):
            card.arrow(row.cell(entry).x, row.bottom + 2, places[page], 152, SOFT)
    return card


# A text's first token comes with its prompt, before a step. What follows gives ({slot: [(text, first step, behind its last)]}, steps).
def in_batches():
    rows, step = {slot: [] for slot in range(SLOTS)}, 0
    for first in range(0, len(WISHES), SLOTS):
        group = WISHES[first:first + SLOTS]
        for slot, tokens in enumerate(group):
            if tokens > 1:
                rows[slot].append((first + slot, step, step + tokens - 1))
        step += max(group) - 1
    return rows, step


def as_slots_are_free():
    rows, free = {slot: [] for slot in range(SLOTS)}, [0] * SLOTS
    for text, tokens in enumerate(WISHES):
        slot = min(range(SLOTS), key=lambda slot: free[slot])
        if tokens > 1:
            rows[slot].append((text, free[slot], free[slot] + tokens - 1))
        free[slot] += tokens - 1
    return rows, max(free)


@picture("batching.svg")
def batching():
    sums = [in_batches(), as_slots_are_free()]
    end = max(steps for _, steps in sums) + 0.5
    card = Card("A slot that is free is given away", 392, f"{len(WISHES)} texts with {SLOTS} slots. Three at a time take {sums[0][1]} steps, because all wait for the longest. When a text that waits takes a slot as soon as it is free, {sums[1][1]} are enough.")
    for top, (rows, steps), name, color in ((86, sums[0], "three at a time", BAD), (254, sums[1], "as soon as a slot is free", GOOD)):
        card.text(24, top - 16, f"{name}: {steps} steps", 16, color, "start", bold=True)
        card.time(top, [(f"slot {slot}", [(text + 1, begin, stop, FILLS[text % 4]) for text, begin, stop in runs]) for slot, runs in rows.items()],
                  end=end, height=24, words="steps")
    return card


@picture("waits.svg")
def waits():
    kernels = 7
    card = Card("A token waits more than it reads", 284, "Kernels of a layer read its weights. Launched one by one, each begins long after the last one's end. In a graph the gaps are shorter. The weights alone would take the sum of the coloured parts.")

    def row(gap, work=1.0):
        return [("", i * (gap + work), i * (gap + work) + work, GLOBAL) for i in range(kernels)]
    card.time(66, [("one by one", row(2.2)), ("a graph", row(0.9)), ("the read", [("", 0, kernels, GLOBAL)])], left=118, end=22)
    card.text(WIDTH / 2, 248, "Colour: a kernel reads weights.", 15, SOFT)
    card.text(WIDTH / 2, 270, "White: nobody reads, and the next kernel is on its way.", 15, SOFT)
    return card
