# SPDX-License-Identifier: MIT
"""Changed since sixteen: fewer instructions, for bf16 alone. GELU is x P(x), with P(x) the probability that a normal number is below x, and on the
left P(-a) is 2 to the power of something smooth: a polynomial of degree 5 has it to 2^-12 for a up to 5, beyond which the result is all but 0.
On the right P(x) is 1 - P(-x). bf16 rounds at 2^-9, so nobody sees the difference, and the hardware's 2^x is one instruction.
"""
import triton
import triton.language as tl

from python_days import needs

BLOCK, WARPS = 2048, 4


@triton.jit
def cheap_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)  # (BLOCK,)
    x = tl.load(x_ptr + i, mask=i < n).to(tl.float32)
    a = tl.abs(x)
    power = ((((-0.0002778613 * a + 0.005405307) * a - 0.04685086) * a - 0.4657699) * a - 1.14877) * a - 1
    left = tl.exp2(power)  # P(-a)
    tl.store(y_ptr + i, x * tl.where(x > 0, 1 - left, left), mask=i < n)


def launch(x, y):
    needs.same_type(x=x, y=y)
    if str(x.dtype).rpartition(".")[2] != "bfloat16":
        raise ValueError(f"x is {x.dtype}, and this polynomial has digits for bfloat16 alone")
    needs.same_shape(x=x, y=y)
    needs.contiguous(x=x, y=y)
    needs.indices_of_32_bits(x=x)
    n = y.numel()
    cheap_kernel[(triton.cdiv(n, BLOCK),)](x, y, n, BLOCK=BLOCK, num_warps=WARPS)
