# SPDX-License-Identifier: MIT
"""The day's two ladders: the same function, held to the digits of fast math and to nearly all. NumPy alone."""
import numpy as np

from python_days import Exercise, Ladder, within

_UNIT = 2.0 ** -24  # half a float's last place, relative to a power of two
_LEAST = 2.0 ** -126  # a GPU may take what is smaller for 0
# Zeros, values whose power overflows or is denormal, denormals themselves, what is no number.
SPECIAL = np.array([0.0, -0.0, 1e-30, -1e-30, 1e-39, -1e-39, 1.0, -1.0, 87.3, -87.3, 88.0, -88.0, 89.0, -89.0, 104.0, -104.0, 65504.0, -65504.0,
                    np.inf, -np.inf, np.nan])


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def _spread(make, low, high, n):
    """From low to high in even steps, in a shuffled order."""
    steps = np.random.default_rng(2).permutation(n) / max(n - 1, 1)
    return [make.fill(low + (high - low) * steps, n)] if n else [make.normal(n)], [make.output(n)]


def vector(make, n):
    """From the left tail, where the result is e^x, to where it is 1."""
    return _spread(make, -87.0, 17.0, n)


def left_tail(make, n):
    return _spread(make, -104.0, -80.0, n)


def middle(make, n):
    return [make.normal(n, scale=3.0)], [make.output(n)]


def near_one(make, n):
    return _spread(make, 15.0, 17.0, n)


def special_vector(make, n):
    return [make.fill(SPECIAL, n)], [make.output(n)]


def misaligned_vector(make, n):
    return [make.shifted(make.normal(n))], [make.output(n)]


def every_second(make, n):
    x = make.normal(2 * n)
    x.array, x.shape = x.array[::2], (n,)
    return [x], [make.output(n)]


def shorter_output(make, n):
    return [make.normal(n)], [make.output(n - 1)]


def two_types(make, n):
    return [make.normal(n)], [make.output(n, kind="fp64")]


_HOSTILE = {"left tail": left_tail, "middle": middle, "near one": near_one, "special values": special_vector, "misaligned x": misaligned_vector}
_REFUSED = {"every second element of x": every_second, "an output that is too short": shorter_output, "an output in fp64": two_types}
# None, one, around a block and what 16 divides, and a prime; the least whole blocks of all.
_SHAPES = ((0,), (1,), (3,), (127,), (1008,), (1023,), (1024,), (1025,), (2063,))

sigmoid_fast = Ladder(
    "sigmoid_fast", ("n",),
    rungs=("plain", "flushed"),
    types=("fp32", "fp16", "bf16"),
    problem=vector,
    hostile=_HOSTILE,
    refused=_REFUSED,
    reference=sigmoid,
    tolerance=within(relative=76 * _UNIT, absolute=_LEAST),  # 64 for the product's rounding, the rest for two instructions
    shapes=_SHAPES,
    show=(4096,),
    bench=((1 << 28,),),
    sweep=((1 << 18,), (1 << 22,), (1 << 28,)),
    asks=("error", "mufu"),
    lesson="tl.exp and / are approximations already; what stands around them keeps denormals.",
)

sigmoid_right = Ladder(
    "sigmoid", ("n",),
    rungs=("right", "mended"),
    types=("fp32", "fp16", "bf16"),
    problem=vector,
    hostile=_HOSTILE,
    refused=_REFUSED,
    reference=sigmoid,
    tolerance=within(relative=10 * _UNIT, absolute=_LEAST),
    shapes=_SHAPES,
    show=(4096,),
    bench=((1 << 28,),),
    sweep=((1 << 18,), (1 << 22,), (1 << 28,)),
    asks=("error", "mufu", "instructions_an_output"),
    exercise=Exercise("all digits of the logistic function, from two quick instructions", starts="right", solution="mended",
                      gates={"error": 6, "instructions_an_output": 15}),
    lesson="digits are not dear: what a rounding dropped is known, and one fma puts it back.",
)
