# SPDX-License-Identifier: MIT
"""Add two vectors of any length with loads and stores of 16 bytes.

    ./days check 20     how far you are
    ./days hint 20      the next of three hints

Of the tensors you may take for granted what launch() asks for: one type, one shape, no gaps. The inputs stay as they are. At the
end each program handles 1,024 elements, and the widest load has 16 bytes for every n, also for 4,099.

  1. Start from `block`: ./days run 20 shows it, and 02_block.py has it.
  2. Give a program 1,024 elements, and look at ./days explain 20 exercise: which loads does the compiler make?
  3. Most programs need no mask. Which ones do, and how can a program tell that it is none of them?
"""
import triton
import triton.language as tl

from python_days import needs

BLOCK = 1024


@triton.jit
def exercise_kernel(a_ptr, b_ptr, c_ptr, n, BLOCK: tl.constexpr):
    first = tl.program_id(0) * BLOCK  # of this program's elements
    # your code


def launch(a, b, c):
    needs.same_type(a=a, b=b, c=c)
    needs.same_shape(a=a, b=b, c=c)
    needs.contiguous(a=a, b=b, c=c)
    n = c.numel()
    exercise_kernel[(triton.cdiv(n, BLOCK),)](a, b, c, n, BLOCK=BLOCK)
