# SPDX-License-Identifier: MIT
"""PyTorch's addition, for day 01's vectors."""


def eager(torch, problem):
    a, b = problem.inputs
    return lambda: a + b


def in_place(torch, problem):
    (a, b), (c,) = problem.inputs, problem.outputs

    def add():
        torch.add(a, b, out=c)
    return add


def compiled(torch, problem):
    a, b = problem.inputs
    add = torch.compile(lambda x, y: x + y)
    return lambda: add(a, b)


CONTESTANTS = [("vector_add", "torch", eager), ("vector_add", "torch out=", in_place), ("vector_add", "torch.compile", compiled)]
