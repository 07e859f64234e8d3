# SPDX-License-Identifier: MIT
"""Changed since one_each: as many programs as a multiprocessor holds threads for, times the multiprocessors. While one waits for its loads
the others ask, so more is under way; and still there are no more partial sums than a second kernel adds up at once.
"""
import triton
import triton.language as tl
from finish import finish_kernel

from python_days import device, needs

BLOCK, WARPS = 2048, 16


@triton.jit
def filled_kernel(x_ptr, partial_ptr, n, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float32)
    for first in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        i = first + tl.arange(0, BLOCK)  # (BLOCK,)
        x = tl.load(x_ptr + i, mask=i < n, other=0.0).to(tl.float32)
        total += x * x
    tl.store(partial_ptr + tl.program_id(0), tl.sum(total, axis=0))


def launch(x, out):
    needs.summed(x, out)
    n, found = x.numel(), device.properties(x)
    held = found.max_threads_per_multi_processor // (32 * WARPS)
    programs = min(held * found.multi_processor_count, triton.cdiv(n, BLOCK))
    partial = out.new_empty(programs)
    filled_kernel[(programs,)](x, partial, n, BLOCK=BLOCK, num_warps=WARPS)
    finish_kernel[(1,)](partial, out, programs, BLOCK=1024)
