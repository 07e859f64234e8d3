# SPDX-License-Identifier: MIT
"""Day 05's idea: what a warp touches of A, B and C in one step of its loop, lanes below one another and side by side.

    tools/pictures.py 5
"""
from drawing import BAD, GLOBAL, GOOD, OUTPUT, SOFT, THREADS, WHITE, Card, picture

SIZE, LANES, STEP = 6, 4, 2  # a toy: 6 x 6 matrices, a warp of 4 lanes, step i = 2 of the loop over k


@picture("warp_steps.svg")
def warp_steps():
    card = Card("Which way the lanes stand", 472,
                "Lanes below one another touch four rows of A and of C, so four sectors. Lanes side by side touch one row of B and of C, "
                "one sector, and the same element of A.")
    lanes = range(LANES)
    for top, name, words, color, touched in (
            (96, "lanes_down: below one another", "apart in A and C", BAD,
             ({(lane, STEP): lane for lane in lanes}, {(STEP, 1): -1}, {(lane, 1): lane for lane in lanes})),
            (280, "lanes_across: side by side", "neighbours in B and C", GOOD,
             ({(1, STEP): -1}, {(STEP, lane): lane for lane in lanes}, {(1, lane): lane for lane in lanes}))):
        card.text(28, top - 32, name, 15, at="start", bold=True)
        card.text(452, top - 32, words, 15, color, "end")
        for left, matrix, fill, cells in zip((28, 176, 324), ("A", "B", "C"), (GLOBAL, GLOBAL, OUTPUT), touched):
            card.matrix(left, top, SIZE, SIZE, 21, matrix, fill, lambda r, c, cells=cells: {-1: "all"}.get(cells.get((r, c)), cells.get((r, c))),
                        lambda r, c, cells=cells: None if (r, c) not in cells else SOFT if cells[r, c] < 0 else THREADS[cells[r, c]],
                        lambda r, c, cells=cells: WHITE if (r, c) in cells else None)
    card.text(240, 436, f"One step of a warp of {LANES} lanes. A number is a lane.", 16, SOFT)
    card.text(240, 460, "Memory keeps a row's elements side by side.", 16, SOFT)
    return card
