# SPDX-License-Identifier: MIT
"""The day's two ladders: RMS norm of each row, and its backward. NumPy alone."""
import numpy as np

from python_days import Exercise, Ladder, within

EPS = 1e-6


def rstd_of(x, eps=EPS):
    """1 / sqrt(mean x^2 + eps) of each row."""
    return 1 / np.sqrt((x * x).mean(axis=1) + eps)


def rows_of(values):
    """x and w of a case, from the values of a matrix of random ones."""
    def made(make, rows, cols):
        x = make.normal(rows, cols)
        x = make.fill(values(x.values()).reshape(-1), rows, cols) if values and rows else x
        return x, make.normal(cols, scale=0.5, shift=1.0)
    return made


def _zero_rows(x):
    x[::2] = 0
    return x


def _outlier(x):
    x[:, x.shape[1] // 2] = 1e4
    return x


KINDS = {"": None, "squares beyond fp16": lambda x: 300 + x, "smaller than eps": lambda x: 1e-20 * x, "rows of zeros": _zero_rows, "an outlier": _outlier}


def forward_of(kind):
    def problem(make, rows, cols):
        x, w = rows_of(KINDS[kind])(make, rows, cols)
        return [x, w, EPS], [make.output(rows, cols), make.output(rows, kind="fp32")]
    return problem


def backward_of(kind, pitch=0, zero=False):
    """pitch: elements between the end of a row and the next. zero: w is 0, so that dx is, and dw is not."""
    def problem(make, rows, cols):
        x, w = rows_of(KINDS[kind])(make, rows, cols)
        w = make.fill([0.0], cols) if zero else w
        rstd = make.fill(rstd_of(x.values()), rows, kind="fp32")
        apart = (lambda matrix: make.padded(matrix, cols + pitch)) if pitch else lambda matrix: matrix
        return [apart(make.normal(rows, cols)), apart(x), w, rstd], [apart(make.output(rows, cols)), make.output(cols)]
    return problem


def by_columns(make, rows, cols):
    (dy, x, w, rstd), outputs = backward_of("")(make, rows, cols)
    turned = make.normal(cols, rows)
    turned.array, turned.shape = turned.array.T, (rows, cols)
    return [dy, turned, w, rstd], outputs


def rstd_in_16_bits(make, rows, cols):
    (dy, x, w, _), outputs = backward_of("")(make, rows, cols)
    return [dy, x, w, make.normal(rows, kind="fp16")], outputs


def too_wide(make, rows, cols):
    return backward_of("")(make, 1, 8193)


def a_weight_too_few(make, rows, cols):
    (dy, x, _, rstd), outputs = backward_of("")(make, rows, cols)
    return [dy, x, make.normal(cols + 1), rstd], outputs


def negative_eps(make, rows, cols):
    (x, w, _), outputs = forward_of("")(make, rows, cols)
    return [x, w, -1e-6], outputs


def forward(x, w, eps):
    rstd = rstd_of(x, eps)
    return x * rstd[:, None] * w, rstd


def backward(dy, x, w, rstd):
    xhat, a = x * rstd[:, None], dy * w
    return rstd[:, None] * (a - xhat * (a * xhat).mean(axis=1, keepdims=True)), (dy * xhat).sum(axis=0)


rms_norm = Ladder(
    "rms_norm", ("rows", "cols"),
    rungs=("row",),
    types=("bf16", "fp32", "fp16"),
    problem=forward_of(""),
    hostile={kind: forward_of(kind) for kind in KINDS if kind},
    refused={"eps below 0": negative_eps},
    reference=forward,
    tolerance=within(relative=2e-6, absolute=1e-6),
    shapes=((1, 1), (3, 17), (2, 1000), (2, 4097)),
    show=(140, 4096),
    bench=((65536, 4096),),
    lesson="a program a row: what one sums, another loads.",
)

rms_norm_backward = Ladder(
    "rms_norm_backward", ("rows", "cols"),
    rungs=("atomics", "stays", "staged", "by_hand"),
    types=("bf16", "fp32", "fp16"),
    problem=backward_of(""),
    hostile={**{kind: backward_of(kind) for kind in KINDS if kind}, "rows apart": backward_of("", pitch=3), "w is 0": backward_of("", zero=True)},
    refused={"x stored by columns": by_columns, "rstd in 16 bits": rstd_in_16_bits, "rows beyond the registers": too_wide,
             "a weight that is no column's": a_weight_too_few},
    reference=backward,
    tolerance=within(relative=4e-6, absolute=4e-5),
    # One, fewer rows than programs, as many and one more, three a program; odd columns and a power of two.
    shapes=((0, 5), (1, 1), (3, 1000), (133, 64), (270, 17), (2, 4097)),
    show=(140, 4096),
    bench=((65536, 4096), (262144, 1024), (32768, 8192)),
    asks=("copies", "loads_before_barrier", "registers"),
    exercise=Exercise("the next row is on its way while this one is summed", starts="stays", solution="by_hand",
                      gates={"loads_before_barrier": 4, "atomic_accesses": 0, "spilled": 0}),
    lesson="a program that stays asks for nothing while it sums, unless you say so: num_stages of the launch does not.",
)
