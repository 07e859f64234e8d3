# SPDX-License-Identifier: MIT
"""PyTorch's softmax, its backward pass, and Liger's in Triton."""
from contestants import Skip


def rows(problem, tensor):
    return tensor.view(problem.shape["rows"], problem.shape["cols"])


def eager(torch, problem):
    x = rows(problem, problem.inputs[0])
    return lambda: torch.softmax(x, -1)


def compiled(torch, problem):
    x, softmax = rows(problem, problem.inputs[0]), torch.compile(lambda x: torch.softmax(x, -1))
    return lambda: softmax(x)


def liger(torch, problem):
    from liger_kernel.ops.softmax import LigerSoftmaxFunction  # pylint: disable=import-outside-toplevel
    x = rows(problem, problem.inputs[0])
    return lambda: LigerSoftmaxFunction.apply(x)


def backward(torch, problem):
    if problem.type != "fp32":  # one kernel for the product, rounded to this type, and one that sums it
        raise Skip(f"rounds y * dy to {problem.type} before it sums: beyond the tolerance")
    y, dy = (rows(problem, tensor) for tensor in problem.inputs)
    return lambda: torch.ops.aten._softmax_backward_data(dy, y, -1, y.dtype)


def compiled_backward(torch, problem):
    y, dy = (rows(problem, tensor) for tensor in problem.inputs)
    gradient = torch.compile(lambda dy, y: torch.ops.aten._softmax_backward_data(dy, y, -1, y.dtype))
    return lambda: gradient(dy, y)


CONTESTANTS = [("softmax", "torch", eager), ("softmax", "torch.compile", compiled), ("softmax", "Liger", liger),
               ("softmax_backward", "torch", backward), ("softmax_backward", "torch.compile", compiled_backward)]
