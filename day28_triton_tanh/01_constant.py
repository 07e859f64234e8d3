# SPDX-License-Identifier: MIT
"""The kernel knows n and s, because they are `tl.constexpr`: numbers in its code, as BLOCK is. A constant costs no register and is folded,
so this looks like the fastest that there is. Each pair of n and s is another kernel, and is compiled when it is first met.
"""
import triton
import triton.language as tl
from accurate import tanh

from python_days import needs

BLOCK = 1024


@triton.jit
def constant_kernel(x_ptr, y_ptr, n: tl.constexpr, s: tl.constexpr, BLOCK: tl.constexpr):
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
    constant_kernel[(triton.cdiv(n, BLOCK),)](x, y, n, s, BLOCK=BLOCK)
