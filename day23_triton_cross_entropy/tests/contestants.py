# SPDX-License-Identifier: MIT
"""PyTorch's cross entropy with its gradient, eager and compiled."""


def both(torch, x, target, scale):
    """(loss, dx) of rows weighted by scale."""
    x = x.detach().requires_grad_()
    loss = torch.nn.functional.cross_entropy(x.float(), target, reduction="none")
    return loss, torch.autograd.grad(loss, x, scale)[0]


def eager(torch, problem):
    x, target, scale = problem.inputs
    return lambda: both(torch, x, target, scale)


def compiled(torch, problem):
    x, target, scale = problem.inputs
    loss = torch.compile(lambda x, target: torch.nn.functional.cross_entropy(x.float(), target, reduction="none"))

    def run():
        leaf = x.detach().requires_grad_()
        made = loss(leaf, target)
        return made, torch.autograd.grad(made, leaf, scale)[0]
    return run


def liger(torch, problem):
    """It writes its gradient over the logits, and is given a copy of them each time, which its time has in it."""
    from liger_kernel.transformers.cross_entropy import LigerCrossEntropyLoss
    x, target, scale = problem.inputs
    loss = LigerCrossEntropyLoss(reduction="none")

    def run():
        leaf = x.detach().clone().requires_grad_()
        made = loss(leaf, target)
        return made, torch.autograd.grad(made, leaf, scale)[0]
    return run


CONTESTANTS = [("cross_entropy", "torch", eager), ("cross_entropy", "torch.compile", compiled), ("cross_entropy", "Liger", liger)]
