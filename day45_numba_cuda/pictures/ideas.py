# SPDX-License-Identifier: MIT
"""Day 45's ideas: when each of the three ways compiles, the tiles of a block, and how threads take turns without a GPU.

    tools/pictures.py 45
"""
from drawing import EMPTY, GLOBAL, GOOD, INK, OUTPUT, REGISTERS, SHARED, SOFT, Card, constant, picture

TILE = constant("day45_numba_cuda/02_tiled.py", "TILE")


@picture("ways.svg")
def ways():
    """What is compiled by whom, and when."""
    card = Card("Who compiles, and when", 300, "Numba compiles a Python function at its first launch, CuPy a text of CUDA C++ at its first launch, and nvcc a file before Python begins.")
    rows = (("Numba", "Python", "Numba", REGISTERS), ("CuPy", "C++ text", "NVRTC", SHARED), ("ctypes", ".cu file", "nvcc", GLOBAL))
    card.text(205, 68, "before", 15, SOFT)
    card.text(330, 68, "first launch", 15, SOFT)
    card.text(436, 68, "then", 15, SOFT)
    card.line(262, 76, 262, 276, SOFT, 1.4, dashed=True)
    card.line(394, 76, 394, 276, SOFT, 1.4, dashed=True)
    for number, (name, source, compiler, fill) in enumerate(rows):
        top = 84 + 66 * number
        card.text(16, top + 32, name, 16, at="start", bold=True)
        card.box(84, top, 82, 50, EMPTY, INK)
        card.text(125, top + 31, source, 15)
        early = compiler == "nvcc"
        box = card.box(184 if early else 290, top, 70 if early else 82, 50, fill, INK)
        card.text(box.x, top + 31, compiler, 15, bold=True)
        launch = card.box(408, top, 58, 50, OUTPUT, INK)
        card.text(launch.x, top + 31, "launch", 15)
        card.arrow(168, top + 25, box.left - 3, top + 25)
        card.arrow(box.right + 2, top + 25, launch.left - 3, top + 25)
    return card


@picture("tiles.svg")
def tiles():
    """A toy: tiles of 2 x 2 in matrices of 4 x 4."""
    card = Card("A tile is read once, and used often", 350, "A block computes one tile of c. It loads a tile of a and a tile of b into shared memory, and moves on along a's row of tiles and b's column of tiles.")
    a = card.matrix(36, 216, 4, 4, 26, "a", GLOBAL)
    b = card.matrix(180, 72, 4, 4, 26, "b", GLOBAL)
    c = card.matrix(180, 216, 4, 4, 26, "c", EMPTY)
    for step in range(2):
        card.tile(a.tile(2, 2 * step, 2, 2), str(step + 1), SHARED)
        card.tile(b.tile(2 * step, 0, 2, 2), str(step + 1), SHARED)
    card.tile(c.tile(2, 0, 2, 2), "", OUTPUT)
    card.text(392, 90, "1: load both", 16, bold=True)
    card.text(392, 114, "barrier", 16, GOOD, bold=True)
    card.text(392, 138, "multiply", 16)
    card.text(392, 162, "barrier", 16, GOOD, bold=True)
    card.text(392, 200, "2: the next two", 16, bold=True)
    card.text(240, 338, f"Here 2 x 2; the kernels have {TILE} x {TILE}.", 16, SOFT)
    return card


@picture("turns.svg")
def turns():
    """One thread at a time, until its barrier."""
    card = Card("Threads take turns until the barrier", 250, "Without a GPU the threads of a block run one after the other. Each runs until the barrier; when all have come, they go on. A read of what a thread after it will write is reported.")
    for number in range(3):
        left = 66 + 62 * number
        box = card.box(left, 70 + 30 * number, 60, 26, SHARED, INK)
        card.text(box.x, box.y + 5, "write", 15)
        other = card.box(left + 216, 70 + 30 * number, 60, 26, OUTPUT, INK)
        card.text(other.x, other.y + 5, "read", 15)
        card.text(28, 88 + 30 * number, f"t{number}", 16, at="start", bold=True)
    card.line(270, 62, 270, 162, GOOD, 3)
    card.text(270, 182, "barrier", 16, GOOD, bold=True)
    card.text(240, 212, "No two threads on one side of it may meet", 16)
    card.text(240, 234, "at an element that one of them writes.", 16)
    return card
