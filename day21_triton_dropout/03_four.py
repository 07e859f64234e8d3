# SPDX-License-Identifier: MIT
"""Changed since seeded: a program of 1,024 positions draws for 256 counters and uses all four words of each. The joins put them side by
side in a thread's registers, in the order of the positions, so nothing is exchanged and loads are 16 bytes wide. Bound by memory in
fp32, by integer products in 16 bits.
"""
import triton
import triton.language as tl

from python_days import needs

BLOCK = 1024


@triton.jit(do_not_specialize=["seed", "threshold"])
def four_kernel(x_ptr, y_ptr, n, seed, threshold: tl.uint32, scale, BLOCK: tl.constexpr):
    first = tl.program_id(0).to(tl.int64) * BLOCK
    i = tl.arange(0, BLOCK)
    counter = tl.program_id(0) * (BLOCK // 4) + tl.arange(0, BLOCK // 4)  # (BLOCK // 4,)
    a, b, c, d = tl.randint4x(seed, counter)
    word = tl.join(tl.join(a, c), tl.join(b, d)).reshape(BLOCK)  # a[0], b[0], c[0], d[0], a[1], ...
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
    four_kernel[grid](x, y, n, seed, threshold, scale, BLOCK=BLOCK)
    four_kernel[grid](dy, dx, n, seed, threshold, scale, BLOCK=BLOCK)
