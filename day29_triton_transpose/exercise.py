# SPDX-License-Identifier: MIT
"""Transpose a matrix with loads and stores of 16 bytes.

    ./days check 29     how far you are
    ./days hint 29      the next of three hints

You may take for granted what needs.transposed() asks for: one type, y as wide as x is high, and in both matrices neighbours of a
row side by side, rows x_pitch and y_pitch elements apart.

  1. Which elements of the tile are there? A mask says so.
  2. Load them from x.
  3. Store them to their transposed places in y.
"""
import triton
import triton.language as tl

from python_days import needs

ROWS, COLS = 32, 32


@triton.jit
def exercise_kernel(x_ptr, y_ptr, rows, cols, x_pitch, y_pitch, ROWS: tl.constexpr, COLS: tl.constexpr):
    row = tl.program_id(1) * ROWS + tl.arange(0, ROWS)[:, None]  # (ROWS, 1)
    col = tl.program_id(0) * COLS + tl.arange(0, COLS)[None, :]  # (1, COLS)
    # your code


def launch(x, y):
    needs.transposed(x, y)
    rows, cols = x.shape
    grid = (triton.cdiv(cols, COLS), triton.cdiv(rows, ROWS))
    exercise_kernel[grid](x, y, rows, cols, x.stride(0), y.stride(0), ROWS=ROWS, COLS=COLS)
