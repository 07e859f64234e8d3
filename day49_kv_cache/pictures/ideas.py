# SPDX-License-Identifier: MIT
"""Day 49's ideas: what a step reads, a request of two keys, parts that become one, chunks for every multiprocessor, and a ring of copies.

    tools/pictures.py 49
"""
from drawing import BAD, GLOBAL, GOOD, OUTPUT, REGISTERS, SHARED, SOFT, THREADS, Card, constant, picture

CHUNK = constant("common/attention/chunks.h", "kChunkKeys")
STAGES = constant("day49_kv_cache/05_ring.cu", "kStages")


@picture("cache.svg")
def cache():
    card = Card("One token reads the whole cache", 250, "The new token's query meets the keys of all tokens before. Its own key and value become the cache's next row.")
    card.box(36, 96, 96, 26, REGISTERS)
    card.text(84, 84, "q", 16, bold=True)
    for name, left in (("k", 190), ("v", 334)):
        rows = card.matrix(left, 66, 6, 4, 24, "", fills=lambda row, col: OUTPUT if row == 4 else GLOBAL if row < 4 else None)
        card.text(rows.x, 56, name, 16, bold=True)
        card.text(rows.right + 8, rows.cell(4, 0).y + 5, "new", 15, GOOD, "start")
    card.arrow(134, 109, 186, 109)
    card.text(240, 234, "Blue: read. Green: written. White: nobody's, may be NaN.", 15, SOFT)
    return card


@picture("lanes.svg")
def lanes():
    card = Card("A warp's request takes two keys", 236, "bf16, 128 dimensions: 16 lanes of 16 bytes have a key. Four exchanges among them make its score.")
    for row, name in enumerate(("key 0", "key 1")):
        card.text(30, 84 + 56 * row, name, 16, at="start", bold=True)
        for lane in range(16):
            card.box(92 + 22 * lane, 64 + 56 * row, 22, 30, GLOBAL)
            if lane in (0, 1, 15):
                card.text(103 + 22 * lane, 84 + 56 * row, lane + 16 * row, 15)
    card.text(268, 186, "a box: a lane, 16 bytes, 8 numbers", 15, SOFT)
    card.text(240, 220, "512 bytes in one instruction, no barrier", 16, GOOD, bold=True)
    return card


@picture("merge.svg")
def merge():
    card = Card("Two parts become one", 290, "Each part has o of its own keys and the log of the sum of its weights. The shares of the whole are e to the difference of the logs.")
    for top, scores, values, lse, o, share in ((62, "1 3", "10 20", "3.127", "18.81", "0.128"), (136, "2 5", "30 40", "5.049", "39.53", "0.872")):
        card.box(28, top, 128, 56, GLOBAL)
        card.text(92, top + 23, f"scores {scores}", 15)
        card.text(92, top + 45, f"values {values}", 15)
        card.arrow(158, top + 28, 192, top + 28)
        card.box(194, top, 116, 56, REGISTERS)
        card.text(252, top + 23, f"lse {lse}", 15)
        card.text(252, top + 45, f"o {o}", 15)
        card.text(322, top + 33, f"x {share}", 16, GOOD, "start")
    card.arrow(392, 90, 418, 122)
    card.arrow(392, 164, 418, 142)
    card.text(429, 138, "+", 18, bold=True)
    card.box(390, 206, 78, 40, OUTPUT)
    card.text(429, 231, "36.88", 16)
    card.arrow(429, 146, 429, 203)
    card.text(28, 228, "share: e^(lse - lse of both), 5.185", 15, SOFT, "start")
    card.text(240, 276, "Order and place of the parts do not matter.", 16, GOOD, bold=True)
    return card


@picture("split.svg")
def split():
    card = Card("Chunks for every multiprocessor", 316, "Two heads in two blocks keep two multiprocessors busy. In chunks they keep eight, for a quarter of the time.")
    card.text(28, 64, "a block a head", 16, BAD, "start", True)
    card.text(28, 190, f"a block for each {CHUNK} keys", 16, GOOD, "start", True)
    for sm in range(8):
        x = 30 + 53 * sm
        if sm < 2:
            for part in range(4):
                card.box(x, 74 + 20 * part, 46, 20, THREADS[sm])
        else:
            card.box(x, 74, 46, 80, "none", dashed=True)
            card.text(x + 23, 118, "idle", 15, SOFT)
        card.box(x, 200, 46, 20, THREADS[sm // 4])
        card.arrow(x + 23, 222, 136 if sm < 4 else 348, 250, SOFT, 1.2)
    for x in (136, 348):
        card.box(x - 30, 252, 60, 24, OUTPUT)
        card.text(x, 270, "merge", 15)
    card.text(240, 304, "A column: a multiprocessor. Down: time.", 15, SOFT)
    return card


@picture("ring.svg")
def ring():
    card = Card("A ring that belongs to a lane", 250, f"While step n is computed, steps n + 1 to n + {STAGES - 1} are on their way. A lane copies what it uses itself, so it waits for nobody else.")
    for row in range(4):
        y = 62 + 36 * row
        card.text(30, y + 19, f"stage {row}", 15, at="start")
        for step in range(2):
            start = 96 + 44 * row + 176 * step
            if start + 176 <= 456:
                card.box(start, y, 132, 26, SHARED)
                card.text(start + 66, y + 18, "on its way", 15)
                card.box(start + 132, y, 44, 26, REGISTERS)
                card.text(start + 154, y + 18, 4 * step + row, 15)
    card.text(240, 230, "Time goes right. Violet: step n is computed.", 15, SOFT)
    return card
