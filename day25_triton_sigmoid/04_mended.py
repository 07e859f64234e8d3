# SPDX-License-Identifier: MIT
"""Changed since right: the two quick instructions of `flushed`, and what they lose is put back. The product with log2(e) is rounded; an fma
gives what the rounding dropped, and since that is small, 2 to the power of it is 1 + dropped ln 2. Memory bounds it.
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
def mended_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)  # (BLOCK,)
    there = i < n
    x = tl.load(x_ptr + i, mask=there).to(tl.float32)
    t = tl.clamp(-x, -88.0, 88.0, propagate_nan=tl.PropagateNan.ALL)  # no infinity comes in, for inf - inf is NaN
    rounded = t * LOG2E
    dropped = tl.fma(t, LOG2E, -rounded) + t * LOG2E_REST
    power = tl.exp2(rounded)
    power = tl.fma(power, dropped * LN2, power)
    y = reciprocal(1.0 + power)
    tl.store(y_ptr + i, y, mask=there)


def launch(x, y):
    needs.same_type(x=x, y=y)
    needs.same_shape(x=x, y=y)
    needs.contiguous(x=x, y=y)
    n = y.numel()
    mended_kernel[(triton.cdiv(n, BLOCK),)](x, y, n, BLOCK=BLOCK)
