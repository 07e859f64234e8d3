# SPDX-License-Identifier: MIT
"""Two dimensions: a program handles a tile of 8 rows and 128 columns. Row numbers stand in a column, column numbers in a row, and their
sum is a tile of addresses. Which thread has which element is nowhere said; Triton deals them out along the side on which
neighbours lie side by side.
"""
import triton
import triton.language as tl

from python_days import needs

ROWS, COLS = 8, 128


@triton.jit
def tile_kernel(a_ptr, b_ptr, c_ptr, rows, cols, a_pitch, b_pitch, c_pitch, ROWS: tl.constexpr, COLS: tl.constexpr):
    row = tl.program_id(1) * ROWS + tl.arange(0, ROWS)[:, None]  # (ROWS, 1)
    col = tl.program_id(0) * COLS + tl.arange(0, COLS)[None, :]  # (1, COLS)
    there = (row < rows) & (col < cols)  # (ROWS, COLS)
    a = tl.load(a_ptr + row * a_pitch + col, mask=there)
    b = tl.load(b_ptr + row * b_pitch + col, mask=there)
    tl.store(c_ptr + row * c_pitch + col, a + b, mask=there)


def launch(a, b, c):
    needs.same_type(a=a, b=b, c=c)
    needs.same_shape(a=a, b=b, c=c)
    needs.rows_dense(a=a, b=b, c=c)
    rows, cols = c.shape
    grid = (triton.cdiv(cols, COLS), triton.cdiv(rows, ROWS))
    tile_kernel[grid](a, b, c, rows, cols, a.stride(0), b.stride(0), c.stride(0), ROWS=ROWS, COLS=COLS)
