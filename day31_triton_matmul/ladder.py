# SPDX-License-Identifier: MIT
"""The day's three ladders: a matrix product, its precision in fp32, and one whose second operand lies transposed. NumPy alone."""
import numpy as np

from python_days import Exercise, Ladder, within


def unit(k):
    """What the second operand is scaled by, so that sums are of the size of 1 for every k, and so are their errors."""
    return max(1, k) ** -0.5


def matrices(make, m, n, k):
    return [make.normal(m, k), make.normal(k, n, scale=unit(k))], [make.output(m, n)]


def whole_numbers(make, m, n, k):
    """Small ones: every sum is exact in every type, so that one product too many or too few shows."""
    return [make.fill(np.arange(-3, 4), m, k), make.fill(np.arange(-2, 3), k, n)], [make.output(m, n)]


def cancelling(make, m, n, k):
    """The first half of a sum is beyond 100, and the second half takes it away again: 16 bits do not hold what is left."""
    values = make.normal(m, k).values()
    values += np.where(np.arange(k) < k // 2, 30.0, -30.0)
    return [make.fill(values.reshape(-1), m, k), make.normal(k, n, scale=0.1 * unit(k), shift=unit(k))], [make.output(m, n)]


def one_nan(make, m, n, k):
    """It spoils its row of C and nothing else."""
    values = make.normal(m, k).values()
    if values.size:
        values[m // 2, k // 2] = np.nan
    return [make.fill(values.reshape(-1), m, k), make.normal(k, n, scale=unit(k))], [make.output(m, n)]


def column_order(make, m, n, k):
    a = make.normal(k, m)
    a.array, a.shape = a.array.T, (m, k)
    return [a, make.normal(k, n)], [make.output(m, n)]


def no_product(make, m, n, k):
    return [make.normal(m, k), make.normal(k + 1, n)], [make.output(m, n)]


def wide_output(make, m, n, k):
    return [make.normal(m, k), make.normal(k, n)], [make.output(m, n + 1)]


def two_types(make, m, n, k):
    return [make.normal(m, k), make.normal(k, n, kind="fp32" if make.kind != "fp32" else "fp16")], [make.output(m, n)]


def sampled(inputs, places):
    """C at some places."""
    a, b = inputs
    return np.concatenate([np.einsum("ik,ki->i", a[rows], b[:, cols])
                           for rows, cols in zip(*(np.array_split(one, max(1, one.size // 256)) for one in places))])


def whole_rows(kind, m, n, k):
    """Rows that begin at multiples of 16 bytes, and something in them: what descriptors ask for."""
    each = 16 // (4 if kind == "fp32" else 2)
    return min(m, n, k) > 0 and n % each == 0 and k % each == 0


REFUSED = {"a matrix stored by columns": column_order, "inner extents that differ": no_product, "an output that is wider": wide_output,
           "two types": two_types}

# None, one, around a tile's sides (64) and a step (32), a prime, more rows of tiles than a group has, and with whole rows.
SHAPES = ((1, 1, 1), (3, 5, 0), (0, 3, 5), (64, 64, 32), (63, 65, 31), (65, 63, 33), (7, 131, 101), (72, 136, 64), (577, 72, 40), (16, 520, 96))

matmul = Ladder(
    "matmul", ("m", "n", "k"),
    rungs=("tile", "grouped", "staged", "autotuned", "descriptors"),
    types=("fp16", "bf16", "fp32"),
    problem=matrices,
    hostile={"whole numbers": whole_numbers, "sums that cancel": cancelling, "one NaN": one_nan},
    refused=REFUSED,
    reference=lambda a, b: a @ b,
    sample=sampled,
    tolerance=within(relative=1e-5, absolute=2e-4),
    shapes=SHAPES,
    takes={"descriptors": whole_rows},
    wave=16,
    show=(1024, 1024, 32),
    bench=((8192, 8192, 8192), (4096, 4096, 4096)),
    sweep=((512, 512, 512), (1024, 1024, 1024), (2048, 2048, 2048), (4095, 4095, 4095), (4096, 4096, 4096), (8192, 8192, 8192)),
    flops=lambda m, n, k: 2 * m * n * k,
    exercise=Exercise("a product by tiles, whose programs share what they load", starts="tile", solution="grouped",
                      gates={"wave_reads": 6.0, "programs": 256, "load_bits": 128, "tensor": 1}),
    lesson="you say what a program does with a tile; in which order, how far ahead and how large are numbers that you search.",
)

precision = Ladder(
    "precision", ("m", "n", "k"),
    rungs=("ieee", "tf32", "tf32x3"),
    types=("fp32",),
    problem=matrices,
    hostile={"one NaN": one_nan},
    refused=REFUSED,
    reference=lambda a, b: a @ b,
    sample=sampled,
    tolerance=within(relative=1e-3, absolute=1e-2),
    shapes=SHAPES[:7],
    show=(128, 128, 512),
    bench=((4096, 4096, 4096),),
    flops=lambda m, n, k: 2 * m * n * k,
    lesson="fp32 in and fp32 out says nothing of the digits between: tl.dot keeps 11 of 24 unless you ask for more.",
)


def layer(make, m, n, k):
    return [make.normal(m, k), make.normal(n, k, scale=unit(k))], [make.output(m, n)]


def whole_layer(make, m, n, k):
    return [make.fill(np.arange(-3, 4), m, k), make.fill(np.arange(-2, 3), n, k)], [make.output(m, n)]


def not_turned(make, m, n, k):
    return [make.normal(m, k), make.normal(k, n + k + 1)], [make.output(m, n)]


def sampled_layer(inputs, places):
    x, w = inputs
    return np.concatenate([np.einsum("ik,ik->i", x[rows], w[cols])
                           for rows, cols in zip(*(np.array_split(one, max(1, one.size // 256)) for one in places))])


linear = Ladder(
    "linear", ("m", "n", "k"),
    rungs=("copied", "turned"),
    types=("fp16", "fp32"),
    problem=layer,
    hostile={"whole numbers": whole_layer},
    refused={"weights of another shape": not_turned},
    reference=lambda x, w: x @ w.T,
    sample=sampled_layer,
    tolerance=within(relative={"fp16": 1e-5, "fp32": 1e-3}, absolute={"fp16": 2e-4, "fp32": 1e-2}),  # fp32 goes as tf32
    shapes=SHAPES[:8],
    show=(128, 1024, 256),
    bench=((4096, 4096, 4096), (64, 16384, 4096)),
    flops=lambda m, n, k: 2 * m * n * k,
    lesson="a transposed operand is loaded as it lies and turned on the chip; nobody writes it to memory first.",
)
