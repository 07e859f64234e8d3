# SPDX-License-Identifier: MIT
"""PyTorch's norm, squared, and what PyTorch's compiler makes of the sum of squares."""


def norm(torch, problem):
    x, = problem.inputs
    return lambda: torch.linalg.vector_norm(x, dtype=torch.float32).square().reshape(1)


def compiled(torch, problem):
    x, = problem.inputs
    square_sum = torch.compile(lambda x: (x.float() * x.float()).sum().reshape(1))
    return lambda: square_sum(x)


CONTESTANTS = [("square_sum", "torch", norm), ("square_sum", "torch.compile", compiled)]
