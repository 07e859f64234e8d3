# SPDX-License-Identifier: MIT
"""Changed since relaxed: no atomic for an element, a lock for a row. Rows go to one of 64 groups; each group has a lock and two partial
sums, and who holds the lock loads, adds and stores them. A second kernel adds the groups up. The lock is taken and given back by
one thread, so tl.debug_barrier() lets it wait until all threads have stored. The lock's latency bounds it, and who waits.
"""
import triton
import triton.language as tl

from day30_triton_layer_norm import shared
from python_days import new_empty

GROUPS = 64


@triton.jit
def locked_kernel(dy_ptr, x_ptr, gamma_ptr, mean_ptr, rstd_ptr, dx_ptr, sums_ptr, locks_ptr, cols, GROUPS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)  # (BLOCK,)
    there = i < cols
    at = row.to(tl.int64) * cols + i
    x = tl.load(x_ptr + at, mask=there, other=0.0).to(tl.float32)
    dy = tl.load(dy_ptr + at, mask=there, other=0.0).to(tl.float32)
    gamma = tl.load(gamma_ptr + i, mask=there, other=0.0).to(tl.float32)
    mean, rstd = tl.load(mean_ptr + row), tl.load(rstd_ptr + row)
    xhat, a = (x - mean) * rstd, gamma * dy
    dx = rstd * (a - tl.sum(a, 0) / cols - xhat * (tl.sum(a * xhat, 0) / cols))
    tl.store(dx_ptr + at, dx, mask=there)
    lock = locks_ptr + row % GROUPS
    sums = sums_ptr + row % GROUPS * 2 * cols + i
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(sums, tl.load(sums, mask=there) + dy * xhat, mask=there)
    tl.store(sums + cols, tl.load(sums + cols, mask=there) + dy, mask=there)
    tl.debug_barrier()  # all threads have stored
    tl.atomic_xchg(lock, 0)


def launch(dy, x, gamma, mean, rstd, dx, dgamma, dbeta):
    shared.needs_backward(dy, x, gamma, mean, rstd, dx, dgamma, dbeta)
    rows, cols = x.shape
    sums, locks = dgamma.new_zeros(GROUPS, 2, cols), new_empty(dgamma, (GROUPS,), "int32").zero_()
    locked_kernel[(rows,)](dy, x, gamma, mean, rstd, dx, sums, locks, cols, GROUPS=GROUPS, **shared.launch_of(cols))
    shared.add_up(sums, dgamma, dbeta)
