# SPDX-License-Identifier: MIT
"""Wrong kernels of day 22, each as short as its bug, with what must be said of it."""
import triton
import triton.language as tl

from day22_triton_batch_norm.ladder import batch_norm
from python_days import must_reject, needs

ROWS, COLS = 16, 128


@triton.jit
def merge(n, mean, m2, more, other_mean, other_m2, HOW: tl.constexpr):
    whole = n + more
    share = more / whole if HOW == "both empty" else tl.where(whole == 0, 0.0, more / whole)
    if HOW == "equal groups":
        share = tl.where(n == 0, 1.0, tl.where(more == 0, 0.0, 0.5))
    delta = other_mean - mean
    return whole, mean + delta * share, m2 + other_m2 + delta * delta * n * share


@triton.jit
def both_empty(n, mean, m2, more, other_mean, other_m2):
    return merge(n, mean, m2, more, other_mean, other_m2, "both empty")


@triton.jit
def equal_groups(n, mean, m2, more, other_mean, other_m2):
    return merge(n, mean, m2, more, other_mean, other_m2, "equal groups")


@triton.jit
def right(n, mean, m2, more, other_mean, other_m2):
    return merge(n, mean, m2, more, other_mean, other_m2, "")


@triton.jit
def kernel(x_ptr, gamma_ptr, beta_ptr, running_mean_ptr, running_var_ptr, eps, momentum, y_ptr, mean_ptr, rstd_ptr, rows, cols,
           HOW: tl.constexpr, ROWS: tl.constexpr, COLS: tl.constexpr):
    c = tl.program_id(0) * COLS + tl.arange(0, COLS)
    n = tl.zeros((ROWS, COLS), tl.float32)
    mean, m2 = n, n
    for first in range(0, rows, ROWS):
        r = first + tl.arange(0, ROWS)[:, None]
        there = (r < rows) & (c < cols)[None, :]
        x = tl.load(x_ptr + r * cols + c[None, :], mask=there, other=0.0).to(tl.float32)
        if HOW == "squares":
            n, mean, m2 = n + there.to(tl.float32), mean + x, m2 + x * x
        elif HOW == "16 bits":
            n, mean, m2 = right(n, mean, m2, (there.to(tl.bfloat16) + 256).to(tl.float32) - 256, x, 0.0)
        else:
            n, mean, m2 = right(n, mean, m2, there.to(tl.float32), x, 0.0)
    if HOW == "squares":
        mean = tl.sum(mean, axis=0) / rows
        m2 = tl.sum(m2, axis=0) - mean * mean * rows
    elif HOW == "both empty":
        n, mean, m2 = tl.reduce((n, mean, m2), 0, both_empty)
    elif HOW == "equal groups":
        n, mean, m2 = tl.reduce((n, mean, m2), 0, equal_groups)
    else:
        n, mean, m2 = tl.reduce((n, mean, m2), 0, right)
    rstd = tl.rsqrt(m2 / rows + eps)
    tl.store(mean_ptr + c, mean, mask=c < cols)
    tl.store(rstd_ptr + c, rstd, mask=c < cols)
    momentum = 1 - momentum if HOW == "momentum" else momentum
    old_mean = tl.load(running_mean_ptr + c, mask=c < cols)
    old_var = tl.load(running_var_ptr + c, mask=c < cols)
    var = m2 / rows if HOW == "biased" else m2 / (rows - 1)
    tl.store(running_mean_ptr + c, old_mean + (mean - old_mean) * momentum, mask=c < cols)
    tl.store(running_var_ptr + c, old_var + (var - old_var) * momentum, mask=c < cols)
    gamma = tl.load(gamma_ptr + c, mask=c < cols)
    beta = tl.load(beta_ptr + c, mask=c < cols)
    for first in range(0, rows, ROWS):
        r = first + tl.arange(0, ROWS)[:, None]
        there = (r < rows) & (c < cols)[None, :]
        x = tl.load(x_ptr + r * cols + c[None, :], mask=there).to(tl.float32)
        tl.store(y_ptr + r * cols + c[None, :], (x - mean[None, :]) * (rstd * gamma)[None, :] + beta[None, :], mask=there)


def started(how, x, gamma, beta, running_mean, running_var, eps, momentum, y, mean, rstd):
    needs.batch_norm(x, gamma, beta, running_mean, running_var, eps, y, mean, rstd)
    rows, cols = x.shape
    kernel[(triton.cdiv(cols, COLS),)](x, gamma, beta, running_mean, running_var, eps, momentum, y, mean, rstd, rows, cols, HOW=how,
                                       ROWS=ROWS, COLS=COLS)


@must_reject(batch_norm, "elements are wrong")
def sums_of_squares(*given):
    """Right near 0; at a mean of 1,000 the squares have no digits left for a deviation of 1."""
    started("squares", *given)


@must_reject(batch_norm, "is nan, expected")
def two_empty_groups(*given):
    """Right where rows fill every place of a tile at least once."""
    started("both empty", *given)


@must_reject(batch_norm, "elements are wrong")
def groups_of_one_size(*given):
    """Right where 16 divides the rows."""
    started("equal groups", *given)


@must_reject(batch_norm, "out4[")
def running_variance_biased(*given):
    started("biased", *given)


@must_reject(batch_norm, "out3[")
def momentum_the_wrong_way_round(*given):
    started("momentum", *given)


@must_reject(batch_norm, "elements are wrong")
def counted_in_16_bits(*given):
    """257 is no number of bf16: an element that comes after 256 others does not count."""
    started("16 bits", *given)
