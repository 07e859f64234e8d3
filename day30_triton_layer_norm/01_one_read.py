# SPDX-License-Identifier: MIT
"""Forward: the block is the row, read once. The mean is known before a deviation is squared, because the row is still in registers; the
mean of the squares minus the square of the mean would lose all digits where the mean is large. A sum of large numbers loses some, too, so
what is summed is how far each lies from the row's first. Mean and 1/deviation are kept for backward, in fp32 whatever x is. Memory bounds it.
"""
import triton
import triton.language as tl

from day30_triton_layer_norm import shared
from python_days import needs


@triton.jit
def one_read_kernel(x_ptr, gamma_ptr, beta_ptr, y_ptr, mean_ptr, rstd_ptr, cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)  # (BLOCK,)
    there = i < cols
    at = row.to(tl.int64) * cols + i  # a matrix may have more than 2^31 elements
    x = tl.load(x_ptr + at, mask=there, other=0.0).to(tl.float32)
    gamma = tl.load(gamma_ptr + i, mask=there, other=0.0).to(tl.float32)
    beta = tl.load(beta_ptr + i, mask=there, other=0.0).to(tl.float32)
    first = tl.load(x_ptr + row.to(tl.int64) * cols).to(tl.float32)
    x = tl.where(there, x - first, 0.0)  # where the elements are alike, a difference has all digits, and a sum few to lose
    middle = tl.sum(x, 0) / cols
    away = tl.where(there, x - middle, 0.0)  # a place beyond the row would add middle^2
    rstd = 1 / tl.sqrt(tl.sum(away * away, 0) / cols + eps)
    tl.store(y_ptr + at, away * rstd * gamma + beta, mask=there)
    tl.store(mean_ptr + row, first + middle)
    tl.store(rstd_ptr + row, rstd)


def launch(x, gamma, beta, eps, y, mean, rstd):
    needs.same_type(x=x, gamma=gamma, beta=beta, y=y)
    needs.same_type(mean=mean, rstd=rstd)
    needs.same_shape(x=x, y=y)
    shared.needs_rows(x, gamma, mean)
    needs.same_shape(gamma=gamma, beta=beta)
    needs.same_shape(mean=mean, rstd=rstd)
    needs.contiguous(x=x, gamma=gamma, beta=beta, y=y, mean=mean, rstd=rstd)
    rows, cols = x.shape
    one_read_kernel[(rows,)](x, gamma, beta, y, mean, rstd, cols, eps, **shared.launch_of(cols))
