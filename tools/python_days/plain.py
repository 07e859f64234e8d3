# SPDX-License-Identifier: MIT
"""Rungs that are plain Python and no kernel of Triton's: a program of PyTorch, a kernel in CUDA C++ that it calls, a kernel of Numba's.
What tells such rungs apart, the ladder counts.

A ladder by "torch": launch(*inputs) is given PyTorch's tensors, and returns its results. A ladder by "numpy": launch(*inputs,
*outputs) is given arrays, and writes. On a GPU both are given PyTorch's tensors there."""
from __future__ import annotations

import contextlib
import os
import sys

from python_days import adapters, counters


class Unavailable(Exception):
    """A rung cannot run on this machine: it is skipped, with this reason."""


def measured(ladder, launch, kind, shape):
    """{a counter's key: its value} of a rung."""
    if not ladder.counters:
        return {}
    problem = adapters.of(ladder, launch).problem(kind, shape)
    values = ladder.measure(launch, problem.inputs, problem.outputs)
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
        return counters.told(measured(ladder, launch, ladder.types[0], ladder.show))
    except Exception as error:  # a wrong rung may do anything
        return f"{type(error).__name__}: {error}"


def as_json(ladder, values):
    return [{**vars(counter), "value": values[counter.key]} for counter in ladder.counters]
