# SPDX-License-Identifier: MIT
"""Changed since twice: a place for each byte, which is loaded once. Its two values leave in two stores, one at all even places and one
at all odd ones. Neighbours of a store are two elements apart, so no store is wider than an element, and each fills half of what it
touches.
"""
import triton
import triton.language as tl

from python_days import needs

BYTES = 2048


@triton.jit
def strided_kernel(codes_ptr, absmax_ptr, table_ptr, y_ptr, code_bytes, n, BYTES: tl.constexpr):
    i = tl.program_id(0) * BYTES + tl.arange(0, BYTES)  # (BYTES,)
    there = i < code_bytes
    byte = tl.load(codes_ptr + i, mask=there, other=0)
    scale = tl.load(absmax_ptr + i // 32, mask=there)  # 64 outputs are 32 bytes
    tl.store(y_ptr + 2 * i, tl.load(table_ptr + (byte >> 4)) * scale, mask=2 * i < n)
    tl.store(y_ptr + 2 * i + 1, tl.load(table_ptr + (byte & 15)) * scale, mask=2 * i + 1 < n)


def launch(codes, absmax, table, n, y):
    needs.nf4(codes, absmax, table, n, y)
    strided_kernel[(triton.cdiv(n, 2 * BYTES),)](codes, absmax, table, y, codes.numel(), n, BYTES=BYTES)
