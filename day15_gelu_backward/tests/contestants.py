# SPDX-License-Identifier: MIT
"""PyTorch's GELU forward and backward through autograd, and its gradient alone; eager and compiled."""


def step_by_autograd(torch, function, problem):
    """y and dx of a step, as a training loop gets them: autograd keeps what its backward pass wants."""
    x, dy = problem.inputs

    def run():
        leaf = x.detach().requires_grad_(True)
        y = function(leaf)
        dx, = torch.autograd.grad(y, leaf, dy)
        return y.detach(), dx
    return run


def step(torch, problem):
    return step_by_autograd(torch, torch.nn.functional.gelu, problem)


def compiled_step(torch, problem):
    return step_by_autograd(torch, torch.compile(lambda x: torch.nn.functional.gelu(x)), problem)


def gradient(torch, problem):
    x, dy = problem.inputs
    return lambda: torch.ops.aten.gelu_backward(dy, x)


def compiled_gradient(torch, problem):
    x, dy = problem.inputs
    function = torch.compile(lambda dy, x: torch.ops.aten.gelu_backward(dy, x))
    return lambda: function(dy, x)


CONTESTANTS = [("gelu_step", "torch", step), ("gelu_step", "torch.compile", compiled_step),
               ("gelu_step_byte", "torch", step), ("gelu_step_byte", "torch.compile", compiled_step),
               ("gelu_backward", "torch", gradient), ("gelu_backward", "torch.compile", compiled_gradient)]
