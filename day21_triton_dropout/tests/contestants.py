# SPDX-License-Identifier: MIT
"""PyTorch's dropout with its gradient: as everybody calls it, by its own kernels without autograd, and compiled. Each draws a mask of its own."""


def autograd(torch, problem, dropout=None):
    x, dy, _, p = problem.inputs
    x = x.detach().requires_grad_()
    dropout = dropout or (lambda x: torch.nn.functional.dropout(x, p, True))

    def body():
        y = dropout(x)
        return y.detach(), *torch.autograd.grad(y, x, dy)
    return body


def native(torch, problem):
    x, dy, _, p = problem.inputs

    def body():
        y, mask = torch.native_dropout(x, p, True)
        return y, torch.ops.aten.native_dropout_backward(dy, mask, 1 / (1 - p) if p < 1 else 0.0)
    return body


def compiled(torch, problem):
    p = problem.inputs[3]
    return autograd(torch, problem, torch.compile(lambda x: torch.nn.functional.dropout(x, p, True)))


def any_mask(made, problem):
    """Each element is 0 or scaled, y and dx are dropped at the same places, and as many are kept as should be, within five deviations."""
    (x, dy, _, p), (y, dx) = problem.inputs, made
    scale = 1 / (1 - p) if p < 1 else 0.0
    for name, got, given in (("y", y, x), ("dx", dx, dy)):
        wanted = given.float() * scale
        wrong = (got != 0) & ((got.float() - wanted).abs() > wanted.abs() * 2.0 ** -7)
        if bool(wrong.any()):
            at = int(wrong.nonzero()[0])
            return f"{name}[{at}] is {float(got[at]):g}, expected 0 or {float(wanted[at]):g}"
    apart = ((y != 0) != (dx != 0)) & (x != 0) & (dy != 0)
    if bool(apart.any()):
        return f"position {int(apart.nonzero()[0])} is kept one way and dropped the other"
    count, kept = int((x != 0).sum()), int((y != 0).sum())
    if abs(kept - count * (1 - p)) > 5 * (count * p * (1 - p)) ** 0.5 + 1:
        return f"{kept:,} of {count:,} are kept, expected about {count * (1 - p):,.0f}"
    return ""


for _make in (autograd, native, compiled):
    _make.check = any_mask

CONTESTANTS = [("dropout", "torch", autograd), ("dropout", "native_dropout", native), ("dropout", "torch.compile", compiled)]
