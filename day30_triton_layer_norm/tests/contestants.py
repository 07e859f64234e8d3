# SPDX-License-Identifier: MIT
"""PyTorch's layer norm, eager and compiled, its gradient, and Liger's in Triton."""
from contestants import Skip

EPS = 1e-5  # the ladder's


def flat(result):
    """y, mean and rstd as the ladder has them: (rows), not (rows, 1)."""
    y, mean, rstd = result
    return y, mean.view(-1), rstd.view(-1)


def eager(torch, problem):
    x, gamma, beta, _ = problem.inputs
    return lambda: flat(torch.native_layer_norm(x, gamma.shape, gamma, beta, EPS))


def compiled(torch, problem):
    x, gamma, beta, _ = problem.inputs
    norm = torch.compile(lambda x, gamma, beta: flat(torch.native_layer_norm(x, gamma.shape, gamma, beta, EPS)))
    return lambda: norm(x, gamma, beta)


def liger(torch, problem):
    from liger_kernel.ops.layer_norm import layer_norm_forward
    x, gamma, beta, _ = problem.inputs
    if layer_norm_forward(x, gamma, beta, EPS)[2].dtype != torch.float32:
        raise Skip(f"keeps mean and rstd in {problem.type}: beyond the tolerance")

    def run():
        y, _, mean, rstd, *_ = layer_norm_forward(x, gamma, beta, EPS)
        return y, mean, rstd
    return run


def gradient(torch, dy, x, gamma, mean, rstd):
    """beta is asked for no more than its existence, so gamma stands for it."""
    return torch.ops.aten.native_layer_norm_backward(dy, x, gamma.shape, mean.view(-1, 1), rstd.view(-1, 1), gamma, gamma, [True, True, True])


def only_fp32(problem):
    if problem.type != "fp32":
        raise Skip(f"gives dgamma and dbeta in {problem.type}: beyond the tolerance")


def backward(torch, problem):
    only_fp32(problem)
    return lambda: gradient(torch, *problem.inputs)


def compiled_backward(torch, problem):
    only_fp32(problem)
    compiled_gradient = torch.compile(lambda *given: gradient(torch, *given))
    return lambda: compiled_gradient(*problem.inputs)


def liger_backward(torch, problem):
    from liger_kernel.ops.layer_norm import layer_norm_backward
    only_fp32(problem)
    dy, x, gamma, mean, rstd = problem.inputs
    return lambda: layer_norm_backward(dy, x, gamma, gamma, mean, rstd)


CONTESTANTS = [("layer_norm", "torch", eager), ("layer_norm", "torch.compile", compiled), ("layer_norm", "Liger", liger),
               ("layer_norm_backward", "torch", backward), ("layer_norm_backward", "torch.compile", compiled_backward),
               ("layer_norm_backward", "Liger", liger_backward)]
