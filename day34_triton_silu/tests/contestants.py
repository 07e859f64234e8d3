# SPDX-License-Identifier: MIT
"""SwiGLU with its backward: PyTorch's operations, what its compiler makes of them, and Liger's kernels, which write the gradients over the
inputs. All round silu to the type before the product is taken, so in 16 bits they are held to that."""

COLS = 14336  # Liger takes a row a program


def _checked(made, problem):
    """What is wrong with (y, dg, dv) by the digits that are left where silu is rounded between; "" where nothing is."""
    gate, value, dy = (tensor.double() for tensor in problem.inputs)
    s = gate.sigmoid()
    silu = gate * s
    relative = {"fp32": 1e-5, "fp16": 2.0 ** -9, "bf16": 2.0 ** -6}[problem.type]
    for name, one, right in zip(("y", "dg", "dv"), made, (silu * value, dy * value * (s + silu * (1 - s)), dy * silu)):
        bad = int(((one.double() - right).abs() > relative * (right.abs() + (dy * value).abs())).sum())
        if bad:
            return f"{bad} elements of {name} are wrong"
    return ""


def _by(torch, problem, function):
    gate, value, dy = problem.inputs
    gate, value = gate.detach().requires_grad_(), value.detach().requires_grad_()

    def body():
        y = function(gate, value)
        return (y.detach(), *torch.autograd.grad(y, (gate, value), dy))
    return body


def eager(torch, problem):
    return _by(torch, problem, lambda gate, value: torch.nn.functional.silu(gate) * value)


def compiled(torch, problem):
    return _by(torch, problem, torch.compile(lambda gate, value: torch.nn.functional.silu(gate) * value))


def liger(torch, problem):
    """What it writes over are copies. To be checked, they are the ladder's before each of the first two calls; later ones are timed and work on
    what the one before has left."""
    from liger_kernel.ops.swiglu import swiglu_backward, swiglu_forward  # pylint: disable=import-outside-toplevel
    gate, value, dy = (tensor.view(-1, COLS) for tensor in problem.inputs)
    mine, calls = [], []

    def body():
        if len(calls) < 2:
            mine[:] = gate.clone(), value.clone()
            calls.append(1)
        *_, y = swiglu_forward(*mine)
        dg, dv = swiglu_backward(*mine, dy)
        return y.view(-1), dg.view(-1), dv.view(-1)
    return body


for make in (eager, compiled, liger):
    make.check = _checked
CONTESTANTS = [("swiglu", "torch", eager), ("swiglu", "torch.compile", compiled), ("swiglu", "Liger", liger)]
