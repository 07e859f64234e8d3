# SPDX-License-Identifier: MIT
"""Rungs that are plain Python and no kernel of Triton's: a program of PyTorch, a kernel in CUDA C++ that it calls, a kernel of Numba's.
Their cases are run as they are, on tensors that share the memory of the case's; what tells such rungs apart, the ladder counts.

A ladder by "torch": launch(*inputs) is given PyTorch's tensors, and returns its results. A ladder by "numpy": launch(*inputs,
*outputs) is given arrays, and writes. On a GPU both are given PyTorch's tensors there."""
from __future__ import annotations

import contextlib
import os
import sys

import numpy as np

from days_cli.errors import ENVIRONMENT, DaysError
from python_days.tensors import Tensor

ORDERS = ("normal", "reversed", "shuffle")


class Unavailable(Exception):
    """A rung cannot run on this machine: it is skipped, with this reason."""


def torch():
    try:
        import torch as found
    except ImportError as error:
        raise DaysError(f"this day is about PyTorch, and it cannot be imported: {error}", "pip install torch", ENVIRONMENT) from error
    return found


def as_torch(tensor):
    """PyTorch's tensor in the same memory."""
    if not isinstance(tensor, Tensor):
        return tensor
    made = torch().from_numpy(tensor.array.view(np.int16) if tensor.kind == "bf16" else tensor.array)
    return made.view(torch().bfloat16) if tensor.kind == "bf16" else made


def as_array(tensor):
    return tensor.array if isinstance(tensor, Tensor) else tensor


def run(ladder, launch, case, order="normal"):
    """cases.Outcome of a case."""
    from python_days import cases
    inputs, outputs = ladder.make(case.kind, case.shape, case.inputs)
    before = [Tensor(tensor.array.copy(), tensor.kind) if isinstance(tensor, Tensor) else tensor for tensor in inputs]
    os.environ["SIMT_ORDER"] = order
    refusal, notes = _launched(ladder, launch, inputs, outputs)
    if case.refused:
        if refusal:
            return cases.Outcome("refused", notes=[refusal])
        return cases.Outcome("fail", notes=notes or [f"it takes {case.refused}, and must refuse it with a ValueError"])
    if refusal:
        notes = [f"it refuses the case: {refusal}"]
    if notes:
        return cases.Outcome("fail", dict(_NOTHING), notes=notes)
    facts = cases.judged(ladder, before, inputs, outputs)
    return cases.Outcome("fail" if facts["wrong"] else "ok", facts)


_NOTHING = {"wrong": 0, "compared": 0, "unwritten": 0, "worst": None, "first": [], "least_ratio": None, "most_ratio": None}


def _launched(ladder, launch, inputs, outputs):
    """(why the rung refuses, [what went wrong in it])."""
    from python_days import cases
    try:
        if ladder.by == "torch":
            store(outputs, launch(*map(as_torch, inputs)))
        else:
            launch(*map(as_array, inputs), *(as_array(t) for t in outputs if not any(t is one for one in inputs)))
    except Unavailable:
        raise
    except NotImplementedError as error:
        return "", [cases.told(error)]
    except (ValueError, RuntimeError) as error:  # PyTorch's own word for a refusal is RuntimeError
        return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__, []
    except Exception as error:  # a rung may do anything
        return "", [cases.told(error)]
    return "", []


def store(outputs, made):
    """What a rung returned, into the case's outputs; ValueError where it is something else."""
    made = list(made) if isinstance(made, (list, tuple)) else [made]
    if len(made) != len(outputs):
        raise TypeError(f"{len(made)} results, expected {len(outputs)}")
    for output, result in zip(outputs, made):
        if not hasattr(result, "data_ptr"):
            raise TypeError(f"it returns a {type(result).__name__} and no tensor")
        wanted = as_torch(output)
        if tuple(result.shape) != tuple(output.shape) or result.dtype != wanted.dtype:
            raise TypeError(f"a result of {tuple(result.shape)} {result.dtype}, expected {tuple(output.shape)} {wanted.dtype}")
        wanted.copy_(result.detach())
        output.written = None


def measured(ladder, launch, kind, shape):
    """{a counter's key: its value} of a rung."""
    if not ladder.counters:
        return {}
    inputs, outputs = ladder.make(kind, shape)
    as_given = as_torch if ladder.by == "torch" else as_array
    if os.environ.get("DAYS_BACKEND") == "cuda":
        from python_days import on_gpu
        as_given = on_gpu.on_device
    values = ladder.measure(launch, [as_given(t) for t in inputs], [as_given(t) for t in outputs])
    missing = [counter.key for counter in ladder.counters if counter.key not in values]
    if missing:
        raise ValueError(f"measure() of {ladder.name} gives no {', '.join(missing)}")
    return {counter.key: values[counter.key] for counter in ladder.counters}


@contextlib.contextmanager
def silent():
    """What is printed meanwhile goes to standard error: standard output has the answer alone."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)


def complaint(ladder, rung, launch):
    """What is wrong with a rung's counters, "" where nothing is."""
    values, wrong = measured(ladder, launch, ladder.types[0], ladder.show), []
    for key, expected in ladder.counts.get(rung, {}).items():
        if values[key] != expected:
            wrong.append(f"{key} is {values[key]}, expected {expected}")
    return "\n".join(wrong)


def told_counters(ladder, launch):
    """A rung's counters as lines "KEY is VALUE", or what measuring it throws."""
    try:
        return "\n".join(f"{key} is {value:g}" for key, value in measured(ladder, launch, ladder.types[0], ladder.show).items())
    except Exception as error:  # a wrong rung may do anything
        return f"{type(error).__name__}: {error}"


def as_json(ladder, values):
    return [{**vars(counter), "value": values[counter.key]} for counter in ladder.counters]
