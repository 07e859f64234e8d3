# SPDX-License-Identifier: MIT
"""Triton's interpreter, mended where it differs from a GPU in silence: arithmetic in bf16, exp and its kind, what tl.dot makes of fp32,
libdevice and inline assembly, kernels that tune themselves without a driver. To be imported before any kernel's file; only in a process that compiles nothing."""
from __future__ import annotations

import os
import sys

if os.environ.get("DAYS_BACKEND") == "cuda":
    raise RuntimeError("the interpreter has no place where kernels run on a GPU: what imports it?")
os.environ["TRITON_INTERPRET"] = "1"  # triton reads it as it is imported

import numpy as np  # noqa: E402
import triton  # noqa: E402
import triton.language as tl  # noqa: E402
from triton.language.extra import libdevice  # noqa: E402
from triton.language.extra.cuda import libdevice as cuda_libdevice  # noqa: E402
from triton.runtime import interpreter  # noqa: E402
from triton.runtime.autotuner import Autotuner  # noqa: E402

from python_days import approximate  # noqa: E402
from python_days.tensors import from_bf16, to_bf16  # noqa: E402

_Builder = interpreter.InterpreterBuilder
_Handle = interpreter.TensorHandle
_TF32 = np.uint32(0xFFFFE000)  # tensor cores read 10 of fp32's 23 binary digits and drop the others


class Mistake(Exception):
    """What the interpreter would pass over or tell in words of its own, and no GPU runs; its text is all there is to say."""


NO_STANDIN = "Triton's interpreter has no stand-in for"
_TRITON = os.path.dirname(triton.__file__) + os.sep
tuning = []  # not empty while a kernel tries one of its configurations
__all__ = ["NO_STANDIN", "Mistake", "interpreter", "tl", "triton", "tuning"]


def _is_bf16(handle):
    return isinstance(handle, _Handle) and handle.dtype.scalar == tl.bfloat16 and handle.data.dtype == np.uint16


def _widen(handle):
    return _Handle(from_bf16(handle.data), tl.float32)


def _narrow(handle):
    return _Handle(to_bf16(handle.data), tl.bfloat16)


def _in_fp32(method):
    """An operation of a GPU on bf16 is one on fp32, rounded."""
    def mended(self, *operands, **more):
        if not any(map(_is_bf16, operands)):
            return method(self, *operands, **more)
        made = method(self, *(_widen(operand) if _is_bf16(operand) else operand for operand in operands), **more)
        return _narrow(made) if made.data.dtype == np.float32 else _Handle(made.data, tl.bfloat16)
    return mended


def _mend_bf16():
    for name in ("binary_op", "unary_op", "ternary_op", "create_fma", "create_rsqrt", "create_erf"):
        setattr(_Builder, name, _in_fp32(getattr(_Builder, name)))
    _Builder.get_bf16 = lambda self, value: _narrow(_Handle(np.array([value], np.float32), tl.float32))
    cast, convert = _Builder.cast_impl, _Builder.create_fp_to_fp

    def cast_impl(self, source, target):
        if _is_bf16(source) and target.scalar != tl.bfloat16:
            return _widen(source) if target.scalar == tl.float32 else cast(self, _widen(source), target)
        if target.scalar == tl.bfloat16 and not _is_bf16(source):
            return _narrow(source)
        return cast(self, source, target)

    def create_fp_to_fp(self, source, target, rounding):
        if target.scalar == tl.bfloat16 and source.dtype.scalar == tl.float32:
            return _narrow(source)
        return convert(self, source, target, rounding)
    _Builder.cast_impl, _Builder.create_fp_to_fp = cast_impl, create_fp_to_fp

    def reduced(apply):
        """tl.max, tl.sum, tl.cumsum, ... of bf16."""
        def mended(self, given):
            if not any(_is_bf16(tensor.handle) for tensor in given) or _of_its_own(self):
                return apply(self, given)
            wide = tuple(self.to_tensor(from_bf16(tensor.handle.data), tl.float32) if _is_bf16(tensor.handle) else tensor
                         for tensor in given)
            made = apply(self, wide)
            several = isinstance(made, (list, tuple))
            narrow = [self.to_tensor(to_bf16(result.handle.data).reshape(tuple(result.shape)), tl.bfloat16)
                      if was.dtype.scalar == tl.bfloat16 and result.handle.data.dtype == np.float32 else result
                      for result, was in zip(made if several else [made], given)]
            return narrow if several else narrow[0]
        return mended
    for operations in (interpreter.ReduceOps, interpreter.ScanOps):
        operations.apply_impl = reduced(operations.apply_impl)


def _of_its_own(reduction):
    """Whether a reduction goes by a function that Triton's interpreter does not know: it is run as it is, each step in the tensors' own type."""
    known = tl.standard
    return isinstance(reduction, interpreter.ReduceOps) and reduction.combine_fn not in (
        known._argmin_combine_tie_break_left, known._argmax_combine_tie_break_left, known._elementwise_max, known._elementwise_min,
        known._sum_combine)


def _mend_reduce():
    """tl.reduce by a function of the kernel's own combines whole arrays, the first half with the second, as threads of a warp do that meet
    at half the distance each time. Element after element in a chain, as it was, takes a second for each block, and hides a function that is
    right only where one side is a single element."""
    def generic_reduce(self, given):
        whole, axis = self.axis is None, self.axis or 0
        dims = given[0].handle.data.ndim
        kinds = [tensor.dtype for tensor in given]
        parts = [tensor.handle.data.reshape(-1) if whole else np.moveaxis(tensor.handle.data, axis, 0) for tensor in given]
        while len(parts[0]) > 1:
            half = len(parts[0]) // 2  # the compiler takes powers of two alone
            sides = [self.to_tensor(part[at:at + half], kind) for at in (0, half) for part, kind in zip(parts, kinds)]
            made = self.combine_fn.fn(*sides)
            made = made if isinstance(made, (tuple, tl.core.tuple)) else (made,)
            parts = [np.concatenate([np.broadcast_to(_data(one), part[:half].shape).astype(part.dtype), part[2 * half:]])
                     for one, part in zip(made, parts)]
        results = [part[0] for part in parts]
        if self.keep_dims:
            results = [result.reshape((1,) * dims) if whole else np.expand_dims(result, axis) for result in results]
        return [self.to_tensor(result, kind) for result, kind in zip(results, kinds)]
    interpreter.ReduceOps.generic_reduce = generic_reduce


def _data(value):
    return value.handle.data if isinstance(value, tl.core.tensor) else value


def _mend_arithmetic():
    """As PTX has it: tl.exp multiplies by log2(e) first, tl.exp2, sqrt and rsqrt take denormals for 0, `/` multiplies by a reciprocal, an fma
    rounds once."""
    for name, function in (("create_exp", approximate.exp), ("create_exp2", approximate.ex2_ftz), ("create_sqrt", approximate.sqrt_ftz),
                           ("create_rsqrt", approximate.rsqrt_ftz)):
        setattr(_Builder, name, lambda self, arg, by=function: self.unary_op(arg, by))
    _Builder.create_fdiv = lambda self, x, y: self.binary_op(x, y, approximate.divided)
    _Builder.create_fma = lambda self, x, y, z: self.ternary_op(x, y, z, approximate.fma)
    _Builder.create_minnumf = lambda self, x, y: self.binary_op(x, y, np.fmin)  # tl.minimum drops NaN unless told to keep it
    _Builder.create_maxnumf = lambda self, x, y: self.binary_op(x, y, np.fmax)
    clamp = _Builder.create_clampf

    def create_clampf(self, x, low, high, propagate):
        if propagate == tl.PropagateNan.ALL:
            return clamp(self, x, low, high, propagate)
        return self.binary_op(self.binary_op(x, low, np.fmax), high, np.fmin)
    _Builder.create_clampf = create_clampf


def _mend_foreign():
    """libdevice's names and inline assembly, neither of which the interpreter has: by NumPy where that is known."""
    def applied(function, operands, kind, what):
        if function is None:
            raise Mistake(f"{NO_STANDIN} {what}: a GPU has it, and ./days asm shows what is made of it. tools/python_days/approximate.py has "
                          "those that there are, and compiled_only of a ladder names rungs that wait for one")
        made = function(*(from_bf16(operand.data) if _is_bf16(operand) else operand.data for operand in operands))
        return _narrow(_Handle(made.astype(np.float32), tl.float32)) if kind.scalar == tl.bfloat16 else _Handle(made, kind.scalar)

    def extern(self, library, path, symbol, operands, kind, pure):
        return applied(approximate.libdevice(symbol), operands, kind, f"libdevice's {symbol.removeprefix('__nv_')}")

    class _Results(list):
        def get_result(self, number):
            return self[number]

    def assembly(self, text, constraints, operands, kinds, pure, pack):
        known = approximate.instruction(text) if len(kinds) == 1 else None
        return _Results([applied(known, operands, kinds[0], f'inline assembly "{" ".join(text.split())}"')])

    def called(function):
        return lambda *operands, **_: function(*operands, _semantic=interpreter.interpreter_semantic)
    _Builder.create_extern_elementwise, _Builder.create_inline_asm = extern, assembly
    for name, function in list(vars(cuda_libdevice).items()):
        if getattr(function, "__triton_builtin__", False):
            for module in (libdevice, cuda_libdevice):
                setattr(module, name, called(function))


def _mend_dot():
    dot = _Builder.create_dot

    def tf32(handle):
        return _Handle((np.ascontiguousarray(handle.data).view(np.uint32) & _TF32).view(np.float32), handle.dtype)

    def nearest(handle):
        """As tf32(), rounded: what the compiler asks for where it takes a number apart."""
        bits = np.ascontiguousarray(handle.data).view(np.uint32)
        finite = np.isfinite(handle.data)
        return _Handle((np.where(finite, bits + np.uint32(0x1000), bits) & _TF32).view(np.float32), handle.dtype)

    def in_three(self, a, b, d, imprecise):
        """tf32x3: a number is a large and a small part; of four products that of the small parts is left out."""
        large, kind = [nearest(a), nearest(b)], interpreter._ir.INPUT_PRECISION.TF32
        small = [tf32(_Handle(whole.data - part.data, whole.dtype)) for whole, part in zip((a, b), large)]
        middle = dot(self, small[0], large[1], _Handle(np.zeros_like(d.data), d.dtype), kind, imprecise)
        middle = dot(self, large[0], small[1], middle, kind, imprecise)
        middle = _Handle(np.where(np.isnan(middle.data), np.float32(0), middle.data), d.dtype)  # inf - inf
        made = dot(self, *large, middle, kind, imprecise)
        return _Handle(made.data + d.data, d.dtype)

    def create_dot(self, a, b, d, precision, imprecise):
        a, b = (_widen(operand) if _is_bf16(operand) else operand for operand in (a, b))
        kinds = interpreter._ir.INPUT_PRECISION
        if precision in (kinds.TF32, kinds.TF32x3) and a.data.dtype == b.data.dtype == np.float32 and a.dtype.scalar == tl.float32:
            if precision == kinds.TF32x3:
                return in_three(self, a, b, d, imprecise)
            a, b = tf32(a), tf32(b)
        return dot(self, a, b, d, precision, imprecise)
    _Builder.create_dot = create_dot


def _mend_tensors():
    """What a block of values cannot do, though the interpreter lets it pass or ends in the middle of itself."""
    patch = interpreter._patch_lang_tensor

    def truth(self):
        data = self.handle.data
        if data.size == 1:
            return bool(data.reshape(-1)[0])
        if sys._getframe(1).f_code.co_filename.startswith(_TRITON):
            return True  # Triton's own question whether there is a tensor at all
        raise Mistake(f"an `if` asks once for the whole program, and this is a block of {data.size:,} answers. Which elements are there says a "
                      "mask: tl.load(p, mask=...), tl.store(p, value, mask=...)")

    def pointer(tensor):
        return tensor.dtype.scalar.is_ptr()

    def patched(tensor, scope):
        patch(tensor, scope)
        indexed = getattr(tensor.__getitem__, "indexed", tensor.__getitem__)  # a kernel's call of a function patches again, which must not add up

        def element(self, *slices, **more):
            if pointer(self):
                raise Mistake("a pointer is not subscripted in Triton: p + i is a block of addresses, tl.load(p + i, mask=...) gives what is there")
            return indexed(self, *slices, **more)

        def assigned(self, *_):
            raise Mistake("a pointer is not subscripted in Triton: tl.store(p + i, value, mask=...) writes" if pointer(self) else
                          "an element of a block cannot be assigned to: tl.where(which, a, b) makes another block")
        element.indexed = indexed
        scope.set_attr(tensor, "__bool__", truth)
        scope.set_attr(tensor, "__getitem__", element)
        scope.set_attr(tensor, "__setitem__", assigned)
    interpreter._patch_lang_tensor = patched


def _mend_autotune():
    """Every configuration is run once, and the first is kept: there is nothing to time."""
    def once(call, quantiles):
        tuning.append(True)  # what runs now is not counted
        try:
            call()
        finally:
            tuning.pop()
        return [0.0, 0.0, 0.0]
    Autotuner.do_bench = property(lambda self: once)


# tl.device_assert counts; sums that exceed 32 bits do not, as no shape here is large enough, and looking doubles the time.
interpreter.interpreter_builder.options = interpreter.InterpreterOptions(debug=True, sanitize_overflow=False)
_mend_arithmetic()
_mend_bf16()
_mend_reduce()
_mend_foreign()
_mend_dot()
_mend_tensors()
_mend_autotune()
