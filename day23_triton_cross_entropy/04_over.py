# SPDX-License-Identifier: MIT
"""Changed since walks: the gradient is written over the logits, so that the largest tensor of a language model exists once. What is
still to be read must be read before: the target's logit comes first, and reductions stand between it and the stores, in which all
threads meet. Memory bounds it, as before; what it saves is room.
"""
import triton
import triton.language as tl

from day23_triton_cross_entropy import shared

BLOCK, WARPS = 4096, 16


@triton.jit
def over_kernel(x_ptr, target_ptr, scale_ptr, loss_ptr, cols, BLOCK: tl.constexpr):
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

    for first in range(0, cols, BLOCK):
        x = tl.load(x_ptr + at + first + i, mask=first + i < cols, other=-float("inf")).to(tl.float32)
        dx = scale * (tl.exp(x - highest) / whole - tl.where(first + i == target, 1.0, 0.0))
        tl.store(x_ptr + at + first + i, tl.where(there, dx, tl.where(ignored, 0.0, float("nan"))), mask=first + i < cols)


def launch(x, target, scale, loss):
    shared.asks(x, target, scale, loss, x)
    rows, cols = x.shape
    over_kernel[(rows,)](x, target, scale, loss, cols, BLOCK=BLOCK, num_warps=WARPS)
