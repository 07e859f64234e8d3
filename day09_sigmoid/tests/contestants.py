# SPDX-License-Identifier: MIT
"""PyTorch's sigmoid, and its two gradients: from y as autograd has it, and, compiled, from x."""


def eager(torch, problem):
    x, = problem.inputs
    return lambda: torch.sigmoid(x)


def compiled(torch, problem):
    x, = problem.inputs
    sigmoid = torch.compile(lambda x: torch.sigmoid(x))
    return lambda: sigmoid(x)


def compiled_backward(torch, problem):
    x, dy = problem.inputs
    gradient = torch.compile(lambda x, dy: dy * torch.sigmoid(x) * torch.sigmoid(-x))
    return lambda: gradient(x, dy)


def eager_backward_y(torch, problem):
    y, dy = problem.inputs
    return lambda: torch.ops.aten.sigmoid_backward(dy, y)


def compiled_backward_y(torch, problem):
    y, dy = problem.inputs
    gradient = torch.compile(lambda y, dy: torch.ops.aten.sigmoid_backward(dy, y))
    return lambda: gradient(y, dy)


CONTESTANTS = [contestant for ladder in ("sigmoid", "sigmoid_fast", "sigmoid_tanh")
               for contestant in ((ladder, "torch", eager), (ladder, "torch.compile", compiled))] + [
    ("sigmoid_backward", "torch.compile", compiled_backward), ("sigmoid_backward_y", "torch", eager_backward_y),
    ("sigmoid_backward_y", "torch.compile", compiled_backward_y)]
