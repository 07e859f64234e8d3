# SPDX-License-Identifier: MIT
"""Changed since copied: the tile of the weights is loaded as it lies, along k, and turned on the chip: `.T` is a tile read the other way
round, in shared memory or by the tensor core itself. One launch, no memory of its own, and loads as wide as before.
"""
import triton
import triton.language as tl

from python_days import needs

ROWS, COLS, DEPTH = 64, 64, 32


@triton.jit
def turned_kernel(x_ptr, w_ptr, y_ptr, m, n, k, ROWS: tl.constexpr, COLS: tl.constexpr, DEPTH: tl.constexpr):
    tiles_along = tl.cdiv(n, COLS)
    row = tl.program_id(0) // tiles_along * ROWS + tl.arange(0, ROWS)[:, None]  # (ROWS, 1)
    first_col = tl.program_id(0) % tiles_along * COLS
    output, col = first_col + tl.arange(0, COLS)[:, None], first_col + tl.arange(0, COLS)[None, :]  # down a tile of w, along one of y
    total = tl.zeros((ROWS, COLS), tl.float32)
    for first in range(0, k, DEPTH):
        along = first + tl.arange(0, DEPTH)[None, :]
        x = tl.load(x_ptr + row.to(tl.int64) * k + along, mask=(row < m) & (along < k), other=0.0)  # (ROWS, DEPTH)
        w = tl.load(w_ptr + output.to(tl.int64) * k + along, mask=(output < n) & (along < k), other=0.0)  # (COLS, DEPTH)
        total = tl.dot(x, w.T, total)
    tl.store(y_ptr + row.to(tl.int64) * n + col, total, mask=(row < m) & (col < n))


def launch(x, w, y):
    needs.linear(x=x, w=w, y=y)
    (m, k), n = x.shape, w.shape[0]
    grid = (triton.cdiv(m, ROWS) * triton.cdiv(n, COLS),)
    turned_kernel[grid](x, w, y, m, n, k, ROWS=ROWS, COLS=COLS, DEPTH=DEPTH)
