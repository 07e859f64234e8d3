# SPDX-License-Identifier: MIT
"""Numbers of 4 bits, two to a byte, back to floats: each byte is loaded once, and its two numbers leave in one store.

    ./days check 32     how far you are
    ./days hint 32      the next of three hints

The byte and its scale are there. Compute in fp32; a store rounds to the type of y.

  1. The value of the upper half, and that of the lower: which place of the table? Times the scale.
  2. One block of both, a value of the upper and one of the lower in turns: tl.interleave.
  3. Store it. n may be odd, and then the last byte's lower half is nobody's.
"""
import triton
import triton.language as tl

from python_days import needs

BYTES = 2048


@triton.jit
def exercise_kernel(codes_ptr, absmax_ptr, table_ptr, y_ptr, code_bytes, n, BYTES: tl.constexpr):
    first = tl.program_id(0) * BYTES
    i = first + tl.arange(0, BYTES)  # (BYTES,)
    there = i < code_bytes
    byte = tl.load(codes_ptr + i, mask=there, other=0)
    scale = tl.load(absmax_ptr + i // 32, mask=there)  # 64 outputs are 32 bytes
    # your code


def launch(codes, absmax, table, n, y):
    needs.nf4(codes, absmax, table, n, y)
    exercise_kernel[(triton.cdiv(n, 2 * BYTES),)](codes, absmax, table, y, codes.numel(), n, BYTES=BYTES)
