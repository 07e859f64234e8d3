# SPDX-License-Identifier: MIT
"""Changed since tile: where 4 divides the number of columns and each pitch, the launcher knows it and the compiler does not, which
tests for 16 alone. `tl.multiple_of` is the promise, and a load is 16 bytes wide again. The launcher asks before it promises,
because nobody checks the promise.
"""
import triton
import triton.language as tl

from python_days import needs

ROWS, COLS = 8, 128


@triton.jit
def promised_kernel(a_ptr, b_ptr, c_ptr, rows, cols, a_pitch, b_pitch, c_pitch, FACTOR: tl.constexpr, ROWS: tl.constexpr,
                    COLS: tl.constexpr):
    cols = tl.multiple_of(cols, FACTOR)
    a_pitch, b_pitch, c_pitch = tl.multiple_of(a_pitch, FACTOR), tl.multiple_of(b_pitch, FACTOR), tl.multiple_of(c_pitch, FACTOR)
    row = tl.program_id(1) * ROWS + tl.arange(0, ROWS)[:, None]  # (ROWS, 1)
    col = tl.program_id(0) * COLS + tl.arange(0, COLS)[None, :]  # (1, COLS)
    there = (row < rows) & (col < cols)  # (ROWS, COLS)
    a = tl.load(a_ptr + row * a_pitch + col, mask=there)
    b = tl.load(b_ptr + row * b_pitch + col, mask=there)
    tl.store(c_ptr + row * c_pitch + col, a + b, mask=there)


def launch(a, b, c):
    needs.same_type(a=a, b=b, c=c)
    needs.same_shape(a=a, b=b, c=c)
    needs.rows_dense(a=a, b=b, c=c)
    rows, cols = c.shape
    pitches = a.stride(0), b.stride(0), c.stride(0)
    factor = 4 if all(extent % 4 == 0 for extent in (cols, *pitches)) else 1
    grid = (triton.cdiv(cols, COLS), triton.cdiv(rows, ROWS))
    promised_kernel[grid](a, b, c, rows, cols, *pitches, FACTOR=factor, ROWS=ROWS, COLS=COLS)
