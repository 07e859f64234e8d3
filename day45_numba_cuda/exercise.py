# SPDX-License-Identifier: MIT
"""Multiply matrices with tiles in shared memory, in Python.

    ./days check 45     how far you are
    ./days hint 45      the next of three hints

a is m x k, b is k x n, c is m x n, all fp32 and of any size from 1 on. A block of 16 x 16 threads makes a tile of c. At the end each
element of a is read from global memory once for every 16 columns of c, and each of b once for every 16 rows.

  1. Start from 01_numba.py, which is right: ./days explain 45 numba counts its reads.
  2. Which elements of a do the 16 threads of a row of the block read? All of the block?
     cuda.shared.array((TILE, TILE), float32) is a tile of theirs; make each on a line of its own.
  3. Where may a thread go on only when all others have come so far? There are two such places for cuda.syncthreads().
"""
from python_days import needs
from python_days.numba_here import cuda, float32  # noqa: F401  float32 is the type of a shared array's elements

TILE = 16


@cuda.jit
def exercise_kernel(a, b, c):
    # your code
    pass


def launch(a, b, c):
    needs.matmul(a, b, c)
    m, n = c.shape
    exercise_kernel[((n + TILE - 1) // TILE, (m + TILE - 1) // TILE), (TILE, TILE)](a, b, c)
