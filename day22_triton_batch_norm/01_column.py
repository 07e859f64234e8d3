# SPDX-License-Identifier: MIT
"""Batch norm by its definition: a program handles 128 channels and walks over all rows, a tile of 16 rows at a time. The first walk finds
the means, the second the squared deviations from them, the third writes. Exact; three reads of x, and few programs.
"""
import triton
import triton.language as tl

from python_days import needs

ROWS = 16
COLS = 128


@triton.jit
def column_kernel(x_ptr, gamma_ptr, beta_ptr, running_mean_ptr, running_var_ptr, eps, momentum, y_ptr, mean_ptr, rstd_ptr, rows, cols,
                  ROWS: tl.constexpr, COLS: tl.constexpr):
    c = tl.program_id(0) * COLS + tl.arange(0, COLS)  # (COLS,)
    total = tl.zeros((ROWS, COLS), tl.float32)
    for first in range(0, rows, ROWS):
        r = first + tl.arange(0, ROWS)[:, None]  # (ROWS, 1)
        there = (r < rows) & (c < cols)[None, :]
        x = tl.load(x_ptr + r.to(tl.int64) * cols + c[None, :], mask=there, other=0.0).to(tl.float32)  # (ROWS, COLS)
        total += x
    mean = tl.div_rn(tl.sum(total, axis=0), rows.to(tl.float32))  # `/` may miss the last digit, and a constant channel then varies

    square = tl.zeros((ROWS, COLS), tl.float32)
    for first in range(0, rows, ROWS):
        r = first + tl.arange(0, ROWS)[:, None]
        there = (r < rows) & (c < cols)[None, :]
        x = tl.load(x_ptr + r.to(tl.int64) * cols + c[None, :], mask=there, other=0.0).to(tl.float32)
        apart = tl.where(there, x - mean[None, :], 0.0)
        square += apart * apart
    m2 = tl.sum(square, axis=0)
    rstd = tl.rsqrt(m2 / rows + eps)
    tl.store(mean_ptr + c, mean, mask=c < cols)
    tl.store(rstd_ptr + c, rstd, mask=c < cols)
    old_mean = tl.load(running_mean_ptr + c, mask=c < cols)
    old_var = tl.load(running_var_ptr + c, mask=c < cols)
    tl.store(running_mean_ptr + c, old_mean + (mean - old_mean) * momentum, mask=c < cols)
    tl.store(running_var_ptr + c, old_var + (m2 / (rows - 1) - old_var) * momentum, mask=c < cols)

    gamma = tl.load(gamma_ptr + c, mask=c < cols)
    beta = tl.load(beta_ptr + c, mask=c < cols)
    for first in range(0, rows, ROWS):
        r = first + tl.arange(0, ROWS)[:, None]
        there = (r < rows) & (c < cols)[None, :]
        at = r.to(tl.int64) * cols + c[None, :]
        x = tl.load(x_ptr + at, mask=there).to(tl.float32)
        tl.store(y_ptr + at, (x - mean[None, :]) * (rstd * gamma)[None, :] + beta[None, :], mask=there)


def launch(x, gamma, beta, running_mean, running_var, eps, momentum, y, mean, rstd):
    needs.batch_norm(x, gamma, beta, running_mean, running_var, eps, y, mean, rstd)
    rows, cols = x.shape
    column_kernel[(triton.cdiv(cols, COLS),)](x, gamma, beta, running_mean, running_var, eps, momentum, y, mean, rstd, rows, cols, ROWS=ROWS,
                                                COLS=COLS)
