# SPDX-License-Identifier: MIT
"""Wrong kernels of day 23, each as short as its bug, with what must be said of it."""
import triton
import triton.language as tl

from day23_triton_cross_entropy.ladder import cross_entropy, cross_entropy_over
from python_days import must_reject


@triton.jit
def over_kernel(x_ptr, target_ptr, scale_ptr, loss_ptr, cols, EARLY: tl.constexpr, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    at = x_ptr + row * cols
    target, scale = tl.load(target_ptr + row), tl.load(scale_ptr + row)
    there = (target >= 0) & (target < cols)
    early = tl.load(at + target, mask=there, other=0.0).to(tl.float32)
    x = tl.load(at + i, mask=i < cols, other=-float("inf")).to(tl.float32)
    highest = tl.max(x, 0)
    total = tl.sum(tl.exp(x - highest), 0)
    p = tl.exp(x - highest) / total
    tl.store(at + i, tl.where(there, scale * (p - tl.where(EARLY & (i == target), 0.0, tl.where(i == target, 1.0, 0.0))), 0.0), mask=i < cols)
    if EARLY:  # p is stored everywhere; where the target is, p - 1
        tl.store(at + target, scale * (tl.exp(early - highest) / total - 1), mask=there)
        late = early
    else:
        late = tl.load(at + target, mask=there, other=0.0).to(tl.float32)
    tl.store(loss_ptr + row, tl.log(total) - (late - highest))


def _over(early, x, target, scale, loss):
    rows, cols = x.shape
    over_kernel[(rows,)](x, target, scale, loss, cols, EARLY=early, BLOCK=triton.next_power_of_2(cols))


@must_reject(cross_entropy_over, "program 0 stores x_ptr[1], which line")
def corrected_afterwards(x, target, scale, loss):
    """Right in the interpreter: the thread that stores p - 1 does not wait for the one that stores p."""
    _over(True, x, target, scale, loss)


@must_reject(cross_entropy_over, "program 0 loads x_ptr[0], which line")
def wanted_too_late(x, target, scale, loss):
    """The target's logit is looked up when its gradient stands there."""
    _over(False, x, target, scale, loss)


@triton.jit
def two_walks_kernel(x_ptr, target_ptr, scale_ptr, loss_ptr, dx_ptr, cols, LOWEST: tl.constexpr, NARROW: tl.constexpr, ALL: tl.constexpr, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    at = row * cols
    target, scale = tl.load(target_ptr + row), tl.load(scale_ptr + row)
    if NARROW:
        target = target.to(tl.int32)
    there, ignored = (target >= 0) & (target < cols), target == -100
    wanted = tl.load(x_ptr + at + target, mask=there | ALL, other=0.0).to(tl.float32)
    highest, whole = tl.full((), LOWEST, tl.float32), tl.full((), 0.0, tl.float32)
    for first in range(0, cols, BLOCK):
        x = tl.load(x_ptr + at + first + i, mask=first + i < cols, other=-float("inf")).to(tl.float32)
        higher = tl.maximum(highest, tl.max(x, 0))
        whole = whole * tl.exp(highest - higher) + tl.sum(tl.exp(x - higher), 0)
        highest = higher
    loss = tl.log(whole) - (wanted - highest)
    tl.store(loss_ptr + row, tl.where(there, loss, tl.where(ignored, 0.0, float("nan"))))
    for first in range(0, cols, BLOCK):
        x = tl.load(x_ptr + at + first + i, mask=first + i < cols, other=-float("inf")).to(tl.float32)
        dx = scale * (tl.exp(x - highest) / whole - tl.where(first + i == target, 1.0, 0.0))
        tl.store(dx_ptr + at + first + i, tl.where(there, dx, tl.where(ignored, 0.0, float("nan"))), mask=first + i < cols)


def _two_walks(x, target, scale, loss, dx, lowest=-3.0e38, narrow=False, everywhere=False):
    rows, cols = x.shape
    two_walks_kernel[(rows,)](x, target, scale, loss, dx, cols, LOWEST=lowest, NARROW=narrow, ALL=everywhere, BLOCK=1024)


@must_reject(cross_entropy, "is nan, expected")
def starts_at_minus_infinity(x, target, scale, loss, dx):
    """A first piece of -inf alone: -inf minus -inf."""
    _two_walks(x, target, scale, loss, dx, lowest=-float("inf"))


@must_reject(cross_entropy, "expected nan")
def target_in_32_bits(x, target, scale, loss, dx):
    """2^32 + 3 becomes column 3."""
    _two_walks(x, target, scale, loss, dx, narrow=True)


@must_reject(cross_entropy, "loads x_ptr[-100] of")
def ignored_and_loaded(x, target, scale, loss, dx):
    """The logit of target -100 is loaded 100 elements before the row."""
    _two_walks(x, target, scale, loss, dx, everywhere=True)


@triton.jit
def baked_kernel(x_ptr, target_ptr, scale_ptr, loss_ptr, dx_ptr, rows, cols, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * cols + i, mask=i < cols, other=-float("inf")).to(tl.float32)
    target = tl.load(target_ptr + row)
    power = tl.exp(x - tl.max(x, 0))
    p = power / tl.sum(power, 0)
    tl.store(loss_ptr + row, -tl.log(tl.sum(tl.where(i == target, p, 0.0), 0)))
    tl.store(dx_ptr + row * cols + i, (p - tl.where(i == target, 1.0, 0.0)) / rows, mask=i < cols)


@must_reject(cross_entropy, "elements are wrong")
def mean_baked_in(x, target, scale, loss, dx):
    """The mean's 1 / rows instead of each row's own scale."""
    rows, cols = x.shape
    baked_kernel[(rows,)](x, target, scale, loss, dx, rows, cols, BLOCK=triton.next_power_of_2(cols))
