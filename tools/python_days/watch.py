# SPDX-License-Identifier: MIT
"""Watches kernels in Triton's interpreter, which shows results and hides the rest: bytes and sectors by line and argument, accesses
beyond an argument, elements that nobody has written, promises that are not kept (tl.multiple_of and its kind), programs that race. Programs run
one after the other there, so a race never shows by itself: who touched an element last is remembered, and under which locks (locks.py), and
programs can be run in another order.

Each argument gets a false address, far from all others, so that what overruns one is not taken for an access to the next. Sectors are
counted twice: of a program, as if one access asked for each sector once, and of the requests of its warps, where the compiler has told
how it deals a block out to lanes (lanes.py)."""
from __future__ import annotations

import inspect
import os
import sys
from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np

from python_days import lanes, locks
from python_days.interpreted import interpreter, tl, triton, tuning
from python_days.tensors import Tensor

_OURS = (os.path.dirname(triton.__file__) + os.sep, os.path.dirname(os.path.abspath(__file__)) + os.sep)
_SPACE = 40  # argument k has the addresses from (k + 1) << 40
_MANY = -2  # more than one program has read the element


@dataclass
class _Argument:
    name: str
    real: int
    base: int  # the false address
    bytes: int
    size: int  # of an element
    tensor: object
    writer: np.ndarray  # the program that has written the element, -1 for none
    reader: np.ndarray  # the program that has read it, -1, _MANY
    wave: np.ndarray  # of each sector, the last wave that has loaded it, -1 for none


@dataclass
class Line:
    accesses: int = 0  # of programs
    bytes: int = 0
    sectors: int = 0
    requests: int = 0  # of warps; 0 where nobody has told how the block is dealt out
    asked_sectors: int = 0  # of requests, a sector once for each that touches it; of accesses that are not dealt out, as above
    asked_bytes: int = 0  # of requests, a byte once for each that asks for it


@dataclass
class Launch:
    name: str
    grid: tuple
    tuning: bool = False  # one of a kernel's configurations, tried
    lines: dict = field(default_factory=lambda: defaultdict(Line))  # (file, line, "load", "store" or "atomic", argument)
    touched: dict = field(default_factory=dict)  # {id: (a tensor, {how})}
    wave_sectors: int = 0  # loaded, each once for each wave of programs that wants it


@dataclass(frozen=True)
class Report:
    """slug: oob, race, hazard, release, hang, uninit, promise or assert; where: (file, line)."""
    slug: str
    where: tuple
    says: str


class Watch:
    """A context: what is launched within it is watched. order: one of adapters.ORDERS. wave: so many programs are taken to run at the same time.
    written(tensor): which of its elements somebody has given a value, None for all. dealt: {"name", "accesses"} of each launch, how the
    compiler deals its accesses out (lanes.of_kernel)."""

    def __init__(self, order="normal", wave=0, written=lambda tensor: tensor.written, dealt=()):
        self.order, self._wave, self._written, self._all, self._reports = order, wave, written, [], {}
        self._arguments, self._names, self._saved, self._turn, self._threads = [], {}, [], None, locks.Threads(self.report)
        self._scratch, self._dealt, self._dealing = 0, list(dealt), None

    @property
    def launches(self):
        return [launch for launch in self._all if not launch.tuning]

    @property
    def reports(self):
        return list(self._reports.values())

    def report(self, slug, where, says):
        self._reports.setdefault((slug, where), Report(slug, where, says))

    def memory(self, gradient):
        """Bytes that launchers have taken with new_empty, and those that wait for the backward: of all that is loaded from the launch on that
        touches the gradient first, but for the gradient, what was there before."""
        alive, seen, backward = 0, set(), False
        for launch in self.launches if gradient is not None else ():
            backward = backward or id(gradient) in launch.touched
            for tensor, how in launch.touched.values() if backward else ():
                if id(tensor) not in seen and "load" in how and tensor is not gradient:
                    alive += tensor.numel() * tensor.element_size()
                seen.add(id(tensor))
        return {"scratch": self._scratch, "alive": alive}

    # ---- what the interpreter is made to call ----

    def _begin(self, executor, given, named):
        """A launch: arguments by their names, and programs in their order."""
        values = inspect.getcallargs(executor.fn, *given, **named)
        self._names = {id(getattr(value, "base", value)): name for name, value in reversed(values.items())}
        self._arguments, self._turn, self._threads = [], None, locks.Threads(self.report)
        self._all.append(Launch(executor.fn.__name__, (), bool(tuning)))
        number = len(self.launches) - 1
        told = not tuning and number < len(self._dealt) and self._dealt[number]["name"] == executor.fn.__name__
        self._dealing = lanes.Dealing(self._dealt[number]["accesses"]) if told else None
        return given, named

    def _pointer(self, value, converted):
        if not hasattr(value, "data_ptr"):
            return converted
        real, size = value.data_ptr(), value.element_size()
        known = next((one for one in self._arguments if one.tensor is value), None)
        if known is None:
            count = 1 + sum((n - 1) * step for n, step in zip(value.shape, value.stride())) if value.numel() else 0
            base = (len(self._arguments) + 1 << _SPACE) + (1 << _SPACE - 1) + real % 4096  # as well aligned as the tensor is
            known = _Argument(self._names.get(id(value), "?"), real, base, count * size, size, value,
                              np.full(count, -1, np.int32), np.full(count, -1, np.int32),
                              np.full(count * size // 32 + 2 if self._wave else 0, -1, np.int32))
            self._arguments.append(known)
        converted.handle.data[:] = known.base
        return converted

    def _place(self, builder, place, x, y, z):
        if self._turn is None:
            self._all[-1].grid = grid = builder.grid_dim
            numbers = np.arange(int(np.prod(grid)))
            self._turn = {"normal": numbers, "reversed": numbers[::-1]}.get(self.order)
            if self._turn is None:
                self._turn = np.random.RandomState(1).permutation(numbers.size)
        number = int(self._turn[np.ravel_multi_index((x, y, z), builder.grid_dim)])
        self._threads.begin(number)
        place(builder, *map(int, np.unravel_index(number, builder.grid_dim)))
        if self._dealing:
            self._dealing.program()

    def _access(self, op, pointers, mask, reads=False):
        """Counts one access of a program. Real addresses, and a mask without what lies outside. reads: what is stored depends on what was there."""
        builder = interpreter.interpreter_builder
        program = int(np.ravel_multi_index(builder.grid_idx, builder.grid_dim))
        at, on = np.broadcast_arrays(pointers.data.astype(np.int64), np.asarray(getattr(mask, "data", mask), bool))  # a bool of Python's came as int32
        where, real, inside = _source_line(), at.copy(), np.zeros(at.shape, bool)
        requests = self._dealing.requests(op, at.size, lanes.user_frames(_OURS)) if self._dealing else None
        owners = (at >> _SPACE) - 1
        for number in np.unique(owners[on]):
            argument = self._arguments[number] if 0 <= number < len(self._arguments) else None
            if argument is None:
                self.report("oob", where, f"program {program} {op}s at an address that belongs to no argument")
                continue
            mine = on & (owners == number)
            offset = at - argument.base
            good = mine & (offset >= 0) & (offset + argument.size <= argument.bytes)
            if (good != mine).any():
                beyond = offset[mine & ~good] // argument.size
                more = f", and so do {beyond.size - 1} lanes more" if beyond.size > 1 else ""
                self.report("oob", where, f"program {program} {op}s {argument.name}[{beyond[0]}] of "
                            f"{argument.bytes // argument.size}{more}")
            inside |= good
            real[good] = argument.real + offset[good]
            hit = offset[good]
            if hit.size:
                self._count(op, argument, hit, where, program, reads)
                self._threads.access(op, argument, hit // argument.size, np.flatnonzero(good), at.shape, where)
                _ask(self._all[-1].lines[(*where, op, argument.name)], argument, np.where(good, offset, -1).reshape(-1), requests)
        return interpreter.TensorHandle(real.astype(np.uint64), pointers.dtype), interpreter.TensorHandle(inside, tl.int1)

    def _count(self, op, argument, hit, where, program, reads):
        self._all[-1].touched.setdefault(id(argument.tensor), (argument.tensor, set()))[1].add(op)
        line = self._all[-1].lines[(*where, op, argument.name)]
        line.accesses += 1
        line.bytes += hit.size * argument.size
        sectors = np.unique((argument.real + hit) // 32)
        line.sectors += sectors.size
        if self._wave and op == "load":  # programs are numbered in the order in which they start
            first = sectors - argument.real // 32
            self._all[-1].wave_sectors += int((argument.wave[first] != program // self._wave).sum())
            argument.wave[first] = program // self._wave
        elements = hit // argument.size
        writers, readers = argument.writer[elements], argument.reader[elements]
        guarded = self._threads.guarded(argument, elements)
        if op == "store":
            self._threads.stored(argument, elements, where)
        if op != "atomic":
            clash = (writers >= 0) & (writers != program)
            if op == "store":
                clash |= (readers == _MANY) | (readers >= 0) & (readers != program)
            clash &= ~np.asarray(guarded)
            if clash.any():
                first = int(clash.argmax())
                other = f"program {writers[first]} has written" if writers[first] >= 0 and writers[first] != program else \
                    "other programs have read" if readers[first] == _MANY else f"program {readers[first]} has read"
                self.report("race", where, f"program {program} {op}s {argument.name}[{elements[first]}], which {other}: "
                            "programs run in any order")
            if op == "store" and elements.size > 1 and np.unique(elements).size < elements.size:
                self.report("race", where, f"lanes of program {program} store to the same element of {argument.name}")
        written = self._written(argument.tensor)
        if (op == "load" or reads) and written is not None and not written[elements].all():
            first = int(elements[written[elements].argmin()])
            verb = "loads" if op == "load" else "changes"
            self.report("uninit", where, f"program {program} {verb} {argument.name}[{first}], which nobody has written")
        if op == "load":
            argument.reader[elements] = np.where((readers == -1) | (readers == program), program, _MANY)
        else:
            argument.writer[elements] = program
            if written is not None:
                written[elements] = True

    def _single(self, pointers):
        """The argument and the element that a single pointer stands for."""
        at = int(locks.single(pointers))
        argument = self._arguments[(at >> _SPACE) - 1]
        return argument, (at - argument.base) // argument.size

    def _promise(self, name, tensor, values):
        """tl.multiple_of, max_contiguous and max_constancy tell the compiler what it then relies on: here it is looked at."""
        data = getattr(getattr(tensor, "handle", None), "data", None)
        if data is None:
            return tensor
        values = [int(getattr(value, "value", value)) for value in (values if isinstance(values, (list, tuple)) else [values])]
        where = _source_line()
        for axis, value in enumerate(values if data.ndim == len(values) else []):
            runs = np.moveaxis(data, axis, -1).astype(np.int64)
            if name == "multiple_of":
                starts = np.ones(runs.shape, bool)
                starts[..., 1:] = np.diff(runs, axis=-1) != 1  # a run of neighbours is said to begin at a multiple
                wrong = runs[starts][runs[starts] % value != 0]
                if wrong.size:
                    self.report("promise", where, f"tl.multiple_of says {value}, and there is {wrong[0]}")
            elif value > 1 and runs.shape[-1] % value == 0:
                steps = np.diff(runs.reshape(*runs.shape[:-1], -1, value), axis=-1)
                if (steps != (1 if name == "max_contiguous" else 0)).any():
                    kind = "neighbours" if name == "max_contiguous" else "alike"
                    self.report("promise", where, f"tl.{name} says that {value} in a row are {kind}, and some are not")
        return tensor

    # ---- taking the interpreter's place ----

    def __enter__(self):
        builder, executor = interpreter.InterpreterBuilder, interpreter.GridExecutor
        self._saved = [(owner, name, getattr(owner, name)) for owner, name in (
            (builder, "create_masked_load"), (builder, "create_masked_store"), (builder, "create_atomic_rmw"),
            (builder, "create_atomic_cas"), (builder, "set_grid_idx"), (interpreter, "_implicit_cvt"),
            (executor, "_init_args_hst"), (executor, "_restore_args_dev"), (interpreter, "_patch_lang_core"), (Tensor, "new_empty"))]
        load, store, rmw, cas, place, convert, _, _, language, empty = (old for _, _, old in self._saved)

        def patched_language(lang, scope):
            language(lang, scope)
            for name in ("multiple_of", "max_contiguous", "max_constancy"):
                scope.set_attr(lang, name, lambda tensor, values, name=name: self._promise(name, tensor, values))

        def masked_load(this, pointers, mask, other, *more, **named):
            if other is None:  # nobody knows what a place holds where the mask is 0
                other = _anything(pointers)
            return load(this, *self._access("load", pointers, mask), other, *more, **named)

        def masked_store(this, pointers, value, mask, *more, **named):
            pointers, mask = self._access("store", pointers, mask)
            return store(this, pointers, value, mask, *more, **named)

        def atomic_rmw(this, operation, pointers, value, mask, order, *more):
            real, inside = self._access("atomic", pointers, mask, reads=operation != interpreter._ir.ATOMIC_OP.XCHG)
            old = rmw(this, operation, real, value, inside, order, *more)
            if pointers.data.size == 1 and inside.data.all():
                self._threads.exchanged(operation, *self._single(pointers), locks.single(old), locks.single(value), order, _source_line())
            return old

        def allocated(tensor, *shape, dtype=None):
            made = empty(tensor, *shape, dtype=dtype)
            self._scratch += made.numel() * made.element_size()
            return made

        def atomic_cas(this, pointers, wanted, value, order, *more):
            if pointers.data.size == 1:
                self._threads.met()
            real, inside = self._access("atomic", pointers, np.True_, reads=True)
            if not inside.data.all():
                return interpreter.TensorHandle(wanted.data.copy(), wanted.dtype.scalar)
            old = cas(this, real, wanted, value, order, *more)
            if pointers.data.size == 1:
                self._threads.met()
                self._threads.compared(*self._single(pointers), *map(locks.single, (old, wanted, value)), order, _source_line())
            return old

        new = (masked_load, masked_store, atomic_rmw, atomic_cas,
               lambda this, x, y, z: self._place(this, place, x, y, z), lambda value: self._pointer(value, convert(value)),
               lambda executor, given, named: self._begin(executor, given, named), lambda *_: None, patched_language, allocated)
        meetings = locks.hooks(lambda: self._threads.met())
        self._saved += [(owner, name, getattr(owner, name)) for owner, name, _ in meetings]
        for (owner, name, _), function in zip(self._saved, (*new, *(function for _, _, function in meetings))):
            setattr(owner, name, function)
        return self

    def __exit__(self, *_):
        for owner, name, old in self._saved:
            setattr(owner, name, old)


def _ask(line, argument, offsets, requests):
    """Counts what the requests of warps ask for; -1 is an element that nobody asks for."""
    if requests is None:
        there = offsets[offsets >= 0]
        line.asked_sectors += np.unique((argument.real + there) // 32).size
        line.asked_bytes += argument.size * there.size
        return
    asked = np.sort(offsets[requests], axis=1)
    asked = asked[asked[:, -1] >= 0]
    other = np.ones(asked.shape, bool)
    other[:, 1:] = asked[:, 1:] != asked[:, :-1]
    sectors = (argument.real + asked) // 32
    new = np.ones(asked.shape, bool)
    new[:, 1:] = (sectors[:, 1:] != sectors[:, :-1]) | (asked[:, :-1] < 0)
    line.requests += len(asked)
    line.asked_sectors += int((new & (asked >= 0)).sum())
    line.asked_bytes += argument.size * int((other & (asked >= 0)).sum())


def _anything(pointers):
    """What a masked load without `other` leaves where nothing is loaded: what would be noticed, were it used."""
    kind = pointers.get_element_ty()
    data = np.zeros(pointers.data.shape, interpreter._get_np_dtype(kind))
    data[...] = 0x7FC0 if kind == tl.bfloat16 else np.nan if data.dtype.kind == "f" else data.dtype.type(1) if data.dtype.kind == "b" \
        else np.iinfo(data.dtype).max // 3
    return interpreter.TensorHandle(data, kind)


def _source_line():
    """(file, line) of the kernel's own code that is running."""
    frame = sys._getframe(1)
    while frame.f_back and frame.f_code.co_filename.startswith(_OURS):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno
