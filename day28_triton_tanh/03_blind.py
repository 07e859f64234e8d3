# SPDX-License-Identifier: MIT
"""Changed since asked: Triton is told not to ask about n. One binary serves every length. It knows nothing of n, so the mask may change
between any two elements, and all loads are as narrow as an element.
"""
import triton
import triton.language as tl
from accurate import tanh

from python_days import needs

BLOCK = 1024


@triton.jit(do_not_specialize=["n"])
def blind_kernel(x_ptr, y_ptr, n, s, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)  # (BLOCK,)
    there = i < n
    x = tl.load(x_ptr + i, mask=there).to(tl.float32)
    tl.store(y_ptr + i, s * tanh(x), mask=there)


def launch(x, s, y):
    needs.same_type(x=x, y=y)
    needs.same_shape(x=x, y=y)
    needs.contiguous(x=x, y=y)
    needs.number(s=s)
    n = y.numel()
    blind_kernel[(triton.cdiv(n, BLOCK),)](x, y, n, float(s), BLOCK=BLOCK)
