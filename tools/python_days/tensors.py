# SPDX-License-Identifier: MIT
"""Tensors of NumPy's memory with as much of PyTorch's interface as a launcher and Triton ask for, so that a day about Triton needs
no PyTorch (a second less for each process, and 200 MB). On a GPU launchers are given PyTorch's own."""
from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np

# An element type's name in the course: (PyTorch's name, NumPy's type of the memory). NumPy has no bf16: its bits stand as uint16.
TYPES = {
    "fp64": ("float64", np.float64), "fp32": ("float32", np.float32), "fp16": ("float16", np.float16),
    "bf16": ("bfloat16", np.uint16), "int64": ("int64", np.int64), "int32": ("int32", np.int32),
    "int16": ("int16", np.int16), "int8": ("int8", np.int8), "uint8": ("uint8", np.uint8),
}
FLOATS = {"fp64": 53, "fp32": 24, "fp16": 11, "bf16": 8}  # binary digits of a number
POISON = 0xA5  # what outputs are filled with, byte by byte


PART = 1 << 20  # elements that are worked on at a time


def in_parts(work, count):
    """[work(start)] for every PART of so many elements, on all cores: NumPy lets others work meanwhile."""
    starts = range(0, max(1, count), PART)
    if len(starts) == 1:
        return [work(0)]
    with ThreadPoolExecutor(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()) as pool:
        return list(pool.map(work, starts))


class DType(str):
    """A type by PyTorch's name, with its size."""

    @property
    def itemsize(self):
        return np.dtype(next(numpy_type for name, numpy_type in TYPES.values() if name == self)).itemsize


def to_bf16(values):
    """fp32 as the bits of bf16, rounded to the nearest, ties to even; NaN stays NaN."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    rounded = ((bits.astype(np.uint64) + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    return np.where(np.isnan(bits.view(np.float32)), np.uint16(0x7FC0), rounded)


def from_bf16(bits):
    return (np.asarray(bits).astype(np.uint32) << 16).view(np.float32)


def stored(values, kind):
    """Values as a type's memory has them."""
    if kind == "bf16":
        return to_bf16(values)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(values).astype(TYPES[kind][1])


def aligned(shape, numpy_type):
    """An array whose memory begins where a GPU's would: at a multiple of 256 bytes, so that sectors are the same on every run."""
    count = int(np.prod(shape))
    memory = np.empty(count * np.dtype(numpy_type).itemsize + 256, np.uint8)
    first = -memory.__array_interface__["data"][0] % 256
    return memory[first:first + count * np.dtype(numpy_type).itemsize].view(numpy_type).reshape(shape)


class Tensor:
    """written: which elements of the memory somebody has given a value; None: all."""

    def __init__(self, array, kind, written=None):
        self.array, self.kind, self.written = array, kind, written
        self.dtype = DType(TYPES[kind][0])
        self.shape = tuple(array.shape)
        self.device = "cpu"

    @classmethod
    def of(cls, values, kind):
        values = np.asarray(values)
        array = aligned(values.shape, TYPES[kind][1])
        if values.size <= PART or not values.flags.c_contiguous:
            array[...] = stored(values, kind)
            return cls(array, kind)
        flat, to = values.reshape(-1), array.reshape(-1)

        def part(start):
            to[start:start + PART] = stored(flat[start:start + PART], kind)
        in_parts(part, flat.size)
        return cls(array, kind)

    def values(self):
        """What the elements are worth: floats as float64, which holds each of them exactly."""
        if self.kind == "bf16":
            return from_bf16(self.array).astype(np.float64)
        return self.array.astype(np.float64) if self.kind in FLOATS else self.array.copy()

    # What Triton and launchers ask for, by PyTorch's names.
    def data_ptr(self):
        return self.array.__array_interface__["data"][0]

    def element_size(self):
        return self.array.itemsize

    def numel(self):
        return self.array.size

    @property
    def ndim(self):
        return self.array.ndim

    def dim(self):
        return self.array.ndim

    def size(self, axis=None):
        return self.shape if axis is None else self.shape[axis]

    def stride(self, axis=None):
        strides = tuple(step // self.array.itemsize for step in self.array.strides)
        return strides if axis is None else strides[axis]

    def is_contiguous(self):
        return self.array.flags.c_contiguous

    def new_empty(self, *shape, dtype=None):
        """Memory that nobody has written: whoever reads it is told so."""
        kind = next(name for name, (torch_name, _) in TYPES.items() if torch_name == str(dtype or self.dtype).rpartition(".")[2])
        shape = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
        return empty(shape, kind)

    def new_zeros(self, *shape, dtype=None):
        made = self.new_empty(*shape, dtype=dtype)
        made.zero_()
        return made

    def zero_(self):
        self.array[...] = 0
        self.written = None
        return self


def new_empty(like, shape, kind):
    """A launcher's own memory, of a type by its name, where the tensor lies: without a GPU this file's, else PyTorch's."""
    if isinstance(like, Tensor):
        return like.new_empty(shape, dtype=TYPES[kind][0])
    import torch
    return torch.empty(shape, dtype=getattr(torch, TYPES[kind][0]), device=like.device)


def empty(shape, kind):
    array = aligned(shape, TYPES[kind][1])
    array.reshape(-1).view(np.uint8)[...] = POISON
    return Tensor(array, kind, np.zeros(array.size, bool))
