# SPDX-License-Identifier: MIT
"""Changed since plain: the two instructions that do the work, and nothing around them. tl.exp2 is ex2.approx.ftz and inline assembly asks for
rcp.approx.ftz: what is nearer to 0 than any normal number becomes 0. Memory bounds it as before, with half the instructions.

Teaches: tl.inline_asm_elementwise.
"""
import triton
import triton.language as tl

from python_days import needs

BLOCK = 1024


@triton.jit
def reciprocal(x):
    """1 / x in one instruction."""
    return tl.inline_asm_elementwise("rcp.approx.ftz.f32 $0, $1;", "=f,f", [x], dtype=tl.float32, is_pure=True, pack=1)


@triton.jit
def flushed_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)  # (BLOCK,)
    there = i < n
    x = tl.load(x_ptr + i, mask=there).to(tl.float32)
    y = reciprocal(1.0 + tl.exp2(-1.4426950408889634 * x))
    tl.store(y_ptr + i, y, mask=there)


def launch(x, y):
    needs.same_type(x=x, y=y)
    needs.same_shape(x=x, y=y)
    needs.contiguous(x=x, y=y)
    n = y.numel()
    flushed_kernel[(triton.cdiv(n, BLOCK),)](x, y, n, BLOCK=BLOCK)
