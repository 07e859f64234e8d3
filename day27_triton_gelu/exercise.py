# SPDX-License-Identifier: MIT
"""Choose how many elements a thread has. The kernel is given, and right; what is missing is its launch.

    ./days check 27     how far you are
    ./days hint 27      the next of three hints

  1. Launch it for n elements: exercise_kernel[(programs,)](x, y, n, BLOCK=..., num_warps=...). BLOCK is how many elements a program has.
  2. A program has 32 threads for each of its warps. How many elements has a thread?
  3. Asked: at most 36 instructions for an element, loads of 16 bytes, and registers for at least 32 warps.
"""
import triton
import triton.language as tl

from python_days import needs


@triton.jit
def exercise_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)  # (BLOCK,)
    x = tl.load(x_ptr + i, mask=i < n).to(tl.float32)
    tl.store(y_ptr + i, 0.5 * x * (1 + tl.erf(x * 0.7071067811865476)), mask=i < n)


def launch(x, y):
    needs.same_type(x=x, y=y)
    needs.floats(x=x)
    needs.same_shape(x=x, y=y)
    needs.contiguous(x=x, y=y)
    needs.indices_of_32_bits(x=x)
    n = y.numel()
    # your code
