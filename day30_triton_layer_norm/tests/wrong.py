# SPDX-License-Identifier: MIT
"""Wrong kernels of day 30, each as short as its bug, with what must be said of it."""
import triton
import triton.language as tl

from day30_triton_layer_norm import shared
from day30_triton_layer_norm.ladder import layer_norm, layer_norm_backward
from python_days import must_reject, new_empty

GROUPS = 1  # a lock for all rows


@triton.jit
def sums_kernel(dy_ptr, sums_ptr, locks_ptr, cols, GROUPS: tl.constexpr, EARLY: tl.constexpr, WAIT: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    there = i < cols
    dy = tl.load(dy_ptr + row * cols + i, mask=there, other=0.0).to(tl.float32)
    lock, sums = locks_ptr + row % GROUPS, sums_ptr + (row % GROUPS * 2 + 1) * cols + i
    early = tl.load(sums, mask=there)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    late = tl.load(sums, mask=there)
    tl.store(sums, (early if EARLY else late) + dy, mask=there)
    if WAIT:
        tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@triton.jit
def without_barrier_kernel(dy_ptr, sums_ptr, locks_ptr, cols, GROUPS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    there = i < cols
    dy = tl.load(dy_ptr + row * cols + i, mask=there, other=0.0).to(tl.float32)
    lock, sums = locks_ptr + row % GROUPS, sums_ptr + (row % GROUPS * 2 + 1) * cols + i
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(sums, tl.load(sums, mask=there) + dy, mask=there)
    tl.atomic_xchg(lock, 0)


def _locked(kernel, dy, dgamma, dbeta, **how):
    rows, cols = dy.shape
    sums, locks = dgamma.new_zeros(GROUPS, 2, cols), new_empty(dgamma, (GROUPS,), "int32").zero_()
    kernel[(rows,)](dy, sums, locks, cols, GROUPS=GROUPS, **how, BLOCK=triton.next_power_of_2(cols))
    shared.add_up(sums, dgamma, dbeta)


@must_reject(layer_norm_backward, "others may not have come to what line")
def given_back_too_early(dy, x, gamma, mean, rstd, dx, dgamma, dbeta):
    """Right in the interpreter in any order: one thread gives the lock back while others still have to store."""
    _locked(without_barrier_kernel, dy, dgamma, dbeta)


@must_reject(layer_norm_backward, "has written: programs run in any order")
def loaded_before_the_lock(dy, x, gamma, mean, rstd, dx, dgamma, dbeta):
    """Right in the interpreter in any order, too: of two programs that load the same sum, one is lost."""
    _locked(sums_kernel, dy, dgamma, dbeta, EARLY=True, WAIT=True)


@triton.jit
def added_kernel(dy_ptr, dbeta_ptr, cols, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    dy = tl.load(dy_ptr + tl.program_id(0) * cols + i, mask=i < cols, other=0.0).to(tl.float32)
    tl.atomic_add(dbeta_ptr + i, dy, mask=i < cols)


@must_reject(layer_norm_backward, "changes dbeta_ptr[0], which nobody has written")
def not_zeroed(dy, x, gamma, mean, rstd, dx, dgamma, dbeta):
    rows, cols = dy.shape
    added_kernel[(rows,)](dy, dbeta, cols, BLOCK=triton.next_power_of_2(cols))


@triton.jit
def kept_kernel(dy_ptr, sums_ptr, rows, cols, BLOCK: tl.constexpr):
    first, i = tl.program_id(0), tl.arange(0, BLOCK)
    there = i < cols
    dbeta = tl.zeros((BLOCK,), tl.float32)
    for row in range(first, rows, tl.num_programs(0)):
        dbeta += tl.load(dy_ptr + row * cols + i, mask=there, other=0.0).to(tl.float32)
    tl.store(sums_ptr + first * 2 * cols + i, dbeta, mask=there)
    tl.store(sums_ptr + first * 2 * cols + cols + i, dbeta, mask=there)


@must_reject(layer_norm_backward, "loads sums_ptr[2], which nobody has written")
def partial_rows_of_nobody(dy, x, gamma, mean, rstd, dx, dgamma, dbeta):
    """Memory for as many partial rows as programs could be, and fewer programs."""
    rows, cols = dy.shape
    sums = dgamma.new_empty(4, 2, cols)
    kept_kernel[(min(rows, 3),)](dy, sums, rows, cols, BLOCK=triton.next_power_of_2(cols))
    shared.add_up(sums, dgamma, dbeta)


@triton.jit
def squares_kernel(x_ptr, gamma_ptr, beta_ptr, y_ptr, mean_ptr, rstd_ptr, cols, eps, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    at = tl.program_id(0) * cols + i
    x = tl.load(x_ptr + at, mask=i < cols, other=0.0).to(tl.float32)
    mean = tl.sum(x, 0) / cols
    rstd = 1 / tl.sqrt(tl.sum(x * x, 0) / cols - mean * mean + eps)
    gamma, beta = tl.load(gamma_ptr + i, mask=i < cols, other=0.0), tl.load(beta_ptr + i, mask=i < cols, other=0.0)
    tl.store(y_ptr + at, (x - mean) * rstd * gamma + beta, mask=i < cols)
    tl.store(mean_ptr + tl.program_id(0), mean)
    tl.store(rstd_ptr + tl.program_id(0), rstd)


@must_reject(layer_norm, "elements are wrong")
def mean_of_squares(x, gamma, beta, eps, y, mean, rstd):
    """The mean of the squares minus the square of the mean: far from 0 nothing is left of the difference."""
    rows, cols = x.shape
    squares_kernel[(rows,)](x, gamma, beta, y, mean, rstd, cols, eps, BLOCK=triton.next_power_of_2(cols))
