#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests the installed package gpudays (`pip install .`), with whatever days it was built of: each operator against PyTorch's own, in
values, gradients, opcheck and torch.compile; and what it says to whoever gives it something else. On a GPU the same, there.

    python3 tests/gpudays_test.py"""
import math
import threading
import unittest
from dataclasses import dataclass

import gpudays
import torch
import torch.nn.functional as F
from torch.library import opcheck

DEVICE = "cpu" if gpudays.backend == "simt" else "cuda"
HALVES = (torch.float32, torch.float16, torch.bfloat16)
FP32, BYTES, BITS16 = (torch.float32,), (torch.uint8,), (torch.float16, torch.bfloat16)
PIXELS = (torch.float32, torch.int32, torch.uint8, torch.bool)


def normal(*shape, dtype=torch.float32, seed=1):
    made = torch.randn(shape, generator=torch.Generator().manual_seed(seed))
    return (made if dtype.is_floating_point else 40 * made).to(dtype).to(DEVICE)


# ---- PyTorch's own ----

def gradient_of(function, *at):
    """dy, and the gradients of the inputs at these places: of what is given dy behind its first input."""
    def gradients(x, dy, *others):
        inputs = [one.detach().clone().requires_grad_() for one in (x, *others)]
        found = torch.autograd.grad(function(*inputs), inputs, dy)
        return found if not at else tuple(found[i] for i in at)
    return gradients


def gray(rgb):
    shares = torch.tensor([77, 150, 29], device=rgb.device)
    if rgb.dtype == torch.uint8:
        return ((rgb.int() * shares).sum(-1) + 128 >> 8).to(torch.uint8)
    return (rgb * shares).sum(-1) / 256


def windows(image, weights, kept=lambda sums: sums):
    """Sums of rows, and of columns of these, weighed, with the outermost pixels in place of what is beyond the border."""
    radius = weights.numel() // 2
    planes = F.pad(image.double().reshape(-1, 1, *image.shape[-2:]), [radius] * 4, mode="replicate")
    return F.conv2d(kept(F.conv2d(planes, weights.double().reshape(1, 1, 1, -1))), weights.double().reshape(1, 1, -1, 1)).reshape(image.shape)


def box(image, radius):
    area = (2 * radius + 1) ** 2
    return ((windows(image, torch.ones(2 * radius + 1, device=image.device)) + area // 2) // area).to(torch.uint8)


def gaussian(image, radius):
    """By weights in 4096ths, each the bell curve's area over a pixel; bytes keep 16ths between the two sums."""
    scale = 1 / ((0.3 * (radius - 1) + 0.8) * 2**0.5)
    areas = [round(2048 * math.erf((i + 0.5) * scale) / math.erf((radius + 0.5) * scale)) for i in range(radius + 1)]
    side = [one - other for one, other in zip(areas[1:], areas)]
    weights = torch.tensor([*reversed(side), 2 * areas[0], *side], dtype=torch.float64, device=image.device)
    if image.dtype == torch.uint8:
        return ((windows(image, weights, lambda sums: (sums + 128) // 256) + 32768) // 65536).to(torch.uint8)
    return windows(image, weights) / 4096**2


def layer_norm_backward(x, dy, gamma, mean, rstd):
    ours = (x - mean[..., None]) * rstd[..., None]
    steps = dy * gamma
    dx = rstd[..., None] * (steps - steps.mean(-1, keepdim=True) - ours * (steps * ours).mean(-1, keepdim=True))
    return dx, (dy * ours).flatten(0, -2).sum(0), dy.flatten(0, -2).sum(0)


def dyt_backward(x, dy, alpha, gamma):
    t = torch.tanh(alpha * x)
    steps = dy * gamma * (1 - t * t)
    columns = [(dy * t), dy]
    return steps * alpha, *(one.reshape(-1, one.shape[-1]).sum(0) for one in columns), (steps * x).sum().reshape(1)


def gray_scott(u, v, steps, feed=0.037, kill=0.06):
    def bend(x):
        return sum(x.roll(by, axis) for by in (1, -1) for axis in (0, 1)) - 4 * x
    for _ in range(steps):
        eaten = u * v * v
        u, v = u + 0.16 * bend(u) - eaten + feed * (1 - u), v + 0.08 * bend(v) + eaten - (feed + kill) * v
    return u, v


def attended(q, k, v, scale=None):
    return F.scaled_dot_product_attention(q, k, v, scale=scale)


def attended_causally(q, k, v, scale=None):
    mask = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool, device=q.device).tril(k.shape[2] - q.shape[2])
    return F.scaled_dot_product_attention(q, k, v, mask, scale=scale).nan_to_num()


def attended_backward(causal):
    def gradients(q, k, v, o, dout, lse, scale=None):
        group = q.shape[1] // k.shape[1]
        keys, values = (one.repeat_interleave(group, 1) for one in (k, v))
        scale = scale or q.shape[-1] ** -0.5
        scores = scale * q @ keys.mT
        weights = (scores - lse[..., None].to(scores.dtype)).exp()
        if causal:
            weights = weights.tril(k.shape[2] - q.shape[2])
        ds = weights * (dout @ values.mT - (dout * o).sum(-1, keepdim=True)) * scale
        summed = lambda one: one.unflatten(1, (-1, group)).sum(2)
        return ds @ keys, summed(ds.mT @ q), summed(weights.mT @ dout)
    return gradients


def looked_up(w, tokens):
    return F.embedding(tokens.long(), w)


def table_gradient(dy, tokens, vocab, padding=-1.0):
    return torch.ops.aten.embedding_dense_backward(dy, tokens.long(), vocab, int(padding), False)


def geglu(x):
    gate, value = x.chunk(2, -1)
    return F.gelu(gate, approximate="tanh") * value


def gegelu(x, limit=20.0):
    gate, value = x[..., 0::2].clamp(max=limit), x[..., 1::2].clamp(-limit, limit)
    return gate * torch.sigmoid(1.702 * gate) * (value + 1)


def rotated(*, backwards=False, neighbours=False):
    def rope(q, k, turns, context):
        angle = 2 * torch.pi * turns.double().sum(0) * torch.arange(context - len(q), context, device=q.device)[:, None]
        cos, sin = angle.cos()[:, None], angle.sin()[:, None] * (-1 if backwards else 1)

        def turned(x):
            one, other = (x[..., 0::2], x[..., 1::2]) if neighbours else x.chunk(2, -1)
            made = one * cos - other * sin, other * cos + one * sin
            return torch.stack(made, -1).flatten(-2) if neighbours else torch.cat(made, -1)
        return turned(q), turned(k)
    return rope


def stencil(x):
    line = torch.tensor([-1 / 560, 8 / 315, -1 / 5, 8 / 5, -205 / 72, 8 / 5, -1 / 5, 8 / 315, -1 / 560], dtype=x.dtype, device=x.device)
    cross = torch.zeros(9, 9, dtype=x.dtype, device=x.device)
    cross[4] += line
    cross[:, 4] += line
    return F.conv2d(x[None, None], cross[None, None], padding=4)[0, 0]


def summed(x, exclusive=0.0):
    total = x.reshape(-1).cumsum(0).reshape(x.shape)
    return total - x if exclusive else total


def summed_by_segments(x, head):
    flat, segment = x.reshape(-1), (head.reshape(-1) != 0).cumsum(0)
    return torch.cat([flat[:0], *(flat[segment == one].cumsum(0) for one in segment.unique())]).reshape(x.shape)


def kept(x, threshold):
    found = x[x > threshold]
    return found, torch.tensor([found.numel()], device=x.device)


@dataclass
class Case:
    """Of an operator: PyTorch's own, what it is given (a shape stands for a tensor of its type; anything else is given as it is, and a
    function is asked for it), its types, by how much its digits are fewer than its type's, whether it has a gradient, which of its
    inputs it changes."""
    reference: object
    given: list
    types: tuple = FP32
    digits: float = 1
    gradient: bool = True
    changes: tuple = ()

    def inputs(self, number, dtype=None):
        def one(what, seed):
            if isinstance(what, tuple):
                return normal(*what, dtype=dtype or self.types[0], seed=seed)
            return what(seed) if callable(what) else what
        return [one(what, seed) for seed, what in enumerate(self.given[number])]


def fp32(*shape):
    return lambda seed: normal(*shape, seed=seed)


def positive(*shape):
    return lambda seed: normal(*shape, seed=seed).abs() + 0.5


def turns(dim):
    return lambda seed: gpudays.rope_turns(dim, device=DEVICE)


def keys(n):
    return lambda seed: torch.randint(0, 2**32, (n,), generator=torch.Generator().manual_seed(n)).to(torch.uint32).to(DEVICE)


def words(vocab, *shape):
    return lambda seed: torch.randint(0, vocab, shape, generator=torch.Generator().manual_seed(vocab)).to(torch.int32).to(DEVICE)


def heads(*shape):
    return lambda seed: (torch.rand(shape, generator=torch.Generator().manual_seed(5)) < 0.1).to(torch.uint8).to(DEVICE)


# The numbers of elements are around vectors, warps and blocks; the first shape that has no element, or one alone, is among them.
VECTORS = [[(1,)] * 2, [(1001,)] * 2, [(3, 1, 129)] * 2, [(0, 4)] * 2, [()] * 2]
VECTOR = [shapes[:1] for shapes in VECTORS]
ROWS = [(1,), (5,), (3, 7), (2, 3, 33), (4, 1025), (2, 9001), (0, 4)]
PRODUCTS = [[(1, 1), (1, 1)], [(33, 5), (5, 17)], [(8, 32), (32, 31)], [(0, 4), (4, 3)]]
ALIGNED_PRODUCTS = [[(8, 8), (8, 8)], [(72, 16), (16, 136)], [(16, 40), (40, 8)], [(0, 8), (8, 16)]]
NORMS = [[(3, 7), (7,), (7,)], [(5, 33), (33,), (33,)], [(2, 3, 130), (130,), (130,), 0.5], [(2, 9000), (9000,), (9000,)], [(0, 4), (4,), (4,)]]
HEADS = [[(1, 2, 3, 64), (1, 2, 5, 64), (1, 2, 5, 64)], [(2, 1, 17, 64), (2, 1, 33, 64), (2, 1, 33, 64), 0.25],
         [(1, 1, 9, 128), (1, 1, 6, 128), (1, 1, 6, 128)]]
BACKWARDS = [[(b, h, q, d), (b, g, k, d), (b, g, k, d), (b, h, q, d), (b, h, q, d), positive(b, h, q)]
             for b, h, g, q, k, d in ((1, 2, 1, 3, 5, 64), (2, 2, 2, 17, 33, 64), (1, 4, 2, 9, 9, 128))]
ROPES = [[(1, 1, 16), (1, 1, 16), turns(16), 1], [(5, 4, 16), (5, 2, 16), turns(16), 5], [(3, 2, 64), (3, 1, 64), turns(64), 100_000]]
PICTURES = [[(1, 1)], [(31, 33)], [(64, 40)], [(0, 3)]]
SQUARES = [[(1, 1)], [(31, 31)], [(64, 64)], [(0, 0)]]
OPERATORS = {
    "vector_add": Case(torch.add, VECTORS),
    "grayscale": Case(gray, [[(1, 1, 3)], [(7, 9, 3)], [(32, 32, 3)], [(0, 5, 3)]], (torch.uint8, torch.float32), gradient=False),
    "box_blur": Case(box, [[(1, 1), 1], [(37, 31), 4], [(3, 9, 129), 2], [(2, 0, 7, 5), 1]], BYTES, gradient=False),
    "gaussian_blur": Case(gaussian, [[(1, 1), 1], [(37, 31), 4], [(3, 9, 129), 2], [(2, 0, 7, 5), 1]], (torch.uint8, torch.float32), gradient=False),
    "matmul": Case(torch.matmul, PRODUCTS),
    "matmul_coalesced": Case(torch.matmul, PRODUCTS),
    "gelu": Case(F.gelu, VECTOR, HALVES, gradient=False),
    "gelu_tanh": Case(lambda x: F.gelu(x, approximate="tanh"), VECTOR, HALVES, gradient=False),
    "gelu_fast": Case(lambda x: F.gelu(x, approximate="tanh"), VECTOR, HALVES, digits=1000, gradient=False),
    "sigmoid": Case(torch.sigmoid, VECTOR, HALVES),
    "sigmoid_fast": Case(torch.sigmoid, VECTOR, HALVES),
    "sigmoid_tanh": Case(torch.sigmoid, VECTOR, HALVES, digits=300),
    "sigmoid_backward": Case(lambda y, dy: y * (1 - y) * dy, VECTORS, HALVES, gradient=False),
    "tanh": Case(torch.tanh, VECTOR, gradient=False),
    "tanh_matmul": Case(lambda a, b: torch.tanh(a @ b), PRODUCTS, gradient=False),
    "tanh_layer": Case(lambda a, b, bias, residual: torch.tanh(a @ b + bias) + residual,
                       [[a, b, b[1:], (a[0], b[1])] for a, b in PRODUCTS], gradient=False),
    "matmul_tiled": Case(torch.matmul, PRODUCTS),
    "layer_norm": Case(lambda x, gamma, beta, eps=1e-5: F.layer_norm(x, x.shape[-1:], gamma, beta, eps), NORMS, HALVES, digits=4),
    "layer_norm_backward": Case(layer_norm_backward, [[x, x, cols, fp32(*x[:-1]), positive(*x[:-1])] for x, cols, *_ in NORMS[:4]],
                                HALVES, digits=30, gradient=False),
    "transpose": Case(lambda x: x.t(), PICTURES, (torch.float32, torch.float16, torch.bfloat16, torch.uint8, torch.int32, torch.bool)),
    "softmax": Case(lambda x: x.softmax(-1), [[shape] for shape in ROWS], HALVES),
    "softmax_backward": Case(lambda y, dy: y * (dy - (y * dy).sum(-1, keepdim=True)), [[shape] * 2 for shape in ROWS], HALVES, digits=20,
                             gradient=False),
    "l2_normalize": Case(lambda x, eps=1e-12: F.normalize(x, dim=-1, eps=eps), [[shape] for shape in ROWS] + [[(3, 7), 0.5]], HALVES, digits=4),
    "l2_normalize_backward": Case(lambda y, dy, norm, eps=1e-12: (dy - y * (y * dy).sum(-1, keepdim=True)) / norm[..., None],
                                  [[shape, shape, positive(*shape[:-1])] for shape in ROWS[2:]], HALVES, digits=30, gradient=False),
    "l1_norm_step": Case(lambda x, dnorm: (x.abs().sum(-1), dnorm[..., None] * x.sign()), [[shape, fp32(*shape[:-1])] for shape in ROWS[2:]], HALVES,
                         digits=4, gradient=False),
    "gelu_backward": Case(gradient_of(F.gelu), VECTORS, HALVES, digits=2, gradient=False),
    "gelu_step": Case(lambda x, dy: (F.gelu(x), *gradient_of(F.gelu)(x, dy)), VECTORS, HALVES, digits=2, gradient=False),
    "gray_scott": Case(gray_scott, [[fp32(1, 1), fp32(1, 1), 1], [positive(7, 9), fp32(7, 9), 3, 0.03], [fp32(40, 67), fp32(40, 67), 2, 0.03, 0.05]],
                       digits=10, gradient=False),
    "paint": Case(lambda values, low, high: ((values - low) * (255 / (high - low))).clamp(0, 255).to(torch.uint8),
                  [[one, -1.0, 2.0] for one, in VECTOR], gradient=False),
    "dyt": Case(lambda x, alpha, gamma, beta: gamma * torch.tanh(alpha * x) + beta,
                [[x, fp32(1), x[-1:], x[-1:]] for x in ROWS], HALVES, digits=2),
    "dyt_backward": Case(dyt_backward, [[x, x, fp32(1), x[-1:]] for x in ROWS], HALVES, digits=20, gradient=False),
    "matmul_nt": Case(lambda a, b: a @ b.t(), [[a, b[::-1]] for a, b in PRODUCTS]),
    "matmul_tn": Case(lambda a, b: a.t() @ b, [[a[::-1], b] for a, b in PRODUCTS]),
    "matmul_coarsened": Case(torch.matmul, PRODUCTS),
    "scaled_columns": Case(lambda x: ((x / x.abs().amax(0)).t(), x.abs().amax(0)), [[(1, 1)], [(33, 5)], [(257, 67)]], gradient=False),
    "swish": Case(lambda x, beta: x * torch.sigmoid(beta * x), [[one, fp32(1)] for one, in VECTOR[:4]], HALVES, digits=2),
    "swish_backward": Case(gradient_of(lambda x, beta: x * torch.sigmoid(beta * x)), [[*two, fp32(1)] for two in VECTORS[:4]], HALVES, digits=100,
                           gradient=False),
    "swap": Case(lambda a, b: (b, a), VECTORS, PIXELS, gradient=False, changes=(0, 1)),
    "reverse": Case(lambda x: x.flip(0), [[(1,)], [(1001,)], [(32,)], [(0,)]], PIXELS, gradient=False, changes=(0,)),
    "attention": Case(attended, HEADS, HALVES, digits=4, gradient=False),
    "causal_attention": Case(attended_causally, HEADS, HALVES, digits=4, gradient=False),
    "attention_backward": Case(attended_backward(False), BACKWARDS, HALVES, digits=30, gradient=False),
    "causal_attention_backward": Case(attended_backward(True), BACKWARDS, HALVES, digits=30, gradient=False),
    "geglu": Case(geglu, [[(2,)], [(3, 14)], [(2, 3, 66)], [(4, 2050)], [(0, 4)]], HALVES, digits=2),
    "geglu_backward": Case(gradient_of(geglu), [[(2,), (1,)], [(3, 14), (3, 7)], [(2, 3, 66), (2, 3, 33)]], HALVES, digits=4, gradient=False),
    "gegelu": Case(gegelu, [[(2,)], [(3, 14), 0.5], [(2, 3, 66)], [(4, 2050), 1], [(0, 4)]], HALVES, digits=2),
    "gegelu_backward": Case(lambda x, dy, limit=20: gradient_of(lambda x: gegelu(x, limit))(x, dy),
                            [[(2,), (1,)], [(3, 14), (3, 7), 0.5], [(2, 3, 66), (2, 3, 33)]], HALVES, digits=4, gradient=False),
    "rope": Case(rotated(), ROPES, HALVES, digits=2),
    "rope_interleaved": Case(rotated(neighbours=True), ROPES, HALVES, digits=2, gradient=False),
    "rope_backward": Case(rotated(backwards=True), ROPES, HALVES, digits=2, gradient=False),
    "rotate_quarter": Case(torch.rot90, PICTURES, PIXELS, gradient=False),
    "rotate_half": Case(lambda x: torch.rot90(x, 2), PICTURES, PIXELS, gradient=False),
    "rotate_in_place": Case(torch.rot90, SQUARES, PIXELS, gradient=False, changes=(0,)),
    "histogram": Case(lambda keys: keys.flatten().bincount(minlength=256), [[(1,)], [(3, 1001)], [(5000,)]], BYTES, gradient=False),
    "compaction": Case(kept, [[(1,), 0.0], [(1001,), 0.25], [(4097,), -1.0]], gradient=False),
    "radix_sort": Case(lambda x: x.long().sort().values, [[keys(1)], [keys(1000)], [keys(8000)]], (torch.uint32,), gradient=False),
    "top_k": Case(lambda x, k: tuple(x.topk(k)), [[(1,), 1], [(5, 33), 4], [(2, 2, 1000), 17]], (torch.float32, torch.bfloat16), gradient=False),
    "scan": Case(summed, VECTOR + [[(3, 1, 129), 1.0]], HALVES, digits=30, gradient=False),
    "segmented_scan": Case(summed_by_segments, [[one, heads(*one)] for one, in VECTOR], HALVES, digits=30, gradient=False),
    "stencil": Case(stencil, [[(1, 1)], [(31, 33)], [(40, 256)]], gradient=False),
    "matmul_hopper": Case(torch.matmul, ALIGNED_PRODUCTS, BITS16, digits=2),
    "matmul_hopper_fp32": Case(torch.matmul, ALIGNED_PRODUCTS, digits=4),
    "matmul_half": Case(torch.matmul, PRODUCTS, BITS16, digits=2),
    "matmul_tf32": Case(torch.matmul, PRODUCTS, digits=2000),
    "matmul_fp32": Case(torch.matmul, PRODUCTS, digits=4),
    "embedding": Case(looked_up, [[(1, 1), words(1, 1)], [(7, 3), words(7, 5)], [(100, 64), words(100, 4, 33)], [(50, 65), words(50, 0)]], HALVES),
    "embedding_backward": Case(table_gradient, [[(1, 1), words(1, 1), 1], [(5, 3), words(7, 5), 7], [(4, 33, 64), words(100, 4, 33), 100, 3.0]],
                               HALVES, digits=4, gradient=False),
    "linear_relu": Case(lambda a, b, bias: torch.relu(a @ b + bias), [[a, b, b[1:]] for a, b in PRODUCTS], BITS16, digits=2, gradient=False),
}
NAMES = list(gpudays.operators())
TESTED = [name for name in NAMES if name in OPERATORS]
DIFFERENTIABLE = [name for name in TESTED if OPERATORS[name].gradient]


def tensors(made):
    return made if isinstance(made, tuple) else (made,)


def called(name, inputs):
    """What the operator gives, and what it changes."""
    made = getattr(gpudays, name)(*inputs)
    return tensors(made) if made is not None else tuple(inputs[i] for i in OPERATORS[name].changes)


def expected(name, inputs):
    """The same of PyTorch's own, in double."""
    def wide(one):
        one = one.clone() if isinstance(one, torch.Tensor) else one
        return one.double() if isinstance(one, torch.Tensor) and one.is_floating_point() else one
    return tensors(OPERATORS[name].reference(*map(wide, inputs)))


class Operators(unittest.TestCase):
    def close(self, made, wanted, name):
        digits = {torch.float32: 3e-6, torch.float16: 2e-3, torch.bfloat16: 2e-2}.get(made.dtype, 0) * OPERATORS[name].digits
        if made.dtype.is_floating_point:
            torch.testing.assert_close(made, wanted.to(made.dtype), rtol=min(digits, 0.03), atol=min(digits, 0.03), msg=lambda text: f"{name}: {text}")
        else:
            self.assertTrue(torch.equal(made.long(), wanted.long()), f"{name}: {made} is not {wanted}")

    def alike(self, name, inputs):
        wanted, made = expected(name, inputs), called(name, inputs)
        if name == "compaction":  # behind which there are zeros
            made = made[0][:int(made[1].long())], made[1]
        if name == "top_k":  # of equal elements it may take others
            made, wanted = (made[0], inputs[0].gather(-1, made[1].long())), (wanted[0], wanted[0])
        self.assertEqual(len(made), len(wanted), name)
        for one, other in zip(made, wanted):
            self.assertEqual((one.shape, one.device), (other.shape, inputs[0].device), name)
            self.close(one, other, name)

    def test_there_are_operators_and_each_is_tested(self):
        self.assertTrue(NAMES)
        self.assertEqual([name for name in NAMES if name not in OPERATORS], [])

    def test_results(self):
        for name in TESTED:
            case = OPERATORS[name]
            for number, dtype in ((number, dtype) for number in range(len(case.given)) for dtype in case.types):
                with self.subTest(name, number=number, dtype=dtype):
                    self.alike(name, case.inputs(number, dtype))

    def test_memory_that_begins_between_two_vectors(self):
        for name in set(NAMES) & {"vector_add", "sigmoid", "softmax", "gelu", "layer_norm", "grayscale", "transpose", "reverse", "gegelu", "top_k"}:
            for dtype in OPERATORS[name].types:
                whole = OPERATORS[name].inputs(1, dtype)
                inputs = [torch.cat((one.flatten()[:1], one.flatten()))[1:].view(one.shape) if isinstance(one, torch.Tensor) else one for one in whole]
                with self.subTest(name, dtype=dtype):
                    self.alike(name, inputs)

    def test_gradients(self):
        for name in DIFFERENTIABLE:
            found = []
            for function, wide in ((getattr(gpudays, name), False), (OPERATORS[name].reference, True)):
                inputs = self.leaves(name)
                if wide:
                    inputs = [one.detach().double().requires_grad_(one.requires_grad) if isinstance(one, torch.Tensor) else one for one in inputs]
                loss = sum((one * normal(*one.shape)).sum() for one in tensors(function(*inputs)))
                loss.backward()
                found.append([one.grad for one in inputs if isinstance(one, torch.Tensor) and one.requires_grad])
            with self.subTest(name):
                self.assertTrue(found[0])
                for mine, theirs in zip(*found):
                    digits = min((1e-5 if mine.dtype == torch.float32 else 4e-3) * OPERATORS[name].digits, 0.03)
                    torch.testing.assert_close(mine, theirs.to(mine.dtype), rtol=digits, atol=digits)

    def test_a_gradient_whose_strides_are_0(self):
        for name in DIFFERENTIABLE:
            inputs = self.leaves(name)
            tensors(getattr(gpudays, name)(*inputs))[0].sum().backward()
            self.assertTrue(any(one.grad is not None for one in inputs if isinstance(one, torch.Tensor)), name)

    def leaves(self, name, number=1):
        """Inputs that want a gradient where the operator has one; rope's turns are a table, and want none."""
        made = OPERATORS[name].inputs(number)
        return [one.requires_grad_() if isinstance(one, torch.Tensor) and OPERATORS[name].gradient and one.is_floating_point()
                and not (name == "rope" and i == 2) else one for i, one in enumerate(made)]

    def test_opcheck(self):
        for name in TESTED:
            for number in range(min(3, len(OPERATORS[name].given))):
                with self.subTest(name, number=number):
                    said = opcheck(getattr(torch.ops.gpudays, name).default, self.all_given(name, number), raise_exception=False)
                    self.assertEqual(set(said.values()), {"SUCCESS"}, f"{name}: {said}")
                    self.assertEqual(len(said), 4)

    def all_given(self, name, number):
        """What torch.ops takes, where a number that is not an extent is a float, and NaN the ladder's own."""
        schema = getattr(torch.ops.gpudays, name).default._schema.arguments
        made = self.leaves(name, number)
        made += [math.nan for argument in schema[len(made):] if not argument.has_default_value()]
        return [float(one) if isinstance(one, int) and "float" in str(argument.type) else one for one, argument in zip(made, schema)]

    def test_in_a_whole_graph(self):
        for name in TESTED:
            case = OPERATORS[name]
            if case.changes or not case.types[0].is_floating_point or name in ("compaction", "radix_sort"):
                continue
            body = lambda *given, name=name: tensors(getattr(gpudays, name)(*(one * 1 if isinstance(one, torch.Tensor) else one for one in given)))[0] * 3
            compiled = torch.compile(body, fullgraph=True, dynamic=True, backend="inductor" if name == "vector_add" else "aot_eager")
            torch._dynamo.reset()
            with self.subTest(name):
                for number in (1, 2) if len(case.given) > 2 else (0, 1):  # of another size the second time
                    whole, eager = self.leaves(name, number), self.leaves(name, number)
                    made, wanted = compiled(*whole), body(*eager)
                    self.assertTrue(torch.equal(made, wanted))
                    if case.gradient:
                        made.sum().backward()
                        wanted.sum().backward()
                        for mine, theirs in zip(whole, eager):
                            if isinstance(mine, torch.Tensor) and mine.requires_grad:
                                self.assertTrue(torch.equal(mine.grad, theirs.grad))

    @unittest.skipIf(DEVICE == "cpu", "streams are a GPU's")
    def test_on_the_current_stream(self):
        """A launch on another stream would be done before its inputs are written."""
        for name in TESTED:
            inputs = OPERATORS[name].inputs(1)
            wanted = [one.clone() for one in called(name, [one.clone() if isinstance(one, torch.Tensor) else one for one in inputs])]
            torch.cuda.synchronize()
            with self.subTest(name), torch.cuda.stream(torch.cuda.Stream()):
                late = [torch.zeros_like(one) if isinstance(one, torch.Tensor) else one for one in inputs]
                torch.cuda._sleep(20_000_000)
                for one, values in zip(late, inputs):
                    if isinstance(one, torch.Tensor):
                        one.copy_(values)
                made = [one.clone() for one in called(name, late)]
                for one in late:
                    if isinstance(one, torch.Tensor):
                        one.zero_()  # behind it, too
                for one, other in zip(made, wanted):
                    torch.testing.assert_close(*(value if value.is_floating_point() else value.long() for value in (one, other)))

    @unittest.skipIf(DEVICE == "cpu", "graphs are a GPU's")
    def test_in_a_graph_of_cuda(self):
        name = next((name for name in ("vector_add", "matmul", "tanh") if name in NAMES), None)
        if name is None:
            self.skipTest("the package was built without vector_add, matmul and tanh")
        inputs, graph = OPERATORS[name].inputs(1), torch.cuda.CUDAGraph()
        getattr(gpudays, name)(*inputs)
        with torch.cuda.graph(graph):
            made = getattr(gpudays, name)(*inputs)
        for one in inputs:
            one.mul_(2)
        graph.replay()
        for one, other in zip(tensors(made), expected(name, inputs)):
            self.close(one, other, name)

    def test_from_several_threads(self):
        results, name = [], NAMES[0]
        inputs = OPERATORS[name].inputs(1)

        def work():
            for _ in range(20):
                results.append(all(torch.equal(one, other) for one, other in zip(called(name, inputs), first)))
        first = called(name, inputs)
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(results, [True] * 80)


class Refusals(unittest.TestCase):
    """One sentence each, that names the operator and the tensor."""

    def refused(self, says, name, *given, **named):
        if name not in NAMES:  # of a day that the package was built without
            return
        with self.assertRaises((RuntimeError, TypeError)) as raised:
            getattr(gpudays, name)(*given, **named)
        text = str(raised.exception)
        self.assertIn(says, text)
        self.assertEqual(len(text.splitlines()), 1, text)
        self.assertTrue(text.startswith(f"gpudays.{name}"), text)

    def test_the_type(self):
        self.refused("a is int64, and it takes float32", "vector_add", normal(4).long(), normal(4).long())
        self.refused("x is another type, and it takes float32, float16, bfloat16", "softmax", normal(4).to(torch.complex64))
        self.refused("dy is float16, and y is float32", "softmax_backward", normal(4), normal(4).half())
        self.refused("b's dtype is torch.float16, and a's is torch.float32", "vector_add", normal(4).to("meta"), normal(4).half().to("meta"))

    def test_what_is_no_tensor(self):
        self.refused("b is a list, and it takes a tensor", "vector_add", normal(1), [1.0])
        self.refused("takes 2 tensors, a, b, and was given 1: no b", "vector_add", normal(1))
        self.refused("takes 2 tensors, a, b, and was given a twice", "vector_add", normal(1), a=normal(1))
        self.refused("a is sparse, and it takes a dense tensor", "vector_add", normal(4).to_sparse(), normal(4))

    def test_the_device(self):
        self.refused("b's device is meta, and a's is", "vector_add", normal(4), normal(4).to("meta"))
        if DEVICE == "cuda":
            self.refused("a is on the CPU, and gpudays was built for the GPU: a.cuda()", "vector_add", torch.ones(4), torch.ones(4))

    def test_the_shape(self):
        self.refused("b is 5, and n is 4 in a", "vector_add", normal(4), normal(5))
        self.refused("b is 4, and n is 2 x 2 in a", "vector_add", normal(2, 2), normal(4))
        self.refused("b is 3 x 4, and k is 4 in a", "matmul", normal(3, 4), normal(3, 4))
        self.refused("a is 3, and it takes a[m, k]", "matmul", normal(3), normal(3, 4))
        self.refused("x is a single number, and it takes x[rows*, cols]", "softmax", normal())
        self.refused("k is 0: there is nothing to compute the result from", "matmul", normal(3, 0), normal(0, 4))

    def test_the_strides(self):
        self.refused("a is not contiguous: its strides are 2. a.contiguous() copies it", "vector_add", normal(8)[::2], normal(4))
        self.refused("x is not contiguous: its strides are 1, 3", "softmax", normal(4, 3).t())

    def test_a_gradient_where_there_is_no_backward(self):
        for name in TESTED:
            case = OPERATORS[name]
            floats = [dtype for dtype in case.types if dtype.is_floating_point]
            if case.gradient or not floats:
                continue
            inputs = case.inputs(1, floats[0])
            wanting = [one.requires_grad_() if isinstance(one, torch.Tensor) and one.dtype == floats[0] else one for one in inputs]
            with self.subTest(name):
                self.refused("has no backward: call it under torch.no_grad()", name, *wanting)
                with torch.no_grad():
                    getattr(gpudays, name)(*wanting)

    def test_numbers(self):
        self.refused("radius is 0, and it is at least 1", "box_blur", normal(4, 4, dtype=torch.uint8), 0)
        self.refused("radius is a float, and it takes a whole number", "box_blur", normal(4, 4, dtype=torch.uint8), 1.5)
        self.refused("takes 2 arguments, image, radius, and was given 1", "box_blur", normal(4, 4, dtype=torch.uint8))
        self.refused("takes 2 arguments, x, k, and was given kk=, which it does not know", "top_k", normal(4), kk=3)
        self.refused("k", "top_k", normal(4), 5)
        self.refused("eps is a str, and it takes a number", "layer_norm", normal(4), normal(4), normal(4), "small")
        self.refused("takes 3 to 4 arguments, x, gamma, beta, eps=1e-05, and was given 1", "layer_norm", normal(4))

    def test_dim_as_pytorch_has_it(self):
        if "softmax" in NAMES:
            x = normal(3, 7)
            for dim in (-1, 1):
                self.assertTrue(torch.equal(gpudays.softmax(x, dim=dim), gpudays.softmax(x)))
        self.refused("works along the last dimension, and dim=0 of 2 is another", "softmax", normal(3, 7), dim=0)
        self.refused("was given dim=, which it does not know", "vector_add", normal(3), normal(3), dim=-1)

    def test_numbers_by_name(self):
        if "layer_norm" in NAMES:
            x, gamma, beta = normal(3, 7), normal(7), normal(7)
            wanted = F.layer_norm(x, (7,), gamma, beta, 0.5)
            torch.testing.assert_close(gpudays.layer_norm(x, gamma, beta, eps=0.5), wanted)
            torch.testing.assert_close(gpudays.layer_norm(x, beta=beta, gamma=gamma, eps=0.5), wanted)
            self.assertFalse(torch.allclose(gpudays.layer_norm(x, gamma, beta), wanted))  # and they are gone at the next call
        if "attention" in NAMES:
            given = OPERATORS["attention"].inputs(0)
            self.assertTrue(torch.equal(gpudays.attention(*given), gpudays.attention(*given, scale=None)))

    def test_shapes_that_others_follow_from(self):
        self.refused("x is 3, and it takes x[rows*, 2*cols]", "geglu", normal(3))
        self.refused("rgb is 4 x 4 x 4, and it takes rgb[height, width, 3]", "grayscale", normal(4, 4, 4))
        self.refused("turns is 2 x 8, and dim is 8", "rope", normal(2, 1, 8), normal(2, 1, 8), normal(2, 8), 2)
        self.refused("a square, as rows become columns", "rotate_in_place", normal(2, 3))
        self.refused("gamma is float16, and x is float32", "layer_norm", normal(2, 4), normal(4).half(), normal(4))
        self.refused("alpha is float16, and it takes float32", "dyt", normal(2, 4), normal(1).half(), normal(4), normal(4))


if __name__ == "__main__":
    unittest.main()
