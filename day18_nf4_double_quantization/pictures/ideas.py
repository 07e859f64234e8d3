# SPDX-License-Identifier: MIT
"""Day 18's ideas: what stands for a weight, and who finds the scales.

    tools/pictures.py 18
"""
from drawing import GLOBAL, GOOD, OUTPUT, REGISTERS, SHARED, SOFT, THREADS, WIDTH, Card, constant, picture

BLOCK, GROUP = constant("common/nf4.h", "kNf4Block"), constant("day18_nf4_double_quantization/nf4_double_quantization.h", "kGroup")
EACH = 8  # numbers of 16 bits in 16 bytes


@picture("nested.svg")
def nested():
    card = Card("Scales are data, too", 330, f"{BLOCK} codes of 4 bits share a scale. {GROUP} scales of 8 bits share one of 32 bits. All of them share an offset.")
    rows = ((76, "codes, 4 bits each", 16, GLOBAL, f"{BLOCK} share a scale"), (150, "scales, 8 bits each", 4, SHARED, f"{GROUP} share an absmax2"),
            (224, "absmax2, 32 bits each", 1, OUTPUT, "all share an offset"))
    for top, name, count, fill, words in rows:
        card.text(36, top - 6, name, 15, at="start", bold=True)
        card.text(WIDTH - 36, top - 6, words, 15, SOFT, "end")
        card.cells(top, "", [""] * count, left=36, size=408 / count, height=30, fill=fill)
    card.text(WIDTH / 2, 292, f"4 + 8 / {BLOCK} + 32 / ({BLOCK} x {GROUP}) = {4 + 8 / BLOCK + 32 / (BLOCK * GROUP):.3f} bits a weight", 16, GOOD)
    card.text(WIDTH / 2, 316, f"With scales of 32 bits: 4 + 32 / {BLOCK} = {4 + 32 / BLOCK:.1f}", 15, SOFT)
    return card


@picture("once.svg")
def once():
    lanes = BLOCK // EACH
    card = Card("A lane finds a scale for eight", 320, "A warp takes 32 blocks. Lane l finds the scale of block l. In row r of a warp's vectors the lanes are in four blocks, and a shuffle hands each the scale that it needs.")
    top = card.cells(70, "", ["0", "1", "2", "3", "4", "5", "…", "31"], left=70, size=50, height=34, fill=SHARED)
    card.text(70, 62, "lane l has the scale of block l", 15, SOFT, "start")
    for row, (y, owners) in enumerate(((158, (0, 1, 2, 3)), (224, (4, 5, 6, 7)))):
        card.text(70, y + 52, f"row {row}: a vector a lane, {lanes} lanes a block", 15, SOFT, "start")
        cells = card.cells(y, "", [f"block {owner}" for owner in owners], left=70, size=100, height=34, fill=REGISTERS)
        for i, owner in enumerate(owners):
            if owner < 6 and row == 0:
                card.arrow(top.cell(owner).x, top.bottom + 2, cells.cell(i).x, cells.top - 2, THREADS[i])
    card.text(WIDTH / 2, 304, f"{BLOCK // EACH} rows use the 32 scales up.", 15, GOOD)
    return card
