# SPDX-License-Identifier: MIT
"""An operator of PyTorch over a rung of a day. A day's op.py declares its operators with Op; gpudays/ops.cpp has what runs them."""
from __future__ import annotations

import ctypes
import inspect
import re
from dataclasses import dataclass, field

import torch


@dataclass(frozen=True)
class Argument:
    """A tensor: its name, and the names of its extents, one a dimension. "rows*" stands for all dimensions that the others leave."""
    name: str
    dims: tuple

    @property
    def packed(self):
        return " ".join((self.name, *self.dims))


def _arguments(text):
    found = re.findall(r"(\w+)\[([^\]]*)\]", text)
    if not found:
        raise ValueError(f'"{text}" names no tensor such as x[rows*, cols]')
    return tuple(Argument(name, tuple(part.strip() for part in dims.split(","))) for name, dims in found)


class Op:
    """Op("x[rows*, cols] -> y[rows*, cols]", "softmax", ("registers", "warp"), backward)

    The tensors are the buffers of the ladder's inputs in their order, and their extents the ladder's own. Of the rungs the first that
    takes the shape is launched. backward(dy, ...) gives the gradients of the inputs: "d" and an output's name is that output's
    gradient, and any tensor of the operator may be asked for by its name, which keeps it until then."""

    def __init__(self, tensors, ladder, rungs, backward=None):
        left, _, right = tensors.partition("->")
        self.inputs, self.outputs = _arguments(left), _arguments(right)
        self.ladder, self.rungs, self.backward = ladder, tuple(rungs), backward
        self.name = self._call = None

    def __call__(self, *tensors):
        if self._call is None:
            raise RuntimeError(f"the operator of {self.ladder} is not registered: import gpudays")
        return self._call(*tensors)

    def register(self, name, library):
        """Makes it torch.ops.gpudays.NAME; returns the function for Python."""
        self.name = name
        ladder = library.ladder(self.ladder)
        tensors = ";".join(one.packed for one in self.inputs) + ">" + ";".join(one.packed for one in self.outputs)
        unknown = {dim.rstrip("*") for one in (*self.inputs, *self.outputs) for dim in one.dims} ^ set(ladder["extents"])
        if unknown:
            raise ValueError(f"{name}: the extents of {self.ladder} are {', '.join(ladder['extents'])}; not in both: {', '.join(sorted(unknown))}")
        result = "Tensor" if len(self.outputs) == 1 else f"({', '.join(['Tensor'] * len(self.outputs))})"
        schema = f"{name}({', '.join(f'Tensor {one.name}' for one in self.inputs)}) -> {result}"
        library.define(name, schema, tensors, self.ladder, ladder, self.rungs)
        torch.library.register_fake(f"gpudays::{name}", self._fake)
        torch.library.register_autograd(f"gpudays::{name}", self._backward, setup_context=self._keep)
        self._call = self._function(getattr(torch.ops.gpudays, name).default)
        return self._call

    def _function(self, call):
        """What users call: PyTorch's own words for a wrong number or type of arguments are ten lines."""
        name, names = self.name, tuple(one.name for one in self.inputs)

        def function(*tensors):
            if len(tensors) != len(names):
                raise TypeError(f"gpudays.{name} takes {len(names)} tensors, {', '.join(names)}, and was given {len(tensors)}")
            for argument, tensor in zip(names, tensors):
                if not isinstance(tensor, torch.Tensor):
                    raise TypeError(f"gpudays.{name}: {argument} is a {type(tensor).__name__}, and it takes a tensor")
                if tensor.layout is not torch.strided or tensor.device.type not in ("cpu", "cuda", "meta"):
                    raise TypeError(f"gpudays.{name}: {argument} is {_sort(tensor)}, and it takes a dense tensor on the CPU or a GPU")
            return call(*tensors)
        function.__name__ = function.__qualname__ = name
        function.__doc__ = f"gpudays.{name}({', '.join(names)}): " + ", ".join(map(_shown, self.inputs)) + " -> " + ", ".join(map(_shown, self.outputs))
        return function

    # ---- what PyTorch asks beside the result ----

    def _fake(self, *tensors):
        """The outputs' shapes and types without their elements: of torch.compile's tracing, and of the device `meta`."""
        bound, first = {}, tensors[0]
        for argument, tensor in zip(self.inputs, tensors):
            for what in ("device", "dtype"):
                if getattr(tensor, what) != getattr(first, what):
                    raise RuntimeError(f"gpudays.{self.name}: {argument.name}'s {what} is {getattr(tensor, what)}, and "
                                       f"{self.inputs[0].name}'s is {getattr(first, what)}")
            sizes, star = list(tensor.shape), next((i for i, dim in enumerate(argument.dims) if dim.endswith("*")), None)
            over = len(sizes) - len(argument.dims) + 1
            if over < 0 or star is None and over != 1:
                raise RuntimeError(f"gpudays.{self.name}: {argument.name} has {len(sizes)} dimensions, and it takes {_shown(argument)}")
            at = 0
            for i, dim in enumerate(argument.dims):
                count = over if i == star else 1
                found = sizes[at:at + count]
                at += count
                known = bound.setdefault(dim.rstrip("*"), found)
                torch._check(len(known) == len(found), lambda: f"gpudays.{self.name}: {argument.name} differs in {dim}")
                for one, other in zip(known, found):
                    torch._check(one == other, lambda: f"gpudays.{self.name}: {argument.name} differs in {dim}")
        made = tuple(first.new_empty([n for dim in one.dims for n in bound[dim.rstrip("*")]]) for one in self.outputs)
        return made if len(made) > 1 else made[0]

    def _keep(self, ctx, inputs, output):
        if self.backward is None:
            raise RuntimeError(f"gpudays.{self.name} has no backward: call it under torch.no_grad(), or with {self.inputs[0].name}.detach()")
        made = output if isinstance(output, tuple) else (output,)
        known = {one.name: tensor for one, tensor in zip((*self.inputs, *self.outputs), (*inputs, *made))}
        ctx.save_for_backward(*(known[name] for name in self._kept()))

    def _kept(self):
        gradients = {"d" + one.name for one in self.outputs}
        return [name for name in inspect.signature(self.backward).parameters if name not in gradients]

    def _backward(self, ctx, *gradients):
        known = {"d" + one.name: gradient for one, gradient in zip(self.outputs, gradients)}
        known.update(zip(self._kept(), ctx.saved_tensors))
        return self.backward(**{name: known[name] for name in inspect.signature(self.backward).parameters})


def _sort(tensor):
    return f"on {tensor.device}" if tensor.layout is torch.strided else "sparse"


def _shown(argument):
    return f"{argument.name}[{', '.join(argument.dims)}]"


@dataclass
class Library:
    """A day's shared library (common/library.h), and beside it what registers operators of it."""
    path: str
    define_: object
    description: dict = field(default_factory=dict)

    @classmethod
    def load(cls, path, operators):
        """operators: the path of gpudays/ops.cpp's library."""
        import json
        day, ops = ctypes.CDLL(str(path)), ctypes.CDLL(str(operators))
        day.days_description.restype = day.days_error.restype = ctypes.c_char_p
        ops.gpudays_define.restype = ctypes.c_char_p
        ops.gpudays_define.argtypes = [ctypes.c_char_p] * 8 + [ctypes.c_int]
        text = day.days_description()
        if text is None:
            raise ImportError(f"gpudays cannot be used here: {day.days_error().decode()}")
        return cls(str(path), ops.gpudays_define, json.loads(text))

    def ladder(self, name):
        return next(ladder for ladder in self.description["ladders"] if ladder["ladder"] == name)

    def define(self, name, schema, tensors, ladder, described, rungs):
        known = [row["name"] for row in described["rows"]]
        unknown = [rung for rung in rungs if rung not in known]
        if unknown:
            raise ValueError(f"{name}: {ladder} has no rung {unknown[0]}; it has {', '.join(known)}")
        words = (self.path, name, schema, tensors, ladder, " ".join(described["extents"]), " ".join(described["types"]), " ".join(rungs))
        said = self.define_(*(word.encode() for word in words), self.description["backend"] == "simt").decode()
        if said:
            raise ImportError(f"gpudays.{name}: {said}")
