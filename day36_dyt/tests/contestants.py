# SPDX-License-Identifier: MIT
"""Dynamic tanh in PyTorch, eager and compiled, and Liger's in Triton; forward and backward."""
from contestants import Skip


def rows(problem, tensor):
    return tensor.view(problem.shape["rows"], problem.shape["cols"])


def forward_inputs(problem):
    x, alpha, gamma, beta = problem.inputs
    return rows(problem, x), alpha, gamma, beta


def dyt(torch):
    """In fp32, whatever the type is, rounded once: what a compiler makes of it is one kernel."""
    return lambda x, alpha, gamma, beta: (torch.tanh(alpha * x.float()) * gamma.float() + beta.float()).to(x.dtype)


def eager(torch, problem):
    if problem.type != "fp32":
        raise Skip(f"an eager step at a time rounds to {problem.type} each time: beyond the tolerance")
    inputs = forward_inputs(problem)
    return lambda: dyt(torch)(*inputs)


def compiled(torch, problem):
    inputs = forward_inputs(problem)
    function = torch.compile(dyt(torch))
    return lambda: function(*inputs)


def liger(torch, problem):
    from liger_kernel.ops.dyt import liger_dyt_fwd  # pylint: disable=import-outside-toplevel
    inputs = forward_inputs(problem)
    if not inputs[0].is_cuda:
        raise Skip("needs a GPU")
    return lambda: liger_dyt_fwd(*inputs)


def backward_inputs(problem):
    x, dy, alpha, gamma = problem.inputs
    return rows(problem, x), rows(problem, dy), alpha, gamma


def gradients(torch):
    def function(x, dy, alpha, gamma):
        wide, d = x.float(), dy.float()
        t = torch.tanh(alpha * wide)
        bent = d * gamma.float() * (1 - t * t)
        return ((bent * alpha).to(x.dtype), (d * t).sum(0).to(x.dtype), d.sum(0).to(x.dtype), (bent * wide).sum().view(1))
    return function


def backward(torch, problem):
    if problem.type != "fp32":
        raise Skip(f"an eager step at a time rounds to {problem.type} each time: beyond the tolerance")
    inputs = backward_inputs(problem)
    return lambda: gradients(torch)(*inputs)


def compiled_backward(torch, problem):
    inputs = backward_inputs(problem)
    function = torch.compile(gradients(torch))
    return lambda: function(*inputs)


CONTESTANTS = [("dyt", "torch", eager), ("dyt", "torch.compile", compiled), ("dyt", "Liger", liger),
               ("dyt_backward", "torch", backward), ("dyt_backward", "torch.compile", compiled_backward)]
