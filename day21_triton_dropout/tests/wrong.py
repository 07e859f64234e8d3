# SPDX-License-Identifier: MIT
"""Wrong kernels of day 21, each as short as its bug, with what must be said of it."""
import triton
import triton.language as tl

from day21_triton_dropout.ladder import dropout
from python_days import must_reject, needs

BLOCK = 1024


@triton.jit(do_not_specialize=["seed", "threshold"])
def kernel(x_ptr, y_ptr, n, seed, threshold: tl.uint32, scale, STEP: tl.constexpr, BELOW: tl.constexpr, BLOCK: tl.constexpr):
    """STEP: how many counters lie between two programs' first ones. BELOW: kept is what is below the threshold."""
    first = tl.program_id(0) * BLOCK
    i = tl.arange(0, BLOCK)
    a, b, c, d = tl.randint4x(seed, tl.program_id(0) * STEP + tl.arange(0, BLOCK // 4))
    word = tl.join(tl.join(a, c), tl.join(b, d)).reshape(BLOCK).to(tl.uint32, bitcast=True)
    there = i < n - first
    x = tl.load(x_ptr + first + i, mask=there).to(tl.float32)
    keep = (word < threshold) if BELOW else (word >= threshold) & (scale > 0)
    tl.store(y_ptr + first + i, tl.where(keep, x * scale, 0.0), mask=there)


def both(x, dy, seed, p, y, dx, change=0, step=BLOCK // 4, below=False, backward=BLOCK):
    needs.same_type(x=x, dy=dy, y=y, dx=dx)
    needs.same_shape(x=x, dy=dy, y=y, dx=dx)
    needs.contiguous(x=x, dy=dy, y=y, dx=dx)
    needs.dropout(seed, p, x)
    n, threshold, scale = x.numel(), min(int(p * 2 ** 32), 2 ** 32 - 1), 1 / (1 - p) if p < 1 else 0.0
    kernel[(triton.cdiv(n, BLOCK),)](x, y, n, seed, threshold, scale, STEP=step, BELOW=below, BLOCK=BLOCK)
    kernel[(triton.cdiv(n, backward),)](dy, dx, n, seed + change, threshold, scale, STEP=step, BELOW=below, BLOCK=backward)


@must_reject(dropout, "elements are wrong")
def place_in_the_block(x, dy, seed, p, y, dx):
    """All programs drop the same places: the share that is dropped is right."""
    both(x, dy, seed, p, y, dx, step=0)


@must_reject(dropout, "elements are wrong")
def another_block_backward(x, dy, seed, p, y, dx):
    """What is drawn hangs on the block's length, and the gradient's launch has another."""
    both(x, dy, seed, p, y, dx, backward=BLOCK // 2)


@must_reject(dropout, "out1[")
def a_seed_of_its_own_backward(x, dy, seed, p, y, dx):
    both(x, dy, seed, p, y, dx, change=1)


@must_reject(dropout, "elements are wrong")
def dropped_and_kept_exchanged(x, dy, seed, p, y, dx):
    """Right in distribution where p is a half."""
    both(x, dy, seed, p, y, dx, below=True)


@must_reject(dropout, "division by zero")
def scale_of_p_1(x, dy, seed, p, y, dx):
    1 / (1 - p)
    both(x, dy, seed, p, y, dx)


@triton.jit(do_not_specialize=["seed"])
def float_kernel(x_ptr, y_ptr, n, seed, p, scale, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n).to(tl.float32)
    tl.store(y_ptr + i, tl.where(tl.rand(seed, i) > p, x * scale, 0.0), mask=i < n)


@must_reject(dropout, "elements are wrong")
def a_float_for_each_position(x, dy, seed, p, y, dx):
    """As most kernels have it. It is dropout, but with another mask: a number is the first word of counter i, and it has 31 bits."""
    needs.dropout(seed, p, x)
    for source, target in ((x, y), (dy, dx)):
        float_kernel[(triton.cdiv(x.numel(), BLOCK),)](source, target, x.numel(), seed, p, 1 / (1 - p) if p < 1 else 0.0, BLOCK=BLOCK)
