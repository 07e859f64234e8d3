# SPDX-License-Identifier: MIT
"""Dropout as one would first write it: draw a number for each position, keep or drop, and store which, a byte a position, so that the
gradient's kernel can load it. Philox gives four words for a counter, and position i's is word i mod 4 of counter i // 4: each of the
program's 128 threads asks for all four and keeps one. Bound by memory and by integer products.
"""
import triton
import triton.language as tl

from python_days import needs, new_empty

BLOCK = 128


@triton.jit(do_not_specialize=["seed", "threshold"])
def forward_kernel(x_ptr, y_ptr, mask_ptr, n, seed, threshold: tl.uint32, scale, BLOCK: tl.constexpr):
    first = tl.program_id(0).to(tl.int64) * BLOCK  # of more than 2^31 elements, too
    i = tl.arange(0, BLOCK)
    a, b, c, d = tl.randint4x(seed, tl.program_id(0) * (BLOCK // 4) + i // 4)
    word = tl.where(i % 4 == 0, a, tl.where(i % 4 == 1, b, tl.where(i % 4 == 2, c, d)))
    keep = (word.to(tl.uint32, bitcast=True) >= threshold) & (scale > 0)  # the scale of p = 1 is 0
    there = i < n - first
    x = tl.load(x_ptr + first + i, mask=there).to(tl.float32)
    tl.store(y_ptr + first + i, tl.where(keep, x * scale, 0.0), mask=there)
    tl.store(mask_ptr + first + i, keep.to(tl.int8), mask=there)


@triton.jit
def backward_kernel(dy_ptr, dx_ptr, mask_ptr, n, scale, BLOCK: tl.constexpr):
    first = tl.program_id(0).to(tl.int64) * BLOCK
    i = tl.arange(0, BLOCK)
    there = i < n - first
    dy = tl.load(dy_ptr + first + i, mask=there).to(tl.float32)
    keep = tl.load(mask_ptr + first + i, mask=there) != 0
    tl.store(dx_ptr + first + i, tl.where(keep, dy * scale, 0.0), mask=there)


def launch(x, dy, seed, p, y, dx):
    needs.same_type(x=x, dy=dy, y=y, dx=dx)
    needs.same_shape(x=x, dy=dy, y=y, dx=dx)
    needs.contiguous(x=x, dy=dy, y=y, dx=dx)
    needs.dropout(seed, p, x)
    n = x.numel()
    threshold, scale = min(int(p * 2 ** 32), 2 ** 32 - 1), 1 / (1 - p) if p < 1 else 0.0
    mask = new_empty(x, (n,), "int8")
    grid = (triton.cdiv(n, BLOCK),)
    forward_kernel[grid](x, y, mask, n, seed, threshold, scale, BLOCK=BLOCK)
    backward_kernel[grid](dy, dx, mask, n, scale, BLOCK=BLOCK)
