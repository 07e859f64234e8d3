# SPDX-License-Identifier: MIT
"""A ladder: one problem, the rungs that compete on it, and what each is held to. A Python day's ladder.py makes one or several,
each under a name of its module; CONTRIBUTING.md says what each member means."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Callable, Dict, Optional, Tuple

import numpy as np

from days_cli.errors import USAGE, DaysError
from days_cli.metrics import Metric
from python_days import comparing, tensors
from python_days.tensors import Tensor, aligned, empty, stored


@dataclass(frozen=True)
class Exercise:
    """What exercise.py asks for. gates: {a metric of metrics.py: its bound}."""
    goal: str
    starts: str
    solution: str
    gates: Dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Counter(Metric):
    """A figure of a ladder whose kernels are not Triton's: what tells its rungs apart."""
    apart: float = 0.5


@dataclass(frozen=True)
class Ladder:
    """problem(make, *extents) -> (inputs, outputs) for a Maker; reference(*inputs) -> outputs, of and as arrays in double. A tensor
    that is among both is changed in place."""
    name: str
    extents: Tuple[str, ...]
    rungs: Tuple[str, ...]
    problem: Callable
    reference: Callable
    shapes: Tuple[Tuple[int, ...], ...]
    show: Tuple[int, ...]  # what run and explain take without a GPU
    bench: Tuple[Tuple[int, ...], ...]
    types: Tuple[str, ...] = ("fp32",)
    tolerance: comparing.Tolerance = comparing.exact
    hostile: Dict[str, Callable] = field(default_factory=dict)  # other problems of the same shapes
    refused: Dict[str, Callable] = field(default_factory=dict)  # what each launcher must refuse with ValueError
    sweep: Tuple[Tuple[int, ...], ...] = ()
    flops: Optional[Callable] = None  # of the extents; without it memory is the measure
    # Of large problems on a GPU, where the reference would take too long: sample(inputs, places, ...) -> what is expected at these
    # places of each output, places being an array (dimensions, count) of indices.
    sample: Optional[Callable] = None
    exercise: Optional[Exercise] = None
    lesson: str = ""
    # Who runs the rungs: "triton", or plain Python, which is given PyTorch's tensors ("torch") or NumPy's arrays ("numpy").
    by: str = "triton"
    # {a rung: {a metric's or a counter's key: its value}}, on the shape that run shows: what the tests hold it to.
    counts: Dict[str, Dict[str, float]] = field(default_factory=dict)
    # Of plain Python: what is counted of a rung, measure(launch, inputs, outputs) -> {a counter's key: its value}; and whether the results
    # may depend on an order of threads, so that cases are run in several (SIMT_ORDER in the environment).
    counters: Tuple[Counter, ...] = ()
    measure: Optional[Callable] = None
    orders: bool = False
    # Rungs that do not take every shape: {rung: takes(kind, *extents)}. Where it says no the launcher must refuse with ValueError.
    takes: Dict[str, Callable] = field(default_factory=dict)
    # Calls, (shape, inputs) each, as a program that runs on makes them: of these the metrics "compiled" and "searches" are.
    calls: Tuple[Tuple[Tuple[int, ...], str], ...] = ()
    # Metrics that this ladder's rungs are about: a rung is asked for these before all others, and explain shows them.
    asks: Tuple[str, ...] = ()
    # The number of the input that only a backward gets: what is loaded from the launch on that touches it, and was not written since, has
    # waited for it (the metric "alive").
    gradient: Optional[int] = None
    # Rungs that the interpreter cannot run: {rung: why}. Their refusals are tested and their kernels compiled, and on a GPU they are run.
    compiled_only: Dict[str, str] = field(default_factory=dict)
    wave: int = 0  # programs that run at the same time, for the count of what they load together; 0: it is not counted

    def make(self, kind, shape, inputs="", draw=True):
        """(inputs, outputs) of a case; inputs: "" or the name of a hostile or refused one."""
        problem = {**self.hostile, **self.refused}[inputs] if inputs else self.problem
        made_in, made_out = problem(Maker(kind, draw), *shape)
        return list(made_in), list(made_out)

    def takes_shape(self, rung, kind, shape):
        return rung not in self.takes or bool(self.takes[rung](kind, *shape))

    def traffic(self, inputs, outputs):
        """The least bytes that must be read and written."""
        size = lambda tensors: sum(t.numel() * t.element_size() for t in tensors if hasattr(t, "data_ptr"))
        return size(inputs), size(outputs)

    def expected(self, inputs):
        """The reference's outputs as a list of arrays."""
        with np.errstate(all="ignore"):
            made = self.reference(*(t.values() if isinstance(t, Tensor) else t for t in inputs))
        return list(made) if isinstance(made, (tuple, list)) else [made]


class Maker:
    """Makes a problem's tensors in the case's type, the same on every run. draw: False where nobody will read the values."""

    def __init__(self, kind, draw=True):
        self.kind, self.draw, self._random = kind, draw, np.random.default_rng(1)

    def normal(self, *shape, kind=None, scale=1.0, shift=0.0):
        """Normally distributed."""
        if not self.draw:
            return self._undrawn(shape, kind)
        drawn = self._drawn(shape)
        return Tensor.of(drawn * np.float32(scale) + np.float32(shift) if (scale, shift) != (1.0, 0.0) else drawn, kind or self.kind)

    def _drawn(self, shape):
        """Of many elements each part has a generator of its own, so that all cores draw, and the same on every machine."""
        count = int(np.prod(shape))
        if count <= tensors.PART:
            return self._random.standard_normal(shape, np.float32)
        seed, drawn = int(self._random.integers(1 << 62)), np.empty(count, np.float32)

        def part(start):
            np.random.default_rng([seed, start]).standard_normal(dtype=np.float32, out=drawn[start:start + tensors.PART])
        tensors.in_parts(part, count)
        return drawn.reshape(shape)

    def integers(self, low, high, *shape, kind="int32"):
        """low to high - 1."""
        return self._undrawn(shape, kind) if not self.draw else Tensor.of(self._random.integers(low, high, shape), kind)

    def fill(self, values, *shape, kind=None):
        """These values again and again, in the order of the memory."""
        count = int(np.prod(shape))
        values = np.asarray(values, np.float64)
        return Tensor.of(np.resize(values, count).reshape(shape) if count else np.empty(shape), kind or self.kind)

    def output(self, *shape, kind=None):
        """Filled with what nobody would write."""
        return empty(shape, kind or self.kind)

    def padded(self, tensor, pitch, fill=np.nan):
        """A matrix whose rows begin `pitch` elements apart; what lies between holds `fill`, and nobody has a right to it."""
        rows, cols = tensor.shape
        if pitch < cols:
            raise DaysError(f"a pitch of {pitch} elements holds no rows of {cols}", "make the pitch at least as long as a row", USAGE)
        memory = aligned((rows, pitch), tensor.array.dtype)
        memory[...] = stored(fill if tensor.kind in ("fp64", "fp32", "fp16", "bf16") else 0, tensor.kind)
        memory[:, :cols] = tensor.array
        written = None if tensor.written is None else np.zeros(memory.size, bool)  # of the memory, gaps and all
        return Tensor(memory[:, :cols], tensor.kind, written)

    def shifted(self, tensor):
        """The same values in memory that begins one element later: aligned to an element and to nothing more."""
        memory = aligned((tensor.array.size + 1,), tensor.array.dtype)
        memory[1:] = tensor.array.reshape(-1)
        return Tensor(memory[1:].reshape(tensor.shape), tensor.kind, tensor.written)

    def _undrawn(self, shape, kind):
        made = empty(shape, kind or self.kind)
        made.written = None
        return made
