# SPDX-License-Identifier: MIT
"""Wrong kernels of day 20, each as short as its bug, with what must be said of it."""
import triton
import triton.language as tl

from day20_triton_basics.ladder import matrix_add, vector_add
from python_days import must_reject

BLOCK = 1024


@triton.jit
def no_mask_kernel(a_ptr, b_ptr, c_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(c_ptr + i, tl.load(a_ptr + i) + tl.load(b_ptr + i))


@must_reject(vector_add, "loads a_ptr[1] of 1")
def no_mask(a, b, c):
    n = c.numel()
    no_mask_kernel[(triton.cdiv(n, BLOCK),)](a, b, c, n, BLOCK=BLOCK)


@triton.jit
def unmasked_store_kernel(a_ptr, b_ptr, c_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(a_ptr + i, mask=i < n)
    b = tl.load(b_ptr + i, mask=i < n)
    tl.store(c_ptr + i, a + b)


@must_reject(vector_add, "stores c_ptr[1] of 1")
def unmasked_store(a, b, c):
    n = c.numel()
    unmasked_store_kernel[(triton.cdiv(n, BLOCK),)](a, b, c, n, BLOCK=BLOCK)


@triton.jit
def add_kernel(a_ptr, b_ptr, c_ptr, n, step, BLOCK: tl.constexpr):
    i = tl.program_id(0) * step + tl.arange(0, BLOCK)
    there = i < n
    a = tl.load(a_ptr + i, mask=there)
    b = tl.load(b_ptr + i, mask=there)
    tl.store(c_ptr + i, a + b, mask=there)


@must_reject(vector_add, "is not written, expected")
def rounded_down(a, b, c):
    n = c.numel()
    add_kernel[(n // BLOCK,)](a, b, c, n, BLOCK, BLOCK=BLOCK)


@must_reject(vector_add, "has written: programs run in any order")
def overlapping(a, b, c):
    """Each result is right, whichever program writes it last; two programs write the same elements all the same."""
    n = c.numel()
    add_kernel[(triton.cdiv(n, BLOCK // 2),)](a, b, c, n, BLOCK // 2, BLOCK=BLOCK)


@must_reject(vector_add, "is not written, expected")
def first_block_alone(a, b, c):
    add_kernel[(1,)](a, b, c, c.numel(), 0, BLOCK=BLOCK)


@triton.jit
def through_bf16_kernel(a_ptr, b_ptr, c_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    there = i < n
    a = tl.load(a_ptr + i, mask=there).to(tl.bfloat16)
    b = tl.load(b_ptr + i, mask=there).to(tl.bfloat16)
    tl.store(c_ptr + i, a + b, mask=there)


@must_reject(vector_add, "elements are wrong")
def rounded_to_bf16(a, b, c):
    """Right in bf16 alone: fp32 and fp16 lose digits."""
    n = c.numel()
    through_bf16_kernel[(triton.cdiv(n, BLOCK),)](a, b, c, n, BLOCK=BLOCK)


@triton.jit
def last_kernel(a_ptr, b_ptr, c_ptr, n, BLOCK: tl.constexpr):
    first = tl.program_id(0) * BLOCK
    i = first + tl.arange(0, BLOCK)
    if first + BLOCK < n:
        tl.store(c_ptr + i, tl.load(a_ptr + i) + tl.load(b_ptr + i))
    elif first + BLOCK > n:
        there = i < n
        tl.store(c_ptr + i, tl.load(a_ptr + i, mask=there) + tl.load(b_ptr + i, mask=there), mask=there)


@must_reject(vector_add, "is not written, expected")
def last_whole_block_forgotten(a, b, c):
    n = c.numel()
    last_kernel[(triton.cdiv(n, BLOCK),)](a, b, c, n, BLOCK=BLOCK)


@triton.jit
def odd_block_kernel(a_ptr, b_ptr, c_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    there = i < n
    tl.store(c_ptr + i, tl.load(a_ptr + i, mask=there) + tl.load(b_ptr + i, mask=there), mask=there)


@must_reject(vector_add, "power of 2", by="compiler")
def block_of_1000(a, b, c):
    """The interpreter takes any length."""
    n = c.numel()
    odd_block_kernel[(triton.cdiv(n, 1000),)](a, b, c, n, BLOCK=1000)


@triton.jit
def tile_kernel(a_ptr, b_ptr, c_ptr, rows, cols, pitch, FACTOR: tl.constexpr):
    row = tl.program_id(1) * 8 + tl.arange(0, 8)[:, None]
    col = tl.program_id(0) * 128 + tl.arange(0, 128)[None, :]
    there = tl.max_constancy((row < rows) & (col < cols), (1, FACTOR))
    at = row * pitch + col
    tl.store(c_ptr + at, tl.load(a_ptr + at, mask=there) + tl.load(b_ptr + at, mask=there), mask=there)


@must_reject(matrix_add, "in a row are alike, and some are not")
def false_promise(a, b, c):
    rows, cols = c.shape
    tile_kernel[(triton.cdiv(cols, 128), triton.cdiv(rows, 8))](a, b, c, rows, cols, c.stride(0), FACTOR=4)


@must_reject(matrix_add, "elements are wrong")
def columns_for_pitch(a, b, c):
    rows, cols = c.shape
    tile_kernel[(triton.cdiv(cols, 128), triton.cdiv(rows, 8))](a, b, c, rows, cols, cols, FACTOR=1)
