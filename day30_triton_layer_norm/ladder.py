# SPDX-License-Identifier: MIT
"""The day's two ladders, forward and backward: who competes, on which shapes and values, held to what. NumPy alone."""
import numpy as np

from python_days import Exercise, Ladder, within

EPS = 1e-5


def forward(make, x):
    rows, cols = x.shape
    return [x, make.normal(cols), make.normal(cols), EPS], \
        [make.output(rows, cols), make.output(rows, kind="fp32"), make.output(rows, kind="fp32")]


def moments(make, x):
    """Each row's mean and 1 / its deviation, some rows at a time: a large matrix in double would fill the memory."""
    rows, cols = x.shape
    mean, rstd = np.zeros(rows), np.zeros(rows)
    for first in range(0, rows if make.draw and cols else 0, 4096):
        part = type(x)(x.array[first:first + 4096], x.kind).values()
        mean[first:first + 4096] = part.mean(axis=1)
        rstd[first:first + 4096] = 1 / np.sqrt(part.var(axis=1) + EPS)
    return [make.fill(values, rows, kind="fp32") for values in (mean, rstd)]


def backward(make, x, dy=None, gamma=None):
    rows, cols = x.shape
    return [make.normal(rows, cols) if dy is None else dy, x, make.normal(cols) if gamma is None else gamma, *moments(make, x)], \
        [make.output(rows, cols), make.output(cols, kind="fp32"), make.output(cols, kind="fp32")]


def far_from_zero(make, rows, cols):
    """A mean of many deviations, as many as the type can tell apart."""
    shift, scale = {"fp32": (1000.0, 1.0), "fp16": (200.0, 1.0), "bf16": (200.0, 30.0)}[make.kind]
    return make.normal(rows, cols, shift=shift, scale=scale)


def all_equal(make, rows, cols):
    """No deviation: eps alone stands under the root."""
    return make.fill([3.0], rows, cols)


def one_large(make, rows, cols):
    """One row a hundred times as large as the others."""
    values = make.normal(rows, cols).values()
    values[:1] *= 100
    return make.fill(values.reshape(-1), rows, cols)


def a_nan(make, rows, cols):
    """One row has a NaN: the row is lost, and of the sums over rows all."""
    values = make.normal(rows, cols).values()
    values[rows // 2:rows // 2 + 1, cols // 2] = np.nan
    return make.fill(values.reshape(-1), rows, cols)


MATRICES = {"far from zero": far_from_zero, "all equal": all_equal, "one row a hundred times": one_large, "a NaN": a_nan}


def by_columns(make, rows, cols):
    x = make.normal(cols, rows)
    x.array, x.shape = x.array.T, (rows, cols)
    return x


def replaced(problem, number, tensor):
    """The problem with another tensor as input `number`."""
    def made(make, rows, cols):
        inputs, outputs = problem(make, make.normal(rows, cols))
        inputs[number] = tensor(make, rows, cols)
        return inputs, outputs
    return made


def of_matrix(problem, matrix):
    return lambda make, rows, cols: problem(make, matrix(make, rows, cols))


def normal(make, rows, cols):
    return make.normal(rows, cols)


def norm(x, gamma, beta, eps):
    mean, rstd = x.mean(axis=1), 1 / np.sqrt(x.var(axis=1) + eps)
    return (x - mean[:, None]) * rstd[:, None] * gamma + beta, mean, rstd


def gradient(dy, x, gamma, mean, rstd):
    xhat, a = (x - mean[:, None]) * rstd[:, None], gamma * dy
    dx = rstd[:, None] * (a - a.mean(axis=1, keepdims=True) - xhat * (a * xhat).mean(axis=1, keepdims=True))
    return dx, (dy * xhat).sum(axis=0), dy.sum(axis=0)


# None, one, around a warp, what 16 divides, around a block; more rows than there are groups of locks, and than a program takes.
SHAPES = ((0, 5), (1, 1), (2, 1025), (1, 8192), (3, 1000), (3, 31), (66, 33), (17, 16))
REFUSED = {"columns stored one after the other": by_columns, "rows of more than 8,192 columns": lambda make, rows, cols: make.normal(1, 8193),
           "no columns": lambda make, rows, cols: make.normal(rows, 0)}

layer_norm = Ladder(
    "layer_norm", ("rows", "cols"),
    rungs=("one_read",),
    types=("fp32", "fp16", "bf16"),
    problem=of_matrix(forward, normal),
    hostile={name: of_matrix(forward, matrix) for name, matrix in MATRICES.items()},
    refused={**{name: of_matrix(forward, matrix) for name, matrix in REFUSED.items()},
             "a gamma of another length": replaced(forward, 1, lambda make, rows, cols: make.normal(cols + 1))},
    reference=norm,
    tolerance=within(relative=1e-5, absolute=2e-4),  # half a digit of a mean of 1,000
    shapes=SHAPES,
    show=(16, 1000),
    bench=((65536, 4096),),
    sweep=((65536, 1024), (4096, 8192)),
    lesson="a row in registers is read once, and its mean is known before a deviation is squared.",
)

layer_norm_backward = Ladder(
    "layer_norm_backward", ("rows", "cols"),
    rungs=("atomic", "relaxed", "locked", "partials", "finished"),
    types=("fp32", "fp16", "bf16"),
    problem=of_matrix(backward, normal),
    hostile={**{name: of_matrix(backward, matrix) for name, matrix in MATRICES.items()},
             "no gradient": lambda make, rows, cols: backward(make, make.normal(rows, cols), dy=make.fill([0.0], rows, cols)),
             "gamma is 0": lambda make, rows, cols: backward(make, make.normal(rows, cols), gamma=make.fill([0.0], cols))},
    refused={**{name: of_matrix(backward, matrix) for name, matrix in REFUSED.items()},
             "a mean in bf16": replaced(backward, 3, lambda make, rows, cols: make.normal(rows, kind="bf16")),
             "a dy of other rows": replaced(backward, 0, lambda make, rows, cols: make.normal(rows + 1, cols))},
    reference=gradient,
    tolerance=within(relative=1e-5, absolute=1e-4),
    shapes=SHAPES,
    show=(130, 300),
    bench=((65536, 4096),),
    sweep=((65536, 1024), (4096, 8192)),
    exercise=Exercise("sums over all rows without an atomic, the same bits in each run", starts="atomic", solution="partials",
                      gates={"atomic_accesses": 0, "repeatable": 3, "reads_per_input": 1.12, "scratch": 22000}),
    asks=("scratch",),
    lesson="where nobody waits, sums are as fast as memory, and the same in each run.",
)
