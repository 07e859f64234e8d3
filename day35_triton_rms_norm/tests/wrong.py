# SPDX-License-Identifier: MIT
"""Wrong kernels of day 35, each as short as its bug, with what must be said of it."""
import triton
import triton.language as tl

from day35_triton_rms_norm.ladder import rms_norm, rms_norm_backward
from python_days import must_reject


@triton.jit
def row_kernel(x_ptr, w_ptr, y_ptr, rstd_ptr, eps, cols, divisor, OUTSIDE: tl.constexpr, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * cols + i, mask=i < cols, other=0.0).to(tl.float32)
    mean = tl.sum(x * x, axis=0) / divisor
    rstd = 1 / (tl.sqrt(mean) + eps) if OUTSIDE else tl.rsqrt(mean + eps)
    tl.store(y_ptr + row * cols + i, x * rstd * tl.load(w_ptr + i, mask=i < cols).to(tl.float32), mask=i < cols)
    tl.store(rstd_ptr + row, rstd)


@must_reject(rms_norm, "elements are wrong")
def mean_of_the_block(x, w, eps, y, rstd):
    """Right where the row is as long as its block."""
    block = triton.next_power_of_2(x.shape[1])
    row_kernel[(x.shape[0],)](x, w, y, rstd, eps, x.shape[1], block, OUTSIDE=False, BLOCK=block)


@must_reject(rms_norm, "elements are wrong")
def eps_outside_of_the_root(x, w, eps, y, rstd):
    row_kernel[(x.shape[0],)](x, w, y, rstd, eps, x.shape[1], x.shape[1], OUTSIDE=True, BLOCK=triton.next_power_of_2(x.shape[1]))


@triton.jit
def squares_kernel(x_ptr, w_ptr, y_ptr, rstd_ptr, eps, cols, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * cols + i, mask=i < cols, other=0.0)
    rstd = tl.rsqrt(tl.sum((x * x).to(tl.float32), axis=0) / cols + eps)
    tl.store(y_ptr + row * cols + i, x.to(tl.float32) * rstd * tl.load(w_ptr + i, mask=i < cols).to(tl.float32), mask=i < cols)
    tl.store(rstd_ptr + row, rstd)


@must_reject(rms_norm, "elements are wrong")
def squares_in_16_bits(x, w, eps, y, rstd):
    """300 squared is more than fp16 holds."""
    squares_kernel[(x.shape[0],)](x, w, y, rstd, eps, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))


@triton.jit
def backward_kernel(dy_ptr, x_ptr, w_ptr, rstd_ptr, dx_ptr, part_ptr, rows, cols, dy_pitch, x_pitch, dx_pitch, ROWS_TOO: tl.constexpr,
                    BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    there = i < cols
    w = tl.load(w_ptr + i, mask=there, other=0.0).to(tl.float32)
    dw = tl.zeros((BLOCK,), tl.float32)
    step = tl.num_programs(0)
    dy = tl.load(dy_ptr + tl.program_id(0) * dy_pitch + i, mask=there, other=0.0)
    x = tl.load(x_ptr + tl.program_id(0) * x_pitch + i, mask=there, other=0.0)
    for row in range(tl.program_id(0), rows, step):
        more = there & (row + step < rows) if ROWS_TOO else there
        next_dy = tl.load(dy_ptr + (row + step) * dy_pitch + i, mask=more, other=0.0)
        next_x = tl.load(x_ptr + (row + step) * x_pitch + i, mask=more, other=0.0)
        rstd = tl.load(rstd_ptr + row)
        xhat, a = x.to(tl.float32) * rstd, dy.to(tl.float32) * w
        tl.store(dx_ptr + row * dx_pitch + i, rstd * (a - xhat * (tl.sum(a * xhat, axis=0) / cols)), mask=there)
        dw += dy.to(tl.float32) * xhat
        dy, x = next_dy, next_x
    tl.store(part_ptr + tl.program_id(0) * cols + i, dw, mask=there)


@triton.jit
def sum_kernel(part_ptr, dw_ptr, parts, cols, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for part in range(parts):
        total += tl.load(part_ptr + part * cols + i, mask=i < cols, other=0.0)
    tl.store(dw_ptr + i, total, mask=i < cols)


def _backward(dy, x, w, rstd, dx, dw, programs, summed, kind, rows_too):
    rows, cols = x.shape
    parts = x.new_empty(summed, cols, dtype=kind)
    backward_kernel[(programs,)](dy, x, w, rstd, dx, parts, rows, cols, dy.stride(0), x.stride(0), dx.stride(0), ROWS_TOO=rows_too,
                                 BLOCK=triton.next_power_of_2(cols))
    sum_kernel[(triton.cdiv(cols, 128),)](parts, dw, summed, cols, BLOCK=128)


@must_reject(rms_norm_backward, "error: out-of-bounds access")
def beyond_the_last_row(dy, x, w, rstd, dx, dw):
    _backward(dy, x, w, rstd, dx, dw, min(x.shape[0], 132), min(x.shape[0], 132), rstd.dtype, False)


@must_reject(rms_norm_backward, "which nobody has written")
def programs_without_a_row(dy, x, w, rstd, dx, dw):
    """132 shares are summed, and fewer programs had a row to write one."""
    _backward(dy, x, w, rstd, dx, dw, min(x.shape[0], 132), 132, rstd.dtype, True)


@must_reject(rms_norm_backward, "elements are wrong")
def shares_in_16_bits(dy, x, w, rstd, dx, dw):
    _backward(dy, x, w, rstd, dx, dw, min(x.shape[0], 132), min(x.shape[0], 132), x.dtype, True)
