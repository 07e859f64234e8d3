# SPDX-License-Identifier: MIT
"""Changed since fake: a backward. Of c = a + b each input's gradient is c's own. Before, the inputs got none, as if the
operator were a constant: PyTorch warned once, and opcheck found nothing.
"""
import torch
from vector_add import operator

OP = operator("day02_autograd")


@torch.library.register_fake("day02_autograd::vector_add")
def fake(a, b):
    return torch.empty_like(a)


def backward(ctx, dc):
    return dc, dc


torch.library.register_autograd("day02_autograd::vector_add", backward)


def launch(a, b):
    return OP(a, b)
