# SPDX-License-Identifier: MIT
"""The day's ladder: softmax of each row, on shapes and values that hurt. NumPy alone."""
import numpy as np

from python_days import Exercise, Ladder, within


def matrix(make, rows, cols):
    return [make.normal(rows, cols)], [make.output(rows, cols)]


def far_from_zero(make, rows, cols):
    """Beyond 88 e to the power of it is infinite in fp32."""
    return [make.normal(rows, cols, scale=30.0, shift=500.0)], [make.output(rows, cols)]


def far_below_zero(make, rows, cols):
    """A place beyond the row that holds 0 is the largest element by far."""
    return [make.normal(rows, cols, scale=3.0, shift=-500.0)], [make.output(rows, cols)]


def rising(make, rows, cols):
    """Each piece of a row brings a larger element than those before it."""
    values = np.sort(make.normal(rows, cols).values(), axis=1)
    return [make.fill(values.reshape(-1), rows, cols)], [make.output(rows, cols)]


def infinite_in_front(make, rows, cols):
    """Most of a row is -inf, as behind a causal mask; what is finite stands at its end."""
    x = make.normal(rows, cols)
    values = x.values()
    values[:, :cols - 1 - cols // 3] = -np.inf
    return [make.fill(values.reshape(-1), rows, cols)], [make.output(rows, cols)]


def nothing_to_choose(make, rows, cols):
    """Rows of -inf alone, and rows with a NaN or with +inf: the result is NaN, and the other rows are as they should be."""
    values = make.normal(rows, cols).values()
    values[0], values[rows // 2, cols // 2] = -np.inf, np.nan if rows % 2 else np.inf
    return [make.fill(values.reshape(-1), rows, cols)], [make.output(rows, cols)]


def one_by_far(make, rows, cols):
    values = make.normal(rows, cols).values()
    values[:, cols // 2] = 60000.0
    return [make.fill(values.reshape(-1), rows, cols)], [make.output(rows, cols)]


def column_order(make, rows, cols):
    x = make.normal(cols, rows)
    x.array, x.shape = x.array.T, (rows, cols)
    return [x], [make.output(rows, cols)]


def narrower_output(make, rows, cols):
    return [make.normal(rows, cols)], [make.output(rows, cols + 1)]


def reference(x):
    power = np.exp(x - x.max(axis=1, keepdims=True))
    return power / power.sum(axis=1, keepdims=True)


softmax = Ladder(
    "softmax", ("rows", "cols"),
    rungs=("three_reads", "online", "one_read", "several"),
    types=("fp32", "fp16", "bf16"),
    problem=matrix,
    hostile={"far from zero": far_from_zero, "far below zero": far_below_zero, "rising": rising, "-inf in front": infinite_in_front, "nothing to choose from": nothing_to_choose,
             "one by far": one_by_far},
    refused={"a matrix stored by columns": column_order, "an output that is wider": narrower_output},
    reference=reference,
    tolerance=within(relative=2e-6, absolute=1e-7),
    # One, around a warp, around a piece of 1,024, odd and divisible by 16; more rows than a program of several takes.
    shapes=((1, 1), (3, 2), (2, 31), (5, 33), (37, 16), (3, 1000), (2, 1024), (3, 1025), (2, 2500)),
    show=(16, 1520),
    bench=((16384, 4096), (1 << 18, 128), (1024, 50257)),
    sweep=((16384, 64), (16384, 256), (16384, 1000), (16384, 4096), (4096, 16384), (1024, 65536)),
    exercise=Exercise("softmax that reads each row once", starts="three_reads", solution="one_read",
                      gates={"reads_per_input": 1.01, "writes_per_output": 1.01}),
    lesson="a row that fits into a program's registers is read once; a longer one goes by in pieces.",
)
