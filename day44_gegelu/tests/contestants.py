# SPDX-License-Identifier: MIT
"""GeGLU, SwiGLU and Phi-3's GeGELU in PyTorch, and Liger's GeGLU and SwiGLU in Triton.

Liger takes gates and values as two matrices of their own. It gets two, made before it is timed: as many bytes as the ladder's
one matrix of halves, and no time for a split.
"""
import importlib

from contestants import Skip

LIMIT = 20.0  # the ladder's


def only_fp32(problem):
    if problem.type != "fp32":
        raise Skip(f"rounds to {problem.type} after each step: beyond the tolerance")


def halves(problem, tensor):
    """(gates, values), views of a matrix of halves."""
    return tensor.view(problem.shape["rows"], 2 * problem.shape["cols"]).chunk(2, -1)


def outputs(problem, tensor):
    return tensor.view(problem.shape["rows"], problem.shape["cols"])


# ---- Halves

def gelu(torch):
    """GeGLU's gate, and its gradient from that of the gate's function."""
    return (lambda gate: torch.nn.functional.gelu(gate, approximate="tanh"),
            lambda dy, gate: torch.ops.aten.gelu_backward(dy, gate, approximate="tanh"))


def silu(torch):
    return torch.nn.functional.silu, torch.ops.aten.silu_backward


def forward(gates):
    def make(torch, problem):
        gated, _ = gates(torch)
        return lambda gate, value: gated(gate) * value, halves(problem, problem.inputs[0])
    return make


def backward(gates):
    def make(torch, problem):
        gated, slope = gates(torch)
        x, dy = problem.inputs

        def function(gate, value, dy):
            return torch.cat((slope(dy * value, gate), dy * gated(gate)), -1)
        return function, (*halves(problem, x), outputs(problem, dy))
    return make


def eager(make, needs_fp32=False):
    def contestant(torch, problem):
        if needs_fp32:
            only_fp32(problem)
        function, inputs = make(torch, problem)
        return lambda: function(*inputs)
    return contestant


def compiled(make):
    def contestant(torch, problem):
        function, inputs = make(torch, problem)
        function = torch.compile(function)
        return lambda: function(*inputs)
    return contestant


def liger(module, name):
    def contestant(torch, problem):
        run = getattr(importlib.import_module(f"liger_kernel.ops.{module}"), name)
        gate, value = (half.contiguous() for half in halves(problem, problem.inputs[0]))
        return lambda: run(gate, value)[2]
    return contestant


def liger_backward(module, name):
    """Liger writes the gradients over gates and values. To be checked, they are the ladder's before each of the first two
    calls, and copied where the ladder expects them after it; when it is timed, it runs on what it left there."""
    def make(torch, problem):
        run = getattr(importlib.import_module(f"liger_kernel.ops.{module}"), name)
        x, dy = halves(problem, problem.inputs[0]), outputs(problem, problem.inputs[1])
        dx = halves(problem, problem.outputs[0])
        gate, value = (half.clone(memory_format=torch.contiguous_format) for half in x)
        checks = 2

        def contestant():
            nonlocal checks
            if checks:
                gate.copy_(x[0])
                value.copy_(x[1])
            run(gate, value, dy)
            if checks:
                checks -= 1
                dx[0].copy_(gate)
                dx[1].copy_(value)
        return contestant
    return make


# ---- Pairs

def held(torch, number, low):
    """Phi-3's clamp, which leaves infinities alone."""
    return torch.where(torch.isinf(number), number, number.clamp(min=low, max=LIMIT))


def gegelu(torch, problem):
    x = problem.inputs[0].view(problem.shape["rows"], 2 * problem.shape["cols"])

    def function(x):
        gate, value = held(torch, x[..., ::2], None), held(torch, x[..., 1::2], -LIMIT)
        return gate * torch.sigmoid(1.702 * gate) * (value + 1)
    return function, (x,)


def gegelu_backward(torch, problem):
    x, dy = problem.inputs
    x, dy = x.view(problem.shape["rows"], 2 * problem.shape["cols"]), outputs(problem, dy)

    def function(x, dy):
        gate, value = x[..., ::2], x[..., 1::2]
        g, v = held(torch, gate, None), held(torch, value, -LIMIT)
        s = torch.sigmoid(1.702 * g)
        by_gate = dy * (v + 1) * (s + 1.702 * g * s * (1 - s)) * ((gate <= LIMIT) | torch.isinf(gate))
        by_value = dy * g * s * ((value.abs() <= LIMIT) | torch.isinf(value))
        return torch.stack((by_gate, by_value), -1).view(x.shape)
    return function, (x, dy)


CONTESTANTS = [("gegelu", "torch", eager(gegelu, needs_fp32=True)), ("gegelu", "torch.compile", compiled(gegelu)),
               ("gegelu_backward", "torch", eager(gegelu_backward, needs_fp32=True)),
               ("gegelu_backward", "torch.compile", compiled(gegelu_backward))]
for ladder, its_gate in (("geglu", gelu), ("swiglu", silu)):
    CONTESTANTS += [(ladder, "torch", eager(forward(its_gate))), (ladder, "torch.compile", compiled(forward(its_gate))),
                    (ladder, "Liger", liger(ladder, f"{ladder}_forward")),
                    (f"{ladder}_backward", "torch", eager(backward(its_gate), needs_fp32=True)),
                    (f"{ladder}_backward", "torch.compile", compiled(backward(its_gate))),
                    (f"{ladder}_backward", "Liger", liger_backward(ladder, f"{ladder}_backward"))]
