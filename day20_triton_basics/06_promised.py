# SPDX-License-Identifier: MIT
"""Changed since tile: the launcher looks whether 4 divides the number of columns and each pitch, and then promises two things that
the compiler can't find out: four neighbours of the mask are alike, and each row begins at a multiple of four. With both, a load
is 16 bytes wide. A promise stands at the expression that it is about, since Triton drops one about an argument; and no GPU
checks it, so the launcher looks first.
"""
import triton
import triton.language as tl

from python_days import needs

ROWS, COLS = 8, 128


@triton.jit
def promised_kernel(a_ptr, b_ptr, c_ptr, rows, cols, a_pitch, b_pitch, c_pitch, FACTOR: tl.constexpr, ROWS: tl.constexpr,
                    COLS: tl.constexpr):
    row = tl.program_id(1) * ROWS + tl.arange(0, ROWS)[:, None]  # (ROWS, 1)
    col = tl.program_id(0) * COLS + tl.arange(0, COLS)[None, :]  # (1, COLS)
    there = tl.max_constancy((row < rows) & (col < cols), (1, FACTOR))  # (ROWS, COLS)
    a = tl.load(a_ptr + tl.multiple_of(row * a_pitch, (1, FACTOR)) + col, mask=there)
    b = tl.load(b_ptr + tl.multiple_of(row * b_pitch, (1, FACTOR)) + col, mask=there)
    tl.store(c_ptr + tl.multiple_of(row * c_pitch, (1, FACTOR)) + col, a + b, mask=there)


def launch(a, b, c):
    needs.same_type(a=a, b=b, c=c)
    needs.same_shape(a=a, b=b, c=c)
    needs.rows_dense(a=a, b=b, c=c)
    rows, cols = c.shape
    pitches = a.stride(0), b.stride(0), c.stride(0)
    factor = 4 if all(extent % 4 == 0 for extent in (cols, *pitches)) else 1
    grid = (triton.cdiv(cols, COLS), triton.cdiv(rows, ROWS))
    promised_kernel[grid](a, b, c, rows, cols, *pitches, FACTOR=factor, ROWS=ROWS, COLS=COLS)
