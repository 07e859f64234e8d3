# SPDX-License-Identifier: MIT
"""Wrong kernels of day 24, each as short as its bug, with what must be said of it."""
import triton
import triton.language as tl
from finish import finish_kernel

from day24_device_properties_torch.ladder import square_sum
from python_days import must_reject

BLOCK, WARPS = 2048, 16


@triton.jit
def part_kernel(x_ptr, partial_ptr, n, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float32)
    for first in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        i = first + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + i, mask=i < n, other=0.0).to(tl.float32)
        total += x * x
    tl.store(partial_ptr + tl.program_id(0), tl.sum(total, axis=0))


@must_reject(square_sum, "which nobody has written")
def a_fixed_grid(x, out):
    """132 partial sums are added up, and fewer programs were started."""
    programs = min(132, triton.cdiv(x.numel(), BLOCK))
    partial = out.new_empty(132)
    part_kernel[(programs,)](x, partial, x.numel(), BLOCK=BLOCK, num_warps=WARPS)
    finish_kernel[(1,)](partial, out, 132, BLOCK=1024)


@triton.jit
def add_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0).to(tl.float32)
    tl.atomic_add(out_ptr, tl.sum(x * x, axis=0), sem="relaxed")


@must_reject(square_sum, "which nobody has written")
def nothing_to_add_to(x, out):
    n = x.numel()
    add_kernel[(triton.cdiv(n, BLOCK),)](x, out, n, BLOCK=BLOCK, num_warps=WARPS)


@triton.jit
def poisoned_kernel(x_ptr, partial_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n).to(tl.float32)
    tl.store(partial_ptr + tl.program_id(0), tl.sum(x * x, axis=0))


@must_reject(square_sum, "out[0] is")
def no_zero_beyond_the_end(x, out):
    programs = triton.cdiv(x.numel(), BLOCK)
    partial = out.new_empty(programs)
    poisoned_kernel[(programs,)](x, partial, x.numel(), BLOCK=BLOCK, num_warps=WARPS)
    finish_kernel[(1,)](partial, out, programs, BLOCK=1024)


@triton.jit
def both_kernel(x_ptr, partial_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0).to(tl.float32)
    total = tl.sum(x * x, axis=0)
    tl.store(partial_ptr + tl.program_id(0), total)
    if tl.program_id(0) == tl.num_programs(0) - 1:
        for program in range(tl.num_programs(0) - 1):
            total += tl.load(partial_ptr + program)
        tl.store(out_ptr, total)


@must_reject(square_sum, "programs run in any order")
def the_last_adds_up(x, out):
    """In the same launch nobody knows that the others are done."""
    programs = max(1, triton.cdiv(x.numel(), BLOCK))
    partial = out.new_empty(programs)
    both_kernel[(programs,)](x, partial, out, x.numel(), BLOCK=BLOCK, num_warps=WARPS)


@triton.jit
def in_16_bits_kernel(x_ptr, partial_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.store(partial_ptr + tl.program_id(0), tl.sum((x * x).to(tl.float32), axis=0))


@must_reject(square_sum, "elements are wrong")
def squared_in_fp16(x, out):
    """Squares have twice the digits, and fp16 has not: wrong in fp16 alone, long before one overflows."""
    programs = triton.cdiv(x.numel(), BLOCK)
    partial = out.new_empty(programs)
    in_16_bits_kernel[(programs,)](x, partial, x.numel(), BLOCK=BLOCK, num_warps=WARPS)
    finish_kernel[(1,)](partial, out, programs, BLOCK=1024)
