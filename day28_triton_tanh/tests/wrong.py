# SPDX-License-Identifier: MIT
"""Wrong kernels of day 28, each as short as its bug, with what must be said of it."""
import triton
import triton.language as tl
from accurate import tanh as accurate_tanh

from day28_triton_tanh.ladder import tanh
from python_days import must_reject

BLOCK = 1024


@triton.jit
def quotient_kernel(x_ptr, y_ptr, n, s, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    power = tl.exp(2 * tl.load(x_ptr + i, mask=i < n).to(tl.float32))
    tl.store(y_ptr + i, s * (power - 1) / (power + 1), mask=i < n)


@must_reject(tanh, "is nan, expected")
def quotient(x, s, y):
    """As it stands in books: infinite over infinite beyond 44, and few digits near 0."""
    n = y.numel()
    quotient_kernel[(triton.cdiv(n, BLOCK),)](x, y, n, float(s), BLOCK=BLOCK)


@triton.jit
def sigmoid_kernel(x_ptr, y_ptr, n, s, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n).to(tl.float32)
    tl.store(y_ptr + i, s * (2 / (1 + tl.exp(-2 * x)) - 1), mask=i < n)


@must_reject(tanh, "elements are wrong")
def by_sigmoid(x, s, y):
    """Right at infinity, and two equal numbers subtracted near 0."""
    n = y.numel()
    sigmoid_kernel[(triton.cdiv(n, BLOCK),)](x, y, n, float(s), BLOCK=BLOCK)


@triton.autotune([triton.Config({"BLOCK": 512}), triton.Config({"BLOCK": 1024})], key=["n"])
@triton.jit(do_not_specialize=["n"])
def again_kernel(y_ptr, n, s, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, s * accurate_tanh(tl.load(y_ptr + i, mask=i < n).to(tl.float32)), mask=i < n)


@triton.jit
def copy_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)


@must_reject(tanh, "elements are wrong")
def tuned_in_place(x, s, y):
    """A search runs the kernel many times, and each run takes the last one's result: restore_value=["y_ptr"] is missing."""
    n = y.numel()
    copy_kernel[(triton.cdiv(n, BLOCK),)](x, y, n, BLOCK=BLOCK)
    again_kernel[lambda given: (triton.cdiv(n, given["BLOCK"]),)](y, n, float(s))


@triton.jit(do_not_specialize=["n"])
def plain_kernel(x_ptr, y_ptr, n, s, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, s * accurate_tanh(tl.load(x_ptr + i, mask=i < n).to(tl.float32)), mask=i < n)


@must_reject(tanh, "compiled is 2", by="counters")
def whole_number(x, s, y):
    """An int is another type than a float of the same value."""
    n = y.numel()
    plain_kernel[(triton.cdiv(n, BLOCK),)](x, y, n, s, BLOCK=BLOCK)


@must_reject(tanh, "compiled is 7", by="counters")
def block_as_long_as_x(x, s, y):
    """A block for each length: seven powers of two for the calls."""
    n = y.numel()
    block = min(1 << 13, triton.next_power_of_2(max(n, 1)))
    plain_kernel[(triton.cdiv(n, block),)](x, y, n, float(s), BLOCK=block)


@triton.jit
def narrow_kernel(x_ptr, y_ptr, n, s, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, s * accurate_tanh(tl.load(x_ptr + i, mask=i < n).to(tl.float16).to(tl.float32)), mask=i < n)


@must_reject(tanh, "elements are wrong")
def through_fp16(x, s, y):
    """Right in fp16 alone."""
    n = y.numel()
    narrow_kernel[(triton.cdiv(n, BLOCK),)](x, y, n, float(s), BLOCK=BLOCK)
