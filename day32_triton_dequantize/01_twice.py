# SPDX-License-Identifier: MIT
"""A place for each output, as one would think of it: which byte it is in, which half. Two neighbours are in one byte, so each byte is
loaded twice, and so is its scale; and each output looks its value up in memory.
"""
import triton
import triton.language as tl

from python_days import needs

BLOCK = 4096


@triton.jit
def twice_kernel(codes_ptr, absmax_ptr, table_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)  # (BLOCK,)
    there = i < n
    byte = tl.load(codes_ptr + i // 2, mask=there, other=0)
    code = tl.where(i % 2 == 0, byte >> 4, byte & 15)  # the first of two is the upper half
    value = tl.load(table_ptr + code)
    scale = tl.load(absmax_ptr + i // 64, mask=there)
    tl.store(y_ptr + i, value * scale, mask=there)


def launch(codes, absmax, table, n, y):
    needs.nf4(codes, absmax, table, n, y)
    twice_kernel[(triton.cdiv(n, BLOCK),)](codes, absmax, table, y, n, BLOCK=BLOCK)
