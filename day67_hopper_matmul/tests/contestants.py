# SPDX-License-Identifier: MIT
"""PyTorch's matrix product of halves, which is cuBLAS' own choice of a kernel."""

SHAPES = {"half": [[1, 8, 8], [65, 72, 40], [64, 256, 128]]}


def matmul(torch, problem):
    m, n, k = (problem.shape[extent] for extent in ("m", "n", "k"))
    a, b = problem.inputs
    a, b, c = a.view(m, k), b.view(k, n), problem.outputs[0].view(m, n)
    return lambda: torch.matmul(a, b, out=c)


CONTESTANTS = [("half", "torch.matmul", matmul)]
