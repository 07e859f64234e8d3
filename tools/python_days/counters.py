# SPDX-License-Identifier: MIT
"""What the tests hold a rung of Triton's to, by the metrics' keys: the interpreter's process counts some, the compiler's the others."""
from __future__ import annotations

from days_cli import metrics

_COMPILED = {metric.key for metric in metrics.TRITON if metric.compiled}


def of_code(key):
    """Whether a metric is one of the compiler's."""
    return key in _COMPILED


def complaint(values, wanted):
    """What is wrong with a rung's metrics, "" where nothing is: {key: value} of those that one process knows, and what they should be."""
    return "\n".join(f"{key} is {values[key]:g}, expected {expected:g}" for key, expected in wanted.items() if values[key] != expected)


def told(values):
    """Metrics as lines "KEY is VALUE"."""
    return "\n".join(f"{key} is {value:g}" for key, value in values.items())
