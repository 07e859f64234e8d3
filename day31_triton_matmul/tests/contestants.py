# SPDX-License-Identifier: MIT
"""PyTorch's products, which are cuBLAS', in the precision that the ladder asks for."""


def product(torch, problem, digits="highest"):
    a, b = problem.inputs
    out, = problem.outputs

    def body():
        torch.set_float32_matmul_precision(digits)  # "highest" is IEEE's fp32, "high" is tf32
        torch.mm(a, b, out=out)
    return body


def in_tf32(torch, problem):
    return product(torch, problem, "high")


def layer(torch, problem):
    x, w = problem.inputs

    def body():
        torch.set_float32_matmul_precision("high")
        return torch.nn.functional.linear(x, w)
    return body


def layer_by_copy(torch, problem):
    x, w = problem.inputs

    def body():
        torch.set_float32_matmul_precision("high")
        return torch.mm(x, w.t().contiguous())
    return body


CONTESTANTS = [("matmul", "torch", product), ("precision", "torch ieee", product), ("precision", "torch tf32", in_tf32),
               ("linear", "torch", layer), ("linear", "torch, copied", layer_by_copy)]
