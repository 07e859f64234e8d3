# SPDX-License-Identifier: MIT
"""Day 8's ideas: who meets whom in the two layouts, and a grid that meets once while it keeps its shares.

    tools/pictures.py 8
"""
from drawing import GLOBAL, GOOD, OUTPUT, REGISTERS, SHARED, SOFT, THREADS, WIDTH, Card, constant, picture

PIECES, BLOCKS = constant("day08_batch_norm/batch_norm.h", "kPieces"), constant("day08_batch_norm/batch_norm.h", "kBlocksOfMultiprocessor")


@picture("layouts.svg")
def layouts():
    card = Card("Who meets whom", 404, "Four lanes read what lies side by side. Where space is last, their numbers are of one channel and have to meet. Where channels are last, each lane has a channel of its own, walks down, and meets nobody.")
    card.text(28, 66, "space last: one channel lies side by side", 16, at="start", bold=True)
    row = card.cells(80, "", ["a"] * 8 + ["b"] * 4, left=28, size=36, height=30, fill=GLOBAL)
    for lane in range(4):
        card.frame(row.cell(lane), THREADS[lane], 3, 0)
        card.frame(row.cell(lane + 4), THREADS[lane], 3, 0)
    for lane in range(4):
        card.line(row.cell(lane).x, row.bottom + 4, row.cell(lane // 2 * 2).x + 18, row.bottom + 34, THREADS[lane], 2)
    for pair in range(2):
        card.line(row.cell(2 * pair).x + 18, row.bottom + 34, row.cell(1).x + 18, row.bottom + 64, SOFT, 2)
    card.box(row.cell(1).x - 26, row.bottom + 64, 88, 28, REGISTERS)
    card.text(row.cell(1).x + 18, row.bottom + 84, "sum of a", 15)
    card.text(row.cell(4).x, row.bottom + 42, "The lanes' sums are", 15, SOFT, "start")
    card.text(row.cell(4).x, row.bottom + 62, "parts of one: they meet.", 15, SOFT, "start")
    card.text(28, 238, "channels last: others lie side by side", 16, at="start", bold=True)
    for line in range(3):
        row = card.cells(252 + 34 * line, "", ["a", "b", "c", "d"], left=28, size=36, height=30, fill=GLOBAL)
        for lane in range(4):
            card.frame(row.cell(lane), THREADS[lane], 3, 0)
    for lane in range(4):
        card.arrow(row.cell(lane).x, row.bottom + 2, row.cell(lane).x, row.bottom + 24, THREADS[lane])
    card.text(190, 290, "A lane goes down its column,", 15, SOFT, "start")
    card.text(190, 312, "and asks nobody beside it.", 15, SOFT, "start")
    card.text(28, 392, "A colour: a lane.", 15, SOFT, "start")
    return card


@picture("together.svg")
def together():
    card = Card("Keep your share, and meet once", 396, f"Three channels in four equal shares. Each block reads its share and keeps it on the chip, leaves the moments of each segment in a place of its own, waits until all have, merges the places of its channels, and writes y from what it kept. {BLOCKS} blocks share a multiprocessor.")
    left, width = 28, 110
    card.text(left, 66, "x, channel by channel", 16, at="start", bold=True)
    colours = [THREADS[0], THREADS[1], THREADS[2]]
    total = 4 * width
    for channel in range(3):
        begin = left + total * channel / 3
        card.box(begin, 76, total / 3, 28, GLOBAL, line=colours[channel], round=1)
        card.text(begin + total / 6, 96, "abc"[channel], 16)
    for block in range(4):
        x = left + width * block
        card.arrow(x + width / 2, 106, x + width / 2, 130)
        card.box(x + 4, 132, width - 8, 34, SHARED)
        card.text(x + width / 2, 154, f"block {block}: share", 14)
        card.arrow(x + width / 2, 168, x + width / 2, 192)
        for channel in range(3):
            begin, end = max(block / 4, channel / 3), min((block + 1) / 4, (channel + 1) / 3)
            if end - begin > 1e-9:
                first = block * 3 >= channel * 4
                place = x + (width / 2 - 19 if block in (0, 3) else 12 if first else 60)
                card.box(place, 194, 38, 26, REGISTERS, line=colours[channel])
                card.text(place + 19, 213, "abc"[channel], 15)
    card.line(left, 240, left + total, 240, GOOD, 5)
    card.text(WIDTH / 2, 264, "all blocks wait here for the last one", 16, GOOD, bold=True)
    for block in range(4):
        x = left + width * block
        card.arrow(x + width / 2, 276, x + width / 2, 300)
        card.box(x + 4, 302, width - 8, 34, OUTPUT)
        card.text(x + width / 2, 324, "its part of y", 14)
    card.text(left, 364, "A small box: the moments of a segment.", 15, SOFT, "start")
    card.text(left, 386, f"pieces, before it: {PIECES} blocks a channel, and x is read again.", 15, SOFT, "start")
    return card
