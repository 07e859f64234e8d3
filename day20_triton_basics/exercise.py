# SPDX-License-Identifier: MIT
"""Add two vectors of any length, a block of 128 elements a program.

    ./days check 20     how far you are
    ./days hint 20      the next of three hints

Of the tensors you may take for granted what launch() asks for: one type, one shape, no gaps. The inputs stay as they are.

  1. `i` has the 128 indices of this program. Which of them are elements? n says how many there are.
  2. Load those of a and of b: tl.load(pointers, mask=...).
  3. Store their sum: tl.store(pointers, values, mask=...).
"""
import triton
import triton.language as tl

from python_days import needs

BLOCK = 128


@triton.jit
def exercise_kernel(a_ptr, b_ptr, c_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)  # (BLOCK,)
    # your code


def launch(a, b, c):
    needs.same_type(a=a, b=b, c=c)
    needs.same_shape(a=a, b=b, c=c)
    needs.contiguous(a=a, b=b, c=c)
    n = c.numel()
    exercise_kernel[(triton.cdiv(n, BLOCK),)](a, b, c, n, BLOCK=BLOCK)
