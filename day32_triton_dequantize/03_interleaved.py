# SPDX-License-Identifier: MIT
"""Changed since strided: the two blocks of values become one of twice the length, an element of the first and one of the second in
turns, and leave in one store. A thread has 16 neighbouring bytes, 32 outputs, and a wide store takes 8: whose elements are whose
has to change on the way, through shared memory.
"""
import triton
import triton.language as tl

from python_days import needs

BYTES = 2048


@triton.jit
def interleaved_kernel(codes_ptr, absmax_ptr, table_ptr, y_ptr, code_bytes, n, BYTES: tl.constexpr):
    first = tl.program_id(0) * BYTES
    i = first + tl.arange(0, BYTES)  # (BYTES,)
    there = i < code_bytes
    byte = tl.load(codes_ptr + i, mask=there, other=0)
    scale = tl.load(absmax_ptr + i // 32, mask=there)  # 64 outputs are 32 bytes
    upper = tl.load(table_ptr + (byte >> 4)) * scale
    lower = tl.load(table_ptr + (byte & 15)) * scale
    o = 2 * first + tl.arange(0, 2 * BYTES)  # (2 BYTES,)
    tl.store(y_ptr + o, tl.interleave(upper, lower), mask=o < n)


def launch(codes, absmax, table, n, y):
    needs.nf4(codes, absmax, table, n, y)
    interleaved_kernel[(triton.cdiv(n, 2 * BYTES),)](codes, absmax, table, y, codes.numel(), n, BYTES=BYTES)
