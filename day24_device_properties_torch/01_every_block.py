# SPDX-License-Identifier: MIT
"""A program for every 2,048 elements, whatever the device. Each adds its sum to the result, so the device does as many additions to one
address as there are programs, one after the other; and each program begins and ends for 8 KiB.
"""
import triton
import triton.language as tl

from python_days import needs

BLOCK, WARPS = 2048, 16


@triton.jit
def every_block_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)  # (BLOCK,)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0).to(tl.float32)
    tl.atomic_add(out_ptr, tl.sum(x * x, axis=0), sem="relaxed")


def launch(x, out):
    needs.summed(x, out)
    n = x.numel()
    out.zero_()
    every_block_kernel[(triton.cdiv(n, BLOCK),)](x, out, n, BLOCK=BLOCK, num_warps=WARPS)
