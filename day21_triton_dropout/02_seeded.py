# SPDX-License-Identifier: MIT
"""Changed since stored: no mask. A number is a function of the seed and the position, so the gradient's launch asks for the same numbers
and gets the same answer: one kernel serves both ways. Bound by instructions: each thread draws four numbers and throws three away.
"""
import triton
import triton.language as tl

from python_days import needs

BLOCK = 128


@triton.jit(do_not_specialize=["seed", "threshold"])
def seeded_kernel(x_ptr, y_ptr, n, seed, threshold: tl.uint32, scale, BLOCK: tl.constexpr):
    first = tl.program_id(0).to(tl.int64) * BLOCK
    i = tl.arange(0, BLOCK)
    a, b, c, d = tl.randint4x(seed, tl.program_id(0) * (BLOCK // 4) + i // 4)
    word = tl.where(i % 4 == 0, a, tl.where(i % 4 == 1, b, tl.where(i % 4 == 2, c, d)))
    keep = (word.to(tl.uint32, bitcast=True) >= threshold) & (scale > 0)
    there = i < n - first
    x = tl.load(x_ptr + first + i, mask=there).to(tl.float32)
    tl.store(y_ptr + first + i, tl.where(keep, x * scale, 0.0), mask=there)


def launch(x, dy, seed, p, y, dx):
    needs.same_type(x=x, dy=dy, y=y, dx=dx)
    needs.same_shape(x=x, dy=dy, y=y, dx=dx)
    needs.contiguous(x=x, dy=dy, y=y, dx=dx)
    needs.dropout(seed, p, x)
    n = x.numel()
    threshold, scale = min(int(p * 2 ** 32), 2 ** 32 - 1), 1 / (1 - p) if p < 1 else 0.0
    grid = (triton.cdiv(n, BLOCK),)
    seeded_kernel[grid](x, y, n, seed, threshold, scale, BLOCK=BLOCK)
    seeded_kernel[grid](dy, dx, n, seed, threshold, scale, BLOCK=BLOCK)
