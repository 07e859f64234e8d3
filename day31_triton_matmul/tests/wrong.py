# SPDX-License-Identifier: MIT
"""Wrong kernels of day 31, each as short as its bug, with what must be said of it."""
import triton
import triton.language as tl

from day31_triton_matmul.ladder import linear, matmul, precision
from python_days import must_reject

ROWS, COLS, DEPTH, GROUP = 64, 64, 32, 8


@triton.jit
def bent_kernel(a_ptr, b_ptr, c_ptr, m, n, k, BUG: tl.constexpr, ROWS: tl.constexpr, COLS: tl.constexpr, DEPTH: tl.constexpr,
                GROUP: tl.constexpr):
    """The right kernel but for one place, which BUG names."""
    tiles_down, tiles_along = tl.cdiv(m, ROWS), tl.cdiv(n, COLS)
    first_row = tl.program_id(0) // (GROUP * tiles_along) * GROUP
    rows = GROUP if BUG == "group" else min(tiles_down - first_row, GROUP)
    place = tl.program_id(0) % (GROUP * tiles_along)
    row = (first_row + place % rows) * ROWS + tl.arange(0, ROWS)[:, None]
    col = (place // rows if BUG != "square" else place // rows % 2) * COLS + tl.arange(0, COLS)[None, :]
    total = tl.zeros((ROWS, COLS), tl.float16 if BUG == "narrow" else tl.float32)
    for first in range(0, k, DEPTH):
        along, down = first + tl.arange(0, DEPTH)[None, :], first + tl.arange(0, DEPTH)[:, None]
        a = tl.load(a_ptr + row.to(tl.int64) * k + along, mask=(row < m) & (along < k), other=1.0 if BUG == "other" else 0.0)
        inside = col < n if BUG == "depth" else (down < k) & (col < n)
        b = tl.load(b_ptr + down.to(tl.int64) * n + col, mask=inside, other=1.0 if BUG == "other" else 0.0)
        if BUG == "last":
            total = tl.dot(a, b, input_precision="ieee")
        elif BUG == "narrow":
            total += tl.dot(a, b, input_precision="ieee").to(tl.float16)
        elif BUG == "digits":
            total = tl.dot(a, b, total)
        elif BUG == "bf16":
            total = tl.dot(a.to(tl.bfloat16), b.to(tl.bfloat16), total)
        else:
            total = tl.dot(a, b, total, input_precision="ieee")
    tl.store(c_ptr + row.to(tl.int64) * n + col, total, mask=(row < m) & (col < n))


def bent(a, b, c, bug, depth=DEPTH):
    (m, k), n = a.shape, b.shape[1]
    grid = (triton.cdiv(m, ROWS) * triton.cdiv(n, COLS),)
    bent_kernel[grid](a, b, c, m, n, k, BUG=bug, ROWS=ROWS, COLS=COLS, DEPTH=depth, GROUP=GROUP, num_stages=1)


@must_reject(matmul, "loads b_ptr[")
def no_mask_along_k(a, b, c):
    """What is beyond k is 0 in A, so that the product would be right, if it could be loaded."""
    bent(a, b, c, "depth")


@must_reject(matmul, "elements are wrong")
def ones_beyond_k(a, b, c):
    bent(a, b, c, "other")


@must_reject(matmul, "elements are wrong")
def last_step_alone(a, b, c):
    """Right as long as k is one step."""
    bent(a, b, c, "last")


@must_reject(matmul, "elements are wrong")
def summed_in_fp16(a, b, c):
    """Right in fp16 for sums that stay small; where two large halves cancel nothing is left."""
    bent(a, b, c, "narrow")


@must_reject(matmul, "elements are wrong")
def digits_left_to_triton(a, b, c):
    """tf32, which is what tl.dot takes in fp32 where nothing is said."""
    bent(a, b, c, "digits")


@must_reject(matmul, "is not written, expected")
def last_group_as_tall_as_others(a, b, c):
    """With 10 rows of tiles the last group has 2, and 6 of 8 programs compute tiles that are not there."""
    bent(a, b, c, "group")


@must_reject(matmul, "has written: programs run in any order")
def tiles_computed_twice(a, b, c):
    """Of more than two columns of tiles some are computed twice, and some never."""
    bent(a, b, c, "square")


@must_reject(matmul, "K >= 16", by="compiler")
def steps_of_eight(a, b, c):
    """The interpreter multiplies tiles of any depth."""
    bent(a, b, c, "", depth=8)


@must_reject(matmul, "is not written, expected")
def rounded_down(a, b, c):
    (m, k), n = a.shape, b.shape[1]
    bent_kernel[(m // ROWS * (n // COLS),)](a, b, c, m, n, k, BUG="", ROWS=ROWS, COLS=COLS, DEPTH=DEPTH, GROUP=GROUP, num_stages=1)


@must_reject(precision, "elements are wrong")
def eight_digits(a, b, c):
    """bf16 has three digits fewer than tf32."""
    bent(a, b, c, "bf16")


@must_reject(linear, "elements are wrong")
def not_turned(x, w, y):
    """Takes the memory of W for a (k, n) matrix. Only shapes in which n is k forgive that, and none do."""
    (m, k), n = x.shape, w.shape[0]
    grid = (triton.cdiv(m, ROWS) * triton.cdiv(n, COLS),)
    bent_kernel[grid](x, w, y, m, n, k, BUG="", ROWS=ROWS, COLS=COLS, DEPTH=DEPTH, GROUP=GROUP, num_stages=1)
