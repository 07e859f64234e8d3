# SPDX-License-Identifier: MIT
"""PyTorch's swish from its operations, eager and compiled, and the gradients with respect to x and beta."""


def swish(torch, x, beta):
    return (x.float() * torch.sigmoid(beta * x.float())).to(x.dtype)


def eager(torch, problem):
    x, beta = problem.inputs
    return lambda: swish(torch, x, beta)


def compiled(torch, problem):
    x, beta = problem.inputs
    function = torch.compile(lambda x, beta: swish(torch, x, beta))
    return lambda: function(x, beta)


def gradients(torch, x, dy, beta):
    """(dx, dbeta), in fp32 until dx is rounded."""
    v, g = x.float(), dy.float()
    u = beta * v
    s, mirrored = torch.sigmoid(u), torch.sigmoid(-u)
    return (g * s * (1 + u * mirrored)).to(x.dtype), (g * v * v * s * mirrored).sum().view(1)


def eager_backward(torch, problem):
    x, dy, beta = problem.inputs
    return lambda: gradients(torch, x, dy, beta)


def compiled_backward(torch, problem):
    x, dy, beta = problem.inputs
    function = torch.compile(lambda x, dy, beta: gradients(torch, x, dy, beta))
    return lambda: function(x, dy, beta)


CONTESTANTS = [("swish", "torch", eager), ("swish", "torch.compile", compiled), ("swish_backward", "torch", eager_backward),
               ("swish_backward", "torch.compile", compiled_backward)]
