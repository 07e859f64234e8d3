# SPDX-License-Identifier: MIT
"""Changed since hidden: addresses say where neighbours lie side by side, along a row of x and along a row of y. Now load and store
each get the layout that suits them, and the compiler puts a conversion through shared memory between the two.
"""
import triton
import triton.language as tl

from python_days import needs

ROWS, COLS = 32, 32


@triton.jit
def naive_kernel(x_ptr, y_ptr, rows, cols, x_pitch, y_pitch, ROWS: tl.constexpr, COLS: tl.constexpr):
    row = tl.program_id(1) * ROWS + tl.arange(0, ROWS)[:, None]  # (ROWS, 1)
    col = tl.program_id(0) * COLS + tl.arange(0, COLS)[None, :]  # (1, COLS)
    there = (row < rows) & (col < cols)  # (ROWS, COLS)
    x = tl.load(x_ptr + row * x_pitch + col, mask=there)
    tl.store(y_ptr + col * y_pitch + row, x, mask=there)


def launch(x, y):
    needs.transposed(x, y)
    rows, cols = x.shape
    grid = (triton.cdiv(cols, COLS), triton.cdiv(rows, ROWS))
    naive_kernel[grid](x, y, rows, cols, x.stride(0), y.stride(0), ROWS=ROWS, COLS=COLS)
