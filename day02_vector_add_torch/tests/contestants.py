# SPDX-License-Identifier: MIT
"""PyTorch's addition. As the rungs it makes the result's tensor itself."""


def add(torch, problem):
    a, b = problem.inputs
    return lambda: torch.add(a, b)


CONTESTANTS = [("vector_add", "torch", add)]
