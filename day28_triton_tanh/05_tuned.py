# SPDX-License-Identifier: MIT
"""Changed since both: Triton chooses the block and the warps. Of six configurations it compiles each, times each, and keeps the fastest for
this n, its key. Another n is another key, and the search begins again, though not one binary is new.
"""
import triton
import triton.language as tl
from accurate import tanh

from python_days import needs

CONFIGS = [triton.Config({"BLOCK": block}, num_warps=warps) for block, warps in ((1024, 4), (512, 4), (2048, 4), (2048, 8), (4096, 4), (4096, 8))]


@triton.autotune(CONFIGS, key=["n"])
@triton.jit(do_not_specialize=["n"])
def tuned_kernel(x_ptr, y_ptr, n, s, BLOCK: tl.constexpr):
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
    tuned_kernel[lambda given: (triton.cdiv(n, given["BLOCK"]),)](x, y, n, float(s))
