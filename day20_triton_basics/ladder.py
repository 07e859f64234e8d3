# SPDX-License-Identifier: MIT
"""The day's two ladders: who competes, on which shapes and values, held to what. NumPy alone."""
import numpy as np

from python_days import Exercise, Ladder, exact

# Values at which an addition does something out of the ordinary; the partner stays while these go round once, so that all meet.
_TINY, _LARGE = 2.0 ** -24, 65504.0  # fp16's smallest and largest, which bf16 and fp32 have, too, or round to
SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, _TINY, -_TINY, _LARGE, -_LARGE, np.inf, -np.inf, np.nan, 2.0 ** -10, 3.0e38])


def vectors(make, n):
    return [make.normal(n), make.normal(n)], [make.output(n)]


def special_vectors(make, n):
    return [make.fill(SPECIAL, n), make.fill(np.repeat(SPECIAL, SPECIAL.size), n)], [make.output(n)]


def misaligned_vectors(make, n):
    return [make.shifted(make.normal(n)), make.normal(n)], [make.output(n)]


def every_second(make, n):
    a, b = make.normal(2 * n), make.normal(n)
    a.array, a.shape = a.array[::2], (n,)
    return [a, b], [make.output(n)]


def shorter_output(make, n):
    return [make.normal(n), make.normal(n)], [make.output(n - 1)]


def two_types(make, n):
    return [make.normal(n), make.normal(n, kind="int32" if make.kind != "int32" else "fp32")], [make.output(n)]


vector_add = Ladder(
    "vector_add", ("n",),
    rungs=("one_element", "block", "wide", "whole"),
    types=("fp32", "fp16", "bf16"),
    problem=vectors,
    hostile={"special values": special_vectors, "misaligned a": misaligned_vectors},
    refused={"every second element of a": every_second, "an output that is too short": shorter_output,
             "an fp32 and an int32 vector": two_types},
    reference=lambda a, b: a + b,
    tolerance=exact,
    # None, one, around a block of 128 and of 1,024 and what 16 divides, and a prime.
    shapes=((0,), (1,), (3,), (16,), (127,), (128,), (129,), (1008,), (1023,), (1024,), (1025,), (2063,)),
    show=(4099,),
    bench=((1 << 28,), (1_000_003,)),
    sweep=((1 << 14,), (1 << 18,), (1_000_003,), (1 << 22,), (1 << 24,), ((1 << 26) + 5,), (1 << 28,)),
    exercise=Exercise("add vectors of any length, 128 elements a program", starts="one_element", solution="block",
                      gates={"programs": 33, "reads_per_input": 1.0}),
    lesson="a program handles a block; how wide its loads are depends on what the compiler knows of the addresses.",
)


def matrices(make, rows, cols, pitch):
    """Rows of `cols` elements that begin `pitch` elements apart."""
    return [make.padded(make.normal(rows, cols), pitch), make.padded(make.normal(rows, cols), pitch)], \
        [make.padded(make.output(rows, cols), pitch)]


def transposed_matrix(make, rows, cols, pitch):
    a, b = make.normal(cols, rows), make.normal(rows, cols)
    a.array, a.shape = a.array.T, (rows, cols)
    return [a, b], [make.output(rows, cols)]


matrix_add = Ladder(
    "matrix_add", ("rows", "cols", "pitch"),
    rungs=("tile", "promised"),
    types=("fp32",),
    problem=matrices,
    refused={"a with columns apart": transposed_matrix},
    reference=lambda a, b: a + b,
    tolerance=exact,
    # Around a tile's sides (8 rows, 128 columns), dense and padded, pitches that 4, 16 or nothing divides.
    shapes=((1, 1, 1), (7, 127, 128), (8, 128, 128), (9, 129, 132), (3, 131, 131), (33, 260, 272), (5, 300, 301)),
    show=(64, 500, 500),
    bench=((16384, 16380, 16380), (16384, 16384, 16384)),
    lesson="a promise that the compiler can't check makes loads wide; a false one makes results wrong.",
)
