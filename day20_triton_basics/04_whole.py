# SPDX-License-Identifier: MIT
"""Changed since wide: programs whose block is whole ask for nothing with a mask, so their loads are 16 bytes wide for every n; the
last one, whose block may not be whole, has a way of its own. All threads of a program go the same way, because the question is of
the program's number alone.
"""
import triton
import triton.language as tl

from python_days import needs

BLOCK = 1024


@triton.jit
def whole_kernel(a_ptr, b_ptr, c_ptr, n, BLOCK: tl.constexpr):
    first = tl.program_id(0) * BLOCK
    i = first + tl.arange(0, BLOCK)  # (BLOCK,)
    if first + BLOCK <= n:
        tl.store(c_ptr + i, tl.load(a_ptr + i) + tl.load(b_ptr + i))
    else:
        there = i < n
        a = tl.load(a_ptr + i, mask=there)
        b = tl.load(b_ptr + i, mask=there)
        tl.store(c_ptr + i, a + b, mask=there)


def launch(a, b, c):
    needs.same_type(a=a, b=b, c=c)
    needs.same_shape(a=a, b=b, c=c)
    needs.contiguous(a=a, b=b, c=c)
    n = c.numel()
    whole_kernel[(triton.cdiv(n, BLOCK),)](a, b, c, n, BLOCK=BLOCK)
