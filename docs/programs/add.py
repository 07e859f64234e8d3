# SPDX-License-Identifier: MIT
"""A Triton file of one's own: its kernel, and a main() that makes tensors and starts it.

    ./days check --file docs/programs/add.py
    ./days explain --file docs/programs/add.py"""
import numpy as np
import triton
import triton.language as tl


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(x + at, inside) + tl.load(y + at, inside), inside)


def main():
    n = 1000
    x, y = np.random.randn(n).astype(np.float32), np.random.randn(n).astype(np.float32)  # or torch.randn(n, device="cuda")
    out = np.zeros(n, np.float32)
    add[(triton.cdiv(n, 256),)](x, y, out, n, BLOCK=256)
    assert np.array_equal(out, x + y)
