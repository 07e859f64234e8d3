# SPDX-License-Identifier: MIT
"""PyTorch's sums, in fp32 and in fp64, and its argmax."""


def total(torch, problem):
    (x,), kind = problem.inputs, problem.outputs[0].dtype
    return lambda: torch.sum(x, dtype=kind).view(1)


def in_fp64(torch, problem):
    (x,) = problem.inputs
    return lambda: torch.sum(x, dtype=torch.float64).float().view(1)


def argmax(torch, problem):
    (x,) = problem.inputs

    def run():
        index = torch.argmax(x).view(1)
        return x[index], index
    return run


CONTESTANTS = [("sum", "torch", total), ("exact_sum", "torch in fp64", in_fp64), ("argmax", "torch", argmax)]
