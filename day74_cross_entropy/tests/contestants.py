# SPDX-License-Identifier: MIT
"""PyTorch's cross entropy with its gradient, eager and compiled, and Liger's in Triton; the same behind a product, and Apple's."""
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


def factors(problem):
    x, w, targets, dloss = problem.inputs
    rows, width, vocab = (problem.shape[name] for name in ("rows", "width", "vocab"))
    return x.view(rows, width), w.view(vocab, width), targets.long(), dloss


def linear_loss(torch):
    return lambda x, w, targets: torch.nn.functional.cross_entropy((x @ w.t()).float(), targets, reduction="none")


def with_gradients(torch, problem, loss_of):
    """Loss, dx and dw of a loss of each row, or of a sum that stands for all of them."""
    x, w, targets, dloss = factors(problem)

    def run():
        leaf_x, leaf_w = x.detach().requires_grad_(), w.detach().requires_grad_()
        loss = loss_of(leaf_x, leaf_w, targets)
        dx, dw = torch.autograd.grad(loss, (leaf_x, leaf_w), dloss if loss.dim() else torch.ones_like(loss))
        loss = loss.detach().float() if loss.dim() else (loss.detach().float() / len(targets)).expand(len(targets))
        return loss, dx, dw.float()
    return run


def linear_eager(torch, problem):
    return with_gradients(torch, problem, linear_loss(torch))


def linear_compiled(torch, problem):
    return with_gradients(torch, problem, torch.compile(linear_loss(torch)))


def near_eager(made, problem):
    """For who gives one loss for all rows, or leaves small gradients out: what is wrong beside PyTorch's eager results, by size."""
    import torch  # pylint: disable=import-outside-toplevel
    said = []
    for name, got, want in zip(("loss", "dx", "dw"), made, linear_eager(torch, problem)()):
        got, want = (got.double().mean(), want.double().mean()) if name == "loss" else (got.double(), want.double())
        error = ((got - want).norm() / want.norm()).item()
        if not error <= 0.02:
            said.append(f"{name} is {error:.3g} of its size away from PyTorch's, at most 0.02")
    return "\n".join(said)


def in_16_bits(problem):
    if problem.type == "fp32":
        raise Skip("made for 16 bits")
    if not problem.inputs[0].is_cuda:
        raise Skip("needs a GPU")


def linear_liger(torch, problem):
    from liger_kernel.ops.fused_linear_cross_entropy import LigerFusedLinearCrossEntropyFunction  # pylint: disable=import-outside-toplevel
    in_16_bits(problem)

    def loss(x, w, targets):
        return LigerFusedLinearCrossEntropyFunction.apply(x, w, targets, None, None, -100, 0.0, 0.0, "sum", None, False, torch.float32)[0]
    return with_gradients(torch, problem, loss)


def cut(torch, problem):
    from cut_cross_entropy import linear_cross_entropy  # pylint: disable=import-outside-toplevel
    in_16_bits(problem)
    return with_gradients(torch, problem, lambda x, w, targets: linear_cross_entropy(x, w, targets, reduction="none"))


linear_liger.check = cut.check = near_eager

CONTESTANTS = [("cross_entropy", "torch", eager), ("cross_entropy", "torch.compile", compiled), ("cross_entropy", "Liger", liger),
               ("linear_cross_entropy", "torch", linear_eager), ("linear_cross_entropy", "torch.compile", linear_compiled),
               ("linear_cross_entropy", "Liger", linear_liger), ("linear_cross_entropy", "cut-cross-entropy", cut)]
