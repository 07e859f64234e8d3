# SPDX-License-Identifier: MIT
"""Changed since taps: a kernel blurs along the rows, a second one along the columns, since a weight for a place is a product of two. 2R + 1
loads each instead of their square; but a picture in fp32 goes out to memory between the two and comes back, which should bound it.
"""
import triton
import triton.language as tl

from python_days import needs, new_empty

COLS = 512


@triton.jit
def along_kernel(x_ptr, w_ptr, h_ptr, cols, strips, R: tl.constexpr, COLS: tl.constexpr):
    line = tl.program_id(0) // strips
    col = tl.program_id(0) % strips * COLS + tl.arange(0, COLS)  # (COLS,)
    total = tl.zeros((COLS,), tl.float32)
    for j in tl.static_range(2 * R + 1):
        total += tl.load(w_ptr + j) * tl.load(x_ptr + line * cols + tl.minimum(tl.maximum(col + j - R, 0), cols - 1)).to(tl.float32)
    tl.store(h_ptr + line * cols + col, total, mask=col < cols)


@triton.jit
def down_kernel(h_ptr, w_ptr, y_ptr, rows, cols, strips, R: tl.constexpr, COLS: tl.constexpr):
    line = tl.program_id(0) // strips
    row = line % rows
    col = tl.program_id(0) % strips * COLS + tl.arange(0, COLS)  # (COLS,)
    there = col < cols
    total = tl.zeros((COLS,), tl.float32)
    for i in tl.static_range(2 * R + 1):
        from_line = line - row + tl.minimum(tl.maximum(row + i - R, 0), rows - 1)
        total += tl.load(w_ptr + i) * tl.load(h_ptr + from_line * cols + col, mask=there)
    tl.store(y_ptr + line * cols + col, total, mask=there)


def launch(x, w, y):
    radius = needs.blur(x, w, y)
    planes, rows, cols = x.shape
    strips = triton.cdiv(cols, COLS)
    between = new_empty(x, x.shape, "fp32")
    grid = (planes * rows * strips,)
    along_kernel[grid](x, w, between, cols, strips, R=radius, COLS=COLS)
    down_kernel[grid](between, w, y, rows, cols, strips, R=radius, COLS=COLS)
