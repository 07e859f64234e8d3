# SPDX-License-Identifier: MIT
"""Changed since stays: one word. tl.range(num_stages=3) has the compiler copy the next row into shared memory while this one is summed, with
cp.async, so from compute capability 8.0 on. Two stages give each load one place, which is taken while the row is summed. The num_stages of a
launch is for loads that go into tl.dot.
"""
import triton
import triton.language as tl

from python_days import device, needs


@triton.jit
def staged_kernel(dy_ptr, x_ptr, w_ptr, rstd_ptr, dx_ptr, part_ptr, rows, cols, dy_pitch, x_pitch, dx_pitch, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)  # (BLOCK,)
    there = i < cols
    w = tl.load(w_ptr + i, mask=there, other=0.0).to(tl.float32)
    dw = tl.zeros((BLOCK,), tl.float32)
    first, step = tl.program_id(0).to(tl.int64), tl.num_programs(0)  # a matrix may have more than 2^31 elements
    for row in tl.range(first, rows, step, num_stages=3):
        dy = tl.load(dy_ptr + row * dy_pitch + i, mask=there, other=0.0).to(tl.float32)
        x = tl.load(x_ptr + row * x_pitch + i, mask=there, other=0.0).to(tl.float32)
        rstd = tl.load(rstd_ptr + row)
        xhat, a = x * rstd, dy * w
        mean = tl.sum(a * xhat, axis=0) / cols
        tl.store(dx_ptr + row * dx_pitch + i, rstd * (a - xhat * mean), mask=there)
        dw += dy * xhat
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
    staged_kernel[(programs,)](dy, x, w, rstd, dx, parts, rows, cols, dy.stride(0), x.stride(0), dx.stride(0), BLOCK=block,
                               num_warps=min(16, max(4, block // 512)))
    finish_kernel[(triton.cdiv(cols, 32),)](parts, dw, programs, cols, PARTS=32, COLS=32)
