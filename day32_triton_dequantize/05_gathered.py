# SPDX-License-Identifier: MIT
"""Changed since own_bytes: what many places need is loaded once, as a block of its own, and handed out on the chip. The table is a block
of 16 numbers, from which tl.gather picks; the scales are a block of one for 64 outputs, which are laid beside it as its row.
"""
import triton
import triton.language as tl

from python_days import needs

THREADS, WIDE = 128, 16


@triton.jit
def gathered_kernel(codes_ptr, absmax_ptr, table_ptr, y_ptr, code_bytes, n, BYTES: tl.constexpr):
    first = tl.program_id(0) * BYTES
    i = first + tl.arange(0, BYTES)  # (BYTES,)
    byte = tl.load(codes_ptr + i, mask=i < code_bytes, other=0).to(tl.int32)
    table = tl.load(table_ptr + tl.arange(0, 16))  # (16,)
    values = tl.interleave(tl.gather(table, byte >> 4, axis=0), tl.gather(table, byte & 15, axis=0))  # (2 BYTES,)
    b = first // 32 + tl.arange(0, BYTES // 32)  # (BYTES / 32,)
    scale = tl.load(absmax_ptr + b, mask=64 * b < n)
    y = tl.reshape(values, (BYTES // 32, 64)) * scale[:, None]  # a row is 64 outputs
    o = 2 * first + tl.arange(0, 2 * BYTES)
    tl.store(y_ptr + o, tl.reshape(y, (2 * BYTES,)), mask=o < n)


def launch(codes, absmax, table, n, y):
    needs.nf4(codes, absmax, table, n, y)
    size = THREADS * WIDE // y.element_size() // 2  # WIDE bytes of y a thread, two numbers a byte
    gathered_kernel[(triton.cdiv(n, 2 * size),)](codes, absmax, table, y, codes.numel(), n, BYTES=size, num_warps=THREADS // 32)
