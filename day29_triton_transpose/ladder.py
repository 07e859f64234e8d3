# SPDX-License-Identifier: MIT
"""The day's ladder: who competes, on which shapes and values, held to what. NumPy alone."""
import numpy as np

from python_days import Exercise, Ladder, exact
from python_days.tensors import Tensor

SPECIAL = np.array([0.0, -0.0, 1.0, np.inf, -np.inf, np.nan, 2.0 ** -24, 65504.0])


def numbered(make, rows, cols):
    """A matrix whose elements differ from their neighbours; of bytes all that there are."""
    return make.integers(-128, 128, rows, cols, kind="int8") if make.kind == "int8" else make.normal(rows, cols)


def matrix(make, rows, cols):
    return [numbered(make, rows, cols)], [make.output(cols, rows)]


def special_values(make, rows, cols):
    values = np.arange(-128, 128) if make.kind == "int8" else SPECIAL
    return [make.fill(values, rows, cols)], [make.output(cols, rows)]


def rows_apart(make, rows, cols):
    """Pitches that are no multiple of anything, and different on the two sides."""
    return [make.padded(numbered(make, rows, cols), cols + 5)], [make.padded(make.output(cols, rows), rows + 3)]


def wide_pitches(make, rows, cols):
    """Rows that begin at multiples of 64 elements, so that accesses may be wide though the sides are odd."""
    up = lambda extent: -(-extent // 64) * 64  # noqa: E731
    return [make.padded(numbered(make, rows, cols), up(cols))], [make.padded(make.output(cols, rows), up(rows))]


def shifted(make, rows, cols):
    return [make.shifted(numbered(make, rows, cols))], [make.output(cols, rows)]


def not_turned(make, rows, cols):
    return [numbered(make, rows, cols + 1)], [make.output(rows, cols + 1)]


def columns_apart(make, rows, cols):
    x = numbered(make, cols + 1, rows + 1)
    x.array, x.shape = x.array.T, (rows + 1, cols + 1)
    return [x], [make.output(cols + 1, rows + 1)]


def in_place(make, rows, cols):
    x = numbered(make, rows, rows)
    return [x], [Tensor(x.array, x.kind)]


def two_types(make, rows, cols):
    return [numbered(make, rows, cols)], [make.output(cols, rows, kind="fp64")]


def a_vector(make, rows, cols):
    return [make.normal(cols)], [make.output(cols, 1)]


transpose = Ladder(
    "transpose", ("rows", "cols"),
    rungs=("hidden", "naive", "said", "shaped", "ordered"),
    types=("fp32", "fp16", "int8"),
    problem=matrix,
    hostile={"special values": special_values, "rows apart": rows_apart, "wide pitches": wide_pitches, "misaligned x": shifted},
    refused={"an output that is not turned": not_turned, "columns apart": columns_apart, "y on top of x": in_place,
             "two types": two_types, "a vector": a_vector},
    reference=lambda x: x.T,
    tolerance=exact,
    # None, one, one row and one column, tiles of 32, 64 and 128 whole, one less and one more, two primes.
    shapes=((0, 7), (1, 1), (1, 1000), (1000, 1), (31, 33), (32, 32), (64, 63), (65, 129), (128, 32), (127, 163)),
    show=(256, 384),
    bench=((16384, 16384), (16381, 16381)),
    sweep=((4096, 4096), (16384, 16384), (16381, 16381), (1024, 1000), (1000, 1024)),
    asks=("shared_accesses", "instructions_an_output"),
    exercise=Exercise("transpose with loads and stores of 16 bytes", starts="hidden", solution="naive",
                      gates={"wasted_sectors": 0.02, "load_bits": 128}),
    lesson="load and store each get the layout that suits them, and a conversion stands between; the compiler must see where neighbours lie.",
)
