# SPDX-License-Identifier: MIT
"""All digits of the logistic function, from two quick instructions.

    ./days check 25     how far you are
    ./days hint 25      the next of three hints

`rounded` is t times log2(e), as a float holds it. tl.exp2(z) is 2 to the power of z, and reciprocal(z) is 1 / z.

  1. y from `rounded` alone, and tl.store it. It is right where x is small, and the tail shows what is missing.
  2. What did the rounding drop? tl.fma(a, b, c) is a * b + c, rounded once. LOG2E_REST * t belongs to it.
  3. Mend the power with it before the reciprocal is taken.
"""
import triton
import triton.language as tl

from python_days import needs

BLOCK = 1024
LOG2E = tl.constexpr(1.44269502162933349609375)  # the float nearest to log2(e)
LOG2E_REST = tl.constexpr(1.9259629911266175e-8)  # what it lacks
LN2 = tl.constexpr(0.6931471805599453)


@triton.jit
def reciprocal(x):
    """1 / x in one instruction."""
    return tl.inline_asm_elementwise("rcp.approx.ftz.f32 $0, $1;", "=f,f", [x], dtype=tl.float32, is_pure=True, pack=1)


@triton.jit
def exercise_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)  # (BLOCK,)
    there = i < n
    x = tl.load(x_ptr + i, mask=there).to(tl.float32)
    t = tl.clamp(-x, -88.0, 88.0, propagate_nan=tl.PropagateNan.ALL)  # no infinity comes in, for inf - inf is NaN
    rounded = t * LOG2E
    # your code


def launch(x, y):
    needs.same_type(x=x, y=y)
    needs.same_shape(x=x, y=y)
    needs.contiguous(x=x, y=y)
    n = y.numel()
    exercise_kernel[(triton.cdiv(n, BLOCK),)](x, y, n, BLOCK=BLOCK)
