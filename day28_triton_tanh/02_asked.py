# SPDX-License-Identifier: MIT
"""Changed since constant: n and s are plain arguments. Of an int Triton asks two questions, is it 1 and does 16 divide it, and compiles
anew for each answer; of a float it asks nothing. So the launcher makes s a float, since an int of the same value is another type.
"""
import triton
import triton.language as tl
from accurate import tanh

from python_days import needs

BLOCK = 1024


@triton.jit
def asked_kernel(x_ptr, y_ptr, n, s, BLOCK: tl.constexpr):
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
    asked_kernel[(triton.cdiv(n, BLOCK),)](x, y, n, float(s), BLOCK=BLOCK)
