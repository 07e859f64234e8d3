# SPDX-License-Identifier: MIT
"""The formula as Triton's own library has it: 1 / (1 + tl.exp(-x)). Neither word says so, but both are approximations: tl.exp multiplies by
log2(e), rounds, and has one instruction take 2 to the power of it; `/` is div.full, a reciprocal and a product with care for large
numbers. Memory bounds it.
"""
import triton
import triton.language as tl

from python_days import needs

BLOCK = 1024


@triton.jit
def plain_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)  # (BLOCK,)
    there = i < n
    x = tl.load(x_ptr + i, mask=there).to(tl.float32)
    y = tl.sigmoid(x)
    tl.store(y_ptr + i, y, mask=there)


def launch(x, y):
    needs.same_type(x=x, y=y)
    needs.same_shape(x=x, y=y)
    needs.contiguous(x=x, y=y)
    n = y.numel()
    plain_kernel[(triton.cdiv(n, BLOCK),)](x, y, n, BLOCK=BLOCK)
