# SPDX-License-Identifier: MIT
"""PyTorch's normalize and norm, whose squares leave fp32 where ours do not, and the gradient of the compiled graph."""


def rows(problem, tensor):
    return tensor.view(problem.shape["rows"], problem.shape["cols"])


def normalize(torch, x):
    norm = torch.linalg.vector_norm(x, dim=-1, keepdim=True, dtype=torch.float32)
    return (x / norm.clamp_min(1e-12)).to(x.dtype), norm.view(-1)


def eager(torch, problem):
    x = rows(problem, problem.inputs[0])
    return lambda: normalize(torch, x)


def compiled(torch, problem):
    x, both = rows(problem, problem.inputs[0]), torch.compile(lambda x: normalize(torch, x))
    return lambda: both(x)


def gradient(torch, y, dy, norm):
    y, dy, norm = y.float(), dy.float(), norm.view(-1, 1)
    return torch.where(norm > 1e-12, (dy - y * (y * dy).sum(-1, keepdim=True)) / norm, dy / 1e-12)


def compiled_backward(torch, problem):
    y, dy, norm = problem.inputs
    y, dy = rows(problem, y), rows(problem, dy)
    to = torch.compile(lambda y, dy, norm: gradient(torch, y, dy, norm).to(y.dtype))
    return lambda: to(y, dy, norm)


CONTESTANTS = [("l2_norm", "torch", eager), ("l2_norm", "torch.compile", compiled),
               ("l2_norm_backward", "torch.compile", compiled_backward)]
