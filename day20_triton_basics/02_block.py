# SPDX-License-Identifier: MIT
"""Changed since one_element: a program handles a block of 128 elements. `tl.arange` makes 128 numbers at once, and what is done with
them is done for each; a mask says which of them are there. An element for each of the program's 128 threads, so loads are as wide
as an element.
"""
import triton
import triton.language as tl

from python_days import needs

BLOCK = 128


@triton.jit
def block_kernel(a_ptr, b_ptr, c_ptr, n, BLOCK: tl.constexpr):
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
    block_kernel[(triton.cdiv(n, BLOCK),)](a, b, c, n, BLOCK=BLOCK)
