# SPDX-License-Identifier: MIT
"""Let the next row be on its way while this one is summed.

    ./days check 35     how far you are
    ./days hint 35      the next of three hints

The first row is loaded before the loop, and at the loop's end `next_dy`, `next_x` and `next_rstd` become the row. Here they
are the same row again.

  1. Load them: the row `following` of dy, x and rstd.
  2. The last row has no next one. Which elements are there? A mask may be `&` of two conditions.
"""
import triton
import triton.language as tl

from python_days import device, needs


@triton.jit
def exercise_kernel(dy_ptr, x_ptr, w_ptr, rstd_ptr, dx_ptr, part_ptr, rows, cols, dy_pitch, x_pitch, dx_pitch, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)  # (BLOCK,)
    there = i < cols
    w = tl.load(w_ptr + i, mask=there, other=0.0).to(tl.float32)
    dw = tl.zeros((BLOCK,), tl.float32)
    first, step = tl.program_id(0).to(tl.int64), tl.num_programs(0)  # a matrix may have more than 2^31 elements
    dy = tl.load(dy_ptr + first * dy_pitch + i, mask=there, other=0.0)
    x = tl.load(x_ptr + first * x_pitch + i, mask=there, other=0.0)
    rstd = tl.load(rstd_ptr + first)
    for row in range(first, rows, step):
        following = row + step
        next_dy, next_x, next_rstd = dy, x, rstd  # the same row again, instead of the next
    # your code
        xhat, a = x.to(tl.float32) * rstd, dy.to(tl.float32) * w
        mean = tl.sum(a * xhat, axis=0) / cols
        tl.store(dx_ptr + row * dx_pitch + i, rstd * (a - xhat * mean), mask=there)
        dw += dy.to(tl.float32) * xhat
        dy, x, rstd = next_dy, next_x, next_rstd
    tl.store(part_ptr + tl.program_id(0) * cols + i, dw, mask=there)


@triton.jit
def finish_kernel(part_ptr, dw_ptr, parts, cols, PARTS: tl.constexpr, COLS: tl.constexpr):
    col = tl.program_id(0) * COLS + tl.arange(0, COLS)[None, :]  # (1, COLS)
    total = tl.zeros((PARTS, COLS), tl.float32)
    for first in range(0, parts, PARTS):
        part = first + tl.arange(0, PARTS)[:, None]  # (PARTS, 1)
        total += tl.load(part_ptr + part * cols + col, mask=(part < parts) & (col < cols), other=0.0)
    tl.store(dw_ptr + col, tl.sum(total, axis=0, keep_dims=True), mask=col < cols)


def launch(dy, x, w, rstd, dx, dw):
    needs.norm_backward(dy, x, w, rstd, dx, dw, most=8192)
    rows, cols = x.shape
    block = triton.next_power_of_2(cols)
    programs = min(rows, device.properties(x).multi_processor_count)  # none without a row
    parts = x.new_empty(programs, cols, dtype=rstd.dtype)
    exercise_kernel[(programs,)](dy, x, w, rstd, dx, parts, rows, cols, dy.stride(0), x.stride(0), dx.stride(0), BLOCK=block,
                                num_warps=min(16, max(4, block // 512)))
    finish_kernel[(triton.cdiv(cols, 32),)](parts, dw, programs, cols, PARTS=32, COLS=32)
