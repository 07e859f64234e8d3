# SPDX-License-Identifier: MIT
"""Changed since pointer: PyTorch is told of it. op.cpp registers an operator with its schema, vector_add(Tensor a, Tensor b) -> Tensor, and
a function for tensors on the CPU and one for CUDA; PyTorch calls the right one. The schema promises that no input is changed.
"""
from vector_add import operator

OP = operator("day02_op")


def launch(a, b):
    return OP(a, b)
