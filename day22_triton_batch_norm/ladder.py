# SPDX-License-Identifier: MIT
"""The day's ladder: batch norm of channels that lie side by side, on shapes and values that hurt. NumPy alone."""
import numpy as np

from python_days import Exercise, Ladder, within


def around(make, x, eps=1e-5, momentum=0.1, gammas=None):
    """A problem with this x; what is learned and what runs along are fp32."""
    cols = x.shape[1]
    running = [make.normal(cols, kind="fp32"), make.fill([1.0, 0.5, 2.0], cols, kind="fp32")]
    gamma, beta = (make.normal(gammas or cols, kind="fp32") for _ in range(2))
    outputs = [make.output(*x.shape), make.output(cols, kind="fp32"), make.output(cols, kind="fp32"), *running]
    return [x, gamma, beta, *running, eps, momentum], outputs


def plain(make, rows, cols):
    return around(make, make.normal(rows, cols))


def mean_1000(make, rows, cols):
    """Sums of squares leave nothing of a deviation of 1."""
    return around(make, make.normal(rows, cols, shift=1000.0, scale=1.0 if make.kind == "fp32" else 16.0))


def all_equal(make, rows, cols):
    return around(make, make.fill([3.0], rows, cols), momentum=0.0)


def one_constant(make, rows, cols):
    """One channel is large and the same throughout: its mean has to be met exactly."""
    values = make.normal(rows, cols).values()
    values[:, cols // 2] = 49152.0
    return around(make, make.fill(values.reshape(-1), rows, cols), momentum=1.0)


def growing(make, rows, cols):
    """Later rows are larger: the means of the tiles lie far apart."""
    values = make.normal(rows, cols).values() + np.arange(rows)[:, None] / 8
    return around(make, make.fill(values.reshape(-1), rows, cols))


def one_nan(make, rows, cols):
    """A NaN spoils its channel and no other."""
    values = make.normal(rows, cols).values()
    values[rows // 2, cols // 2] = np.nan
    return around(make, make.fill(values.reshape(-1), rows, cols), eps=1e-3)


def one_row(make, rows, cols):
    return around(make, make.normal(1, cols))


def by_columns(make, rows, cols):
    x = make.normal(cols + 1, rows)
    x.array, x.shape = x.array.T, (rows, cols + 1)
    return around(make, x)


def other_gamma(make, rows, cols):
    return around(make, make.normal(rows, cols), gammas=cols + 1)


def zero_eps(make, rows, cols):
    return around(make, make.normal(rows, cols), eps=0.0)


def reference(x, gamma, beta, running_mean, running_var, eps, momentum):
    rows, mean, var = len(x), x.mean(axis=0), x.var(axis=0)
    rstd = 1 / np.sqrt(var + eps)
    return [(x - mean) * rstd * gamma + beta, mean, rstd, running_mean * (1 - momentum) + mean * momentum,
            running_var * (1 - momentum) + var * rows / (rows - 1) * momentum]


batch_norm = Ladder(
    "batch_norm", ("rows", "cols"),
    rungs=("column", "each", "tile", "split"),
    types=("fp32", "fp16", "bf16"),
    problem=plain,
    hostile={"mean 1000": mean_1000, "all equal": all_equal, "one channel constant": one_constant, "growing": growing, "one NaN": one_nan},
    refused={"one row": one_row, "x stored by columns": by_columns, "a gamma that is too long": other_gamma, "eps 0": zero_eps},
    reference=reference,
    # A mean of 1,000 in fp32 is right to 6e-5, and so is then a y of deviation 1.
    tolerance=within(relative=2e-5, absolute=3e-4),
    # Two rows, one channel, around a tile's 16 rows and 128 channels, odd, and five parts of `split` in a block of eight.
    shapes=((2, 1), (7, 3), (16, 128), (17, 130), (65, 64), (257, 33)),
    show=(256, 256),
    bench=((64 * 112 * 112, 128), (1568, 2048), (16384, 64)),
    sweep=((1568, 2048), (50176, 256), (200704, 128), (802816, 64)),
    exercise=Exercise("mean and variance of a channel in one walk", starts="column", solution="each",
                      gates={"reads_per_input": 2.1, "writes_per_output": 1.1, "spilled": 0}),
    asks=("mufu", "scratch"),
    lesson="tl.reduce takes a merge of your own; what it costs depends on how often it is called.",
)
