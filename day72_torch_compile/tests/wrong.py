# SPDX-License-Identifier: MIT
"""Wrong programs of day 72: right and not one graph, compiled again and again, or wrong."""
import torch

from day72_torch_compile.ladder import LIMIT, block, layer, momentum
from python_days import must_reject

CALLS, RATES = {"count": 0}, [0.1 * 0.5 ** step for step in range(32)]


def gelu(x):
    return 0.5 * x * (1 + torch.tanh(0.7978845608 * (x + 0.044715 * x ** 3)))


def scaled(y):
    return y * torch.clamp(LIMIT / y.abs().amax(-1, keepdim=True), max=1.0)


@must_reject(block, "breaks is 1", by="counters")
def asks_a_tensor(x, gain, bias):
    y = gelu(x)
    if y.abs().max() > LIMIT:
        y = scaled(y)
    return x + y * gain + bias


@must_reject(block, "breaks is 1", by="counters")
def prints(x, gain, bias):
    y = scaled(gelu(x))
    print("block", y.shape)
    return x + y * gain + bias


@must_reject(block, "later is 3", by="counters")
def counts_its_calls(x, gain, bias):
    """A number of Python's that changes is a constant that changes."""
    CALLS["count"] += 1
    return x + scaled(gelu(x)) * gain + bias + 0.0 * CALLS["count"]


@must_reject(block, "elements are wrong")
def one_scale_for_all(x, gain, bias):
    y = gelu(x)
    return x + y * torch.clamp(LIMIT / y.abs().max(), max=1.0) * gain + bias


@must_reject(layer, "libraries is 2", by="counters")
def two_products(x, w):
    n = w.shape[1] // 3
    a, b = (x @ w[:, :2 * n]).chunk(2, dim=1)
    return torch.sigmoid(a) * b + x @ w[:, 2 * n:]


@must_reject(layer, "elements are wrong")
def halves_in_the_other_order(x, w):
    a, b, c = (x @ w).chunk(3, dim=1)
    return torch.sigmoid(b) * a + c


@must_reject(momentum, "later is 5", by="counters")
def rate_of_pythons(p, m, g, step, number):
    """In place, and each step is compiled all the same."""
    m.mul_(0.9).add_(g)
    p.sub_(RATES[number] * m)
    return p, m


@must_reject(momentum, "new is 1", by="counters")
def one_result_elsewhere(p, m, g, step, number):
    m.mul_(0.9).add_(g)
    return p - 0.1 * 0.5 ** step * m, m


@must_reject(momentum, "elements are wrong")
def momentum_of_before(p, m, g, step, number):
    p.sub_(0.1 * 0.5 ** step * m)
    m.mul_(0.9).add_(g)
    return p, m
