# SPDX-License-Identifier: MIT
"""GeGLU and Phi-3's GeGELU in PyTorch, and Liger's GeGLU in Triton.

Liger takes gates and values as two matrices of their own. It gets two, made before it is timed: as many bytes as the ladder's
one matrix of halves, and no time for a split.
"""
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

def geglu(torch, problem):
    def function(gate, value):
        return torch.nn.functional.gelu(gate, approximate="tanh") * value
    return function, halves(problem, problem.inputs[0])


def eager(torch, problem):
    function, inputs = geglu(torch, problem)
    return lambda: function(*inputs)


def compiled(torch, problem):
    function, inputs = geglu(torch, problem)
    function = torch.compile(function)
    return lambda: function(*inputs)


def liger(torch, problem):
    from liger_kernel.ops.geglu import geglu_forward  # pylint: disable=import-outside-toplevel
    gate, value = (half.contiguous() for half in halves(problem, problem.inputs[0]))
    return lambda: geglu_forward(gate, value)[2]


def geglu_backward(torch, problem):
    x, dy = problem.inputs

    def function(gate, value, dy):
        by_gate = torch.ops.aten.gelu_backward(dy * value, gate, approximate="tanh")
        return torch.cat((by_gate, dy * torch.nn.functional.gelu(gate, approximate="tanh")), -1)
    return function, (*halves(problem, x), outputs(problem, dy))


def eager_backward(torch, problem):
    only_fp32(problem)
    function, inputs = geglu_backward(torch, problem)
    return lambda: function(*inputs)


def compiled_backward(torch, problem):
    function, inputs = geglu_backward(torch, problem)
    function = torch.compile(function)
    return lambda: function(*inputs)


def liger_backward(torch, problem):
    """Liger writes the gradients over gates and values. To be checked, they are the ladder's before each of the first two
    calls, and copied where the ladder expects them after it; when it is timed, it runs on what it left there."""
    from liger_kernel.ops.geglu import geglu_backward as run  # pylint: disable=import-outside-toplevel
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


def eager_pairs(torch, problem):
    only_fp32(problem)
    function, inputs = gegelu(torch, problem)
    return lambda: function(*inputs)


def compiled_pairs(torch, problem):
    function, inputs = gegelu(torch, problem)
    function = torch.compile(function)
    return lambda: function(*inputs)


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


def eager_backward_pairs(torch, problem):
    only_fp32(problem)
    function, inputs = gegelu_backward(torch, problem)
    return lambda: function(*inputs)


def compiled_backward_pairs(torch, problem):
    function, inputs = gegelu_backward(torch, problem)
    function = torch.compile(function)
    return lambda: function(*inputs)


CONTESTANTS = [("geglu", "torch", eager), ("geglu", "torch.compile", compiled), ("geglu", "Liger", liger),
               ("gegelu", "torch", eager_pairs), ("gegelu", "torch.compile", compiled_pairs),
               ("geglu_backward", "torch", eager_backward), ("geglu_backward", "torch.compile", compiled_backward),
               ("geglu_backward", "Liger", liger_backward),
               ("gegelu_backward", "torch", eager_backward_pairs),
               ("gegelu_backward", "torch.compile", compiled_backward_pairs)]
