# SPDX-License-Identifier: MIT
"""Changed since partials: the second kernel. A program took 128 columns and the partial rows one after the other, so few programs had one
load under way each. Now a program takes a tile of 64 partial rows and 32 columns at a time, of which all are asked for at once, and
there are eight times as many programs. The order of additions is fixed all the same.
"""
import triton
import triton.language as tl

from day30_triton_layer_norm import shared

PROGRAMS, ROWS, DEEP, WIDE = 528, 16, 64, 32


@triton.jit
def finished_kernel(dy_ptr, x_ptr, gamma_ptr, mean_ptr, rstd_ptr, dx_ptr, sums_ptr, rows, cols, BLOCK: tl.constexpr):
    first = tl.program_id(0)
    i = tl.arange(0, BLOCK)  # (BLOCK,)
    there = i < cols
    gamma = tl.load(gamma_ptr + i, mask=there, other=0.0).to(tl.float32)
    dgamma, dbeta = tl.zeros((BLOCK,), tl.float32), tl.zeros((BLOCK,), tl.float32)
    for row in range(first, rows, tl.num_programs(0)):
        at = tl.cast(row, tl.int64) * cols + i
        x = tl.load(x_ptr + at, mask=there, other=0.0).to(tl.float32)
        dy = tl.load(dy_ptr + at, mask=there, other=0.0).to(tl.float32)
        mean, rstd = tl.load(mean_ptr + row), tl.load(rstd_ptr + row)
        xhat, a = (x - mean) * rstd, gamma * dy
        dx = rstd * (a - tl.sum(a, 0) / cols - xhat * (tl.sum(a * xhat, 0) / cols))
        tl.store(dx_ptr + at, dx, mask=there)
        dgamma += dy * xhat
        dbeta += dy
    tl.store(sums_ptr + first * 2 * cols + i, dgamma, mask=there)
    tl.store(sums_ptr + first * 2 * cols + cols + i, dbeta, mask=there)


@triton.jit
def tiles_kernel(sums_ptr, dgamma_ptr, dbeta_ptr, parts, cols, DEEP: tl.constexpr, WIDE: tl.constexpr):
    i = tl.program_id(0) * WIDE + tl.arange(0, WIDE)  # (WIDE,)
    total = tl.zeros((DEEP, WIDE), tl.float32)
    for first in range(0, parts, DEEP):
        part = first + tl.arange(0, DEEP)[:, None]  # (DEEP, 1)
        there = (part < parts) & (i < cols)[None, :]  # (DEEP, WIDE)
        total += tl.load(sums_ptr + (part * 2 + tl.program_id(1)) * cols + i[None, :], mask=there, other=0.0)
    if tl.program_id(1) == 0:
        tl.store(dgamma_ptr + i, tl.sum(total, 0), mask=i < cols)
    else:
        tl.store(dbeta_ptr + i, tl.sum(total, 0), mask=i < cols)


def launch(dy, x, gamma, mean, rstd, dx, dgamma, dbeta):
    shared.needs_backward(dy, x, gamma, mean, rstd, dx, dgamma, dbeta)
    rows, cols = x.shape
    programs = min(PROGRAMS, triton.cdiv(rows, ROWS))
    sums = dgamma.new_empty(programs, 2, cols)
    finished_kernel[(programs,)](dy, x, gamma, mean, rstd, dx, sums, rows, cols, **shared.launch_of(cols))
    tiles_kernel[(triton.cdiv(cols, WIDE), 2)](sums, dgamma, dbeta, programs, cols, DEEP=DEEP, WIDE=WIDE)
