# SPDX-License-Identifier: MIT
"""The day's ladder: the sum of squares, on lengths around a device full of programs. NumPy alone."""
import numpy as np

from python_days import Exercise, Ladder, within


def vector(make, n):
    return [make.normal(n)], [make.output(1, kind="fp32")]


def tiny(make, n):
    """Squares that fp32 does not hold: each is 0."""
    return [make.fill([1e-30], n)], [make.output(1, kind="fp32")]


def large(make, n):
    """Squares that fp16 does not hold."""
    return [make.fill([300.0, -300.0], n)], [make.output(1, kind="fp32")]


def infinite(make, n):
    return [make.fill([1.0] * 1022 + [-np.inf], n)], [make.output(1, kind="fp32")]


def one_nan(make, n):
    return [make.fill([1.0] * 1022 + [np.nan], n)], [make.output(1, kind="fp32")]


def misaligned(make, n):
    return [make.shifted(make.normal(n))], [make.output(1, kind="fp32")]


def every_second(make, n):
    x = make.normal(2 * n)
    x.array, x.shape = x.array[::2], (n,)
    return [x], [make.output(1, kind="fp32")]


def two_outputs(make, n):
    return [make.normal(n)], [make.output(2, kind="fp32")]


def output_of_x(make, n):
    return [make.normal(n, kind="fp16")], [make.output(1, kind="fp16")]


square_sum = Ladder(
    "square_sum", ("n",),
    rungs=("every_block", "one_each", "filled", "asked"),
    types=("fp32", "fp16", "bf16"),
    problem=vector,
    hostile={"squares of 0": tiny, "squares beyond fp16": large, "one infinite": infinite, "one NaN": one_nan, "misaligned x": misaligned},
    refused={"every second element of x": every_second, "two outputs": two_outputs, "an output of fp16": output_of_x},
    reference=lambda x: np.sum(x * x).reshape(1),
    tolerance=within(relative=1e-5),
    # None, one, around a block of 2,048, around one for each of 132 multiprocessors, and a prime.
    shapes=((0,), (1,), (1023,), (2047,), (2048,), (2049,), (5003,), (132 * 2048 + 1,)),
    show=(1056 * 2048,),
    bench=((1 << 28,), (1 << 24,), ((1 << 20) + 7,)),
    sweep=((1 << 14,), (1 << 18,), (1 << 22,), (1 << 24,), (1 << 26,), (1 << 28,)),
    asks=("programs", "atomic_accesses", "registers", "resident"),
    counts={"filled": {"resident": 64}, "asked": {"resident": 32, "registers": 50}},
    exercise=Exercise("as many programs as the device holds at a time", starts="one_each", solution="filled",
                      gates={"programs_kept": 529, "atomic_accesses": 0, "reads_per_input": 1.01, "load_bits": 128}),
    lesson="a launch is a division: what a multiprocessor has by what a program takes, times how many there are.",
)
