# SPDX-License-Identifier: MIT
"""Backward, a program a row. dx is a row's own; dw is a sum over all rows, so each program adds its share to it by atomic additions, one for
each element of x. They meet in the few addresses of dw.
"""
import triton
import triton.language as tl

from python_days import needs


@triton.jit
def atomics_kernel(dy_ptr, x_ptr, w_ptr, rstd_ptr, dx_ptr, sum_ptr, cols, dy_pitch, x_pitch, dx_pitch, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)  # a matrix may have more than 2^31 elements
    i = tl.arange(0, BLOCK)  # (BLOCK,)
    there = i < cols
    dy = tl.load(dy_ptr + row * dy_pitch + i, mask=there, other=0.0).to(tl.float32)
    x = tl.load(x_ptr + row * x_pitch + i, mask=there, other=0.0).to(tl.float32)
    w = tl.load(w_ptr + i, mask=there, other=0.0).to(tl.float32)
    rstd = tl.load(rstd_ptr + row)
    xhat, a = x * rstd, dy * w
    mean = tl.sum(a * xhat, axis=0) / cols
    tl.store(dx_ptr + row * dx_pitch + i, rstd * (a - xhat * mean), mask=there)
    tl.atomic_add(sum_ptr + i, dy * xhat, mask=there, sem="relaxed")


@triton.jit
def rounded_kernel(sum_ptr, dw_ptr, cols, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)  # (BLOCK,)
    tl.store(dw_ptr + i, tl.load(sum_ptr + i, mask=i < cols), mask=i < cols)


def launch(dy, x, w, rstd, dx, dw):
    needs.norm_backward(dy, x, w, rstd, dx, dw, most=8192)
    rows, cols = x.shape
    block = triton.next_power_of_2(cols)
    total = x.new_zeros(cols, dtype=rstd.dtype)
    atomics_kernel[(rows,)](dy, x, w, rstd, dx, total, cols, dy.stride(0), x.stride(0), dx.stride(0), BLOCK=block,
                            num_warps=min(16, max(4, block // 512)))
    rounded_kernel[(triton.cdiv(cols, 1024),)](total, dw, cols, BLOCK=1024)
