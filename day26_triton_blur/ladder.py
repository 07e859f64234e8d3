# SPDX-License-Identifier: MIT
"""The day's ladder: a picture blurred by a Gaussian, whose edge is repeated beyond it. NumPy alone."""
import math

import numpy as np

from python_days import Exercise, Ladder, within


def gaussian_weights(radius):
    """Day 04's: 2 radius + 1 whole 4096ths that add up to 1. A weight is the bell curve's area over a pixel, and differences of rounded
    areas lose nothing."""
    scale = 1 / ((0.3 * (radius - 1) + 0.8) * math.sqrt(2))
    whole = math.erf((radius + 0.5) * scale)
    areas = [math.floor(2048 * math.erf((i + 0.5) * scale) / whole + 0.5) for i in range(radius + 1)]
    side = [after - before for before, after in zip(areas, areas[1:])]
    return np.array(side[::-1] + [2 * areas[0]] + side) / 4096


def blurred(make, planes, rows, cols, radius, x=None, weights=None):
    """A case, in which x or the weights may be others."""
    x = x or make.normal(planes, rows, cols)
    weights = gaussian_weights(radius) if weights is None else weights
    return [x, make.fill(weights, len(weights), kind="fp32")], [make.output(planes, rows, cols)]


def bright_corner(make, planes, rows, cols, radius):
    """One pixel: what each weight makes of it can be told."""
    return blurred(make, planes, rows, cols, radius, make.fill([255.0] + [0.0] * (rows * cols - 1), planes, rows, cols))


def checkerboard(make, planes, rows, cols, radius):
    board = 255.0 * ((np.arange(rows)[:, None] + np.arange(cols)) % 2)
    return blurred(make, planes, rows, cols, radius, make.fill(board.reshape(-1), planes, rows, cols))


def white(make, planes, rows, cols, radius):
    return blurred(make, planes, rows, cols, radius, make.fill([255.0], planes, rows, cols))


def ramp(make, planes, rows, cols, radius):
    """Each row, each column and each plane is another one; 2,000 is beyond what fp16 counts by halves."""
    values = np.arange(planes * rows * cols) * 7 % 2003
    return blurred(make, planes, rows, cols, radius, make.fill(values, planes, rows, cols))


def one_nan(make, planes, rows, cols, radius):
    """It spoils the places around it, and no others."""
    values = np.zeros((planes, rows, cols))
    values[-1, rows // 2, cols // 2] = np.nan
    return blurred(make, planes, rows, cols, radius, make.fill(values.reshape(-1), planes, rows, cols))


def lopsided(make, planes, rows, cols, radius):
    """No weight is another's equal, so turning them round shows."""
    weights = np.arange(1, 2 * radius + 2)
    return blurred(make, planes, rows, cols, radius, weights=weights / weights.sum())


def too_far(make, planes, rows, cols, radius):
    return blurred(make, planes, rows, cols, 9)


def even_weights(make, planes, rows, cols, radius):
    return blurred(make, planes, rows, cols, radius, weights=np.full(2 * radius, 0.5 / radius))


def weights_in_16_bits(make, planes, rows, cols, radius):
    (x, _), outputs = blurred(make, planes, rows, cols, radius)
    return [x, make.fill(gaussian_weights(radius), 2 * radius + 1, kind="fp16")], outputs


def every_second_column(make, planes, rows, cols, radius):
    x = make.normal(planes, rows, 2 * cols)
    x.array, x.shape = x.array[:, :, ::2], (planes, rows, cols)
    return blurred(make, planes, rows, cols, radius, x)


def output_too_wide(make, planes, rows, cols, radius):
    return blurred(make, planes, rows, cols, radius)[0], [make.output(planes, rows, cols + 1)]


def no_picture(make, planes, rows, cols, radius):
    return blurred(make, planes, 0, cols, radius)


def along(values, w, axis):
    """The weighted sum of 2R + 1 neighbours, of which the nearest in the picture stands in for one outside."""
    radius, n = len(w) // 2, values.shape[axis]
    return sum(w[k] * values.take(np.clip(np.arange(n) + k - radius, 0, n - 1), axis) for k in range(len(w)))


def reference(x, w):
    return along(along(x, w, 2), w, 1)


gaussian_blur = Ladder(
    "gaussian_blur", ("planes", "rows", "cols", "radius"),
    rungs=("taps", "two_walks", "gathered", "ring"),
    types=("fp32", "fp16"),
    problem=blurred,
    hostile={"one bright corner": bright_corner, "a checkerboard": checkerboard, "all white": white, "a ramp": ramp, "one NaN": one_nan,
             "lopsided weights": lopsided},
    refused={"a radius of 9": too_far, "an even number of weights": even_weights, "weights in 16 bits": weights_in_16_bits,
             "every second column": every_second_column, "an output that is too wide": output_too_wide, "a picture without rows": no_picture},
    reference=reference,
    tolerance=within(relative=3e-6, absolute=3e-6),
    # A pixel, a picture smaller than the radius, one more than a walk of 64 rows and a strip of 128 columns, planes and one more than 512
    # columns; blocks of which the halo takes much.
    shapes=((1, 1, 1, 1), (1, 1, 3, 8), (1, 65, 129, 1), (2, 3, 513, 2), (1, 6, 60, 3)),
    show=(1, 128, 512, 2),
    bench=((1, 8192, 8192, 5),),
    sweep=((1, 8192, 8192, 2), (3, 1080, 1920, 5)),
    counts={"ring": {"scratch": 0, "shared_accesses": 0}},
    asks=("scratch", "shared_accesses", "instructions"),
    exercise=Exercise("rows that are blurred along once, and kept", starts="taps", solution="ring",
                      gates={"reads_per_input": 6, "scratch": 0, "shared_accesses": 0}),
    lesson="a block has no halo: load neighbours again, or walk and keep the last rows in registers.",
)
