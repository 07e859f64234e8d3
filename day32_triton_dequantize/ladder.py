# SPDX-License-Identifier: MIT
"""The day's ladder: who competes, on which shapes and values, held to what. NumPy alone."""
import numpy as np

from python_days import Exercise, Ladder, exact

# The format, as common/nf4.h has it.
NF4 = np.array([-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334,
                -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
                0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0])
# Of a block of zeros, of denormal numbers, beyond fp16, at fp32's end; what is no number; and some that are.
SCALES = np.array([0.0, 2.0 ** -149, 65504.0, 3.0e38, np.inf, np.nan, 1.0, 0.3, 1e-38])


def packed(make, n, codes=None, absmax=None, table=NF4):
    """n numbers in (n + 1) // 2 bytes, a scale for each 64. Where n is odd the last byte's lower half is any code."""
    codes = make.integers(0, 256, (n + 1) // 2, kind="uint8") if codes is None else codes
    absmax = make.fill(np.linspace(0.1, 7.0, 97), -(-n // 64), kind="fp32") if absmax is None else absmax
    return [codes, absmax, make.fill(table, len(table), kind="fp32"), n], [make.output(n)]


def hostile_scales(make, n):
    """Bytes count up, so that each code meets each scale where there are enough."""
    return packed(make, n, make.fill(np.arange(256), (n + 1) // 2, kind="uint8"), make.fill(SCALES, -(-n // 64), kind="fp32"))


def another_table(make, n):
    return packed(make, n, table=np.arange(16) * 1.5 - 7.0)


def misaligned(make, n):
    inputs, (y,) = packed(make, n)
    return [make.shifted(inputs[0]), *inputs[1:]], [make.shifted(y)]


def signed_codes(make, n):
    return packed(make, n, codes=make.integers(-128, 128, (n + 1) // 2, kind="int8"))


def half_scales(make, n):
    return packed(make, n, absmax=make.normal(-(-n // 64), kind="fp16"))


def byte_missing(make, n):
    return packed(make, n, codes=make.integers(0, 256, (n + 1) // 2 - 1, kind="uint8"))


def scale_missing(make, n):
    return packed(make, n, absmax=make.normal(-(-n // 64) - 1, kind="fp32"))


def short_table(make, n):
    return packed(make, n, table=NF4[:15])


def output_too_long(make, n):
    return packed(make, n)[0], [make.output(n + 1)]


def every_second_byte(make, n):
    codes = make.integers(0, 256, 2 * ((n + 1) // 2), kind="uint8")
    codes.array, codes.shape = codes.array[::2], ((n + 1) // 2,)
    return packed(make, n, codes=codes)


def reference(codes, absmax, table, n):
    """The product is one of fp32, which is then rounded to y's type."""
    halves = np.stack([codes >> 4, codes & 15], axis=1).reshape(-1)[:n]
    return table[halves].astype(np.float32) * np.repeat(absmax, 64)[:n].astype(np.float32)


nf4_dequantize = Ladder(
    "nf4_dequantize", ("n",),
    rungs=("twice", "strided", "interleaved", "own_bytes", "gathered"),
    types=("bf16", "fp16", "fp32"),
    problem=packed,
    hostile={"hostile scales": hostile_scales, "another table": another_table, "misaligned codes and y": misaligned},
    refused={"codes of int8": signed_codes, "scales of fp16": half_scales, "a byte too few": byte_missing, "a scale too few": scale_missing,
             "a table of 15": short_table, "an output that is too long": output_too_long, "every second byte": every_second_byte},
    reference=reference,
    tolerance=exact,
    asks=("instructions_an_output", "shared_accesses", "conversions"),
    # None, one, half a byte more, around a block of 64, around a program of 512, 1,024 and 4,096, and several programs and a byte's half.
    shapes=((0,), (1,), (2,), (63,), (64,), (65,), (127,), (512,), (1023,), (1026,), (4095,), (4096,), (4097,), (9281,)),
    show=(16384,),
    bench=((8192 * 28672,), (4096 * 4096,)),
    sweep=((1 << 14,), (1 << 18,), (1 << 22,), (4096 * 4096 + 1,), (1 << 26,), (8192 * 28672,)),
    exercise=Exercise("each byte loaded once, its two numbers in one store", starts="twice", solution="interleaved",
                      gates={"reads_per_input": 12, "wasted_sectors": 0.1}),
    lesson="a byte grows to two numbers where it lies, if what a thread loads is what it stores.",
)
