# SPDX-License-Identifier: MIT
"""The form with tanh, which GPT-2 has: (1 + tanh u) / 2 is 1 / (1 + e^(-2u)), so y is x / (1 + 2^v), and the factors of u, of the 2 and of
log2 e are multiplied beforehand. No tanh is left, and no e.
"""
import triton
import triton.language as tl

from python_days import needs

BLOCK, WARPS = 2048, 4


@triton.jit
def logistic_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)  # (BLOCK,)
    x = tl.load(x_ptr + i, mask=i < n).to(tl.float32)
    v = x * (-2.3022081985 - 0.10294323962 * x * x)  # -2 log2(e) u
    tl.store(y_ptr + i, x / (1 + tl.exp2(v)), mask=i < n)


def launch(x, y):
    needs.same_type(x=x, y=y)
    needs.floats(x=x)
    needs.same_shape(x=x, y=y)
    needs.contiguous(x=x, y=y)
    needs.indices_of_32_bits(x=x)
    n = y.numel()
    logistic_kernel[(triton.cdiv(n, BLOCK),)](x, y, n, BLOCK=BLOCK, num_warps=WARPS)
