# SPDX-License-Identifier: MIT
"""Day 35's ideas: what a program that stays asks of memory over time, and where the shares of dw stand.

    tools/pictures.py 35
"""
from drawing import BAD, GLOBAL, GOOD, OUTPUT, REGISTERS, SHARED, SOFT, Card, picture


@picture("ahead.svg")
def ahead():
    card = Card("While it sums, nothing is on its way", 330,
                "A program that stays loads a row, sums, stores, and loads the next: memory is asked in turns with the sum. Loaded ahead, the next row is on its way during the sum.")
    load, work = 70, 70
    card.text(24, 70, "stays", 17, BAD, "start", bold=True)
    for row in range(3):
        left = 24 + row * (load + work)
        for words, x, width, fill in ((f"load {row}", left, load, GLOBAL), (f"sum {row}", left + load, work, OUTPUT)):
            place = card.box(x, 80, width, 36, fill)
            card.text(place.x, 104, words, 15)
    card.text(24, 152, "by_hand", 17, GOOD, "start", bold=True)
    for row in range(3):
        place = card.box(24 + row * load, 162, load, 36, GLOBAL)
        card.text(place.x, 186, f"load {row}", 15)
        place = card.box(24 + (row + 1) * load, 202, work, 36, OUTPUT)
        card.text(place.x, 226, f"sum {row}", 15)
    card.arrow(24, 262, 456, 262)
    card.text(240, 284, "time", 15, SOFT)
    card.text(240, 312, "Memory is asked without a pause.", 17, GOOD, bold=True)
    return card


@picture("shares.svg")
def shares():
    card = Card("A share of dw for each program", 310,
                "Three programs take rows in turn, each adds its share of dw in registers, and stores it once. A second kernel adds the shares.")
    for row in range(6):
        place = card.box(24, 62 + 34 * row, 150, 30, GLOBAL)
        card.text(place.x, 83 + 34 * row, f"row {row}: program {row % 3}", 15)
    for program in range(3):
        place = card.box(206, 68 + 68 * program, 120, 54, REGISTERS)
        card.text(place.x, 91 + 68 * program, f"program {program}", 15, bold=True)
        card.text(place.x, 111 + 68 * program, f"rows {program}, {program + 3}", 15)
        card.arrow(328, 95 + 68 * program, 362, 95 + 68 * program)
    place = card.box(364, 68, 92, 190, SHARED)
    card.text(place.x, 152, "added by", 15)
    card.text(place.x, 172, "the second", 15)
    card.text(place.x, 192, "kernel", 15)
    card.text(240, 296, "No two programs write the same place.", 17, GOOD, bold=True)
    return card
