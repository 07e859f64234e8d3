# SPDX-License-Identifier: MIT
"""RoPE in PyTorch, as Hugging Face's models have it, and Liger's in Triton.

Both take cosines and sines from a table, here the ladder's own in fp32, and so both are exact. A table in 16 bits, as models
have it where all is cast to a type, would be beyond the tolerance.
"""
from contestants import Skip

SHAPES = {ladder: [[1, 1, 1, 1, 2], [40, 33, 4, 2, 64], [100003, 5, 6, 3, 96]] for ladder in ("rope", "rope_interleaved", "rope_backward")}
SHAPES["rope_at"] = [[1, 1, 1, 8], [33, 4, 2, 64], [5, 6, 3, 96]]


def heads(problem):
    """(q, k), (cos, sin): of (seq, heads, dim), and of (seq, 1, dim / 2)."""
    q, k, _, _, cosines, sines = problem.inputs
    shape = problem.shape
    half = shape["dim"] // 2
    return ((q.view(shape["seq"], shape["heads"], 2 * half), k.view(shape["seq"], shape["kv_heads"], 2 * half)),
            (cosines.view(-1, 1, half), sines.view(-1, 1, half)))


def in_halves(torch, problem, sign=1):
    tensors, (cosines, sines) = heads(problem)
    cosines, sines = torch.cat((cosines, cosines), -1), sign * torch.cat((sines, sines), -1)

    def turned(x):
        a, b = x.chunk(2, -1)
        return (x * cosines + torch.cat((-b, a), -1) * sines).to(x.dtype)
    return lambda q, k: (turned(q), turned(k)), tensors


def at_positions(torch, problem):
    """Cosines and sines of the tokens are made before: a model makes them once for all of its layers."""
    positions, turns, q, k = problem.inputs
    shape = problem.shape
    angles = 2 * torch.pi * positions.double()[:, None] * turns.view(2, -1).double().sum(0)
    cosines, sines = (torch.cat((table, table), -1).float()[:, None] for table in (angles.cos(), angles.sin()))

    def turned(x):
        a, b = x.chunk(2, -1)
        return (x * cosines + torch.cat((-b, a), -1) * sines).to(x.dtype)
    return (lambda q, k: (turned(q), turned(k)),
            [tensor.view(shape["tokens"], shape[heads], shape["dim"]) for tensor, heads in ((q, "heads"), (k, "kv_heads"))])


def interleaved(torch, problem):
    tensors, (cosines, sines) = heads(problem)

    def turned(x):
        a, b = x[..., ::2], x[..., 1::2]
        return torch.stack((a * cosines - b * sines, a * sines + b * cosines), -1).flatten(-2).to(x.dtype)
    return lambda q, k: (turned(q), turned(k)), tensors


def eager(make, **options):
    def contestant(torch, problem):
        function, tensors = make(torch, problem, **options)
        return lambda: function(*tensors)
    return contestant


def compiled(make, **options):
    def contestant(torch, problem):
        function, tensors = make(torch, problem, **options)
        function = torch.compile(function)
        return lambda: function(*tensors)
    return contestant


def liger(name):
    """Liger turns q and k where they are. To be checked, they are the ladder's before each of the first two calls, and copied
    where the ladder expects them after it; when it is timed, it turns what it left there once more."""
    def contestant(torch, problem):
        from liger_kernel.ops import rope  # pylint: disable=import-outside-toplevel
        run = getattr(rope, name)
        given, tables = heads(problem)
        if given[0].shape[-1] % 2:
            raise Skip("an odd dim")
        # (1, seq, dim), of which it reads the first half; q and k as (1, heads, seq, dim), views of (seq, heads, dim).
        cosines, sines = (torch.cat((table, table), -1).view(1, table.shape[0], -1) for table in tables)
        mine = [tensor.clone() for tensor in given]
        q, k = (tensor.unsqueeze(0).transpose(1, 2) for tensor in mine)
        checks = 2

        def turn():
            nonlocal checks
            if checks:
                for tensor, fresh in zip(mine, given):
                    tensor.copy_(fresh)
            run(q, k, cosines, sines)
            if checks:
                checks -= 1
                for tensor, output in zip(mine, problem.outputs):
                    output.view(tensor.shape).copy_(tensor)
        return turn
    return contestant


CONTESTANTS = [("rope", "torch", eager(in_halves)), ("rope", "torch.compile", compiled(in_halves)),
               ("rope", "Liger", liger("rope_forward")),
               ("rope_interleaved", "torch", eager(interleaved)), ("rope_interleaved", "torch.compile", compiled(interleaved)),
               ("rope_backward", "torch", eager(in_halves, sign=-1)),
               ("rope_backward", "torch.compile", compiled(in_halves, sign=-1)),
               ("rope_backward", "Liger", liger("rope_backward")),
               ("rope_at", "torch", eager(at_positions)), ("rope_at", "torch.compile", compiled(at_positions))]
