# SPDX-License-Identifier: MIT
"""PyTorch's cross entropy with its gradient, eager and compiled, and Liger's in Triton."""
from contestants import Skip


def matrix(problem):
    logits, targets, dloss = problem.inputs
    return logits.view(problem.shape["rows"], problem.shape["cols"]), targets.long(), dloss


def gradient_of(torch):
    """Loss and gradient in fp32, as PyTorch's autocast has it: in bf16 its loss has 8 bits."""
    def loss_and_gradient(x, targets, dloss):
        x = x.detach().requires_grad_()
        loss = torch.nn.functional.cross_entropy(x.float(), targets, reduction="none")
        (dx,) = torch.autograd.grad(loss, x, dloss)
        return dx, loss.detach()
    return loss_and_gradient


def eager(torch, problem):
    x, targets, dloss = matrix(problem)
    function = gradient_of(torch)
    return lambda: function(x, targets, dloss)


def compiled(torch, problem):
    x, targets, dloss = matrix(problem)
    function = torch.compile(lambda x, targets: torch.nn.functional.cross_entropy(x.float(), targets, reduction="none"))

    def run():
        leaf = x.detach().requires_grad_()
        loss = function(leaf, targets)
        (dx,) = torch.autograd.grad(loss, leaf, dloss)
        return dx, loss.detach()
    return run


def liger(torch, problem):
    from liger_kernel.ops.cross_entropy import LigerCrossEntropyFunction  # pylint: disable=import-outside-toplevel
    x, targets, dloss = matrix(problem)
    if problem.type != "fp32":
        raise Skip(f"its loss is {problem.type}, and 1 is subtracted from a probability that has been rounded: beyond the tolerance")
    if not x.is_cuda:
        raise Skip("needs a GPU")

    def run():
        leaf = x.detach().requires_grad_()
        loss = LigerCrossEntropyFunction.apply(leaf, targets, None, -100, 0.0, 0.0, "none")[0]
        (dx,) = torch.autograd.grad(loss, leaf, dloss)
        return dx, loss.detach()
    return run


CONTESTANTS = [("cross_entropy", "torch", eager), ("cross_entropy", "torch.compile", compiled), ("cross_entropy", "Liger", liger)]
