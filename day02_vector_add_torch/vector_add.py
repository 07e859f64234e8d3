# SPDX-License-Identifier: MIT
"""What the rungs share: the kernel's library, built where it is asked for, as C functions and as an operator in a name space."""
import ctypes
import functools

import torch

from python_days import native


@functools.lru_cache(maxsize=None)
def library():
    """vector_add.cu and op.cpp in one shared library: by nvcc for a GPU, else for this CPU."""
    return ctypes.CDLL(native.library("day02_vector_add_torch", ("vector_add.cu", "op.cpp"), torch))


def operator(space):
    """torch.ops.SPACE.vector_add, registered by op.cpp."""
    library().day02_register(space.encode())
    return getattr(torch.ops, space).vector_add.default
