# SPDX-License-Identifier: MIT
"""Changed since shaped: programs that start one after the other go down x, and so along y. Where a row's end is no end of a sector, two
programs write parts of one; now they do so at nearly the same time, while the L2 cache still has the first part (day 13's `down`).
"""
import triton
import triton.language as tl

from python_days import needs

TILES = {4: (32, 128), 2: (64, 64), 1: (64, 64)}  # by an element's bytes: (ROWS, COLS)


@triton.jit
def ordered_kernel(x_ptr, y_ptr, rows, cols, x_pitch, y_pitch, ROWS: tl.constexpr, COLS: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]  # (ROWS, 1)
    col = tl.program_id(1) * COLS + tl.arange(0, COLS)[None, :]  # (1, COLS)
    there = (row < rows) & (col < cols)  # (ROWS, COLS)
    x = tl.load(x_ptr + row * x_pitch + col, mask=there)
    tl.store(y_ptr + col * y_pitch + row, x, mask=there)


def launch(x, y):
    needs.transposed(x, y)
    rows, cols = x.shape
    tall, wide = TILES[x.element_size()]
    grid = (triton.cdiv(rows, tall), triton.cdiv(cols, wide))
    ordered_kernel[grid](x, y, rows, cols, x.stride(0), y.stride(0), ROWS=tall, COLS=wide)
