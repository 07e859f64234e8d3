# SPDX-License-Identifier: MIT
"""Changed since blind: a program whose block is there as a whole has no mask, so its loads are 16 bytes wide, whatever n is. The question
is asked when the program runs and not when it is compiled. The code is larger, because both ways stand in it; the binary is one.
"""
import triton
import triton.language as tl
from accurate import tanh

from python_days import needs

BLOCK = 1024


@triton.jit(do_not_specialize=["n"])
def both_kernel(x_ptr, y_ptr, n, s, BLOCK: tl.constexpr):
    first = tl.program_id(0) * BLOCK
    i = first + tl.arange(0, BLOCK)  # (BLOCK,)
    if first + BLOCK <= n:
        tl.store(y_ptr + i, s * tanh(tl.load(x_ptr + i).to(tl.float32)))
    else:
        there = i < n
        x = tl.load(x_ptr + i, mask=there).to(tl.float32)
        tl.store(y_ptr + i, s * tanh(x), mask=there)


def launch(x, s, y):
    needs.same_type(x=x, y=y)
    needs.same_shape(x=x, y=y)
    needs.contiguous(x=x, y=y)
    needs.number(s=s)
    n = y.numel()
    both_kernel[(triton.cdiv(n, BLOCK),)](x, y, n, float(s), BLOCK=BLOCK)
