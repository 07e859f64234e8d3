# SPDX-License-Identifier: MIT
"""Every digit, by asking for it: libdevice.exp is CUDA's expf, and tl.div_rn a division that rounds as IEEE 754 has it. The division brings a
call and a branch for each element. In 16 bits its instructions should bound it and no longer memory.
"""
import triton
import triton.language as tl
from triton.language.extra import libdevice

from python_days import needs

BLOCK = 1024


@triton.jit
def right_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)  # (BLOCK,)
    there = i < n
    x = tl.load(x_ptr + i, mask=there).to(tl.float32)
    y = tl.div_rn(tl.full((BLOCK,), 1.0, tl.float32), 1.0 + libdevice.exp(-x))
    tl.store(y_ptr + i, y, mask=there)


def launch(x, y):
    needs.same_type(x=x, y=y)
    needs.same_shape(x=x, y=y)
    needs.contiguous(x=x, y=y)
    n = y.numel()
    right_kernel[(triton.cdiv(n, BLOCK),)](x, y, n, BLOCK=BLOCK)
