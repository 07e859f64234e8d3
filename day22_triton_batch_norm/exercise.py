# SPDX-License-Identifier: MIT
"""Batch norm that finds a channel's mean and its squared deviations in one walk: the function that merges two groups is yours.

    ./days check 22     how far you are
    ./days hint 22      the next of three hints

A group of elements is (n, mean, m2): how many, their mean, and the sum of their squared deviations from it. The kernel calls merge() for
each element, a group of one, and tl.reduce calls it for what the rows of a tile have come to.

  1. How many are both groups together, and what is their mean?
  2. What is the sum of squared deviations from that mean? It is more than m2 + other_m2, unless both means are the same.
  3. Either group may be empty, or both: nothing may be divided by 0.
"""
import triton
import triton.language as tl

from python_days import needs

ROWS = 16
COLS = 128


@triton.jit
def merge(n, mean, m2, more, other_mean, other_m2):
    """The group of both, (count, mean, squared deviations); as it stands, the first one."""
    whole, middle, deviations = n, mean, m2
    # your code
    return whole, middle, deviations


@triton.jit
def exercise_kernel(x_ptr, gamma_ptr, beta_ptr, running_mean_ptr, running_var_ptr, eps, momentum, y_ptr, mean_ptr, rstd_ptr, rows, cols,
                ROWS: tl.constexpr, COLS: tl.constexpr):
    c = tl.program_id(0) * COLS + tl.arange(0, COLS)  # (COLS,)
    n = tl.zeros((ROWS, COLS), tl.float32)
    mean = tl.zeros((ROWS, COLS), tl.float32)
    m2 = tl.zeros((ROWS, COLS), tl.float32)
    for first in range(0, rows, ROWS):
        r = first + tl.arange(0, ROWS)[:, None]  # (ROWS, 1)
        there = (r < rows) & (c < cols)[None, :]
        x = tl.load(x_ptr + r.to(tl.int64) * cols + c[None, :], mask=there, other=0.0).to(tl.float32)  # (ROWS, COLS)
        n, mean, m2 = merge(n, mean, m2, there.to(tl.float32), x, 0.0)  # a group of one, or of none
    n, mean, m2 = tl.reduce((n, mean, m2), 0, merge)  # (COLS,) each
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
    exercise_kernel[(triton.cdiv(cols, COLS),)](x, gamma, beta, running_mean, running_var, eps, momentum, y, mean, rstd, rows, cols,
                                                  ROWS=ROWS, COLS=COLS)
