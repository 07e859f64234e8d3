# SPDX-License-Identifier: MIT
"""The gradients take the inputs' own memory: each program has read its block of gate and value before it writes over it, and no other program reads
it. So no memory is taken at all; a second backward is impossible.
"""
import triton
import triton.language as tl

from python_days import needs

BLOCK = 1024


@triton.jit
def in_place_kernel(gate_ptr, value_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)  # (BLOCK,)
    there = i < n
    g = tl.load(gate_ptr + i, mask=there).to(tl.float32)
    v = tl.load(value_ptr + i, mask=there).to(tl.float32)
    tl.store(y_ptr + i, g * tl.sigmoid(g) * v, mask=there)


@triton.jit
def in_place_backward_kernel(gate_ptr, value_ptr, dy_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)  # (BLOCK,)
    there = i < n
    g = tl.load(gate_ptr + i, mask=there).to(tl.float32)
    v = tl.load(value_ptr + i, mask=there).to(tl.float32)
    dy = tl.load(dy_ptr + i, mask=there).to(tl.float32)
    s = tl.sigmoid(g)
    silu = g * s
    tl.store(gate_ptr + i, dy * v * (s + silu * (1.0 - s)), mask=there)
    tl.store(value_ptr + i, dy * silu, mask=there)


def launch(gate, value, dy, y):
    needs.same_type(gate=gate, value=value, dy=dy, y=y)
    needs.same_shape(gate=gate, value=value, dy=dy, y=y)
    needs.contiguous(gate=gate, value=value, dy=dy, y=y)
    needs.apart(gate=gate, value=value, dy=dy, y=y)
    n = gate.numel()
    grid = (triton.cdiv(n, BLOCK),)
    in_place_kernel[grid](gate, value, y, n, BLOCK=BLOCK)
    in_place_backward_kernel[grid](gate, value, dy, n, BLOCK=BLOCK)
