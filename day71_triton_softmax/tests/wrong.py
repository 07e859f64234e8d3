# SPDX-License-Identifier: MIT
"""Wrong kernels of day 71, each as short as its bug, with what must be said of it."""
import triton
import triton.language as tl

from day71_triton_softmax.ladder import softmax
from python_days import must_reject


@triton.jit
def no_maximum_kernel(x_ptr, y_ptr, cols, BLOCK: tl.constexpr):
    row, i = tl.program_id(0) * cols, tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row + i, mask=i < cols, other=-float("inf")).to(tl.float32)
    power = tl.exp(x)
    tl.store(y_ptr + row + i, power / tl.sum(power, axis=0), mask=i < cols)


@must_reject(softmax, "is nan, expected")
def no_maximum(x, y):
    rows, cols = x.shape
    no_maximum_kernel[(rows,)](x, y, cols, BLOCK=triton.next_power_of_2(cols))


@triton.jit
def zeros_kernel(x_ptr, y_ptr, cols, BLOCK: tl.constexpr):
    row, i = tl.program_id(0) * cols, tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row + i, mask=i < cols, other=0.0).to(tl.float32)
    power = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + row + i, power / tl.sum(power, axis=0), mask=i < cols)


@must_reject(softmax, "elements are wrong")
def zeros_beyond_the_row(x, y):
    """What the row has not is 0, and counts as e to the power of 0 in the sum."""
    rows, cols = x.shape
    zeros_kernel[(rows,)](x, y, cols, BLOCK=triton.next_power_of_2(cols))


@triton.jit
def whole_block_kernel(x_ptr, y_ptr, cols, BLOCK: tl.constexpr):
    row, i = tl.program_id(0) * cols, tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row + i, mask=i < cols, other=-float("inf")).to(tl.float32)
    power = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + row + i, power / tl.sum(power, axis=0))


@must_reject(softmax, "race between programs")
def next_row_overwritten(x, y):
    """A block that is longer than the row writes zeros over the next row: right where programs run in order, but for the last one."""
    rows, cols = x.shape
    whole_block_kernel[(rows,)](x, y, cols, BLOCK=triton.next_power_of_2(cols))


@triton.jit
def not_scaled_kernel(x_ptr, y_ptr, cols, BLOCK: tl.constexpr):
    row, i = tl.program_id(0) * cols, tl.arange(0, BLOCK)
    highest = tl.full((), -3.4e38, tl.float32)
    whole = tl.full((), 0.0, tl.float32)
    for first in range(0, cols, BLOCK):
        x = tl.load(x_ptr + row + first + i, mask=first + i < cols, other=-float("inf")).to(tl.float32)
        highest = tl.maximum(highest, tl.max(x, axis=0))
        whole += tl.sum(tl.exp(x - highest), axis=0)
    for first in range(0, cols, BLOCK):
        x = tl.load(x_ptr + row + first + i, mask=first + i < cols, other=-float("inf")).to(tl.float32)
        tl.store(y_ptr + row + first + i, tl.exp(x - highest) / whole, mask=first + i < cols)


@must_reject(softmax, "elements are wrong")
def sum_not_scaled_down(x, y):
    rows, cols = x.shape
    not_scaled_kernel[(rows,)](x, y, cols, BLOCK=256)


@triton.jit
def minus_infinity_kernel(x_ptr, y_ptr, cols, BLOCK: tl.constexpr):
    row, i = tl.program_id(0) * cols, tl.arange(0, BLOCK)
    highest = tl.full((), -float("inf"), tl.float32)
    whole = tl.full((), 0.0, tl.float32)
    for first in range(0, cols, BLOCK):
        x = tl.load(x_ptr + row + first + i, mask=first + i < cols, other=-float("inf")).to(tl.float32)
        higher = tl.maximum(highest, tl.max(x, axis=0))
        whole = whole * tl.exp(highest - higher) + tl.sum(tl.exp(x - higher), axis=0)
        highest = higher
    for first in range(0, cols, BLOCK):
        x = tl.load(x_ptr + row + first + i, mask=first + i < cols, other=-float("inf")).to(tl.float32)
        tl.store(y_ptr + row + first + i, tl.exp(x - highest) / whole, mask=first + i < cols)


@must_reject(softmax, "is nan, expected")
def starts_at_minus_infinity(x, y):
    """-inf minus -inf, in a row whose first piece is masked away."""
    rows, cols = x.shape
    minus_infinity_kernel[(rows,)](x, y, cols, BLOCK=128)


@triton.jit
def in_halves_kernel(x_ptr, y_ptr, cols, BLOCK: tl.constexpr):
    row, i = tl.program_id(0) * cols, tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row + i, mask=i < cols, other=-float("inf"))
    power = tl.exp((x - tl.max(x, axis=0)).to(tl.float32)).to(x_ptr.dtype.element_ty)
    tl.store(y_ptr + row + i, power / tl.sum(power, axis=0).to(x_ptr.dtype.element_ty), mask=i < cols)


@must_reject(softmax, "elements are wrong")
def summed_in_16_bits(x, y):
    """Right in fp32; in 16 bits each step is rounded."""
    rows, cols = x.shape
    in_halves_kernel[(rows,)](x, y, cols, BLOCK=triton.next_power_of_2(cols))


@triton.jit
def as_long_as_the_row_kernel(x_ptr, y_ptr, cols: tl.constexpr):
    i = tl.arange(0, cols)
    row = tl.program_id(0) * cols
    x = tl.load(x_ptr + row + i).to(tl.float32)
    power = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + row + i, power / tl.sum(power, axis=0))


@must_reject(softmax, "power of 2", by="compiler")
def block_as_long_as_the_row(x, y):
    rows, cols = x.shape
    as_long_as_the_row_kernel[(rows,)](x, y, cols)
