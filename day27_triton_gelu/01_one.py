# SPDX-License-Identifier: MIT
"""GELU with an element for each of a program's 128 threads. Whatever a thread needs besides its element, it works out for one: its number,
the mask and two addresses.
"""
import triton
import triton.language as tl

from python_days import needs

BLOCK, WARPS = 128, 4


@triton.jit
def one_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)  # (BLOCK,)
    x = tl.load(x_ptr + i, mask=i < n).to(tl.float32)
    tl.store(y_ptr + i, 0.5 * x * (1 + tl.erf(x * 0.7071067811865476)), mask=i < n)


def launch(x, y):
    needs.same_type(x=x, y=y)
    needs.floats(x=x)
    needs.same_shape(x=x, y=y)
    needs.contiguous(x=x, y=y)
    needs.indices_of_32_bits(x=x)
    n = y.numel()
    one_kernel[(triton.cdiv(n, BLOCK),)](x, y, n, BLOCK=BLOCK, num_warps=WARPS)
