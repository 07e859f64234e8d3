# SPDX-License-Identifier: MIT
"""Wrong operators of day 02, each as short as its bug, with what must be said of it."""
import ctypes
import sys
from pathlib import Path

import torch

from day02_vector_add_torch.ladder import vector_add
from python_days import must_reject

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from vector_add import library, operator  # noqa: E402

_KEPT = []  # memory that a kernel may still write to


def _queued(a, b, n):
    c = torch.full_like(a, float("nan"))
    _KEPT.append((a.clone(), b.clone(), c))
    library().day02_vector_add(*(ctypes.c_void_p(tensor.data_ptr()) for tensor in _KEPT[-1]), ctypes.c_int64(n), None)
    return c


@must_reject(vector_add, "is nan, expected")
def no_wait(a, b):
    """Nobody waits for the kernel, so the result is read before it is written."""
    return _queued(a, b, a.numel()).clone()


@must_reject(vector_add, "out[0] is nan, expected")
def one_element_less(a, b):
    c = _queued(a, b, max(0, a.numel() - 1))
    library().day02_wait(None)
    return c


@must_reject(vector_add, "an input is changed, expected unchanged")
def in_place(a, b):
    a += b
    return a.clone()


@must_reject(vector_add, "2 results, expected 1")
def in_a_list(a, b):
    return [a + b, b]


def _whole(space, fake, backward):
    op = operator(space)
    if fake:
        torch.library.register_fake(f"{space}::vector_add", fake)
    if backward:
        torch.library.register_autograd(f"{space}::vector_add", backward)
    return op


_FLAT = _whole("day02_wrong_flat", lambda a, b: a.new_empty(a.numel() + 1), lambda ctx, dc: (dc, dc))
_DOUBLE = _whole("day02_wrong_double", lambda a, b: torch.empty_like(a, dtype=torch.float64), lambda ctx, dc: (dc, dc))
_ONE = _whole("day02_wrong_one", lambda a, b: torch.empty_like(a), lambda ctx, dc: dc)
_MINUS = _whole("day02_wrong_minus", lambda a, b: torch.empty_like(a), lambda ctx, dc: (dc, -dc))


@must_reject(vector_add, "opcheck is 2", by="counters")
def fake_of_another_shape(a, b):
    return _FLAT(a, b)


@must_reject(vector_add, "opcheck is 1", by="counters")
def fake_of_another_type(a, b):
    return _DOUBLE(a, b)


@must_reject(vector_add, "gradients is 2", by="counters")
def one_gradient_for_two_inputs(a, b):
    return _ONE(a, b)


@must_reject(vector_add, "gradients is 1", by="counters")
def gradient_of_a_difference(a, b):
    return _MINUS(a, b)


@must_reject(vector_add, "breaks is 1", by="counters")
def through_numpy(a, b):
    """torch.compile cannot look into a C function, and what it does not see has no gradient."""
    _queued(a.detach(), b.detach(), a.numel())
    library().day02_wait(None)
    return torch.from_numpy(_KEPT[-1][2].numpy())
