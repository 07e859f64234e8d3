# SPDX-License-Identifier: MIT
"""Day 30's ideas: a lock that one thread gives back while others still store, and partial sums that nobody waits for.

    tools/pictures.py 30
"""
from drawing import BAD, GLOBAL, GOOD, OUTPUT, REGISTERS, SHARED, SOFT, Card, picture

WARPS, ROWS, PROGRAMS = 4, 8, 2  # for 128 threads, 65,536 rows and 528 programs


@picture("lock.svg")
def lock():
    card = Card("The lock comes back too early", 444, "Four warps of a program store its sums. Warp 0 gives the lock back as soon as it has stored; warp 3 stores later, when "
                "another program already holds the lock. With a barrier warp 0 waits.")
    stored = (0, 1, 1, 3)  # when each warp begins to store
    for top, words, color, given in ((66, "no barrier", BAD, 2), (254, "tl.debug_barrier()", GOOD, max(stored) + 1)):
        card.text(28, top, words, 16, color, "start", bold=True)
        rows = []
        for warp in range(WARPS):
            steps = [("store", stored[warp], stored[warp] + 1, OUTPUT if stored[warp] + 1 <= given else GLOBAL)]
            steps += [("give back", given, given + 1.6, SHARED)] if warp == 0 else []
            rows.append((f"warp {warp}", steps))
        card.time(top + 10, rows, left=96, height=24, end=6)
    return card


@picture("partials.svg")
def partials():
    card = Card("As many sums as programs", 312, f"{ROWS} rows are dealt to {PROGRAMS} programs in turn. Each keeps its sum in registers and stores it once. A second kernel adds the partial "
                "rows from the first to the last.")
    card.text(28, 66, "rows, and who takes them", 16, at="start", bold=True)
    owners = [row % PROGRAMS for row in range(ROWS)]
    card.owned(76, owners, 40, left=28)
    for program in range(PROGRAMS):
        values = "+".join(str(row) for row in range(ROWS) if owners[row] == program)
        card.cells(150 + 46 * program, "", [f"rows {values}"], 28, 190, 34, REGISTERS)
        card.text(236, 172 + 46 * program, f"program {program}, in registers", 16, SOFT, "start")
    card.arrow(123, 234, 123, 252)
    card.cells(254, "", ["first + second"], 28, 190, 34, OUTPUT)
    card.text(236, 276, "always in this order", 16, GOOD, "start")
    return card
