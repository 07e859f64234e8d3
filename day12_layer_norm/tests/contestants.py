# SPDX-License-Identifier: MIT
"""PyTorch's layer norm, eager and compiled, its backward pass, its RMS norm, and Liger's of all three in Triton."""
from contestants import Skip

EPS = 1e-5  # the ladder's


def rows(problem, tensor):
    return tensor.view(problem.shape["rows"], problem.shape["cols"])


def forward_inputs(torch, problem):
    x, gamma, beta = problem.inputs
    if problem.type != "fp32" and not x.is_cuda:
        raise Skip(f"on the CPU, PyTorch keeps mean and rstd in {problem.type}")
    return rows(problem, x), gamma, beta


def kept(result):
    """y, and mean and rstd as the ladder has them: (rows), not (rows, 1)."""
    y, mean, rstd = result
    return y, mean.view(-1), rstd.view(-1)


def eager(torch, problem):
    x, gamma, beta = forward_inputs(torch, problem)
    return lambda: kept(torch.native_layer_norm(x, gamma.shape, gamma, beta, EPS))


def compiled(torch, problem):
    x, gamma, beta = forward_inputs(torch, problem)
    norm = torch.compile(lambda x, gamma, beta: kept(torch.native_layer_norm(x, gamma.shape, gamma, beta, EPS)))
    return lambda: norm(x, gamma, beta)


def liger(torch, problem):
    from liger_kernel.ops.layer_norm import layer_norm_forward  # pylint: disable=import-outside-toplevel
    x, gamma, beta = forward_inputs(torch, problem)
    if layer_norm_forward(x, gamma, beta, EPS)[2].dtype != torch.float32:
        raise Skip(f"keeps mean and rstd in {problem.type}: beyond the tolerance")

    def run():
        y, _, mean, rstd, *_ = layer_norm_forward(x, gamma, beta, EPS)
        return y, mean, rstd
    return run


def backward_inputs(problem):
    """(dy, x, gamma, mean, rstd)."""
    x, dy, gamma, mean, rstd = problem.inputs
    return rows(problem, dy), rows(problem, x), gamma, mean, rstd


def gradient(torch, dy, x, gamma, mean, rstd):
    # Its bias is asked for no more than its existence.
    return torch.ops.aten.native_layer_norm_backward(dy, x, gamma.shape, mean.view(-1, 1), rstd.view(-1, 1), gamma, gamma,
                                                     [True, True, True])


def backward(torch, problem):
    dy, x, gamma, mean, rstd = backward_inputs(problem)
    if problem.type != "fp32" and not x.is_cuda:
        raise Skip(f"on the CPU, PyTorch takes mean and rstd in {problem.type}")
    return lambda: gradient(torch, dy, x, gamma, mean, rstd)


def compiled_backward(torch, problem):
    inputs = backward_inputs(problem)
    compiled_gradient = torch.compile(lambda *given: gradient(torch, *given))
    return lambda: compiled_gradient(*inputs)


def liger_backward(torch, problem):
    from liger_kernel.ops.layer_norm import layer_norm_backward  # pylint: disable=import-outside-toplevel
    if problem.type != "fp32":
        raise Skip(f"rounds partial sums to {problem.type}: beyond the tolerance")
    dy, x, gamma, mean, rstd = backward_inputs(problem)
    return lambda: layer_norm_backward(dy, x, gamma, gamma, mean, rstd)


# ---- RMS norm

def rms(torch, problem):
    """PyTorch's rounds once, by which it is within the tolerance."""
    x, gamma = problem.inputs
    x = rows(problem, x)

    def run():
        y, rstd = torch.ops.aten._fused_rms_norm(x, gamma.shape, gamma, EPS)  # pylint: disable=protected-access
        return y, rstd.view(-1)
    return run


def compiled_rms(torch, problem):
    x, gamma = problem.inputs

    def norm(x, gamma):
        wide = x.float()
        rstd = torch.rsqrt(wide.square().mean(-1) + EPS)
        return (wide * rstd[:, None]).to(x.dtype) * gamma, rstd
    norm, x = torch.compile(norm), rows(problem, x)
    return lambda: norm(x, gamma)


def liger_rms(torch, problem):
    """Rstd is what it keeps for backward."""
    from liger_kernel.ops.rms_norm import LigerRMSNormFunction  # pylint: disable=import-outside-toplevel
    x, gamma = problem.inputs
    x = rows(problem, x).detach().requires_grad_()

    def run():
        y = LigerRMSNormFunction.apply(x, gamma, EPS, 0.0, "llama", False)
        return y.detach(), y.grad_fn.saved_tensors[-1].view(-1)
    return run


CONTESTANTS = [("layer_norm", "torch", eager), ("layer_norm", "torch.compile", compiled), ("layer_norm", "Liger", liger),
               ("layer_norm_backward", "torch", backward), ("layer_norm_backward", "torch.compile", compiled_backward),
               ("layer_norm_backward", "Liger", liger_backward),
               ("rms_norm", "torch", rms), ("rms_norm", "torch.compile", compiled_rms), ("rms_norm", "Liger", liger_rms)]
