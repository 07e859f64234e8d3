# SPDX-License-Identifier: MIT
"""Changed since each: a tile is in registers as a whole, so its own mean and deviations are sums, in two steps and exact. Then the whole
tile is merged at once: a division a channel and tile, not one an element. Bound by memory where there are programs enough.
"""
import triton
import triton.language as tl

from python_days import needs

ROWS = 16
COLS = 128


@triton.jit
def merge(n, mean, m2, more, other_mean, other_m2):
    """Count, mean and sum of squared deviations of two groups, as those of both."""
    whole = n + more
    share = tl.where(whole == 0, 0.0, more / whole)  # of two empty groups neither has a share
    delta = other_mean - mean
    return whole, mean + delta * share, m2 + other_m2 + delta * delta * n * share


@triton.jit
def tile_kernel(x_ptr, gamma_ptr, beta_ptr, running_mean_ptr, running_var_ptr, eps, momentum, y_ptr, mean_ptr, rstd_ptr, rows, cols,
                ROWS: tl.constexpr, COLS: tl.constexpr):
    c = tl.program_id(0) * COLS + tl.arange(0, COLS)  # (COLS,)
    n = tl.zeros((COLS,), tl.float32)
    mean = tl.zeros((COLS,), tl.float32)
    m2 = tl.zeros((COLS,), tl.float32)
    for first in range(0, rows, ROWS):
        r = first + tl.arange(0, ROWS)[:, None]  # (ROWS, 1)
        there = (r < rows) & (c < cols)[None, :]
        x = tl.load(x_ptr + r.to(tl.int64) * cols + c[None, :], mask=there, other=0.0).to(tl.float32)  # (ROWS, COLS)
        many = tl.minimum(rows - first, ROWS).to(tl.float32)
        middle = tl.div_rn(tl.sum(x, axis=0), many)  # `/` may miss the last digit, and a constant channel then varies
        apart = tl.where(there, x - middle[None, :], 0.0)
        n, mean, m2 = merge(n, mean, m2, many, middle, tl.sum(apart * apart, axis=0))
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
    tile_kernel[(triton.cdiv(cols, COLS),)](x, gamma, beta, running_mean, running_var, eps, momentum, y, mean, rstd, rows, cols, ROWS=ROWS,
                                              COLS=COLS)
