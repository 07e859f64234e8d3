# SPDX-License-Identifier: MIT
"""Changed since walks: a row is cut among programs, 8,192 columns each, because few rows are few programs and most of the GPU
stands idle. Each chunk leaves its largest element and its sum; a small kernel merges those of a row into its log-sum-exp, one number,
and from that alone any chunk's gradient can be written, in any order. Memory bounds it, and three launches.
"""
import triton
import triton.language as tl

from day23_triton_cross_entropy import shared

CHUNK, WARPS = 8192, 16


@triton.jit
def chunk_kernel(x_ptr, parts_ptr, cols, chunks, CHUNK: tl.constexpr):
    row, chunk = tl.program_id(0), tl.program_id(1)
    i = chunk * CHUNK + tl.arange(0, CHUNK)  # (CHUNK,)
    x = tl.load(x_ptr + row.to(tl.int64) * cols + i, mask=i < cols, other=-float("inf")).to(tl.float32)
    highest = tl.maximum(tl.max(x, 0), -3.4028234663852886e38)  # a chunk of -inf alone has the sum 0, and not NaN
    part = parts_ptr + (row * chunks + chunk) * 2
    tl.store(part, highest)
    tl.store(part + 1, tl.sum(tl.exp(x - highest), 0))


@triton.jit
def merge_kernel(x_ptr, target_ptr, parts_ptr, loss_ptr, lse_ptr, cols, chunks, MOST: tl.constexpr):
    row, chunk = tl.program_id(0), tl.arange(0, MOST)
    part = parts_ptr + (row * chunks + chunk) * 2
    top = tl.load(part, mask=chunk < chunks, other=-3.4028234663852886e38)
    total = tl.load(part + 1, mask=chunk < chunks, other=0.0)
    highest = tl.max(top, 0)
    whole = tl.log(tl.sum(total * tl.exp(top - highest), 0))
    target = tl.load(target_ptr + row)
    there, ignored = (target >= 0) & (target < cols), target == -100
    wanted = tl.load(x_ptr + row.to(tl.int64) * cols + target, mask=there, other=0.0).to(tl.float32)
    tl.store(loss_ptr + row, tl.where(there, whole - (wanted - highest), tl.where(ignored, 0.0, float("nan"))))
    tl.store(lse_ptr + row, highest + whole)


@triton.jit
def gradient_kernel(x_ptr, target_ptr, scale_ptr, lse_ptr, dx_ptr, cols, CHUNK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.program_id(1) * CHUNK + tl.arange(0, CHUNK)  # (CHUNK,)
    at = row.to(tl.int64) * cols + i
    target, scale = tl.load(target_ptr + row), tl.load(scale_ptr + row)
    there, ignored = (target >= 0) & (target < cols), target == -100
    x = tl.load(x_ptr + at, mask=i < cols, other=-float("inf")).to(tl.float32)
    dx = scale * (tl.exp(x - tl.load(lse_ptr + row)) - tl.where(i == target, 1.0, 0.0))
    tl.store(dx_ptr + at, tl.where(there, dx, tl.where(ignored, 0.0, float("nan"))), mask=i < cols)


def launch(x, target, scale, loss, dx):
    shared.asks(x, target, scale, loss, dx)
    rows, cols = x.shape
    chunks = triton.cdiv(cols, CHUNK)
    parts, lse = loss.new_empty(rows, chunks, 2), loss.new_empty(rows)
    chunk_kernel[(rows, chunks)](x, parts, cols, chunks, CHUNK=CHUNK, num_warps=WARPS)
    merge_kernel[(rows,)](x, target, parts, loss, lse, cols, chunks, MOST=triton.next_power_of_2(chunks), num_warps=1)
    gradient_kernel[(rows, chunks)](x, target, scale, lse, dx, cols, CHUNK=CHUNK, num_warps=WARPS)
