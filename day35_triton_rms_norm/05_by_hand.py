# SPDX-License-Identifier: MIT
"""Changed since stays: the next row is loaded into registers before this one's sum, and is first used when the loop comes round. It works on every
GPU, and costs the registers of a row in its own type.
"""
import triton
import triton.language as tl

from python_days import device, needs


@triton.jit
def by_hand_kernel(dy_ptr, x_ptr, w_ptr, rstd_ptr, dx_ptr, part_ptr, rows, cols, dy_pitch, x_pitch, dx_pitch, BLOCK: tl.constexpr):
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
        more = there & (following < rows)  # nobody has a right to the row beyond the last
        next_dy = tl.load(dy_ptr + following * dy_pitch + i, mask=more, other=0.0)
        next_x = tl.load(x_ptr + following * x_pitch + i, mask=more, other=0.0)
        next_rstd = tl.load(rstd_ptr + following, mask=following < rows)
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
    by_hand_kernel[(programs,)](dy, x, w, rstd, dx, parts, rows, cols, dy.stride(0), x.stride(0), dx.stride(0), BLOCK=block,
                                num_warps=min(16, max(4, block // 512)))
    finish_kernel[(triton.cdiv(cols, 32),)](parts, dw, programs, cols, PARTS=32, COLS=32)
