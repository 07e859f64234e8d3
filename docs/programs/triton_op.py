# SPDX-License-Identifier: MIT
"""A Triton kernel of one's own as an operator of PyTorch, with its gradient, for docs/pytorch.md.

    ./days check --file docs/programs/triton_op.py"""
import torch
import triton
import triton.language as tl
from torch.library import triton_op, wrap_triton


@triton.jit
def scaled_add_kernel(x, y, out, n, scale, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(x + at, inside) + scale * tl.load(y + at, inside), inside)


@triton_op("mine::scaled_add", mutates_args={})
def scaled_add(x: torch.Tensor, y: torch.Tensor, scale: float) -> torch.Tensor:
    out = torch.empty_like(x)
    n = x.numel()
    wrap_triton(scaled_add_kernel)[(triton.cdiv(n, 1024),)](x, y, out, n, scale, BLOCK=1024)
    return out


def _keep(ctx, inputs, output):
    ctx.scale = inputs[2]


scaled_add.register_autograd(lambda ctx, grad: (grad, ctx.scale * grad, None), setup_context=_keep)


def main():
    x, y = (torch.randn(5000, device="cuda", requires_grad=True) for _ in range(2))
    out = scaled_add(x, y, 0.5)
    out.sum().backward()
    assert torch.allclose(out, x + 0.5 * y) and (y.grad == 0.5).all()


if __name__ == "__main__":  # on a GPU
    main()
    operands = [torch.randn(5000, device="cuda", requires_grad=True) for _ in range(2)]
    torch.library.opcheck(torch.ops.mine.scaled_add.default, (*operands, 0.5))
    whole = torch.compile(lambda x, y: scaled_add(2 * x, y, 0.5), fullgraph=True)
    assert torch.allclose(whole(*operands), 2 * operands[0] + 0.5 * operands[1], atol=1e-6)
    print("ok: values, gradients, opcheck, a whole graph")
