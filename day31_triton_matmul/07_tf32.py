# SPDX-License-Identifier: MIT
"""Changed since ieee: one word, and it is the one that Triton puts there unless told otherwise. Tensor cores read 11 of the 24 digits of each
operand, the type tf32, and add up in fp32. Up to seven times the pace, and wrong in the third decimal digit.
"""
import triton
import triton.language as tl

from python_days import needs

ROWS, COLS, DEPTH = 64, 64, 32


@triton.jit
def tf32_kernel(a_ptr, b_ptr, c_ptr, m, n, k, ROWS: tl.constexpr, COLS: tl.constexpr, DEPTH: tl.constexpr):
    tiles_along = tl.cdiv(n, COLS)
    row = tl.program_id(0) // tiles_along * ROWS + tl.arange(0, ROWS)[:, None]  # (ROWS, 1)
    col = tl.program_id(0) % tiles_along * COLS + tl.arange(0, COLS)[None, :]  # (1, COLS)
    total = tl.zeros((ROWS, COLS), tl.float32)
    for first in range(0, k, DEPTH):
        along, down = first + tl.arange(0, DEPTH)[None, :], first + tl.arange(0, DEPTH)[:, None]
        a = tl.load(a_ptr + row.to(tl.int64) * k + along, mask=(row < m) & (along < k), other=0.0)  # (ROWS, DEPTH)
        b = tl.load(b_ptr + down.to(tl.int64) * n + col, mask=(down < k) & (col < n), other=0.0)  # (DEPTH, COLS)
        total = tl.dot(a, b, total, input_precision="tf32")
    tl.store(c_ptr + row.to(tl.int64) * n + col, total, mask=(row < m) & (col < n))


def launch(a, b, c):
    needs.product(a=a, b=b, c=c)
    (m, k), n = a.shape, b.shape[1]
    grid = (triton.cdiv(m, ROWS) * triton.cdiv(n, COLS),)
    tf32_kernel[grid](a, b, c, m, n, k, ROWS=ROWS, COLS=COLS, DEPTH=DEPTH)
