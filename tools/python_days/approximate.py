# SPDX-License-Identifier: MIT
"""What single instructions of a GPU and the functions of libdevice give, by NumPy: stand-ins for Triton's interpreter. Each is computed in
double and rounded once, so a GPU's approximations are at most some ulps worse; what they make of denormals is as PTX has it: an
instruction with .ftz takes them for 0 and gives 0 in their place. tanh.approx errs as much as PTX permits, as in common/ptx/tanh.h."""
from __future__ import annotations

import math
import re

import numpy as np

_LEAST = np.float32(2.0 ** -126)  # what is nearer to 0 is a denormal
_LOG2E = np.float32(1.4426950408889634)
_LN2 = np.float32(0.6931471805599453)


def flushed(values):
    """fp32 with zeros of the same sign for denormals; other types as they are."""
    return np.where(np.abs(values) < _LEAST, np.copysign(np.float32(0), values), values) if values.dtype == np.float32 else values


def rounded(function):
    """The function in double, rounded once to the type of its operands."""
    def made(*operands):
        return np.asarray(function(*(operand.astype(np.float64) for operand in operands))).astype(operands[-1].dtype)
    return made


def _ftz(function):
    """An instruction with .ftz."""
    once = rounded(function)
    return lambda *operands: flushed(once(*map(flushed, operands)))


def fma(x, y, z):
    """x y + z, rounded once. The product of two fp32 is exact in double; of the sum, what double drops decides a tie."""
    if z.dtype == np.float64:
        return x * y + z
    product, more = x.astype(np.float64) * y.astype(np.float64), z.astype(np.float64)
    total = product + more
    part = total - product
    dropped = (product - (total - part)) + (more - part)
    even = np.ascontiguousarray(total).view(np.int64) & 1 == 0
    odd = np.where((dropped != 0) & np.isfinite(total) & even, np.nextafter(total, np.where(dropped > 0, np.inf, -np.inf)), total)
    return odd.astype(z.dtype)


def _digits(values, count):
    """Rounded to so many binary digits."""
    fraction, exponent = np.frexp(values)
    return np.ldexp(np.rint(fraction * 2.0 ** count), exponent - count)


def _multiple(values, of_one):
    return np.copysign(np.rint(values * of_one) / of_one, values)


def divided(x, y):
    """What `/` is on a GPU: of fp32 div.full, the product with a reciprocal that is rounded before, so that even 21 / 7 may not be 3."""
    if y.dtype != np.float32:
        return x / y
    return (x * _digits(1 / y.astype(np.float64), 24)).astype(np.float32)


_rcp, _div = (lambda x: 1 / x), (lambda x, y: x / y)
_rsqrt = lambda x: 1 / np.sqrt(x)  # noqa: E731
ex2, ex2_ftz = rounded(np.exp2), _ftz(np.exp2)
sqrt_ftz, rsqrt_ftz = _ftz(np.sqrt), _ftz(_rsqrt)


def exp(values):
    """What tl.exp is on a GPU: the product with log2(e) is rounded before 2 to the power of it is taken."""
    return ex2(values * _LOG2E) if values.dtype == np.float32 else np.exp(values)


# ---- inline assembly: PTX's name of an instruction, without .ftz; "x2" works on two elements, each for itself ----

_INSTRUCTIONS = {"ex2.approx.f32": np.exp2, "lg2.approx.f32": np.log2, "rcp.approx.f32": _rcp, "rcp.rn.f32": _rcp, "sqrt.approx.f32": np.sqrt,
                 "sqrt.rn.f32": np.sqrt, "rsqrt.approx.f32": _rsqrt, "sin.approx.f32": np.sin, "cos.approx.f32": np.cos,
                 "div.approx.f32": _div, "div.full.f32": _div, "div.rn.f32": _div, "tanh.approx.f32": lambda x: _digits(np.tanh(x), 11),
                 "tanh.approx.f16x2": lambda x: _multiple(np.tanh(x), 1024), "tanh.approx.bf16x2": lambda x: _multiple(np.tanh(x), 128)}
_ONE = re.compile(r"\s*([\w.]+)\s+\$0((?:\s*,\s*\$\d)+)\s*;?\s*")


def instruction(text):
    """A function for the text of one instruction on all of its operands in their order, such as "rcp.approx.ftz.f32 $0, $1;"; None where it
    is another text. bf16 comes and goes as fp32."""
    found = _ONE.fullmatch(text)
    name = found[1] if found else ""
    operands = [int(number) for number in re.findall(r"\d", found[2])] if found else []
    if operands != list(range(1, len(operands) + 1)):
        return None
    plain = name.replace(".ftz", "")
    if plain == "fma.rn.f32":
        return (lambda *of: flushed(fma(*map(flushed, of)))) if plain != name else fma
    if plain not in _INSTRUCTIONS:
        return None
    return (_ftz if plain != name else rounded)(_INSTRUCTIONS[plain])


# ---- libdevice: names without "__nv_"; that of fp32 has an "f" at its end ----

def _each(function):
    return np.vectorize(function, otypes=[np.float64])


_LIBDEVICE = {name: getattr(np, name) for name in (
    "log", "log2", "log10", "log1p", "exp", "expm1", "cbrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "fabs", "floor", "ceil", "trunc", "rint",
    "fmod", "hypot", "fmin", "fmax", "copysign")}
_LIBDEVICE.update(exp10=lambda x: 10.0 ** x, erf=_each(math.erf), erfc=_each(math.erfc), asin=np.arcsin, acos=np.arccos, atan=np.arctan,
                  asinh=np.arcsinh, acosh=np.arccosh, atanh=np.arctanh, atan2=np.arctan2, pow=np.power, nearbyint=np.rint)
_FLUSHING = {"exp2": np.exp2, "sqrt": np.sqrt, "rsqrt": _rsqrt, "fsqrt_rn": np.sqrt, "frcp_rn": _rcp, "fdiv_rn": _div, "fast_fdividef": _div,
             "fast_sinf": np.sin, "fast_cosf": np.cos, "fast_log2f": np.log2}


def _fast(function, factor):
    """A power of two or a logarithm to base two by its instruction, and a factor that is rounded."""
    by = _ftz(function)
    return (lambda x: by(x * factor)) if function is np.exp2 else (lambda x: by(x) * factor)


_FAST = {"fast_expf": _fast(np.exp2, _LOG2E), "fast_exp10f": _fast(np.exp2, np.float32(math.log2(10))), "fast_logf": _fast(np.log2, _LN2),
         "fast_log10f": _fast(np.log2, np.float32(math.log10(2))),
         "fast_powf": lambda x, y: ex2_ftz(_ftz(np.log2)(x) * y), "fast_tanf": _ftz(np.tan), "fmaf": fma, "fma": fma, "fmaf_rn": fma}


def libdevice(symbol):
    """A function for a symbol of libdevice, "__nv_expf"; None where there is no stand-in."""
    name = symbol.removeprefix("__nv_")
    if name in _FAST:
        return _FAST[name]
    for base in (name, name[:-1] if name.endswith("f") else name):
        if base in _FLUSHING:
            return _ftz(_FLUSHING[base])
        if base in _LIBDEVICE:
            return rounded(_LIBDEVICE[base])
    return None
