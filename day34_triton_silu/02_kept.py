# SPDX-License-Identifier: MIT
"""Changed since ops: one kernel each way. What the backward will want, the forward computes anyway, and writes it down: the sigmoid of gate, and
silu(gate). Memory bounds it.
"""
import triton
import triton.language as tl

from python_days import needs, new_empty

BLOCK = 1024


@triton.jit
def kept_kernel(gate_ptr, value_ptr, y_ptr, sigmoid_ptr, silu_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)  # (BLOCK,)
    there = i < n
    g = tl.load(gate_ptr + i, mask=there).to(tl.float32)
    v = tl.load(value_ptr + i, mask=there).to(tl.float32)
    s = tl.sigmoid(g)
    tl.store(sigmoid_ptr + i, s, mask=there)
    tl.store(silu_ptr + i, g * s, mask=there)
    tl.store(y_ptr + i, g * s * v, mask=there)


@triton.jit
def kept_backward_kernel(value_ptr, dy_ptr, sigmoid_ptr, silu_ptr, dg_ptr, dv_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)  # (BLOCK,)
    there = i < n
    v = tl.load(value_ptr + i, mask=there).to(tl.float32)
    dy = tl.load(dy_ptr + i, mask=there).to(tl.float32)
    s = tl.load(sigmoid_ptr + i, mask=there)
    silu = tl.load(silu_ptr + i, mask=there)
    tl.store(dg_ptr + i, dy * v * (s + silu * (1.0 - s)), mask=there)
    tl.store(dv_ptr + i, dy * silu, mask=there)


def launch(gate, value, dy, y, dg, dv):
    needs.same_type(gate=gate, value=value, dy=dy, y=y, dg=dg, dv=dv)
    needs.same_shape(gate=gate, value=value, dy=dy, y=y, dg=dg, dv=dv)
    needs.contiguous(gate=gate, value=value, dy=dy, y=y, dg=dg, dv=dv)
    needs.apart(gate=gate, value=value, dy=dy, y=y, dg=dg, dv=dv)
    n = gate.numel()
    sigmoid, silu = new_empty(gate, (n,), "fp32"), new_empty(gate, (n,), "fp32")
    grid = (triton.cdiv(n, BLOCK),)
    kept_kernel[grid](gate, value, y, sigmoid, silu, n, BLOCK=BLOCK)
    kept_backward_kernel[grid](value, dy, sigmoid, silu, dg, dv, n, BLOCK=BLOCK)
