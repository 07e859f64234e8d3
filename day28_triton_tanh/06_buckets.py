# SPDX-License-Identifier: MIT
"""Changed since tuned: the key is no longer n but its size, the next power of two and at least 1,024, an argument that the kernel does not
use. Lengths of one size share a search, and a program that runs for long meets few sizes.
"""
import triton
import triton.language as tl
from accurate import tanh

from python_days import needs

CONFIGS = [triton.Config({"BLOCK": block}, num_warps=warps) for block, warps in ((1024, 4), (512, 4), (2048, 4), (2048, 8), (4096, 4), (4096, 8))]


@triton.autotune(CONFIGS, key=["size"])
@triton.jit(do_not_specialize=["n", "size"])
def buckets_kernel(x_ptr, y_ptr, n, size, s, BLOCK: tl.constexpr):
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
    size = max(1024, triton.next_power_of_2(n))
    buckets_kernel[lambda given: (triton.cdiv(n, given["BLOCK"]),)](x, y, n, size, float(s))
