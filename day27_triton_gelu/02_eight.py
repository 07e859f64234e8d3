# SPDX-License-Identifier: MIT
"""Changed since one: 1,024 elements a program, eight for each of its 128 threads, so that what a thread works out serves eight, and eight
elements of 16 bits are one load of 16 bytes. Most of an element's instructions are erf's own, which nothing here can share.
"""
import triton
import triton.language as tl

from python_days import needs

BLOCK, WARPS = 1024, 4


@triton.jit
def eight_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
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
    eight_kernel[(triton.cdiv(n, BLOCK),)](x, y, n, BLOCK=BLOCK, num_warps=WARPS)
