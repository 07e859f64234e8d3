# SPDX-License-Identifier: MIT
"""Changed since grouped: num_stages=3, which is one number of the launch. While a step is multiplied, the tiles of the two steps after it
are already on their way into shared memory, each stage into a place of its own. From compute capability 8.0; what must fit is three
times a step.
"""
import triton
import triton.language as tl

from python_days import needs

ROWS, COLS, DEPTH, GROUP, STAGES = 64, 64, 32, 8, 3


@triton.jit
def staged_kernel(a_ptr, b_ptr, c_ptr, m, n, k, ROWS: tl.constexpr, COLS: tl.constexpr, DEPTH: tl.constexpr, GROUP: tl.constexpr):
    tiles_down, tiles_along = tl.cdiv(m, ROWS), tl.cdiv(n, COLS)
    first_row = tl.program_id(0) // (GROUP * tiles_along) * GROUP  # of the group
    rows = min(tiles_down - first_row, GROUP)
    place = tl.program_id(0) % (GROUP * tiles_along)  # in the group
    row = (first_row + place % rows) * ROWS + tl.arange(0, ROWS)[:, None]  # (ROWS, 1)
    col = place // rows * COLS + tl.arange(0, COLS)[None, :]  # (1, COLS)
    total = tl.zeros((ROWS, COLS), tl.float32)
    for first in range(0, k, DEPTH):
        along, down = first + tl.arange(0, DEPTH)[None, :], first + tl.arange(0, DEPTH)[:, None]
        a = tl.load(a_ptr + row.to(tl.int64) * k + along, mask=(row < m) & (along < k), other=0.0)  # (ROWS, DEPTH)
        b = tl.load(b_ptr + down.to(tl.int64) * n + col, mask=(down < k) & (col < n), other=0.0)  # (DEPTH, COLS)
        total = tl.dot(a, b, total, input_precision="ieee")
    tl.store(c_ptr + row.to(tl.int64) * n + col, total, mask=(row < m) & (col < n))


def launch(a, b, c):
    needs.product(a=a, b=b, c=c)
    (m, k), n = a.shape, b.shape[1]
    grid = (triton.cdiv(m, ROWS) * triton.cdiv(n, COLS),)
    staged_kernel[grid](a, b, c, m, n, k, ROWS=ROWS, COLS=COLS, DEPTH=DEPTH, GROUP=GROUP, num_stages=STAGES)
