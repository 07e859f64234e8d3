# SPDX-License-Identifier: MIT
"""The day's ladder: tanh(x) times a number, called with many lengths. NumPy alone."""
import numpy as np

from python_days import Exercise, Ladder, within

# Zeros of both signs, where a formula loses digits, both sides of the helper's seam at 0.3, where e^2x ends fp32's range, infinities, NaN.
SPECIAL = np.array([0.0, -0.0, 1e-30, -1e-30, 1e-4, -1e-4, 0.2999, -0.2999, 0.3, 0.3001, 0.5, 1.0, 2.0, -9.0, 20.0, 44.5, -89.0, 65504.0, np.inf, -np.inf,
                    np.nan])
LENGTHS = (1, 2, 16, 17, 1000, 1024, 4096, 4099, 5000)


def vector(make, n):
    return [make.normal(n, scale=2.0), 1.0], [make.output(n)]


def halved(make, n):
    return [make.normal(n, scale=2.0), 0.5], [make.output(n)]


def whole_scale(make, n):
    """An int, where a float was meant."""
    return [make.normal(n, scale=2.0), 2], [make.output(n)]


def special_vector(make, n):
    return [make.fill(SPECIAL, n), 1.0], [make.output(n)]


def misaligned_vector(make, n):
    return [make.shifted(make.normal(n)), -1.5], [make.output(n)]


def every_second(make, n):
    x = make.normal(2 * n)
    x.array, x.shape = x.array[::2], (n,)
    return [x, 1.0], [make.output(n)]


def shorter_output(make, n):
    return [make.normal(n), 1.0], [make.output(n - 1)]


def other_type(make, n):
    return [make.normal(n), 1.0], [make.output(n, kind="int32")]


def no_number(make, n):
    return [make.normal(n), "1.0"], [make.output(n)]


tanh = Ladder(
    "tanh", ("n",),
    rungs=("constant", "asked", "blind", "both", "tuned", "buckets"),
    types=("fp32", "fp16", "bf16"),
    problem=vector,
    hostile={"special values": special_vector, "misaligned x": misaligned_vector, "s = 0.5": halved, "s = 2, an int": whole_scale},
    refused={"every second element of x": every_second, "an output that is too short": shorter_output, "an output of integers": other_type,
             "an s that is no number": no_number},
    reference=lambda x, s: s * np.tanh(x),
    tolerance=within(relative=1e-6),
    # None, one, around a block of 1,024, and what 16 divides or not.
    shapes=((0,), (1,), (16,), (1000,), (1023,), (1024,), (1025,), (2063,)),
    show=(4099,),
    bench=((1 << 28,), (1_000_003,)),
    sweep=((1 << 14,), (1 << 18,), (1 << 22,), (1 << 26,), (1 << 28,)),
    calls=(*(((n,), inputs) for n in LENGTHS for inputs in ("", "s = 0.5")), ((4096,), "s = 2, an int")),
    asks=("compiled", "searches"),
    counts={"constant": {"compiled": 19, "load_bits": 32}, "asked": {"compiled": 3}, "blind": {"compiled": 1, "load_bits": 32},
            "both": {"compiled": 1, "load_bits": 128}, "tuned": {"compiled": 6, "searches": 9}, "buckets": {"compiled": 6, "searches": 3}},
    exercise=Exercise("one binary for every length, with loads of 16 bytes", starts="constant", solution="both",
                      gates={"compiled": 1, "load_bits": 128}),
    lesson="a kernel is a family: each thing that it may know makes another binary.",
)
