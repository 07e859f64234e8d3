# SPDX-License-Identifier: MIT
"""Changed since op: a function that makes the result's shape, type and device without a kernel. torch.compile traces with tensors that
have no elements, and now it has something to call there: the operator stands in one graph with what surrounds it.
"""
import torch
from vector_add import operator

OP = operator("day02_fake")


@torch.library.register_fake("day02_fake::vector_add")
def fake(a, b):
    return torch.empty_like(a)


def launch(a, b):
    return OP(a, b)
