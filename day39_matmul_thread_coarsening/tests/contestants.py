# SPDX-License-Identifier: MIT
"""PyTorch's product in fp32 without TF32, of matrices as they are and of transposed ones: a transpose is a view, and costs nothing
before cuBLAS is asked for that form."""


def product(torch, problem, transposed_a=False, transposed_b=False):
    torch.backends.cuda.matmul.allow_tf32 = False
    m, n, k = (problem.shape[extent] for extent in "mnk")
    a, b = problem.inputs[:2]
    a = a.view(k, m).t() if transposed_a else a.view(m, k)
    b = b.view(n, k).t() if transposed_b else b.view(k, n)
    return lambda: a @ b


def plain(torch, problem):
    return product(torch, problem)


def any_form(torch, problem):
    form = problem.shape["form"]  # 1 is NN, 2 NT, 3 TN, 4 TT
    return product(torch, problem, form > 2, form % 2 == 0)


CONTESTANTS = [("matmul", "torch", plain), ("gemm", "torch", any_form)]
