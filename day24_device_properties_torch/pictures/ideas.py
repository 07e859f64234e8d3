# SPDX-License-Identifier: MIT
"""Day 24's ideas: how few programs share x, and which of a multiprocessor's goods runs out first.

    tools/pictures.py 24
"""
from drawing import BAD, GLOBAL, GOOD, INK, REGISTERS, SOFT, THREADS, WHITE, Card, constant, picture

FOLDER = "day24_device_properties_torch/"


@picture("strides.svg")
def strides():
    """A toy: three programs over ten blocks."""
    programs, blocks, size = 3, 10, 40
    card = Card("Few programs, each in strides of all", 250,
                "Ten blocks of x and three programs. Program 0 takes blocks 0, 3, 6 and 9; each leaves one partial sum.")
    owners = [block % programs for block in range(blocks)]
    card.text(28, 60, "blocks of x, and the program that takes each", 15, SOFT, "start")
    card.cells(72, "", owners, 36, size, 34, fills={i: THREADS[owner] for i, owner in enumerate(owners)}, inks=dict.fromkeys(range(blocks), WHITE))
    card.text(28, 144, "partial sums, one a program", 15, SOFT, "start")
    card.cells(156, "", [f"p{program}" for program in range(programs)], 36, size, 34, fills={i: THREADS[i] for i in range(programs)},
               inks=dict.fromkeys(range(programs), WHITE))
    card.arrow(166, 173, 212, 173)
    card.cells(156, "", ["sum"], 220, 60, 34, GLOBAL)
    card.text(300, 170, "the second kernel,", 15, SOFT, "start")
    card.text(300, 190, "one program", 15, SOFT, "start")
    card.text(240, 234, "As many partial sums as programs, whatever n is.", 16)
    return card


@picture("division.svg")
def division():
    """A multiprocessor of sm_90 under two kernels of sixteen warps."""
    warps, threads, registers = constant(FOLDER + "03_filled.py", "WARPS"), 2048, 65536
    card = Card("What runs out first?", 300, "A multiprocessor has 2,048 threads and 65,536 registers. Four programs of sixteen warps and 18 registers "
                "a thread take all threads; of 50 registers only two fit, and half of the threads stay empty.")
    left, width = 150, 300
    for top, name, each in ((64, "filled: 18 registers", 18), (180, "asked: 50 registers", 50)):
        held = min(threads // (32 * warps), registers // 4 // (-(-each * 32 // 256) * 256) * 4 // warps)
        card.text(28, top, name, 16, INK, "start", bold=True)
        for row, (what, share) in enumerate((("threads", held * 32 * warps / threads), ("registers", held * 32 * warps * each / registers))):
            y = top + 14 + 36 * row
            card.text(28, y + 20, what, 15, SOFT, "start")
            card.box(left, y, width, 28)
            for number in range(held):
                card.box(left + number * width * share / held, y, width * share / held, 28, REGISTERS, INK)
        card.text(left + width, top, f"{held} programs", 16, GOOD if held == 4 else BAD, "end", bold=True)
    card.text(240, 288, "A third program of 50 would need registers that are not there.", 15, SOFT)
    return card
