# SPDX-License-Identifier: MIT
"""Forward, a program a row: the row is loaded, its squares are summed, and it is stored. While one program sums, others of the same multiprocessor
load, because there are far more programs than fit.
"""
import triton
import triton.language as tl

from python_days import needs


@triton.jit
def row_kernel(x_ptr, w_ptr, y_ptr, rstd_ptr, eps, cols, x_pitch, y_pitch, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    i = tl.arange(0, BLOCK)  # (BLOCK,)
    there = i < cols
    x = tl.load(x_ptr + row * x_pitch + i, mask=there, other=0.0).to(tl.float32)
    rstd = tl.rsqrt(tl.sum(x * x, axis=0) / cols + eps)
    w = tl.load(w_ptr + i, mask=there).to(tl.float32)
    tl.store(y_ptr + row * y_pitch + i, x * rstd * w, mask=there)
    tl.store(rstd_ptr + row, rstd)


def launch(x, w, eps, y, rstd):
    needs.same_type(x=x, w=w, y=y)
    needs.floats(x=x)
    needs.rows_dense(x=x, y=y)
    needs.same_shape(x=x, y=y)
    needs.contiguous(w=w, rstd=rstd)
    rows, cols = x.shape
    if (tuple(w.shape), tuple(rstd.shape)) != ((cols,), (rows,)):
        raise ValueError(f"x is {rows} x {cols}, so w has {cols} elements and rstd {rows}, not {w.numel()} and {rstd.numel()}")
    if not eps >= 0:
        raise ValueError(f"eps is {eps}, and under the root it must not be below 0")
    if not 1 <= cols <= 16384:
        raise ValueError(f"rows of {cols} elements; a program has registers for 1 to 16384")
    block = triton.next_power_of_2(cols)
    row_kernel[(rows,)](x, w, y, rstd, eps, cols, x.stride(0), y.stride(0), BLOCK=block, num_warps=min(16, max(4, block // 512)))
