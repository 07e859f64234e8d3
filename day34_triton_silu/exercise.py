# SPDX-License-Identifier: MIT
"""The backward of silu(gate) * value, from its inputs alone.

    ./days check 34     how far you are
    ./days hint 34      the next of three hints

The forward is there. It keeps nothing, so the backward has gate, value and dy, and makes dg and dv.

  1. Load dy and gate. dv is dy * silu(gate), where silu(g) is g * tl.sigmoid(g); convert what you load to tl.float32.
  2. Load value. dg is dy * value * (s + silu * (1 - s)), where s is the sigmoid.
"""
import triton
import triton.language as tl

from python_days import needs

BLOCK = 1024


@triton.jit
def exercise_kernel(gate_ptr, value_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)  # (BLOCK,)
    there = i < n
    g = tl.load(gate_ptr + i, mask=there).to(tl.float32)
    v = tl.load(value_ptr + i, mask=there).to(tl.float32)
    tl.store(y_ptr + i, g * tl.sigmoid(g) * v, mask=there)


@triton.jit
def exercise_backward_kernel(gate_ptr, value_ptr, dy_ptr, dg_ptr, dv_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)  # (BLOCK,)
    there = i < n
    # your code


def launch(gate, value, dy, y, dg, dv):
    needs.same_type(gate=gate, value=value, dy=dy, y=y, dg=dg, dv=dv)
    needs.same_shape(gate=gate, value=value, dy=dy, y=y, dg=dg, dv=dv)
    needs.contiguous(gate=gate, value=value, dy=dy, y=y, dg=dg, dv=dv)
    needs.apart(gate=gate, value=value, dy=dy, y=y, dg=dg, dv=dv)
    n = gate.numel()
    grid = (triton.cdiv(n, BLOCK),)
    exercise_kernel[grid](gate, value, y, n, BLOCK=BLOCK)
    exercise_backward_kernel[grid](gate, value, dy, dg, dv, n, BLOCK=BLOCK)
