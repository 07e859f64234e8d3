# SPDX-License-Identifier: MIT
"""Wrong kernels of day 26, each as short as its bug, with what must be said of it."""
import triton
import triton.language as tl

from day26_triton_blur.ladder import gaussian_blur
from python_days import must_reject

STEPS, COLS = 64, 128


@triton.jit
def along(x_ptr, weights, line, cols, col, R: tl.constexpr, BUG: tl.constexpr):
    if BUG == "half":
        total = tl.zeros(col.shape, x_ptr.dtype.element_ty)
    else:
        total = tl.zeros(col.shape, tl.float32)
    for j in tl.static_range(2 * R + 1):
        at = col + j - R
        near = tl.minimum(tl.maximum(at, 0), cols - 1)
        if BUG == "dark":
            x = tl.load(x_ptr + line * cols + at, mask=(at >= 0) & (at < cols), other=0.0)
        elif BUG == "line before":
            x = tl.load(x_ptr + line * cols + tl.minimum(at, cols - 1))
        else:
            x = tl.load(x_ptr + line * cols + near)
        if BUG == "half":
            total = (total + weights[j] * x).to(total.dtype)
        else:
            total += weights[j] * x.to(tl.float32)
    return total


@triton.jit
def bent_kernel(x_ptr, w_ptr, y_ptr, rows, cols, strips, walks, R: tl.constexpr, BUG: tl.constexpr, STEPS: tl.constexpr, COLS: tl.constexpr):
    """The right kernel but for one place, which BUG names."""
    walk = tl.program_id(0) // strips
    base = walk // walks * rows
    first = walk % walks * STEPS
    col = tl.program_id(0) % strips * COLS + tl.arange(0, COLS)
    weights = ()
    for j in tl.static_range(2 * R + 1):
        weights = weights + (tl.load(w_ptr + j),)
    last = ()
    for i in tl.static_range(2 * R):
        shift: tl.constexpr = 1 if BUG == "late" else 0
        last = last + (along(x_ptr, weights, base + tl.minimum(tl.maximum(first + i - R + shift, 0), rows - 1), cols, col, R, BUG),)
    until = first + STEPS + 1 if BUG == "overlap" else first + STEPS
    for row in range(first, tl.minimum(until, rows)):
        newest = row + R if BUG == "below" else tl.minimum(row + R, rows - 1)
        last = last + (along(x_ptr, weights, base + newest, cols, col, R, BUG),)
        total = tl.zeros((COLS,), tl.float32)
        for i in tl.static_range(2 * R + 1):
            total += weights[i] * last[i]
        tl.store(y_ptr + (base + row) * cols + col, total, mask=col < cols)
        last = last[1:]


def bent(bug):
    def launch(x, w, y):
        planes, rows, cols = x.shape
        strips, walks = triton.cdiv(cols, COLS), triton.cdiv(rows, STEPS)
        bent_kernel[(planes * walks * strips,)](x, w, y, rows, cols, strips, walks, R=w.shape[0] // 2, BUG=bug, STEPS=STEPS, COLS=COLS)
    return launch


@must_reject(gaussian_blur, "elements are wrong")
def dark_edge(*given):
    """A mask with other=0 is right wherever the picture is black at its edge."""
    bent("dark")(*given)


@must_reject(gaussian_blur, "elements are wrong")
def filled_one_row_late(*given):
    """Right where all rows are alike."""
    bent("late")(*given)


@must_reject(gaussian_blur, "of 1")
def rows_below_the_picture(*given):
    bent("below")(*given)


@must_reject(gaussian_blur, "[triton-race]")
def walks_overlap(*given):
    """Both store the same number."""
    bent("overlap")(*given)


@must_reject(gaussian_blur, "elements are wrong")
def sums_in_the_picture_s_type(*given):
    """Right in fp32 alone."""
    bent("half")(*given)
