# SPDX-License-Identifier: MIT
"""The day's two ladders: one multiplication of matrices, in Numba's Python, and in CUDA C++ that Python calls."""
import numpy as np

from python_days import Counter, Exercise, Ladder, within

SPECIAL = np.array([0.0, -0.0, 1.0, -2.5, 2.0 ** -140, 1e30, -1e30, np.inf, 3.0])


def matrices(make, m, n, k):
    """The second is scaled so that sums are of the size of 1 for every k, and so are the errors that fp32 makes in them."""
    return [make.normal(m, k), make.normal(k, n, scale=k ** -0.5)], [make.output(m, n)]


def integers(make, m, n, k):
    """Whose products and sums fp32 holds without an error, so that a lost term is seen."""
    return [make.integers(-8, 9, m, k, kind="fp32"), make.integers(-8, 9, k, n, kind="fp32")], [make.output(m, n)]


def transposed(make, m, n, k):
    a, b = make.normal(k, m + 1), make.normal(k, n)
    a.array, a.shape = a.array.T[:m], (m, k)
    return [a, b], [make.output(m, n)]


def another_k(make, m, n, k):
    return [make.normal(m, k), make.normal(k + 1, n)], [make.output(m, n)]


def doubles(make, m, n, k):
    return [make.normal(m, k), make.normal(k, n, kind="fp64")], [make.output(m, n)]


def measure(launch, inputs, outputs):
    """What Numba's simulator counts: elements that are read from global and from shared memory."""
    from python_days import numba_here
    numba_here.counted()
    launch(*inputs, *outputs)
    counts = numba_here.counted()
    elements = sum(array.size for array in inputs)
    return {"reads": counts.loads / elements, "shared": counts.shared_loads / elements}


def product(a, b):
    return a @ b


def samples(inputs, places):
    a, b = inputs
    rows, cols = places
    return np.einsum("ik,ik->i", a[rows], b[:, cols].T)


# One; around a tile of 16; no two alike; one long side each.
SHAPES = ((1, 1, 1), (3, 5, 7), (16, 16, 16), (15, 17, 16), (17, 1, 33), (2, 19, 40))
REFUSED = {"a transposed a": transposed, "a longer b": another_k, "an fp64 b": doubles}
BENCH = ((4096, 4096, 4096), (1000, 1001, 1003))
CLOSE = within(relative=1e-5, absolute=2e-5)

numba_matmul = Ladder(
    "matmul", ("m", "n", "k"),
    rungs=("numba", "tiled"),
    by="numpy",
    orders=True,
    problem=matrices,
    hostile={"whole numbers": integers},
    refused=REFUSED,
    reference=product,
    tolerance=CLOSE,
    shapes=SHAPES,
    show=(32, 32, 32),
    bench=BENCH,
    flops=lambda m, n, k: 2 * m * n * k,
    sample=samples,
    counters=(Counter("reads", "reads per input", "{:.2f}", 0.02), Counter("shared", "shared reads per input", "{:.2f}", 0.02, most=False)),
    measure=measure,
    counts={"numba": {"reads": 32, "shared": 0}, "tiled": {"reads": 2, "shared": 32}},
    exercise=Exercise("tiles of shared memory in Python, each element read once a tile", starts="numba", solution="tiled", gates={"reads": 2}),
    lesson="a kernel in Python is a kernel: tiles and barriers are the same, and so are races.",
)

cuda_matmul = Ladder(
    "matmul_cuda", ("m", "n", "k"),
    rungs=("raw", "library"),
    by="numpy",
    orders=True,
    problem=matrices,
    hostile={"whole numbers": integers},
    refused=REFUSED,
    reference=product,
    tolerance=CLOSE,
    shapes=(*SHAPES, (33, 65, 18), (64, 64, 64)),
    show=(64, 64, 64),
    bench=BENCH,
    flops=lambda m, n, k: 2 * m * n * k,
    sample=samples,
    lesson="the same CUDA C++, compiled at the first launch or before Python began.",
)
