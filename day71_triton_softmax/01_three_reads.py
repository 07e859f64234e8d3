# SPDX-License-Identifier: MIT
"""A program handles a row, piece by piece: once for its largest element, once for the sum, once for the result. Softmax as it is
defined, three reads of the matrix, and any length of row.
"""
import triton
import triton.language as tl

from python_days import needs

BLOCK = 1024


@triton.jit
def three_reads_kernel(x_ptr, y_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * cols  # a matrix may have more than 2^31 elements
    i = tl.arange(0, BLOCK)  # (BLOCK,)

    top = tl.full((BLOCK,), -float("inf"), tl.float32)  # each place's largest element so far
    for first in range(0, cols, BLOCK):
        x = tl.load(x_ptr + row + first + i, mask=first + i < cols, other=-float("inf")).to(tl.float32)
        top = tl.maximum(top, x)
    highest = tl.max(top, axis=0)

    total = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, cols, BLOCK):
        x = tl.load(x_ptr + row + first + i, mask=first + i < cols, other=-float("inf")).to(tl.float32)
        total += tl.exp(x - highest)
    whole = tl.sum(total, axis=0)

    for first in range(0, cols, BLOCK):
        x = tl.load(x_ptr + row + first + i, mask=first + i < cols, other=-float("inf")).to(tl.float32)
        tl.store(y_ptr + row + first + i, tl.exp(x - highest) / whole, mask=first + i < cols)


def launch(x, y):
    needs.same_type(x=x, y=y)
    needs.same_shape(x=x, y=y)
    needs.contiguous(x=x, y=y)
    rows, cols = x.shape
    three_reads_kernel[(rows,)](x, y, cols, BLOCK=BLOCK)
