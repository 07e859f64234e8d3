# SPDX-License-Identifier: MIT
"""PyTorch's AdamW, fused, by lists and compiled; and a step with clipping and 16-bit copies around it."""
from contestants import Skip

B1, B2, EPS, DECAY, LR, STEP = 0.9, 0.999, 1e-8, 0.1, 1e-3, 10


def parts(shape):
    """[(begin, n, decays)], as the ladder lays a GPT-2's tensors out: each at a multiple of four."""
    layers, width, vocab, context = (shape[name] for name in ("layers", "width", "vocab", "context"))
    norm, sizes = [(width, False)] * 2, [(vocab * width, True), (context * width, True)]
    for _ in range(layers):
        for linear in ((1, 3), (1, 1)), ((1, 4), (4, 1)):
            sizes += norm
            for into, out in linear:
                sizes += [(into * width * out * width, True), (out * width, False)]
    made, end = [], 0
    for n, decays in sizes + norm:
        begin = (end + 3) // 4 * 4
        made.append((begin, n, decays))
        end = begin + n
    return made


class Lists:
    """The tensors that decay and those that do not, as views of the ladder's arrays."""

    def __init__(self, torch, problem, max_norm=None):
        given = problem.inputs if max_norm is None else problem.inputs[1:]  # without the rates
        named = dict(zip(("w", "g", "m", "v", "copy"), given))
        self.torch, self.max_norm, self.norm = torch, max_norm, problem.outputs[-1]
        self.groups = []
        for decays in (True, False):
            views = {name: [named[name][b:b + n] for b, n, d in parts(problem.shape) if d == decays]
                     for name in ("w", "g", "m", "v", "copy") if name in named}
            steps = torch.full((len(views["w"]),), STEP - 1.0, device=named["w"].device)
            self.groups.append((views, steps, DECAY if decays else 0.0))

    def update(self, gradients=None, **how):
        from torch.optim.adamw import adamw  # pylint: disable=import-outside-toplevel
        for i, (views, steps, decay) in enumerate(self.groups):
            steps.fill_(STEP - 1)  # else each call would be a step later
            adamw(views["w"], gradients[i] if gradients else views["g"], views["m"], views["v"], [], list(steps.unbind()),
                  amsgrad=False, beta1=B1, beta2=B2, lr=LR, weight_decay=decay, eps=EPS, maximize=False, **how)

    def step(self, **how):
        torch = self.torch
        norm = torch.linalg.vector_norm(torch.stack(torch._foreach_norm(self.groups[0][0]["g"] + self.groups[1][0]["g"])))  # pylint: disable=protected-access
        factor = torch.clamp(self.max_norm / (norm + 1e-6), max=1.0)
        # What clip_grad_norm_ does, but not in place: the ladder's gradients are the same in every run.
        scaled = [torch._foreach_mul(views["g"], factor) for views, _, _ in self.groups]  # pylint: disable=protected-access
        self.update(scaled, **how)
        for views, _, _ in self.groups:
            torch._foreach_copy_(views["copy"], views["w"])  # pylint: disable=protected-access
        self.norm.copy_(norm.view(1))


def fused(torch, problem):
    lists = Lists(torch, problem)
    return lambda: lists.update(fused=True)


def foreach(torch, problem):
    lists = Lists(torch, problem)
    return lambda: lists.update(foreach=True, capturable=lists.groups[0][1].is_cuda)


def compiled(torch, problem):
    lists = Lists(torch, problem)
    if not lists.groups[0][1].is_cuda:
        raise Skip("needs a GPU")
    return torch.compile(lambda: lists.update(foreach=True, capturable=True))


def clipped(torch, problem):
    lists = Lists(torch, problem, 1e-3)
    return lambda: lists.step(fused=True)


def compiled_step(torch, problem):
    lists = Lists(torch, problem, 1e-3)
    if not lists.groups[0][1].is_cuda:
        raise Skip("needs a GPU")
    return torch.compile(lambda: lists.step(foreach=True, capturable=True))


CONTESTANTS = [("adam", "torch fused", fused), ("adam", "torch foreach", foreach), ("adam", "torch.compile", compiled),
               ("adam_step", "torch clip + fused", clipped), ("adam_step", "torch.compile", compiled_step)]
