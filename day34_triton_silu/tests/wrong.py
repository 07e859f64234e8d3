# SPDX-License-Identifier: MIT
"""Wrong kernels of day 34, each as short as its bug, with what must be said of it."""
import triton
import triton.language as tl

from day34_triton_silu.ladder import swiglu, swiglu_in_place
from python_days import must_reject

BLOCK = 1024


@triton.jit
def forward_kernel(gate_ptr, value_ptr, y_ptr, n, BLOCK: tl.constexpr, ROUNDED: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    there = i < n
    gate = tl.load(gate_ptr + i, mask=there)
    g, v = gate.to(tl.float32), tl.load(value_ptr + i, mask=there).to(tl.float32)
    silu = g * tl.sigmoid(g)
    if ROUNDED:
        silu = silu.to(gate.dtype).to(tl.float32)
    tl.store(y_ptr + i, silu * v, mask=there)


@triton.jit
def backward_kernel(gate_ptr, value_ptr, dy_ptr, dg_ptr, dv_ptr, n, BLOCK: tl.constexpr, SLOPE: tl.constexpr, LATE: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    there = i < n
    g = tl.load(gate_ptr + i, mask=there).to(tl.float32)
    v = tl.load(value_ptr + i, mask=there).to(tl.float32)
    dy = tl.load(dy_ptr + i, mask=there).to(tl.float32)
    s = tl.sigmoid(g)
    tl.store(dg_ptr + i, dy * v * (s + g * s * (1.0 - s) if SLOPE else s), mask=there)
    if LATE:
        g = tl.load(gate_ptr + i, mask=there).to(tl.float32)
    tl.store(dv_ptr + i, dy * g * s, mask=there)


def started(gate, value, dy, y, dg, dv, rounded=False, slope=True, late=False):
    n = gate.numel()
    grid = (triton.cdiv(n, BLOCK),)
    forward_kernel[grid](gate, value, y, n, BLOCK=BLOCK, ROUNDED=rounded)
    backward_kernel[grid](gate, value, dy, dg, dv, n, BLOCK=BLOCK, SLOPE=slope, LATE=late)


@must_reject(swiglu, "elements are wrong")
def rounded_between(gate, value, dy, y, dg, dv):
    """silu is rounded to the type before the product is: twice, in 16 bits."""
    started(gate, value, dy, y, dg, dv, rounded=True)


@must_reject(swiglu, "elements are wrong")
def slope_forgotten(gate, value, dy, y, dg, dv):
    """The sigmoid depends on gate, too."""
    started(gate, value, dy, y, dg, dv, slope=False)


@must_reject(swiglu, "elements are wrong")
def gradients_swapped(gate, value, dy, y, dg, dv):
    started(gate, value, dy, y, dv, dg)


@must_reject(swiglu_in_place, "elements are wrong")
def loaded_after_the_store(gate, value, dy, y):
    """gate is read again when the gradient stands there."""
    started(gate, value, dy, y, gate, value, late=True)


@must_reject(swiglu_in_place, "elements are wrong")
def result_over_value(gate, value, dy, y):
    """The forward writes over what the backward needs."""
    n = gate.numel()
    grid = (triton.cdiv(n, BLOCK),)
    forward_kernel[grid](gate, value, y, n, BLOCK=BLOCK, ROUNDED=False)
    forward_kernel[grid](gate, value, value, n, BLOCK=BLOCK, ROUNDED=False)
    backward_kernel[grid](gate, value, dy, gate, value, n, BLOCK=BLOCK, SLOPE=True, LATE=False)
