# SPDX-License-Identifier: MIT
"""The day's two ladders: a forward and a backward in one launch, with gradients of their own and over the inputs. NumPy alone."""
import numpy as np

from python_days import Exercise, Ladder, within

# Zeros, where the slope is 0 (-1.278), where e^-g overflows, infinities, no number.
SPECIAL = np.array([0.0, -0.0, -1.278464542761074, 1.0, -1.0, 20.0, -20.0, 89.0, -89.0, 3e4, -3e4, np.inf, -np.inf, np.nan])


def _three(make, gate, n):
    """With a value and a dy so small that what a difference of roundings leaves stays below the tolerance."""
    return [gate, make.normal(n, scale=0.5), make.normal(n, scale=0.5)], [make.output(n), make.output(n), make.output(n)]


def step(make, n):
    return _three(make, make.normal(n, scale=3.0), n)


def special_gates(make, n):
    return _three(make, make.fill(SPECIAL, n), n)


def left_tail(make, n):
    return _three(make, make.fill(np.linspace(-20, -5, 97), n), n)


def no_gradient(make, n):
    (gate, value, _), made = step(make, n)
    return [gate, value, make.fill([0.0], n)], made


def misaligned_gate(make, n):
    return _three(make, make.shifted(make.normal(n)), n)


def shorter_value(make, n):
    (gate, _, dy), made = step(make, n)
    return [gate, make.normal(n - 1), dy], made


def every_second_gate(make, n):
    (gate, value, dy), made = step(make, 2 * n)
    gate.array, gate.shape = gate.array[::2], (n,)
    return [gate, make.normal(n), make.normal(n)], [make.output(n), make.output(n), make.output(n)]


def one_memory(make, n):
    (gate, _, dy), made = step(make, n)
    return [gate, gate, dy], made


def over_inputs(problem):
    """The same problem, whose gradients go where gate and value are."""
    def made(make, n):
        inputs, outputs = problem(make, n)
        return inputs, [outputs[0], *inputs[:2]]
    return made


def reference(gate, value, dy):
    s = 1 / (1 + np.exp(-gate))
    silu = gate * s
    return silu * value, dy * value * (s + silu * (1 - s)), dy * silu


_HOSTILE = {"special gates": special_gates, "left tail": left_tail, "no gradient": no_gradient, "misaligned gate": misaligned_gate}
_REFUSED = {"a shorter value": shorter_value, "every second element of gate": every_second_gate, "gate and value in one memory": one_memory}
_SHAPES = ((0,), (1,), (3,), (127,), (1008,), (1023,), (1024,), (1025,), (2063,))
_BENCH = ((8192 * 14336,),)

swiglu = Ladder(
    "swiglu", ("n",),
    rungs=("ops", "kept", "again"),
    types=("fp32", "fp16", "bf16"),
    problem=step,
    hostile=_HOSTILE,
    refused=_REFUSED,
    reference=reference,
    tolerance=within(relative=5e-6, absolute=2e-6),
    shapes=_SHAPES,
    show=(4096,),
    bench=_BENCH,
    gradient=2,
    asks=("alive", "scratch"),
    exercise=Exercise("the backward of silu(gate) * value, from its inputs alone", starts="kept", solution="again",
                      gates={"alive": 32768, "scratch": 0, "launches": 2}),
    lesson="what is cheap is computed again: then only the inputs stay alive.",
)

swiglu_in_place = Ladder(
    "swiglu_in_place", ("n",),
    rungs=("in_place",),
    types=("fp32", "fp16", "bf16"),
    problem=over_inputs(step),
    hostile={name: over_inputs(problem) for name, problem in _HOSTILE.items()},
    refused={"a shorter value": over_inputs(shorter_value), "gate and value in one memory": lambda make, n: (one_memory(make, n)[0], [make.output(n)])},
    reference=reference,
    tolerance=within(relative=5e-6, absolute=2e-6),
    shapes=_SHAPES,
    show=(4096,),
    bench=_BENCH,
    gradient=2,
    asks=("alive", "scratch"),
    lesson="gradients can lie where the inputs lay, once each program has read what it writes over.",
)
