# SPDX-License-Identifier: MIT
"""PyTorch's sigmoid, and what its compiler makes of it: a Triton kernel with tl.sigmoid, so that it has the digits of `plain`."""


def eager(torch, problem):
    x, = problem.inputs
    y, = problem.outputs
    return lambda: torch.sigmoid(x, out=y)


def compiled(torch, problem):
    x, = problem.inputs
    sigmoid = torch.compile(lambda x: torch.sigmoid(x))
    return lambda: sigmoid(x)


def as_fast(torch, problem):
    """As compiled(), beside rungs that have more digits."""
    return compiled(torch, problem)


def _fast_digits(made, problem):
    """What is wrong with it by the tolerance of sigmoid_fast; "" where nothing is."""
    x, = problem.inputs
    y, = made
    right = x.double().sigmoid()
    rounding = {"fp32": 0, "fp16": 2.0 ** -11, "bf16": 2.0 ** -8}[problem.type]
    least = 2.0 ** -25 if problem.type == "fp16" else 2.0 ** -126
    bad = int((~((y.double() - right).abs() <= (76 * 2.0 ** -24 + rounding) * right + least)).sum())
    return f"{bad} elements are wrong" if bad else ""


as_fast.check = _fast_digits
CONTESTANTS = [("sigmoid_fast", "torch", eager), ("sigmoid_fast", "torch.compile", compiled), ("sigmoid", "torch", eager),
               ("sigmoid", "torch.compile", as_fast)]
