# SPDX-License-Identifier: MIT
"""PyTorch's softmax, what its compiler makes of the formula (a Triton kernel, too), and Liger's."""


def eager(torch, problem):
    x, = problem.inputs
    return lambda: torch.softmax(x, -1)


def compiled(torch, problem):
    x, = problem.inputs
    softmax = torch.compile(lambda x: torch.softmax(x, -1))
    return lambda: softmax(x)


def liger(torch, problem):
    from liger_kernel.ops.softmax import LigerSoftmaxFunction
    x, = problem.inputs
    return lambda: LigerSoftmaxFunction.apply(x)


CONTESTANTS = [("softmax", "torch", eager), ("softmax", "torch.compile", compiled), ("softmax", "Liger", liger)]
