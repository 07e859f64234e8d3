# SPDX-License-Identifier: MIT
"""Changed since taps: a program walks down a strip of 128 columns, and keeps the last 2R rows, blurred along, in registers: a tuple of
blocks, from which the oldest leaves as the newest comes. Each step loads one row's 2R + 1 shifted pieces. No thread needs another's
value, no memory of its own is taken; L1's turns and instructions should bound it.
"""
import triton
import triton.language as tl

from python_days import needs

STEPS, COLS = 64, 128


@triton.jit
def along(x_ptr, weights, line, cols, col, R: tl.constexpr):
    """The blur along one line, for the places `col`."""
    total = tl.zeros(col.shape, tl.float32)
    for j in tl.static_range(2 * R + 1):
        total += weights[j] * tl.load(x_ptr + line * cols + tl.minimum(tl.maximum(col + j - R, 0), cols - 1)).to(tl.float32)
    return total


@triton.jit
def ring_kernel(x_ptr, w_ptr, y_ptr, rows, cols, strips, walks, R: tl.constexpr, STEPS: tl.constexpr, COLS: tl.constexpr):
    walk = tl.program_id(0) // strips
    base = walk // walks * rows  # the line with which its plane begins
    first = walk % walks * STEPS
    col = tl.program_id(0) % strips * COLS + tl.arange(0, COLS)  # (COLS,)
    weights = ()
    for j in tl.static_range(2 * R + 1):
        weights = weights + (tl.load(w_ptr + j),)
    last = ()
    for i in tl.static_range(2 * R):
        last = last + (along(x_ptr, weights, base + tl.minimum(tl.maximum(first + i - R, 0), rows - 1), cols, col, R),)
    for row in range(first, tl.minimum(first + STEPS, rows)):
        newest = along(x_ptr, weights, base + tl.minimum(row + R, rows - 1), cols, col, R)
        window = last + (newest,)  # 2R + 1 rows
        total = tl.zeros((COLS,), tl.float32)
        for i in tl.static_range(2 * R + 1):
            total += weights[i] * window[i]
        tl.store(y_ptr + (base + row) * cols + col, total, mask=col < cols)
        last = window[1:]


def launch(x, w, y):
    radius = needs.blur(x, w, y)
    planes, rows, cols = x.shape
    strips, walks = triton.cdiv(cols, COLS), triton.cdiv(rows, STEPS)
    ring_kernel[(planes * walks * strips,)](x, w, y, rows, cols, strips, walks, R=radius, STEPS=STEPS, COLS=COLS)
