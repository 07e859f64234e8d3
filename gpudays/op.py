# SPDX-License-Identifier: MIT
"""An operator of PyTorch over a rung of a day. A day's op.py declares its operators with Op; gpudays/ops.cpp has what runs them."""
from __future__ import annotations

import ctypes
import inspect
import json
import math
import re
from dataclasses import dataclass, field

import torch

_TYPES = {"fp32": "float32", "fp16": "float16", "bf16": "bfloat16", "fp64": "float64"}  # the days' names, PyTorch's; others are the same
_SIZES = {"fp32": 4, "fp16": 2, "bf16": 2, "fp64": 8, "int8": 1, "uint8": 1, "int16": 2, "int32": 4, "uint32": 4, "int64": 8, "uint64": 8}
_DIM = r"(?:(\d+)\*)?([a-z_]\w*)(?:/(\d+))?([+-]\d+)?(\*)?"
_ITEM = re.compile(r"(?P<name>\w+)(?P<changed>!?)\[(?P<dims>[^\]]*)\](?::(?P<type>\w+))?(?P<filled>=0)?"
                   r"|(?P<number>\w+):float(?:=(?P<value>[-\w.+]+))?|(?P<extent>\w+)(?:=(?P<default>\d+))?")


@dataclass(frozen=True)
class Dim:
    """factor * extent / divisor + offset; without an extent its offset alone. star: it stands for all dimensions that the others leave."""
    text: str
    extent: str = ""
    factor: int = 1
    divisor: int = 1
    offset: int = 0
    star: bool = False

    @classmethod
    def of(cls, text):
        text = text.replace(" ", "")
        if text.isdigit():
            return cls(text, offset=int(text))
        found = re.fullmatch(_DIM, text)
        if not found:
            raise ValueError(f'"{text}" is no dimension such as cols, rows*, 2*cols, 2*radius+1 or dim/2')
        factor, extent, divisor, offset, star = found.groups()
        return cls(text, extent, int(factor or 1), int(divisor or 1), int(offset or 0), bool(star))

    def size(self, n):
        return n * self.factor // self.divisor + self.offset if self.extent else self.offset


@dataclass(frozen=True)
class Tensor:
    """A tensor: its name, its dimensions, its type where that is not the operator's; whether it is written to; whether it is made of
    zeros, since a rung does not write all of it."""
    name: str
    dims: tuple
    type: str = ""
    changed: bool = False
    filled: bool = False

    @property
    def shown(self):
        return f"{self.name}[{', '.join(dim.text for dim in self.dims)}]"


@dataclass(frozen=True)
class Number:
    """A number of the caller's: an extent, or one that the ladder has as days::scalar. default: None where the caller has to say, and NaN
    where the ladder does."""
    name: str
    extent: bool
    default: object = None

    @property
    def shown(self):
        return self.name if self.default is None else f"{self.name}={'None' if self.default != self.default else self.default}"


def _arguments(text):
    found, at = [], 0
    text = text.strip()
    while at < len(text):
        item = _ITEM.match(text, at)
        if not item:
            raise ValueError(f'"{text[at:]}" is no tensor such as x[rows*, cols], and no number such as k or eps:float=1e-5')
        if item["dims"] is not None:
            dims = tuple(Dim.of(part) for part in item["dims"].split(","))
            found.append(Tensor(item["name"], dims, item["type"] or "", bool(item["changed"]), bool(item["filled"])))
        elif item["number"]:
            default = item["value"] and (math.nan if item["value"] == "None" else float(item["value"]))
            found.append(Number(item["number"], False, default))
        else:
            found.append(Number(item["extent"], True, int(item["default"]) if item["default"] else None))
        at = item.end() + len(re.match(r"\s*,?\s*", text[item.end():])[0])
    return tuple(found)


class Op:
    """Op("x[rows*, cols] -> y[rows*, cols]", "softmax", ("registers", "warp"), backward)

    Left of the arrow are tensors and numbers, as callers give them (x! is written to); right of it what is made (y[n]=0: where a rung does
    not write it, it is 0), behind a ; what backward alone needs. The
    tensors are the ladder's buffers, by name, and where no buffer has the name by order; their extents are the ladder's. Of the rungs the
    first that takes the shape is launched. backward(dy, ...) gives the gradients of the input tensors: "d" and an output's name is that
    output's gradient, without gaps, and any argument or output may be asked for by its name, which keeps it until then. An output whose
    gradient nobody asks for has none.

    fixed: extents that are always the same. also: types of PyTorch that one of the ladder's serves, {"bfloat16": "fp16"}.
    unread: buffers that none of the rungs reads. sums: of tensors without elements its results are 0, and else there are none."""

    def __init__(self, arguments, ladder, rungs, backward=None, fixed=None, also=None, unread=(), sums=False):
        left, _, right = arguments.partition("->")
        right, _, kept = right.partition(";")
        self.inputs, self.outputs = _arguments(left), (*_arguments(right), *_arguments(kept))
        self.returned = len(_arguments(right))
        self.ladder, self.rungs, self.backward = ladder, tuple(rungs), backward
        self.fixed, self.also, self.unread = dict(fixed or {}), dict(also or {}), tuple(unread)
        self.sums = sums
        self.name = self._call = None
        if not any(isinstance(one, Tensor) for one in self.inputs):
            raise ValueError(f'"{arguments}" takes no tensor')

    @property
    def tensors(self):
        return [one for one in self.inputs if isinstance(one, Tensor)]

    @property
    def changed(self):
        return [one.name for one in self.tensors if one.changed]

    @property
    def shown(self):
        made = ", ".join(one.shown for one in self.outputs[:self.returned]) or "; ".join(f"changes {name}" for name in self.changed)
        return ", ".join(one.shown for one in self.inputs) + " -> " + made

    def __call__(self, *given, **named):
        if self._call is None:
            raise RuntimeError(f"the operator of {self.ladder} is not registered: import gpudays")
        return self._call(*given, **named)

    def register(self, name, library):
        """Makes it torch.ops.gpudays.NAME; returns the function for Python."""
        self.name = name
        ladder = library.ladder(self.ladder)
        places, buffers = self._places(ladder, library)
        types = {_TYPES.get(kind, kind): kind for kind in ladder["types"]} | self.also
        extents = " ".join(extent + (f"={self.fixed[extent]}" if extent in self.fixed else "") for extent in ladder["extents"])
        library.define(name, self._schema(), "\n".join(self._told(places)), ladder, extents,
                       " ".join(f"{torch_type}={kind}" for torch_type, kind in types.items()), self.rungs, buffers, self.sums)
        torch.library.register_fake(f"gpudays::{name}", self._fake)
        if not self.changed:
            torch.library.register_autograd(f"gpudays::{name}", self._backward, setup_context=self._keep)
        self._call = self._function(getattr(torch.ops.gpudays, name).default)
        return self._call

    def _schema(self):
        words = []
        for one in self.inputs:
            if isinstance(one, Tensor):
                words.append(f"Tensor({chr(97 + len(words))}!) {one.name}" if one.changed else f"Tensor {one.name}")
            else:
                words.append(f"{'int' if one.extent else 'float'} {one.shown.replace('=None', '')}")
        result = "Tensor" if len(self.outputs) == 1 else f"({', '.join(['Tensor'] * len(self.outputs))})"
        return f"{self.name}({', '.join(words)}) -> {result}"

    def _told(self, places):
        """The arguments in the words of ops.cpp."""
        for one in (*self.inputs, *self.outputs):
            if isinstance(one, Number):
                yield f"{'extent' if one.extent else 'number'} {one.name}"
            else:
                kind = "changed" if one.changed else "input" if one in self.inputs else "filled" if one.filled else "output"
                yield " ".join((kind, one.name, str(places[one.name]), one.type or "=", *(dim.text for dim in one.dims)))

    def _places(self, ladder, library):
        """({tensor: its place among the ladder's buffers}, how many those are); ValueError where they do not fit each other, in any type."""
        known = {dim.extent for one in (*self.tensors, *self.outputs) for dim in one.dims if dim.extent} | set(self.fixed) | {
            one.name for one in self.inputs if isinstance(one, Number) and one.extent}
        if known != set(ladder["extents"]):
            raise ValueError(f"{self.name}: the extents of {self.ladder} are {', '.join(ladder['extents'])}; not in both: "
                             f"{', '.join(sorted(known ^ set(ladder['extents'])))}")
        shape = [self.fixed.get(extent, 2 * number) for extent, number in zip(ladder["extents"], (3, 5, 7, 11, 13, 17))]
        sizes = dict(zip(ladder["extents"], shape))
        for kind in ladder["types"]:
            problem = library.problem(self.ladder, kind, shape)
            places = self._placed(problem["buffers"])
            for one in (*self.tensors, *self.outputs):
                buffer, count = problem["buffers"][places[one.name]], 1
                for dim in one.dims:
                    count *= dim.size(sizes.get(dim.extent, 0))
                wanted = _SIZES[buffer["type"]], "output" if one in self.outputs else "in-place" if one.changed else "input"
                mine = getattr(torch, one.type).itemsize if one.type else _SIZES[kind], buffer["role"]
                if (count, mine) != (buffer["n"], wanted):
                    raise ValueError(f"{self.name}: {one.shown} is {count} elements, and {buffer['name']} of {self.ladder} {buffer['n']} of "
                                     f"{buffer['type']}, {buffer['role']}")
            scalars = {one["name"] for one in problem["scalars"]}
            unknown = [one.name for one in self.inputs if isinstance(one, Number) and not one.extent and one.name not in scalars]
            if unknown:
                raise ValueError(f"{self.name}: {self.ladder} has no number {unknown[0]}")
        return places, len(problem["buffers"])

    def _placed(self, buffers):
        names = [buffer["name"] for buffer in buffers]
        places = {one.name: names.index(one.name) for one in (*self.tensors, *self.outputs) if one.name in names}
        free = [place for place, name in enumerate(names) if place not in places.values() and name not in self.unread]
        others = [one for one in (*self.tensors, *self.outputs) if one.name not in places]
        if len(free) != len(others):
            raise ValueError(f"{self.name}: the buffers of {self.ladder} are {', '.join(names)}")
        return places | {one.name: place for one, place in zip(others, free)}

    def _function(self, call):
        """What users call: PyTorch's own words for a wrong number or type of arguments are ten lines."""
        name, inputs, returned, made, changed = self.name, self.inputs, self.returned, len(self.outputs), self.changed
        names = [one.name for one in inputs]
        least = sum(isinstance(one, Tensor) or one.default is None for one in inputs)
        last = _rows_of(inputs) if "dim" not in names else None

        def function(*given, **named):
            if last and "dim" in named:
                _last_dim(name, last, given, named)
            values = dict(zip(names, given))
            values.update((key, value) for key, value in named.items() if key not in values)
            for one in inputs:
                if isinstance(one, Number) and not one.extent and values.get(one.name, 0) is None and one.default is not None:
                    values[one.name] = one.default
            lacking = [one for one in inputs if one.name not in values and (isinstance(one, Tensor) or one.default is None)]
            if lacking or len(given) > len(names) or len(values) != len(given) + len(named) or len(values) > len(names) or set(values) - set(names):
                tensors = "tensors" if all(isinstance(one, Tensor) for one in inputs) else "arguments"
                few = tensors[:-1] if len(names) == 1 else tensors
                twice = [key for key in named if key in names[:len(given)]]
                strange = [key for key in named if key not in names]
                what = (f"{strange[0]}=, which it does not know" if strange else f"{twice[0]} twice" if twice else
                        f"{len(given) + len(named)}: no {' and no '.join(one.name for one in lacking)}" if lacking else f"{len(given) + len(named)}")
                raise TypeError(f"gpudays.{name} takes {least}{f' to {len(names)}' if least < len(names) else ''} {few}, "
                                f"{', '.join(one.shown if isinstance(one, Number) else one.name for one in inputs)}, and was given {what}")
            for one in inputs:
                if one.name in values:
                    _looked_at(name, one, values[one.name])
            if changed and torch.is_grad_enabled() and any(values[one].requires_grad for one in changed):
                raise RuntimeError(f"gpudays.{name} has no backward: call it under torch.no_grad(), or with {changed[0]}.detach()")
            result = call(*(values.get(one.name, getattr(one, "default", None)) for one in inputs))
            return result if returned == made else result[0] if returned == 1 else result[:returned]
        function.__name__ = function.__qualname__ = name
        function.__doc__ = f"gpudays.{name}({', '.join(one.shown if isinstance(one, Number) else one.name for one in inputs)}): {self.shown}"
        return function

    # ---- what PyTorch asks beside the result ----

    def _fake(self, *given):
        """The outputs' shapes and types without their elements: of torch.compile's tracing, and of the device `meta`."""
        bound = {name: [n] for name, n in self.fixed.items()}
        known = dict(zip((one.name for one in self.inputs), given))
        for one in self.inputs:
            if isinstance(one, Number) and one.extent:
                bound[one.name] = [known.get(one.name, one.default)]
        first_name, first = next((one.name, known[one.name]) for one in self.tensors if not one.type)
        for argument in self.tensors:
            tensor = known[argument.name]
            for what in ("device", "dtype"):
                mine, wanted = getattr(tensor, what), getattr(first, what) if what == "device" or not argument.type else getattr(torch, argument.type)
                if mine != wanted:
                    whose = f"{first_name}'s is {wanted}" if what == "device" or not argument.type else f"it takes {argument.type}"
                    raise RuntimeError(f"gpudays.{self.name}: {argument.name}'s {what} is {mine}, and {whose}")
            self._bind(argument, list(tensor.shape), bound)
        made = tuple(first.new_empty([n for dim in one.dims for n in _sizes(dim, bound)], dtype=getattr(torch, one.type) if one.type else None)
                     for one in self.outputs)
        return None if not made else made if len(made) > 1 else made[0]

    def _bind(self, argument, sizes, bound):
        star = next((i for i, dim in enumerate(argument.dims) if dim.star), None)
        over = len(sizes) - len(argument.dims) + 1
        if over < 0 or star is None and over != 1:
            raise RuntimeError(f"gpudays.{self.name}: {argument.name} has {len(sizes)} dimensions, and it takes {argument.shown}")
        at = 0
        for i, dim in enumerate(argument.dims):
            count = over if i == star else 1
            found = sizes[at:at + count]
            at += count
            if dim.extent and dim.extent not in bound:
                bound[dim.extent] = found if i == star else [(found[0] - dim.offset) * dim.divisor // dim.factor]
            known = _sizes(dim, bound)
            torch._check(len(known) == len(found), lambda: f"gpudays.{self.name}: {argument.name} differs in {dim.text}")
            for one, other in zip(known, found):
                torch._check(one == other, lambda: f"gpudays.{self.name}: {argument.name} differs in {dim.text}")

    def _keep(self, ctx, inputs, output):
        if self.backward is None:
            raise RuntimeError(f"gpudays.{self.name} has no backward: call it under torch.no_grad(), or with {self.tensors[0].name}.detach()")
        made = output if isinstance(output, tuple) else (output,)
        known = {one.name: value for one, value in zip((*self.inputs, *self.outputs), (*inputs, *made))}
        asked = inspect.signature(self.backward).parameters
        ctx.mark_non_differentiable(*(known[one.name] for one in self.outputs if "d" + one.name not in asked))
        kept = self._kept()
        ctx.save_for_backward(*(known[name] for name in kept if isinstance(known[name], torch.Tensor)))
        ctx.numbers = {name: known[name] for name in kept if not isinstance(known[name], torch.Tensor)}

    def _kept(self):
        gradients = {"d" + one.name for one in self.outputs}
        return [name for name in inspect.signature(self.backward).parameters if name not in gradients]

    def _backward(self, ctx, *gradients):
        asked = inspect.signature(self.backward).parameters
        known = {"d" + one.name: gradient.contiguous() for one, gradient in zip(self.outputs, gradients) if "d" + one.name in asked}
        known.update(ctx.numbers)
        known.update(zip((name for name in self._kept() if name not in ctx.numbers), ctx.saved_tensors))
        given = self.backward(**{name: known[name] for name in asked})
        given = iter(given if isinstance(given, tuple) else (given,))
        return tuple(next(given, None) if isinstance(one, Tensor) else None for one in self.inputs)


def _sizes(dim, bound):
    """The sizes of a dimension, or of those that its star stands for."""
    return bound[dim.extent] if dim.star else [dim.size(bound[dim.extent][0]) if dim.extent else dim.offset]


def _rows_of(inputs):
    """The tensor of an operator along its last dimension, x[rows*, cols]; None where it is another sort."""
    first = next(one for one in inputs if isinstance(one, Tensor))
    return first if len(first.dims) == 2 and first.dims[0].star and first.dims[1].text == first.dims[1].extent else None


def _last_dim(name, argument, given, named):
    """dim=, as PyTorch's functions have it, is taken where it is the last dimension, along which the kernel works."""
    dim, tensor = named.pop("dim"), named.get(argument.name, given[0] if given else None)
    if isinstance(tensor, torch.Tensor) and dim not in (-1, tensor.dim() - 1):
        raise TypeError(f"gpudays.{name} works along the last dimension, and dim={dim} of {tensor.dim()} is another: "
                        f"gpudays.{name}({argument.name}.transpose({dim}, -1).contiguous()).transpose({dim}, -1)")


def _looked_at(name, argument, given):
    if isinstance(argument, Number):
        kind = int if argument.extent else (int, float)
        if isinstance(given, bool) or not isinstance(given, (kind, torch.SymInt) if argument.extent else kind):
            raise TypeError(f"gpudays.{name}: {argument.name} is a {type(given).__name__}, and it takes a {'whole number' if argument.extent else 'number'}")
    elif not isinstance(given, torch.Tensor):
        raise TypeError(f"gpudays.{name}: {argument.name} is a {type(given).__name__}, and it takes a tensor")
    elif given.layout is not torch.strided or given.device.type not in ("cpu", "cuda", "meta"):
        sort = f"on {given.device}" if given.layout is torch.strided else "sparse"
        raise TypeError(f"gpudays.{name}: {argument.name} is {sort}, and it takes a dense tensor on the CPU or a GPU")


@dataclass
class Library:
    """A day's shared library (common/library.h), and beside it what registers operators of it."""
    path: str
    day: object
    define_: object
    description: dict = field(default_factory=dict)

    @classmethod
    def load(cls, path, operators):
        """operators: the path of gpudays/ops.cpp's library."""
        day, ops = ctypes.CDLL(str(path)), ctypes.CDLL(str(operators))
        day.days_description.restype = day.days_error.restype = day.days_problem.restype = ctypes.c_char_p
        day.days_problem.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_int64), ctypes.c_size_t]
        ops.gpudays_define.restype = ctypes.c_char_p
        ops.gpudays_define.argtypes = [ctypes.c_char_p] * 8 + [ctypes.c_int] * 3
        text = day.days_description()
        if text is None:
            raise ImportError(f"gpudays cannot be used here: {day.days_error().decode()}")
        return cls(str(path), day, ops.gpudays_define, json.loads(text))

    def ladder(self, name):
        return next(ladder for ladder in self.description["ladders"] if ladder["ladder"] == name)

    def problem(self, ladder, kind, shape):
        """What a rung of the ladder takes: its buffers, and its numbers that are no extents."""
        text = self.day.days_problem(ladder.encode(), kind.encode(), (ctypes.c_int64 * len(shape))(*shape), len(shape))
        if text is None:
            raise ImportError(f"{ladder}: {self.day.days_error().decode()}")
        return json.loads(text)

    def define(self, name, schema, arguments, ladder, extents, types, rungs, buffers, sums):
        known = [row["name"] for row in ladder["rows"]]
        unknown = [rung for rung in rungs if rung not in known]
        if unknown:
            raise ValueError(f"{name}: {ladder['ladder']} has no rung {unknown[0]}; it has {', '.join(known)}")
        words = (self.path, name, schema, arguments, ladder["ladder"], extents, types, " ".join(rungs))
        said = self.define_(*(word.encode() for word in words), buffers, sums, self.description["backend"] == "simt").decode()
        if said:
            raise ImportError(f"gpudays.{name}: {said}")
