# SPDX-License-Identifier: MIT
"""Wrong kernels of day 27, each as short as its bug, with what must be said of it."""
import triton
import triton.language as tl

from day27_triton_gelu.ladder import gelu, gelu_tanh
from python_days import must_reject


@triton.jit
def digits_kernel(x_ptr, y_ptr, n, ROOT: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n).to(tl.float32)
    tl.store(y_ptr + i, 0.5 * x * (1 + tl.erf(x * ROOT)), mask=i < n)


@must_reject(gelu, "elements are wrong")
def four_digits(x, y):
    """1 / sqrt(2) typed short: nobody sees it in 16 bits."""
    digits_kernel[(triton.cdiv(y.numel(), 1024),)](x, y, y.numel(), ROOT=0.7071, BLOCK=1024)


@must_reject(gelu, "has written: programs run in any order")
def overlapping(x, y):
    """The grid of another block: each program handles the next one's elements, too."""
    half_kernel[(triton.cdiv(y.numel(), 512),)](x, y, y.numel(), BLOCK=1024)


@triton.jit
def half_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * (BLOCK // 2) + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n).to(tl.float32)
    tl.store(y_ptr + i, 0.5 * x * (1 + tl.erf(x * 0.7071067811865476)), mask=i < n)


@triton.jit
def short_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n).to(tl.float32)
    share = (0.5 * (1 + tl.erf(x * 0.7071067811865476))).to(tl.float16)
    tl.store(y_ptr + i, x * share.to(tl.float32), mask=i < n)


@must_reject(gelu, "elements are wrong")
def rounded_before_the_product(x, y):
    short_kernel[(triton.cdiv(y.numel(), 1024),)](x, y, y.numel(), BLOCK=1024)


@triton.jit
def tanh_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n).to(tl.float32)
    tl.store(y_ptr + i, x * tl.sigmoid(2 * x * (0.7978845608 + 0.0356774081 * x * x)), mask=i < n)


@must_reject(gelu, "elements are wrong")
def the_other_function(x, y):
    """GPT-2's form is off by up to 5e-4."""
    tanh_kernel[(triton.cdiv(y.numel(), 1024),)](x, y, y.numel(), BLOCK=1024)


@triton.jit
def relu_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n).to(tl.float32)
    a = tl.abs(x)
    left = 0.5 * (1 - tl.erf(a * 0.7071067811865476))
    tl.store(y_ptr + i, tl.maximum(x, 0.0) - a * left, mask=i < n)


@must_reject(gelu, "is nan, expected inf")
def what_is_missing_to_relu(x, y):
    """max(x, 0) - a P(-a) is GELU, too, except at infinity, where it is inf - inf * 0."""
    relu_kernel[(triton.cdiv(y.numel(), 1024),)](x, y, y.numel(), BLOCK=1024)


@triton.jit
def powers_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n).to(tl.float32)
    power = tl.exp(2 * x * (0.7978845608 + 0.0356774081 * x * x))
    tl.store(y_ptr + i, x * power / (1 + power), mask=i < n)


@must_reject(gelu_tanh, "is nan, expected")
def infinite_over_infinite(x, y):
    powers_kernel[(triton.cdiv(y.numel(), 1024),)](x, y, y.numel(), BLOCK=1024)
