# SPDX-License-Identifier: MIT
"""Softmax of each row of a matrix, with one read of each element.

    ./days check 71     how far you are
    ./days hint 71      the next of three hints

A program handles a row. Rows have at most 65,536 columns, lie one behind the other without gaps, and are of any length; elements are
fp32, fp16 or bf16. Compute in fp32.

  1. Load the row as one block. How long must the block be, and what do the places hold that the row has not?
  2. The largest element, e to the power of each difference to it, their sum.
  3. Store the quotients.
"""
import triton
import triton.language as tl

from python_days import needs


@triton.jit
def exercise_kernel(x_ptr, y_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * cols  # where this program's row begins
    # your code


def launch(x, y):
    needs.same_type(x=x, y=y)
    needs.same_shape(x=x, y=y)
    needs.contiguous(x=x, y=y)
    rows, cols = x.shape
    block = triton.next_power_of_2(cols)
    exercise_kernel[(rows,)](x, y, cols, BLOCK=block, num_warps=4 if block <= 2048 else 8 if block <= 8192 else 16)
