# SPDX-License-Identifier: MIT
"""Wrong kernels of day 32, each as short as its bug, with what must be said of it."""
import triton
import triton.language as tl

from day32_triton_dequantize.ladder import nf4_dequantize
from python_days import must_reject

BYTES = 512


@triton.jit
def bent_kernel(codes_ptr, absmax_ptr, table_ptr, y_ptr, code_bytes, n, BUG: tl.constexpr, BYTES: tl.constexpr):
    """The right kernel but for one place, which BUG names."""
    first = tl.program_id(0) * BYTES
    i = first + tl.arange(0, BYTES)
    there = i < code_bytes
    byte = tl.load(codes_ptr + i, mask=there, other=0)
    if BUG == "signed":
        byte = byte.to(tl.int8, bitcast=True)
    scale = tl.load(absmax_ptr + (i // 64 if BUG == "block" else i // 32), mask=there)
    upper, lower = tl.load(table_ptr + (byte >> 4)), tl.load(table_ptr + (byte & 15))
    if BUG == "narrow":
        upper, lower = upper.to(tl.bfloat16).to(tl.float32), lower.to(tl.bfloat16).to(tl.float32)
    if BUG == "swapped":
        upper, lower = lower, upper
    y = tl.interleave(upper * scale, lower * scale)
    if BUG == "half":  # a product of two numbers that are rounded to y's type, as a kernel in 16 bits has it
        kind: tl.constexpr = y_ptr.dtype.element_ty
        y = tl.interleave(upper.to(kind) * scale.to(kind), lower.to(kind) * scale.to(kind))
    o = 2 * first + tl.arange(0, 2 * BYTES)
    tl.store(y_ptr + o, y, mask=o < (2 * code_bytes if BUG == "padding" else n))


def bent(bug):
    def launch(codes, absmax, table, n, y):
        bent_kernel[(triton.cdiv(n, 2 * BYTES),)](codes, absmax, table, y, codes.numel(), n, BUG=bug, BYTES=BYTES)
    return launch


@must_reject(nf4_dequantize, "elements are wrong")
def halves_swapped(*given):
    bent("swapped")(*given)


@must_reject(nf4_dequantize, "of 16")
def signed_shift(*given):
    """The upper half of a byte from 0x80 on is negative, and so is its place in the table."""
    bent("signed")(*given)


@must_reject(nf4_dequantize, "elements are wrong")
def scale_of_64_bytes(*given):
    """Right where all scales are alike."""
    bent("block")(*given)


@must_reject(nf4_dequantize, "elements are wrong")
def table_in_bf16(*given):
    bent("narrow")(*given)


@must_reject(nf4_dequantize, "elements are wrong")
def product_in_16_bits(*given):
    """Right in fp32 alone."""
    bent("half")(*given)


@must_reject(nf4_dequantize, "stores y_ptr[63] of 63")
def padding_stored(*given):
    """Where n is odd the last byte's lower half is nobody's."""
    bent("padding")(*given)
