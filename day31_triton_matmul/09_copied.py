# SPDX-License-Identifier: MIT
"""A layer's weights are stored row by row of outputs, (n, k), and a product wants (k, n). This first writes the transposed matrix to
memory of its own, and then multiplies as ever.
"""
import triton
import triton.language as tl

from python_days import needs

ROWS, COLS, DEPTH = 64, 64, 32


@triton.jit
def transpose_kernel(w_ptr, turned_ptr, n, k, SIDE: tl.constexpr):
    row = tl.program_id(1) * SIDE + tl.arange(0, SIDE)[:, None]  # of w
    col = tl.program_id(0) * SIDE + tl.arange(0, SIDE)[None, :]
    there = (row < n) & (col < k)
    tl.store(turned_ptr + col.to(tl.int64) * n + row, tl.load(w_ptr + row.to(tl.int64) * k + col, mask=there), mask=there)


@triton.jit
def copied_kernel(x_ptr, b_ptr, y_ptr, m, n, k, ROWS: tl.constexpr, COLS: tl.constexpr, DEPTH: tl.constexpr):
    tiles_along = tl.cdiv(n, COLS)
    row = tl.program_id(0) // tiles_along * ROWS + tl.arange(0, ROWS)[:, None]  # (ROWS, 1)
    col = tl.program_id(0) % tiles_along * COLS + tl.arange(0, COLS)[None, :]  # (1, COLS)
    total = tl.zeros((ROWS, COLS), tl.float32)
    for first in range(0, k, DEPTH):
        along, down = first + tl.arange(0, DEPTH)[None, :], first + tl.arange(0, DEPTH)[:, None]
        x = tl.load(x_ptr + row.to(tl.int64) * k + along, mask=(row < m) & (along < k), other=0.0)  # (ROWS, DEPTH)
        b = tl.load(b_ptr + down.to(tl.int64) * n + col, mask=(down < k) & (col < n), other=0.0)  # (DEPTH, COLS)
        total = tl.dot(x, b, total)
    tl.store(y_ptr + row.to(tl.int64) * n + col, total, mask=(row < m) & (col < n))


def launch(x, w, y):
    needs.linear(x=x, w=w, y=y)
    (m, k), n = x.shape, w.shape[0]
    turned = w.new_empty(k, n)
    transpose_kernel[(triton.cdiv(k, ROWS), triton.cdiv(n, ROWS))](w, turned, n, k, SIDE=ROWS)
    grid = (triton.cdiv(m, ROWS) * triton.cdiv(n, COLS),)
    copied_kernel[grid](x, turned, y, m, n, k, ROWS=ROWS, COLS=COLS, DEPTH=DEPTH)
