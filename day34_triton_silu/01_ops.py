# SPDX-License-Identifier: MIT
"""An operation a kernel, as PyTorch runs them: silu, then the product; backward three more. What lies between two kernels goes through
memory, and silu(gate) has to stay there until the backward wants it. Memory bounds it.
"""
import triton
import triton.language as tl

from python_days import needs, new_empty

BLOCK = 1024


@triton.jit
def silu_kernel(gate_ptr, silu_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)  # (BLOCK,)
    there = i < n
    g = tl.load(gate_ptr + i, mask=there).to(tl.float32)
    tl.store(silu_ptr + i, g * tl.sigmoid(g), mask=there)


@triton.jit
def product_kernel(a_ptr, b_ptr, c_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)  # (BLOCK,)
    there = i < n
    a = tl.load(a_ptr + i, mask=there).to(tl.float32)
    b = tl.load(b_ptr + i, mask=there).to(tl.float32)
    tl.store(c_ptr + i, a * b, mask=there)


@triton.jit
def silu_backward_kernel(gate_ptr, dsilu_ptr, dg_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)  # (BLOCK,)
    there = i < n
    g = tl.load(gate_ptr + i, mask=there).to(tl.float32)
    dsilu = tl.load(dsilu_ptr + i, mask=there).to(tl.float32)
    s = tl.sigmoid(g)
    tl.store(dg_ptr + i, dsilu * (s + g * s * (1.0 - s)), mask=there)


def launch(gate, value, dy, y, dg, dv):
    needs.same_type(gate=gate, value=value, dy=dy, y=y, dg=dg, dv=dv)
    needs.same_shape(gate=gate, value=value, dy=dy, y=y, dg=dg, dv=dv)
    needs.contiguous(gate=gate, value=value, dy=dy, y=y, dg=dg, dv=dv)
    needs.apart(gate=gate, value=value, dy=dy, y=y, dg=dg, dv=dv)
    n = gate.numel()
    silu, dsilu = new_empty(gate, (n,), "fp32"), new_empty(gate, (n,), "fp32")
    grid = (triton.cdiv(n, BLOCK),)
    silu_kernel[grid](gate, silu, n, BLOCK=BLOCK)
    product_kernel[grid](silu, value, y, n, BLOCK=BLOCK)
    product_kernel[grid](dy, value, dsilu, n, BLOCK=BLOCK)
    product_kernel[grid](dy, silu, dv, n, BLOCK=BLOCK)
    silu_backward_kernel[grid](gate, dsilu, dg, n, BLOCK=BLOCK)
