# SPDX-License-Identifier: MIT
"""Day 67's ideas: one product of a warpgroup, who does what over time, and what two blocks of a cluster bring each other.

    tools/pictures.py 67
"""
from drawing import GLOBAL, OUTPUT, SHARED, SOFT, THREADS, WHITE, Card, constant, picture

DAY = "day67_hopper_matmul/"
STAGES = constant(DAY + "03_ring.cu", "kStages")


@picture("product.svg")
def product(row=12, across=192):
    """64 x 16 of a times 16 x 128 of b: sixteen rows a warp."""
    card = Card("One product of four warps", 330,
                "A tile of a, 64 rows of 16, and a tile of b, 16 rows of 128, both in shared memory, give 64 rows of 128 sums. Each of the "
                "four warps has sixteen of these rows in its registers.")
    left, top = 40, 130
    card.box(150, 62, across, 34, SHARED)
    card.text(150 + across / 2, 84, "b: 16 × 128, shared", 15)
    card.box(left, top, 80, 4 * 34, SHARED)
    card.text(left + 40, top + 64, "a: 64 × 16", 15)
    card.text(left + 40, top + 84, "shared", 15)
    for warp in range(4):
        card.box(150, top + warp * 34, across, 34, THREADS[warp], round=0)
        card.text(150 + across / 2, top + warp * 34 + 22, "16 rows of sums", 15, WHITE, bold=True)
        card.text(150 + across + 14, top + warp * 34 + 22, f"warp {warp}", 15, THREADS[warp], "start", bold=True)
    card.text(240, 296, "One instruction: 64 × 128 × 16. It reads both tiles itself;", 16, SOFT)
    card.text(240, 318, "the threads only have the sums.", 16, SOFT)
    return card


@picture("roles.svg")
def roles(copy=3.6, math=1.6, end=15):
    """The ring over time: a row is a stage; the producer asks for it again once it is empty."""
    card = Card("Full and empty", 314,
                "Four stages over time. A stage is asked for, comes, is full, is multiplied, is empty, and is asked for again. After the "
                "first wait there is always a full one.")
    rows = [[] for _ in range(STAGES)]
    for t in range(int((end - copy) / math)):
        begins = copy + t * math
        asked = 0 if t < STAGES else begins - (STAGES - 1) * math
        rows[t % STAGES] += [(t, asked, min(asked + copy, begins), GLOBAL), (t, begins, begins + math, SHARED)]
    card.time(60, [(f"stage {i}", row) for i, row in enumerate(rows)], height=30, end=end)
    card.text(32, 276, "Blue: the copy engine fills it. Yellow: products read it.", 16, SOFT, "start")
    card.text(32, 298, "In between: full, or empty.", 16, SOFT, "start")
    return card


@picture("cluster.svg")
def cluster():
    """Two blocks of a cluster: each brings its own a, and half of b to both."""
    card = Card("Half of b each, for both", 322,
                "Two blocks have tiles of c below one another. Each asks for its own rows of a, and for one half of the columns of b, which the "
                "copy engine brings to both blocks.")
    for rank, top in ((0, 140), (1, 226)):
        card.box(40, top, 74, 56, GLOBAL)
        card.text(77, top + 33, f"a of {rank}", 15)
        card.box(150, top, 240, 56, OUTPUT)
        card.text(270, top + 33, f"c: block {rank}", 16, bold=True)
    for half in range(2):
        card.box(150 + 120 * half, 66, 120, 44, THREADS[half], round=0)
        card.text(210 + 120 * half, 93, f"b, by block {half}", 15, WHITE, bold=True)
    card.text(240, 308, "L2 gives each block 32 KiB a stage in place of 48.", 16, SOFT)
    return card
