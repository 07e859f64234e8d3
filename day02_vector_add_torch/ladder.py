# SPDX-License-Identifier: MIT
"""The day's ladder: the same kernel in each rung, and what PyTorch can do with it counted."""
import numpy as np

from python_days import Counter, Exercise, Ladder, exact

# Values at which an addition does something out of the ordinary; the partner stays while these go round once, so that all meet.
SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, 1e-45, 3.4e38, -3.4e38, np.inf, -np.inf, np.nan, 2.0 ** -23])


def vectors(make, n):
    return [make.normal(n), make.normal(n)], [make.output(n)]


def special_vectors(make, n):
    return [make.fill(SPECIAL, n), make.fill(np.repeat(SPECIAL, SPECIAL.size), n)], [make.output(n)]


def misaligned_vectors(make, n):
    return [make.shifted(make.normal(n)), make.normal(n)], [make.output(n)]


def two_types(make, n):
    return [make.normal(n), make.normal(n, kind="fp64")], [make.output(n)]


def two_lengths(make, n):
    return [make.normal(n), make.normal(n + 2)], [make.output(n)]


def measure(launch, inputs, _):
    """What PyTorch can do with a rung, of launch() alone."""
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    a, b = inputs

    class Ops(TorchDispatchMode):
        """The operators that are none of PyTorch's own."""
        seen = []

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            if func.namespace not in ("aten", "prim", "prims"):
                self.seen.append(func)
            return func(*args, **(kwargs or {}))

    with Ops() as ops:
        launch(a, b)
    return {"opcheck": _opcheck(torch, set(ops.seen), a, b), "breaks": _breaks(torch, launch, a, b),
            "gradients": _gradients(torch, launch, a, b), "refused": _refused(torch, launch, a.device)}


def _opcheck(torch, ops, a, b):
    """How many of opcheck's four tests fail; all where there is no operator."""
    if len(ops) != 1:
        return 4
    said = torch.library.opcheck(next(iter(ops)), (a.clone().requires_grad_(), b.clone()), raise_exception=False)
    return sum(verdict != "SUCCESS" for verdict in said.values())


def _breaks(torch, launch, a, b):
    """1 where torch.compile can't have the rung in one graph with its neighbours."""
    torch._dynamo.reset()
    try:
        made = torch.compile(lambda a, b: launch(2 * a, b) * 3, fullgraph=True, backend="eager")(a, b)
    except Exception:  # whatever hinders it
        return 1
    return 0 if torch.equal(made, (2 * a + b) * 3) else 1


def _gradients(torch, launch, a, b):
    """How many inputs have no gradient, or a wrong one."""
    weights, given = torch.arange(1.0, a.numel() + 1, device=a.device), [a.clone().requires_grad_(), b.clone().requires_grad_()]
    try:
        (launch(*given) * weights).sum().backward()
    except RuntimeError:  # no gradient at all, or the wrong number of them
        return 2
    missing = sum(one.grad is None or not torch.equal(one.grad, weights) for one in given)
    # The same by differences. A sum is linear, so a step of 1 is small enough; fp32 has no digits for the usual one.
    few = [one.detach()[:5].clone().requires_grad_() for one in given]
    return missing or 2 * (not torch.autograd.gradcheck(launch, few, eps=1.0, atol=1e-3, raise_exception=False))


def _refused(torch, launch, device):
    """How many of five pairs it refuses that torch.add takes. A wrong sum is worse, and counts as all of them."""
    matrix = torch.arange(12.0, device=device).reshape(3, 4)  # here: moving a view to a device would close its gaps
    others = [torch.ones(shape, device=device) for shape in ((4,), (3, 1), (), (3, 2), (4, 3))]
    count = 0
    for a, b in zip((matrix, matrix, matrix, matrix[:, ::2], matrix.t()), others):
        try:
            c = launch(a, b)
        except (RuntimeError, ValueError):
            count += 1
        else:
            count += 0 if torch.equal(c, a + b) else len(others)
    return count


vector_add = Ladder(
    "vector_add", ("n",),
    rungs=("pointer", "op", "fake", "autograd", "broadcast"),
    by="torch",
    problem=vectors,
    hostile={"special values": special_vectors, "misaligned a": misaligned_vectors},
    refused={"an fp32 and an fp64 vector": two_types, "a longer b": two_lengths},
    reference=lambda a, b: a + b,
    tolerance=exact,
    # None, one, around four (a float4) and 1,024 (a block's), a prime.
    shapes=((0,), (1,), (3,), (4,), (5,), (1023,), (1024,), (1025,), (4099,)),
    show=(4099,),
    bench=((1 << 28,), (1_000_003,), (1024,)),
    sweep=((1 << 10,), (1 << 14,), (1 << 18,), (1_000_003,), (1 << 22,), (1 << 24,), ((1 << 26) + 5,), (1 << 28,)),
    counters=(Counter("opcheck", "opcheck fails"), Counter("breaks", "graph breaks"), Counter("gradients", "no gradient"),
              Counter("refused", "refused")),
    measure=measure,
    counts={"pointer": {"opcheck": 4, "breaks": 1, "gradients": 2, "refused": 5},
            "op": {"opcheck": 2, "breaks": 1, "gradients": 2, "refused": 5},
            "fake": {"opcheck": 0, "breaks": 0, "gradients": 2, "refused": 5},
            "autograd": {"opcheck": 0, "breaks": 0, "gradients": 0, "refused": 5},
            "broadcast": {"opcheck": 0, "breaks": 0, "gradients": 0, "refused": 0}},
    exercise=Exercise("an operator that torch.compile and autograd understand", starts="op", solution="autograd",
                      gates={"opcheck": 0, "breaks": 0, "gradients": 0}),
    lesson="an operator is its kernel and what PyTorch is told of it: schema, shapes, gradient.",
)
