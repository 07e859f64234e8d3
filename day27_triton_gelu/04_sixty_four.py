# SPDX-License-Identifier: MIT
"""Changed since sixteen: 64 elements a thread, as one goes on when more has helped. Nothing is left to share, and all of a thread's elements
stand in registers at a time: a quarter of the warps fit. A thread has four times the bytes under way, a multiprocessor no more than before.
"""
import triton
import triton.language as tl

from python_days import needs

BLOCK, WARPS = 8192, 4


@triton.jit
def sixty_four_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)  # (BLOCK,)
    x = tl.load(x_ptr + i, mask=i < n).to(tl.float32)
    tl.store(y_ptr + i, 0.5 * x * (1 + tl.erf(x * 0.7071067811865476)), mask=i < n)


def launch(x, y):
    needs.same_type(x=x, y=y)
    needs.floats(x=x)
    needs.same_shape(x=x, y=y)
    needs.contiguous(x=x, y=y)
    needs.indices_of_32_bits(x=x)
    n = y.numel()
    sixty_four_kernel[(triton.cdiv(n, BLOCK),)](x, y, n, BLOCK=BLOCK, num_warps=WARPS)
