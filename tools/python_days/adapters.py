# SPDX-License-Identifier: MIT
"""Where a launcher's tensors lie, and how it is started: in Triton's interpreter, as plain Python on this CPU, or on a GPU. Whoever has a
ladder and a launcher asks of(); what comes of a case is judged in cases.run(), which is the same for all of them."""
from __future__ import annotations

import copy
import os

import numpy as np

from days_cli.errors import ENVIRONMENT, DaysError
from python_days.tensors import POISON, TYPES, Tensor

ORDERS = ("normal", "reversed", "shuffle")  # of programs, or of threads


def on_gpu():
    return os.environ.get("DAYS_BACKEND") == "cuda"


def of(ladder, launch, order="normal", wave=0, dealt=()):
    """The adapter for a launcher of this ladder on this machine. wave and dealt: as watch.Watch has them."""
    if on_gpu():
        return OnGpu(ladder, launch)
    return Interpreter(ladder, launch, order, wave, dealt) if ladder.by == "triton" else Plain(ladder, launch, order)


def torch():
    try:
        import torch as found
    except ImportError as error:
        raise DaysError(f"this day is about PyTorch, and it cannot be imported: {error}", "pip install torch", ENVIRONMENT) from error
    return found


class Problem:
    """A case's tensors: host_inputs and host_outputs as the ladder makes them, inputs and outputs as the launcher is given them, and the
    host's inputs as they were before. given(tensor) is what stands for one of the host's; copied: whether in memory of its own."""

    def __init__(self, ladder, kind, shape, inputs, given, copied):
        self.type, self.shape, self.by = kind, dict(zip(ladder.extents, shape)), ladder.by
        self.host_inputs, self.host_outputs = ladder.make(kind, shape, inputs)
        in_place = any(tensor is made for tensor in self.host_inputs for made in self.host_outputs)
        self.before = self.host_inputs if copied and not in_place else [copy.deepcopy(tensor) for tensor in self.host_inputs]
        known = {id(tensor): given(tensor) for tensor in (*self.host_inputs, *self.host_outputs)}
        self.inputs = [known[id(tensor)] for tensor in self.host_inputs]
        self.outputs = [known[id(tensor)] for tensor in self.host_outputs]

    @property
    def arguments(self):
        """What a rung is given."""
        return self.inputs if self.by == "torch" else with_outputs(self.inputs, self.outputs)

    def store(self, made):
        """What somebody returned, into the outputs; TypeError where it is something else."""
        made = list(made) if isinstance(made, (list, tuple)) else [made]
        if len(made) != len(self.outputs):
            raise TypeError(f"{len(made)} results, expected {len(self.outputs)}")
        for output, result in zip(self.outputs, made):
            if not hasattr(result, "data_ptr"):
                raise TypeError(f"it returns a {type(result).__name__} and no tensor")
            if tuple(result.shape) != tuple(output.shape) or result.dtype != output.dtype:
                raise TypeError(f"a result of {tuple(result.shape)} {result.dtype}, expected {tuple(output.shape)} {output.dtype}")
            output.copy_(result.detach())

    def inputs_now(self):
        """On the host, as they are now."""
        return self.host_inputs

    def outputs_now(self):
        return self.host_outputs


def with_outputs(inputs, outputs):
    """The arguments of a launcher that writes: a tensor that is changed in place stands among them once."""
    return [*inputs, *(tensor for tensor in outputs if not any(tensor is other for other in inputs))]


class Adapter:
    """given(tensor): what the launcher gets for one of the host's. launches and reports: what watching the kernels has seen."""
    watches = copied = False

    def __init__(self, ladder, launch):
        self.ladder, self._launch = ladder, launch
        self.launches, self.reports = (), ()

    def problem(self, kind, shape, inputs=""):
        return Problem(self.ladder, kind, shape, inputs, self.given, self.copied)

    def refuses(self, error):
        """Whether an exception is the launcher's word that it does not take the case. PyTorch's own word for that is RuntimeError."""
        words = (ValueError, RuntimeError) if self.ladder.by == "torch" else ValueError
        return isinstance(error, words) and not isinstance(error, NotImplementedError) and not self.launches

    def counted(self, problem):
        """{fact: value} of a run that the comparison does not know."""
        return {}

    def start(self, problem):
        """Runs the launcher to its end, and stores what it returns, where that is how its ladder has results."""
        made = self._launch(*problem.arguments)
        if self.ladder.by == "torch":
            problem.store(made)


class Interpreter(Adapter):
    """Triton's interpreter, every access watched. It is imported here and not before: a process that has it has no other Triton."""
    watches = True

    def __init__(self, ladder, launch, order, wave, dealt):
        super().__init__(ladder, launch)
        self._order, self._wave, self._dealt, self._watching = order, wave, dealt, None

    def given(self, tensor):
        return tensor

    def start(self, problem):
        from python_days import watch
        with np.errstate(all="ignore"), watch.Watch(self._order, self._wave, dealt=self._dealt) as self._watching:
            try:
                super().start(problem)
            finally:
                self.launches, self.reports = self._watching.launches, self._watching.reports

    def counted(self, problem):
        return self._watching.memory(None if self.ladder.gradient is None else problem.inputs[self.ladder.gradient])

    def report(self, slug, where, says):
        self._watching.report(slug, where, says)
        self.reports = self._watching.reports


class Plain(Adapter):
    """Plain Python on this CPU: PyTorch's tensors or NumPy's arrays in the memory of the host's."""

    def __init__(self, ladder, launch, order):
        super().__init__(ladder, launch)
        self._order = order

    def given(self, tensor):
        if not isinstance(tensor, Tensor):
            return tensor
        return _as_torch(tensor) if self.ladder.by == "torch" else tensor.array

    def start(self, problem):
        os.environ["SIMT_ORDER"] = self._order
        super().start(problem)


def _as_torch(tensor):
    """PyTorch's tensor in the same memory."""
    made = torch().from_numpy(tensor.array.view(np.int16) if tensor.kind == "bf16" else tensor.array)
    return made.view(torch().bfloat16) if tensor.kind == "bf16" else made


class OnGpu(Adapter):
    """PyTorch's tensors on a GPU, whoever the ladder is by. Results alone are seen."""
    copied = True

    def given(self, tensor, memories=None):
        """PyTorch's tensor of the same elements, strides and alignment, in the GPU's memory. memories: {what a host's memory is: the
        GPU's copy of it}, so that tensors that share memory on the host share it there, too."""
        if not isinstance(tensor, Tensor):
            return tensor
        memories, memory = {} if memories is None else memories, _memory_of(tensor.array)
        start = memory.__array_interface__["data"][0]
        shift = start % 256  # PyTorch's memory begins at a multiple
        if id(memory) not in memories:
            copied = torch().empty(-(-(shift + memory.nbytes) // 16) * 16, dtype=torch().uint8, device="cuda")
            copied[shift:shift + memory.nbytes].copy_(torch().from_numpy(memory.ravel(order="K").view(np.uint8)))
            memories[id(memory)] = copied
        elements = memories[id(memory)].view(getattr(torch(), TYPES[tensor.kind][0]))
        return elements.as_strided(tensor.shape, tensor.stride(), (shift + tensor.data_ptr() - start) // tensor.element_size())

    def problem(self, kind, shape, inputs=""):
        return GpuProblem(self.ladder, kind, shape, inputs, self.given, self.copied)

    def start(self, problem):
        super().start(problem)
        torch().cuda.synchronize()  # a kernel's error shows here


class GpuProblem(Problem):
    """A problem in the GPU's memory; what a contestant sees: type, shape by name, inputs, outputs."""

    def __init__(self, ladder, kind, shape, inputs, given, copied):
        memories = {}
        super().__init__(ladder, kind, shape, inputs, lambda tensor: given(tensor, memories), copied)
        self._given = given

    def prepare(self, fill=POISON):
        """Outputs as before the first launch; those that are no inputs are filled with this byte."""
        for device, host in zip(self.outputs, self.host_outputs):
            device.copy_(self._given(host))
            if fill != POISON and not any(device is other for other in self.inputs):
                device.copy_(torch().full((device.element_size(),), fill, dtype=torch().uint8, device="cuda").view(device.dtype))

    def inputs_now(self):
        return self._back(self.inputs, self.host_inputs)

    def outputs_now(self):
        return self._back(self.outputs, self.host_outputs)

    def _back(self, devices, hosts):
        torch().cuda.synchronize()
        return [_back(device, host) for device, host in zip(devices, hosts)]


def _memory_of(array):
    """The array that an array is a part of, and that is a part of none."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def _back(device, like):
    """A Tensor of what the GPU's tensor holds."""
    if not isinstance(like, Tensor):
        return like
    dense = device.detach().contiguous()
    dense = dense.view(torch().int16) if like.kind == "bf16" else dense
    return Tensor(dense.cpu().numpy().view(TYPES[like.kind][1]), like.kind)
