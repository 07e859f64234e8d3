# SPDX-License-Identifier: MIT
"""The block is the row, as in day 71's softmax: one read, one write. With a vocabulary of 50,257 the block has 65,536 places, 64 for
each of 1,024 threads, which have 64 registers each: a part of the row spills to memory. Spills bound it, and a multiprocessor
has room for one program.
"""
import triton
import triton.language as tl

from day23_triton_cross_entropy import shared

LONGEST = 65536


@triton.jit
def whole_kernel(x_ptr, target_ptr, scale_ptr, loss_ptr, dx_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = row.to(tl.int64) * cols  # a matrix may have more than 2^31 elements
    i = tl.arange(0, BLOCK)  # (BLOCK,)
    x = tl.load(x_ptr + at + i, mask=i < cols, other=-float("inf")).to(tl.float32)
    target, scale = tl.load(target_ptr + row), tl.load(scale_ptr + row)
    there, ignored = (target >= 0) & (target < cols), target == -100
    wanted = tl.load(x_ptr + at + target, mask=there, other=0.0).to(tl.float32)
    highest = tl.max(x, 0)
    power = tl.exp(x - highest)
    total = tl.sum(power, 0)
    loss = tl.log(total) - (wanted - highest)
    tl.store(loss_ptr + row, tl.where(there, loss, tl.where(ignored, 0.0, float("nan"))))
    dx = scale * (power / total - tl.where(i == target, 1.0, 0.0))
    tl.store(dx_ptr + at + i, tl.where(there, dx, tl.where(ignored, 0.0, float("nan"))), mask=i < cols)


def launch(x, target, scale, loss, dx):
    shared.asks(x, target, scale, loss, dx)
    rows, cols = x.shape
    if cols > LONGEST:
        raise ValueError(f"x has {cols} columns, and a row of more than {LONGEST} does not fit into registers")
    block = triton.next_power_of_2(cols)
    whole_kernel[(rows,)](x, target, scale, loss, dx, cols, BLOCK=block, num_warps=4 if block <= 2048 else 8 if block <= 8192 else 32)
