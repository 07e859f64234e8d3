# SPDX-License-Identifier: MIT
"""PyTorch's tanh and its product with a number, and what PyTorch's compiler makes of both."""


def eager(torch, problem):
    x, s = problem.inputs
    return lambda: torch.tanh(x) * s


def compiled(torch, problem):
    x, s = problem.inputs
    scaled = torch.compile(lambda x: torch.tanh(x) * s)
    return lambda: scaled(x)


CONTESTANTS = [("tanh", "torch", eager), ("tanh", "torch.compile", compiled)]
