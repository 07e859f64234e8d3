# SPDX-License-Identifier: MIT
"""PyTorch's norm and its gradient by autograd, which keeps x for backward; eager and compiled."""


def step(torch, x, dnorm):
    x = x.detach().requires_grad_()
    norm = torch.linalg.vector_norm(x, 1, dim=1, dtype=torch.float32)
    (dx,) = torch.autograd.grad(norm, x, dnorm)
    return norm.detach(), dx


def eager(torch, problem):
    x, dnorm = problem.inputs
    x = x.view(problem.shape["rows"], problem.shape["cols"])
    return lambda: step(torch, x, dnorm)


def compiled(torch, problem):
    x, dnorm = problem.inputs
    x = x.view(problem.shape["rows"], problem.shape["cols"]).detach().requires_grad_()
    forward = torch.compile(lambda x: torch.linalg.vector_norm(x, 1, dim=1, dtype=torch.float32))

    def run():
        norm = forward(x)
        (dx,) = torch.autograd.grad(norm, x, dnorm)
        return norm.detach(), dx
    return run


CONTESTANTS = [("l1_norm", "torch", eager), ("l1_norm", "torch.compile", compiled)]
