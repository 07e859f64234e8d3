# SPDX-License-Identifier: MIT
"""A thread for each element of c, in Python: Numba compiles the function for the GPU when it is first launched. Each thread reads a row of a
and a column of b, so each element of a is read n times, and each of b m times.
"""
from python_days import needs
from python_days.numba_here import cuda

TILE = 16


@cuda.jit
def numba_kernel(a, b, c):
    col, row = cuda.grid(2)
    if row < c.shape[0] and col < c.shape[1]:
        total = 0.0
        for i in range(a.shape[1]):
            total += a[row, i] * b[i, col]
        c[row, col] = total


def launch(a, b, c):
    needs.matmul(a, b, c)
    m, n = c.shape
    numba_kernel[((n + TILE - 1) // TILE, (m + TILE - 1) // TILE), (TILE, TILE)](a, b, c)
