# SPDX-License-Identifier: MIT
"""A tile of x goes to the transposed addresses of y. All four strides are arguments that Triton is told not to look at, as libraries do
which don't want a kernel compiled anew for each shape. So it can't see that two of them are 1, and takes the side of the tile along
which it deals threads out for one as good as the other.
"""
import triton
import triton.language as tl

from python_days import needs

ROWS, COLS = 32, 32


@triton.jit(do_not_specialize=["x_down", "x_across", "y_down", "y_across"])
def hidden_kernel(x_ptr, y_ptr, rows, cols, x_down, x_across, y_down, y_across, ROWS: tl.constexpr, COLS: tl.constexpr):
    row = tl.program_id(1) * ROWS + tl.arange(0, ROWS)[:, None]  # (ROWS, 1)
    col = tl.program_id(0) * COLS + tl.arange(0, COLS)[None, :]  # (1, COLS)
    there = (row < rows) & (col < cols)  # (ROWS, COLS)
    x = tl.load(x_ptr + row * x_down + col * x_across, mask=there)
    tl.store(y_ptr + col * y_down + row * y_across, x, mask=there)


def launch(x, y):
    needs.transposed(x, y)
    rows, cols = x.shape
    grid = (triton.cdiv(cols, COLS), triton.cdiv(rows, ROWS))
    hidden_kernel[grid](x, y, rows, cols, x.stride(0), 1, y.stride(0), 1, ROWS=ROWS, COLS=COLS)
