# SPDX-License-Identifier: MIT
"""Wrong kernels of day 29, each as short as its bug, with what must be said of it."""
import triton
import triton.language as tl

from day29_triton_transpose.ladder import transpose
from python_days import must_reject


@triton.jit
def kernel(x_ptr, y_ptr, rows, cols, x_pitch, y_pitch, SWAPPED: tl.constexpr, ROWS: tl.constexpr, COLS: tl.constexpr):
    row = tl.program_id(1) * ROWS + tl.arange(0, ROWS)[:, None]
    col = tl.program_id(0) * COLS + tl.arange(0, COLS)[None, :]
    x = tl.load(x_ptr + row * x_pitch + col, mask=(row < rows) & (col < cols))
    tl.store(y_ptr + col * y_pitch + row, x, mask=((row < cols) & (col < rows)) if SWAPPED else ((row < rows) & (col < cols)))


@must_reject(transpose, "stores y_ptr[")
def mask_of_the_other_matrix(x, y):
    """The store's mask asks whether the rows of x are fewer than its columns; a square matrix does not notice."""
    rows, cols = x.shape
    kernel[(triton.cdiv(cols, 32), triton.cdiv(rows, 32))](x, y, rows, cols, x.stride(0), y.stride(0), SWAPPED=True, ROWS=32, COLS=32)


@must_reject(transpose, "is not written, expected")
def grid_turned(x, y):
    """The grid has its sides the wrong way round; a square matrix in square tiles does not notice."""
    rows, cols = x.shape
    kernel[(triton.cdiv(rows, 128), triton.cdiv(cols, 32))](x, y, rows, cols, x.stride(0), y.stride(0), SWAPPED=False, ROWS=128, COLS=32)


@must_reject(transpose, "999 of 1000 elements are wrong")
def without_pitch(x, y):
    """The rows of y are taken to begin where the row before ends; only in a dense matrix they do."""
    rows, cols = x.shape
    kernel[(triton.cdiv(cols, 32), triton.cdiv(rows, 32))](x, y, rows, cols, x.stride(0), rows, SWAPPED=False, ROWS=32, COLS=32)


@triton.jit
def turned_twice_kernel(x_ptr, y_ptr, rows, cols, x_pitch, y_pitch, SIDE: tl.constexpr):
    row = tl.program_id(1) * SIDE + tl.arange(0, SIDE)[:, None]
    col = tl.program_id(0) * SIDE + tl.arange(0, SIDE)[None, :]
    there = (row < rows) & (col < cols)
    x = tl.load(x_ptr + row * x_pitch + col, mask=there, other=0)
    tl.store(y_ptr + col * y_pitch + row, tl.trans(x), mask=there)


@must_reject(transpose, "elements are wrong, worst error")
def turned_twice(x, y):
    """The addresses turn the tile, and tl.trans turns it back."""
    rows, cols = x.shape
    turned_twice_kernel[(triton.cdiv(cols, 32), triton.cdiv(rows, 32))](x, y, rows, cols, x.stride(0), y.stride(0), SIDE=32)
