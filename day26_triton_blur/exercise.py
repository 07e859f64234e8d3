# SPDX-License-Identifier: MIT
"""Let a walk take one row in and one row out.

    ./days check 26     how far you are
    ./days hint 26      the next of three hints

A program walks down a strip of 128 columns. `last` holds 2R rows, each blurred along, as a tuple of blocks. Before the walk they are
those from R above `first` on. Here the walk never takes another one in.

  1. In each step load the newest row, R below `row`, blurred along. Which one is it at the picture's lower edge?
  2. `window` are the 2R + 1 rows of this step. Tuples add: `(a, b) + (c,)`.
  3. `last` are the 2R rows of the next step. Tuples can be cut: `window[1:]` lacks the first.
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
def exercise_kernel(x_ptr, w_ptr, y_ptr, rows, cols, strips, walks, R: tl.constexpr, STEPS: tl.constexpr, COLS: tl.constexpr):
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
        window = last + last[:1]  # its first row once more, instead of the newest
    # your code
        total = tl.zeros((COLS,), tl.float32)
        for i in tl.static_range(2 * R + 1):
            total += weights[i] * window[i]
        tl.store(y_ptr + (base + row) * cols + col, total, mask=col < cols)


def launch(x, w, y):
    radius = needs.blur(x, w, y)
    planes, rows, cols = x.shape
    strips, walks = triton.cdiv(cols, COLS), triton.cdiv(rows, STEPS)
    exercise_kernel[(planes * walks * strips,)](x, w, y, rows, cols, strips, walks, R=radius, STEPS=STEPS, COLS=COLS)
