# SPDX-License-Identifier: MIT
"""Changed since autograd: any shapes that torch.add takes. Around the operator stands ordinary PyTorch, which broadcasts and closes gaps,
and whose own backward sums a gradient over what was broadcast. That costs copies, but only of inputs that need them.
"""
import torch
from vector_add import operator

OP = operator("day02_broadcast")


@torch.library.register_fake("day02_broadcast::vector_add")
def fake(a, b):
    return torch.empty_like(a)


def backward(ctx, dc):
    return dc, dc


torch.library.register_autograd("day02_broadcast::vector_add", backward)


def launch(a, b):
    a, b = torch.broadcast_tensors(a, b)
    return OP(a.contiguous(), b.contiguous())
