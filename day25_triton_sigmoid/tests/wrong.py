# SPDX-License-Identifier: MIT
"""Wrong kernels of day 25, each as short as its bug, with what must be said of it."""
import triton
import triton.language as tl

from day25_triton_sigmoid.ladder import sigmoid_fast, sigmoid_right
from python_days import must_reject

BLOCK = 1024
LOG2E = tl.constexpr(1.4426950408889634)


def started(kernel, x, y):
    n = y.numel()
    kernel[(triton.cdiv(n, BLOCK),)](x, y, n, BLOCK=BLOCK)


@triton.jit
def other_form_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    power = tl.exp(tl.load(x_ptr + i, mask=i < n).to(tl.float32))
    tl.store(y_ptr + i, power / (1.0 + power), mask=i < n)


@must_reject(sigmoid_fast, "is nan, expected 1")
def infinite_quotient(x, y):
    """e^89 is more than a float holds, and infinity over infinity is no number."""
    started(other_form_kernel, x, y)


@triton.jit
def tanh_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    half = tl.load(x_ptr + i, mask=i < n).to(tl.float32) * 0.5
    t = tl.inline_asm_elementwise("tanh.approx.f32 $0, $1;", "=f,f", [half], dtype=tl.float32, is_pure=True, pack=1)
    tl.store(y_ptr + i, 0.5 + 0.5 * t, mask=i < n)


@must_reject(sigmoid_fast, "is 0, expected")
def by_tanh(x, y):
    """Three instructions and an error of 2^-12 anywhere, of which the left tail has not so much."""
    started(tanh_kernel, x, y)


@triton.jit
def short_constant_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n).to(tl.float32)
    tl.store(y_ptr + i, 1.0 / (1.0 + tl.exp2(-1.442 * x)), mask=i < n)


@must_reject(sigmoid_fast, "elements are wrong")
def log2_of_e_typed_short(x, y):
    started(short_constant_kernel, x, y)


@triton.jit
def narrow_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    e = tl.exp(-x.to(tl.float32)).to(x.dtype)
    tl.store(y_ptr + i, (1.0 / (1.0 + e)).to(x.dtype), mask=i < n)


@must_reject(sigmoid_right, "elements are wrong")
def power_rounded_to_16_bits(x, y):
    """Right in fp32 but for its last digits."""
    started(narrow_kernel, x, y)


@triton.jit
def mended_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr, CLAMP: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    t = -tl.load(x_ptr + i, mask=i < n).to(tl.float32)
    if CLAMP:
        t = tl.clamp(t, -88.0, 88.0)
    rounded = t * LOG2E
    power = tl.exp2(rounded)
    power = tl.fma(power, (tl.fma(t, LOG2E, -rounded) + t * 1.9259629911266175e-8) * 0.6931471805599453, power)
    tl.store(y_ptr + i, 1.0 / (1.0 + power), mask=i < n)


@must_reject(sigmoid_right, "expected nan")
def clamp_drops_nan(x, y):
    """tl.clamp of what is no number is its lower end, unless it is told to keep it."""
    n = y.numel()
    mended_kernel[(triton.cdiv(n, BLOCK),)](x, y, n, BLOCK=BLOCK, CLAMP=True)


@must_reject(sigmoid_right, "is nan, expected 0")
def infinity_less_infinity(x, y):
    """Of an infinite product nothing was dropped, and inf - inf says otherwise."""
    n = y.numel()
    mended_kernel[(triton.cdiv(n, BLOCK),)](x, y, n, BLOCK=BLOCK, CLAMP=False)
