# SPDX-License-Identifier: MIT
"""tanh(x) times s by one binary that serves every length, with loads of 16 bytes.

    ./days check 28     how far you are
    ./days hint 28      the next of three hints

It begins as rung constant without its body. Of the tensors you may take for granted what launch() asks for; s is a float.

  1. In the kernel's head: which of n and s may be constants? In the line above it: of what may Triton not ask?
  2. A program whose block is there as a whole loads without a mask, the others with one. tanh(x) is there, for x of fp32.
  3. Store s * tanh(x).
"""
import triton
import triton.language as tl
from accurate import tanh  # noqa: F401

from python_days import needs

BLOCK = 1024


@triton.jit
def exercise_kernel(x_ptr, y_ptr, n: tl.constexpr, s: tl.constexpr, BLOCK: tl.constexpr):
    first = tl.program_id(0) * BLOCK
    # your code


def launch(x, s, y):
    needs.same_type(x=x, y=y)
    needs.same_shape(x=x, y=y)
    needs.contiguous(x=x, y=y)
    needs.number(s=s)
    n = y.numel()
    exercise_kernel[(triton.cdiv(n, BLOCK),)](x, y, n, float(s), BLOCK=BLOCK)
