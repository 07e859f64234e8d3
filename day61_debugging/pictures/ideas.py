# SPDX-License-Identifier: MIT
"""Day 61's ideas: a guard band behind a buffer, a race round a loop, a block that waits at two barriers, a turn that is not
passed on, a stream without a wait, two streams in steps.

    tools/pictures.py 61
"""
from drawing import BAD, EMPTY, GLOBAL, GOOD, OUTPUT, REGISTERS, SHARED, SOFT, Card, constant, picture

THREADS = constant("day61_debugging/04_shares.cu", "kThreads")
WARP = 32
VALUES = constant("day61_debugging/mistakes/out_of_bounds.cu", "kValues")


@picture("guard.svg")
def guard():
    card = Card("A guard band shows a stray write", 214, "The last differences of d, and behind them a guard band of a known pattern. "
                                                         "The store one element too far changes the band.")
    last = VALUES - 2
    d = card.cells(84, "d", [last - 2, last - 1, last, "?", "", ""], size=58, height=40, left=70, fill=GLOBAL,
                   fills={3: SHARED, 4: SHARED, 5: SHARED}, inks={3: BAD})
    card.window(d, 0, 2, f"{4 * (VALUES - 1):,} bytes of d")
    card.window(d, 3, 5, "guard band")
    card.arrow(d.cell(3).x, 58, d.cell(3).x, 82, BAD)
    card.text(d.cell(3).x + 8, 64, f"d[{VALUES - 1}] = ...", 15, BAD, "start", bold=True)
    card.text(240, 196, "compared after each kernel: the pattern has changed", 15, SOFT)
    return card


@picture("race.svg")
def race():
    card = Card("A fast thread replaces what is needed", 232, f"Thread {WARP} reads, goes round the loop and stores the next row's element "
                                                              f"in row[{WARP}], before thread {WARP - 1} has read the old row[{WARP}].")
    card.time(64, [(f"thread {WARP}", [("read", 0, 2, REGISTERS), (f"store row[{WARP}]", 2, 5, SHARED)]),
                   (f"thread {WARP - 1}", [("late", 0, 5, EMPTY), (f"read row[{WARP}]", 5, 8, REGISTERS)])], left=104, end=9)
    card.text(240, 200, f"thread {WARP - 1} reads the next row: wrong", 15, BAD, bold=True)
    card.text(240, 222, f"a barrier after the read keeps thread {WARP} back", 15, GOOD)
    return card


@picture("diverged.svg")
def diverged():
    half = THREADS // 2
    card = Card("Each barrier gets half of the threads", 236, f"Threads 0 to {half - 1} wait at the barrier inside the if, threads {half} to "
                                                         f"{THREADS - 1} at the one behind the loop.")
    for y, threads, how, where in ((64, f"0 to {half - 1}", "t < half", "barrier in the if"),
                                   (134, f"{half} to {THREADS - 1}", "skip", "barrier at the end")):
        card.text(16, y + 20, "threads", 15, SOFT, "start")
        card.text(16, y + 40, threads, 15, at="start", bold=True)
        card.box(130, y, 90, 48, REGISTERS)
        card.text(175, y + 30, how, 15)
        card.arrow(222, y + 24, 258, y + 24)
        card.box(260, y, 196, 48, EMPTY, BAD, 2.4)
        card.text(358, y + 30, where, 15, BAD, bold=True)
    card.text(240, 216, f"each barrier is for all {THREADS}", 15, SOFT)
    return card


@picture("turn.svg")
def turn():
    card = Card("A turn that nobody passes on", 166, "Ticket 0 passes the turn to ticket 1, whose block returns at line 23 without "
                                                     "passing it. Tickets 2 and 3 wait.")
    places = card.chain(62, [("ticket 0", "done", OUTPUT), ("ticket 1", "returned", EMPTY), ("ticket 2", "waits", SHARED),
                             ("ticket 3", "waits", SHARED)], width=88, gap=24)
    card.arrow(places[0].right + 2, places[0].y, places[1].left - 2, places[0].y, GOOD)
    card.line(places[1].right + 3, places[1].y, places[2].left - 3, places[1].y, BAD, dashed=True)
    card.text(places[1].left - 12, 142, "turn = 1", 15, GOOD, bold=True)
    card.text(places[2].left - 12, 142, "no turn = 2", 15, BAD, bold=True)
    return card


@picture("wait.svg")
def wait():
    card = Card("The host waits for one stream of two", 262, "Stream 0 ends and the host reads y, while stream 1 has not copied out.")
    card.time(64, [("stream 0", [("in", 0, 2, GLOBAL), ("twice", 2, 4, REGISTERS), ("out", 4, 6, OUTPUT)]),
                   ("stream 1", [("in", 2, 4, GLOBAL), ("twice", 4, 6, REGISTERS), ("out", 6, 8, OUTPUT)]),
                   ("host", [("waits for 0", 0, 6, EMPTY), ("reads y", 6, 8, "")])], left=104, end=9)
    card.text(240, 246, "the second half of y is old", 15, BAD, bold=True)
    return card


@picture("steps.svg")
def steps():
    card = Card("The second stream runs a step later", 200, "The first two batches of each stream in seven steps: at most one copy in, one "
                                                      "kernel and one copy out in a step.")
    batch = [("in", GLOBAL), ("kernel", REGISTERS), ("out", OUTPUT)]
    card.time(64, [(f"stream {i}", [(what, i + 3 * b + k, i + 3 * b + k + 1, fill) for b in range(2)
                                    for k, (what, fill) in enumerate(batch)]) for i in range(2)], left=104, words="steps")
    return card
