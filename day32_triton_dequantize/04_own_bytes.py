# SPDX-License-Identifier: MIT
"""Changed since interleaved: a program is as long as its threads can store at once, 16 bytes of y each. Then the bytes that a thread
loads are those whose outputs it stores: 4 for eight outputs of 16 bits, 2 for four of 32. Nothing is exchanged.
"""
import triton
import triton.language as tl

from python_days import needs

THREADS, WIDE = 128, 16


@triton.jit
def own_bytes_kernel(codes_ptr, absmax_ptr, table_ptr, y_ptr, code_bytes, n, BYTES: tl.constexpr):
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
    size = THREADS * WIDE // y.element_size() // 2  # WIDE bytes of y a thread, two numbers a byte
    own_bytes_kernel[(triton.cdiv(n, 2 * size),)](codes, absmax, table, y, codes.numel(), n, BYTES=size, num_warps=THREADS // 32)
