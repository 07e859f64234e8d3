# SPDX-License-Identifier: MIT
"""Changed since tile: the rows are cut among up to 512 programs for the same channels. Each stores its group, a second kernel merges the
groups with tl.reduce, and a third writes y. Places of its block beyond the parts are groups of none. Bound by memory.
"""
import triton
import triton.language as tl

from python_days import needs, new_empty

ROWS = 16
COLS = 128
MOST, FEW = 512, 8  # parts of the rows; channels of a program that merges them


@triton.jit
def merge(n, mean, m2, more, other_mean, other_m2):
    """Count, mean and sum of squared deviations of two groups, as those of both."""
    whole = n + more
    share = tl.where(whole == 0, 0.0, more / whole)  # of two empty groups neither has a share
    delta = other_mean - mean
    return whole, mean + delta * share, m2 + other_m2 + delta * delta * n * share


@triton.jit
def parts_kernel(x_ptr, groups_ptr, rows, cols, long, ROWS: tl.constexpr, COLS: tl.constexpr):
    c = tl.program_id(0) * COLS + tl.arange(0, COLS)
    part, parts = tl.program_id(1), tl.num_programs(1)
    end = tl.minimum((part + 1) * long, rows)  # a part has `long` rows
    n = tl.zeros((COLS,), tl.float32)
    mean = tl.zeros((COLS,), tl.float32)
    m2 = tl.zeros((COLS,), tl.float32)
    for first in range(part * long, end, ROWS):
        r = first + tl.arange(0, ROWS)[:, None]  # (ROWS, 1)
        there = (r < end) & (c < cols)[None, :]
        x = tl.load(x_ptr + r.to(tl.int64) * cols + c[None, :], mask=there, other=0.0).to(tl.float32)  # (ROWS, COLS)
        many = tl.minimum(end - first, ROWS).to(tl.float32)
        middle = tl.div_rn(tl.sum(x, axis=0), many)  # `/` may miss the last digit, and a constant channel then varies
        apart = tl.where(there, x - middle[None, :], 0.0)
        n, mean, m2 = merge(n, mean, m2, many, middle, tl.sum(apart * apart, axis=0))
    group = groups_ptr + part * cols + c  # of (3, parts, cols)
    tl.store(group, n, mask=c < cols)
    tl.store(group + parts * cols, mean, mask=c < cols)
    tl.store(group + 2 * parts * cols, m2, mask=c < cols)


@triton.jit
def merge_kernel(groups_ptr, running_mean_ptr, running_var_ptr, eps, momentum, mean_ptr, rstd_ptr, rows, cols, parts, PARTS: tl.constexpr,
                 FEW: tl.constexpr):
    c = tl.program_id(0) * FEW + tl.arange(0, FEW)
    part = tl.arange(0, PARTS)[:, None]
    there = (part < parts) & (c < cols)[None, :]
    group = groups_ptr + part * cols + c[None, :]  # (PARTS, FEW)
    n = tl.load(group, mask=there, other=0.0)
    mean = tl.load(group + parts * cols, mask=there, other=0.0)
    m2 = tl.load(group + 2 * parts * cols, mask=there, other=0.0)
    n, mean, m2 = tl.reduce((n, mean, m2), 0, merge)  # (FEW,) each
    rstd = tl.rsqrt(m2 / rows + eps)
    tl.store(mean_ptr + c, mean, mask=c < cols)
    tl.store(rstd_ptr + c, rstd, mask=c < cols)
    old_mean = tl.load(running_mean_ptr + c, mask=c < cols)
    old_var = tl.load(running_var_ptr + c, mask=c < cols)
    tl.store(running_mean_ptr + c, old_mean + (mean - old_mean) * momentum, mask=c < cols)
    tl.store(running_var_ptr + c, old_var + (m2 / (rows - 1) - old_var) * momentum, mask=c < cols)


@triton.jit
def apply_kernel(x_ptr, gamma_ptr, beta_ptr, mean_ptr, rstd_ptr, y_ptr, rows, cols, long, ROWS: tl.constexpr, COLS: tl.constexpr):
    c = tl.program_id(0) * COLS + tl.arange(0, COLS)
    mean = tl.load(mean_ptr + c, mask=c < cols)
    rstd = tl.load(rstd_ptr + c, mask=c < cols)
    end = tl.minimum((tl.program_id(1) + 1) * long, rows)
    gamma = tl.load(gamma_ptr + c, mask=c < cols)
    beta = tl.load(beta_ptr + c, mask=c < cols)
    for first in range(tl.program_id(1) * long, end, ROWS):
        r = first + tl.arange(0, ROWS)[:, None]
        there = (r < end) & (c < cols)[None, :]
        at = r.to(tl.int64) * cols + c[None, :]
        x = tl.load(x_ptr + at, mask=there).to(tl.float32)
        tl.store(y_ptr + at, (x - mean[None, :]) * (rstd * gamma)[None, :] + beta[None, :], mask=there)


def launch(x, gamma, beta, running_mean, running_var, eps, momentum, y, mean, rstd):
    needs.batch_norm(x, gamma, beta, running_mean, running_var, eps, y, mean, rstd)
    rows, cols = x.shape
    tiles = triton.cdiv(rows, ROWS)
    parts = min(triton.cdiv(tiles, 4), MOST)
    long = triton.cdiv(tiles, parts) * ROWS
    groups = new_empty(x, (3, parts, cols), "fp32")
    grid = (triton.cdiv(cols, COLS), parts)
    parts_kernel[grid](x, groups, rows, cols, long, ROWS=ROWS, COLS=COLS)
    merge_kernel[(triton.cdiv(cols, FEW),)](groups, running_mean, running_var, eps, momentum, mean, rstd, rows, cols, parts,
                                            PARTS=triton.next_power_of_2(parts), FEW=FEW)
    apply_kernel[grid](x, gamma, beta, mean, rstd, y, rows, cols, long, ROWS=ROWS, COLS=COLS)
