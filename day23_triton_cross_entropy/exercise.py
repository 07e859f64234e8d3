# SPDX-License-Identifier: MIT
"""Cross entropy of rows that no register holds: the walk that writes the gradient.

    ./days check 23     how far you are
    ./days hint 23      the next of three hints

The first walk is there. It leaves `highest`, the row's largest element, and `whole`, the sum of e^(x - highest), and the loss is stored.

  1. Walk over the row again, a piece of BLOCK at a time, as the first walk does.
  2. dx is scale * (p - 1) at the target and scale * p elsewhere, where p is e^(x - highest) / whole.
  3. A row whose target is ignored gets 0, and one whose target is no column gets NaN: `there` and `ignored` tell.
"""
import triton
import triton.language as tl

from day23_triton_cross_entropy import shared

BLOCK, WARPS = 4096, 16


@triton.jit
def exercise_kernel(x_ptr, target_ptr, scale_ptr, loss_ptr, dx_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = row.to(tl.int64) * cols
    i = tl.arange(0, BLOCK)  # (BLOCK,)
    target, scale = tl.load(target_ptr + row), tl.load(scale_ptr + row)
    there, ignored = (target >= 0) & (target < cols), target == -100
    wanted = tl.load(x_ptr + at + target, mask=there, other=0.0).to(tl.float32)

    top = tl.full((BLOCK,), -3.4028234663852886e38, tl.float32)  # the largest that came by each place; finite, since -inf minus -inf is NaN
    total = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, cols, BLOCK):
        x = tl.load(x_ptr + at + first + i, mask=first + i < cols, other=-float("inf")).to(tl.float32)
        higher = tl.maximum(top, x)
        total = total * tl.exp(top - higher) + tl.exp(x - higher)
        top = higher
    highest = tl.max(top, 0)
    whole = tl.sum(total * tl.exp(top - highest), 0)
    loss = tl.log(whole) - (wanted - highest)
    tl.store(loss_ptr + row, tl.where(there, loss, tl.where(ignored, 0.0, float("nan"))))

    # your code


def launch(x, target, scale, loss, dx):
    shared.asks(x, target, scale, loss, dx)
    rows, cols = x.shape
    exercise_kernel[(rows,)](x, target, scale, loss, dx, cols, BLOCK=BLOCK, num_warps=WARPS)
