# SPDX-License-Identifier: MIT
"""The day's ladder: dropout and its gradient, both from a seed, on lengths, seeds and shares that hurt. NumPy alone."""
import numpy as np

from python_days import Exercise, Ladder, within

SPECIAL = np.array([1.0, -0.0, np.inf, -1.0, -np.inf, 2.0 ** -24, np.nan, 65504.0, -65504.0, 0.0, -2.0 ** -24])
_LOW = np.uint64(0xFFFFFFFF)


def philox(counter, seed):
    """Four words of 32 bits for each counter, (counters, 4): Philox-4x32-10 of the counter (low half, high half, 0, 0) and the key seed."""
    counter, high = np.asarray(counter, np.uint64), np.uint64(32)
    words = [counter & _LOW, counter >> high, np.zeros_like(counter), np.zeros_like(counter)]
    keys = [seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF]
    for _ in range(10):
        first, second = np.uint64(0xD2511F53) * words[0], np.uint64(0xCD9E8D57) * words[2]
        words = [second >> high ^ words[1] ^ np.uint64(keys[0]), second & _LOW, first >> high ^ words[3] ^ np.uint64(keys[1]), first & _LOW]
        keys = [keys[0] + 0x9E3779B9 & 0xFFFFFFFF, keys[1] + 0xBB67AE85 & 0xFFFFFFFF]
    return np.stack(words, axis=-1)


def kept(n, seed, p):
    """Which of n positions are kept: position i has word i mod 4 of counter i // 4."""
    return philox(np.arange(-(-n // 4)), seed).reshape(-1)[:n] >= np.uint64(p * 2.0 ** 32)


def reference(x, dy, seed, p):
    keep = kept(x.size, seed, p)
    scale = float(np.float32(1 / (1 - p))) if p < 1 else 0.0
    return [np.where(keep, values * scale, 0.0) for values in (x, dy)]


def step(seed, p, values=None):
    """A problem with this seed and share."""
    def problem(make, n):
        x = make.fill(values, n) if values is not None else make.normal(n)
        return [x, make.normal(n), seed, p], [make.output(n), make.output(n)]
    return problem


def every_second(make, n):
    (x, *others), outputs = step(7, 0.1)(make, 2 * n)
    x.array, x.shape = x.array[::2], (n,)
    return [x, make.normal(n), *others[1:]], [make.output(n), make.output(n)]


def misaligned(make, n):
    (x, *others), outputs = step(7, 0.1)(make, n)
    return [make.shifted(x), *others], outputs


def shorter_gradient(make, n):
    (x, _, *others), outputs = step(7, 0.1)(make, n)
    return [x, make.normal(n - 1), *others], outputs


dropout = Ladder(
    "dropout", ("n",),
    rungs=("stored", "seeded", "four", "wide"),
    types=("fp32", "fp16", "bf16"),
    problem=step(7, 0.1),
    # Triton makes a constant of an argument that is 1, and another kernel of one that 16 divides or that needs 64 bits.
    hostile={"p 0, seed 1": step(1, 0.0, SPECIAL), "p 1, special values": step(16, 1.0, SPECIAL), "p 0.5, special values, seed -1":
             step(-1, 0.5, SPECIAL), "p 1e-9, seed 2^31": step(1 << 31, 1e-9), "p 1 - 2^-24, seed 2^40": step(1 << 40, 1 - 2.0 ** -24),
             "p 2^-32, seed 0": step(0, 2.0 ** -32), "misaligned x": misaligned},
    refused={"p -0.1": step(7, -0.1), "p 1.5": step(7, 1.5), "p NaN": step(7, float("nan")), "a seed of 65 bits": step(1 << 64, 0.1),
             "every second element of x": every_second, "a gradient that is too short": shorter_gradient},
    reference=reference,
    tolerance=within(relative=6e-8),  # a product is rounded to fp32; whether a position is kept has no tolerance
    # None, one, around the four positions of a counter, around blocks of 128, 1,024 and 2,048, what 16 divides, and a prime.
    shapes=((0,), (1,), (3,), (5,), (127,), (129,), (1024,), (1030,), (2047,), (2064,), (4099,)),
    show=(4096,),
    bench=((1 << 28,), (1_000_003,)),
    sweep=((1 << 18,), (1 << 22,), ((1 << 26) + 5,), (1 << 28,)),
    exercise=Exercise("draw four numbers with one call, and use all four", starts="seeded", solution="four",
                      gates={"instructions_an_output": 30, "shared": 0, "load_bits": 128, "reads_per_input": 1.0}),
    asks=("alive", "instructions_an_output", "imad"),
    gradient=1,
    lesson="a random number is a function of seed and position: the gradient asks again, and one call of Philox answers for four positions.",
)
