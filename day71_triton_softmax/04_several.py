# SPDX-License-Identifier: MIT
"""Changed since one_read: a program of 128 threads takes several short rows, as many as fill 4,096 places; a row of 128 alone would leave
each thread one element. The block has two dimensions, and reductions go along one of them. Rows of more than 2,048 columns go as before, one to a
program.
"""
import triton
import triton.language as tl

from python_days import needs

LONGEST, PLACES = 65536, 4096


@triton.jit
def several_kernel(x_ptr, y_ptr, rows, cols, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]  # (ROWS, 1)
    col = tl.arange(0, BLOCK)[None, :]  # (1, BLOCK)
    there = (row < rows) & (col < cols)  # (ROWS, BLOCK)
    at = row.to(tl.int64) * cols + col
    x = tl.load(x_ptr + at, mask=there, other=-float("inf")).to(tl.float32)
    power = tl.exp(x - tl.max(x, axis=1, keep_dims=True))
    tl.store(y_ptr + at, power / tl.sum(power, axis=1, keep_dims=True), mask=there)


def launch(x, y):
    needs.same_type(x=x, y=y)
    needs.same_shape(x=x, y=y)
    needs.contiguous(x=x, y=y)
    rows, cols = x.shape
    if cols > LONGEST:
        raise ValueError(f"x has {cols} columns, and a row of more than {LONGEST} does not fit into registers")
    block = triton.next_power_of_2(cols)
    each = max(1, PLACES // block)
    warps = 4 if block <= 2048 else 8 if block <= 8192 else 16
    several_kernel[(triton.cdiv(rows, each),)](x, y, rows, cols, ROWS=each, BLOCK=block, num_warps=warps)
