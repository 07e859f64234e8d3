# SPDX-License-Identifier: MIT
"""PyTorch's ways to transpose: a new contiguous matrix, a copy into one that is there, and what its compiler makes of it."""


def contiguous(torch, problem):
    x, = problem.inputs
    return lambda: x.t().contiguous()


def copied(torch, problem):
    x, = problem.inputs
    y, = problem.outputs
    return lambda: y.copy_(x.t())


def compiled(torch, problem):
    x, = problem.inputs
    made = torch.compile(lambda of: of.t().contiguous())
    return lambda: made(x)


CONTESTANTS = [("transpose", "torch", contiguous), ("transpose", "torch copy_", copied), ("transpose", "torch.compile", compiled)]
