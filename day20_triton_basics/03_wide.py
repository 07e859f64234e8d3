# SPDX-License-Identifier: MIT
"""Changed since block: 1,024 elements a program, 8 a thread, so that a thread's loads can be 16 bytes wide. Nothing else: Triton
chooses the width. It takes 16 bytes where it can tell that four neighbours are all there or all not, and it can where 16 divides n:
the launcher's value of n is part of what it compiles for. Where nothing divides n, loads are as wide as an element again.
"""
import triton
import triton.language as tl

from python_days import needs

BLOCK = 1024


@triton.jit
def wide_kernel(a_ptr, b_ptr, c_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)  # (BLOCK,)
    there = i < n
    a = tl.load(a_ptr + i, mask=there)
    b = tl.load(b_ptr + i, mask=there)
    tl.store(c_ptr + i, a + b, mask=there)


def launch(a, b, c):
    needs.same_type(a=a, b=b, c=c)
    needs.same_shape(a=a, b=b, c=c)
    needs.contiguous(a=a, b=b, c=c)
    n = c.numel()
    wide_kernel[(triton.cdiv(n, BLOCK),)](a, b, c, n, BLOCK=BLOCK)
