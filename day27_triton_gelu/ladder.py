# SPDX-License-Identifier: MIT
"""The day's two ladders: GELU itself and the form with tanh, each held to its own formula in double. NumPy alone."""
import math

import numpy as np

from python_days import Exercise, Ladder, within

# Zeros, what is too small to matter, where 1 + erf dies, where the result is all but 0, the largest, infinities, NaN; and what lies between.
SPECIAL = np.array([0.0, -0.0, 1e-30, -1e-30, 5.5, -5.5, 8.0, -8.0, -13.5, 3e38, -3e38, np.inf, -np.inf, np.nan, 65504.0, -65504.0])
_erf = np.vectorize(math.erf, otypes=[np.float64])


def vector(make, n):
    return [make.normal(n)], [make.output(n)]


def special_vector(make, n):
    return [make.fill(SPECIAL, n)], [make.output(n)]


def wide_vector(make, n):
    """From -9 to 9, where the curve bends and where it has come to rest."""
    return [make.normal(n, scale=3.0)], [make.output(n)]


def misaligned_vector(make, n):
    return [make.shifted(make.normal(n))], [make.output(n)]


def every_second(make, n):
    x = make.normal(2 * n)
    x.array, x.shape = x.array[::2], (n,)
    return [x], [make.output(n)]


def shorter_output(make, n):
    return [make.normal(n)], [make.output(n - 1)]


def two_types(make, n):
    return [make.normal(n)], [make.output(n, kind="fp32" if make.kind != "fp32" else "fp16")]


def whole_numbers(make, n):
    return [make.integers(-4, 5, n)], [make.output(n, kind="int32")]


def exact_gelu(x):
    return x / 2 * (1 + _erf(x / math.sqrt(2)))


def tanh_gelu(x):
    return x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))


_COMMON = dict(
    types=("bf16", "fp32", "fp16"),
    problem=vector,
    hostile={"special values": special_vector, "wide": wide_vector, "misaligned x": misaligned_vector},
    refused={"every second element of x": every_second, "an output that is too short": shorter_output, "two types": two_types,
             "whole numbers": whole_numbers},
    show=(4112,),  # 16 divides it
    bench=((1 << 28,), (1_000_003,)),
    sweep=((1 << 14,), (1 << 18,), (1_000_003,), (1 << 22,), (1 << 24,), (1 << 26,), (1 << 28,)),
)

gelu = Ladder(
    "gelu", ("n",),
    rungs=("one", "eight", "sixteen", "sixty_four", "cheap"),
    takes={"cheap": lambda kind, n: kind == "bf16"},
    reference=exact_gelu,
    # Far left of 0 the sum 1 + erf is off by erf's last digits, which x / 2 multiplies; cheap's polynomial is good to 2^-12.
    tolerance=within(relative={"bf16": 2.0 ** -12, "fp32": 5e-7, "fp16": 5e-7}, absolute=5e-7),
    # None, one, around a block of 128, of 1,024, of 2,048 and of 8,192, and what 16 divides.
    shapes=((0,), (1,), (127,), (129,), (1008,), (1025,), (2047,), (2049,), (8200,)),
    asks=("instructions_an_output", "registers", "resident"),
    exercise=Exercise("choose how many elements a thread has", starts="one", solution="sixteen",
                      gates={"load_bits": 128, "instructions_an_output": 36, "resident": 32}),
    lesson="elements a thread decide what is shared, how wide loads are, and how many warps fit; then count instructions.",
    **_COMMON,
)

gelu_tanh = Ladder(
    "gelu_tanh", ("n",),
    rungs=("logistic",),
    reference=tanh_gelu,
    tolerance=within(relative=1e-6, absolute=5e-7),
    shapes=((0,), (1,), (129,), (2047,), (2064,)),
    lesson="a formula that is written with fewer operations is a faster kernel.",
    **_COMMON,
)
