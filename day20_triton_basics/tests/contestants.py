# SPDX-License-Identifier: MIT
"""PyTorch's addition, for both ladders."""


def add(torch, problem):
    a, b = problem.inputs
    out, = problem.outputs

    def body():
        torch.add(a, b, out=out)
    return body


CONTESTANTS = [("vector_add", "torch", add), ("matrix_add", "torch", add)]
