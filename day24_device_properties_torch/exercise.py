# SPDX-License-Identifier: MIT
"""The sum of all squares, by as many programs as the device holds at a time.

    ./days check 24     how far you are
    ./days hint 24      the next of three hints

The kernel is there: each of `programs` programs walks over x and leaves one partial sum, which finish_kernel adds up. Missing is how many
programs there are. `found` has what torch tells of the device, under torch's names:

    found.multi_processor_count               how many multiprocessors there are
    found.max_threads_per_multi_processor     threads that each of them holds at a time

  1. How many programs of WARPS warps, of 32 threads each, does a multiprocessor hold?
  2. programs is that times the multiprocessors, and not more than there are blocks of x.
"""
import triton
import triton.language as tl
from finish import finish_kernel

from python_days import device, needs

BLOCK, WARPS = 2048, 16


@triton.jit
def exercise_kernel(x_ptr, partial_ptr, n, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float32)
    for first in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        i = first + tl.arange(0, BLOCK)  # (BLOCK,)
        x = tl.load(x_ptr + i, mask=i < n, other=0.0).to(tl.float32)
        total += x * x
    tl.store(partial_ptr + tl.program_id(0), tl.sum(total, axis=0))


def launch(x, out):
    needs.summed(x, out)
    n, found, programs = x.numel(), device.properties(x), 0
    # your code
    partial = out.new_empty(programs)
    exercise_kernel[(programs,)](x, partial, n, BLOCK=BLOCK, num_warps=WARPS)
    finish_kernel[(1,)](partial, out, programs, BLOCK=1024)
