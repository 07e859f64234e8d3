# SPDX-License-Identifier: MIT
"""Dropout in which one call of Philox answers for four positions.

    ./days check 21     how far you are
    ./days hint 21      the next of three hints

launch() refuses what you need not think of, and starts your kernel twice: from x to y, and from dy to dx. Position 4 k + j of the
vector has word j of counter k. A position is kept where its word, as a uint32, is at least `threshold`; what is kept is multiplied by
`scale`, and the rest is 0. For p = 1 the scale is 0, and nothing is kept.

  1. Draw: tl.randint4x(seed, counters) gives four blocks, word 0 to word 3 of each counter. `counter` has this program's counters.
  2. Put the 4 x 256 words into the order of the positions, as one block of 1,024.
  3. Load, keep or drop, store. Mind the end, and mind that a dropped NaN is 0.
"""
import triton
import triton.language as tl

from python_days import needs

BLOCK = 1024


@triton.jit(do_not_specialize=["seed", "threshold"])
def exercise_kernel(x_ptr, y_ptr, n, seed, threshold: tl.uint32, scale, BLOCK: tl.constexpr):
    first = tl.program_id(0).to(tl.int64) * BLOCK
    i = tl.arange(0, BLOCK)  # position first + i
    counter = tl.program_id(0) * (BLOCK // 4) + tl.arange(0, BLOCK // 4)  # (BLOCK // 4,)
    # your code


def launch(x, dy, seed, p, y, dx):
    needs.same_type(x=x, dy=dy, y=y, dx=dx)
    needs.same_shape(x=x, dy=dy, y=y, dx=dx)
    needs.contiguous(x=x, dy=dy, y=y, dx=dx)
    needs.dropout(seed, p, x)
    n = x.numel()
    threshold, scale = min(int(p * 2 ** 32), 2 ** 32 - 1), 1 / (1 - p) if p < 1 else 0.0
    grid = (triton.cdiv(n, BLOCK),)
    exercise_kernel[grid](x, y, n, seed, threshold, scale, BLOCK=BLOCK)
    exercise_kernel[grid](dy, dx, n, seed, threshold, scale, BLOCK=BLOCK)
