# SPDX-License-Identifier: MIT
"""How a result is held against the reference, which is computed in double."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from python_days import tensors
from python_days.tensors import FLOATS, POISON, TYPES, Tensor, stored


@dataclass(frozen=True)
class Tolerance:
    """relative and absolute, of the computation; rounding the result to its type comes on top. None: no error at all."""
    relative: object
    absolute: object

    def of(self, kind, expected):
        """The largest error that is let pass, for each element."""
        relative, absolute = (part[kind] if isinstance(part, dict) else part for part in (self.relative, self.absolute))
        digits = FLOATS[kind]
        with np.errstate(invalid="ignore", over="ignore"):
            rounding = 2.0 ** -digits * np.abs(expected) + (2.0 ** -25 if kind == "fp16" else 0)
            return relative * np.abs(expected) + absolute + (rounding if digits < 24 else 0)


exact = Tolerance(None, None)


def within(relative=0.0, absolute=0.0):
    """Each a number, or one for each type: within(relative={"fp32": 1e-6, "fp16": 1e-3})."""
    return Tolerance(relative, absolute)


def compare(name, made, expected, tolerance, fill=POISON):
    """{wrong, compared, unwritten, worst, relative, first, ratios, doubt} of a Tensor, filled with this byte before, against what it should be. doubt: all that is wrong
    is near enough to be right, and looks like the fill: one element of some millions may. Another fill tells. A large one is compared in
    parts, on all cores: NumPy lets others work meanwhile."""
    expected = np.asarray(expected)
    if expected.shape != made.shape:
        raise ValueError(f"the reference gives {name} the shape {expected.shape}, and it has {made.shape}")
    flat, wanted = np.ascontiguousarray(made.array).reshape(-1), expected.reshape(-1)

    def part(start):
        return _compare_part(Tensor(flat[start:start + tensors.PART], made.kind), wanted[start:start + tensors.PART], tolerance, start, fill)
    parts = tensors.in_parts(part, flat.size)
    wrong = sum(one["wrong"] for one in parts)
    first = [{"at": f"{name}[{', '.join(str(int(n)) for n in np.unravel_index(i, made.shape))}]", "got": got, "expected": of}
             for one in parts for i, got, of in one["first"]][:5]
    ratios = [ratio for one in parts for ratio in one["ratios"]]
    finite = bool(ratios) and bool(np.isfinite(ratios).all())
    worst = max((one["worst"] for one in parts), key=lambda error: np.inf if np.isnan(error) else error)
    return {"wrong": wrong, "doubt": bool(wrong) and not any(one["far"] for one in parts), "compared": int(flat.size), "unwritten": sum(one["unwritten"] for one in parts) if wrong else 0,
            "relative": max(one["relative"] for one in parts), "worst": float(worst) if np.isfinite(worst) else None, "first": first,
            "least_ratio": float(min(ratios)) if finite else None, "most_ratio": float(max(ratios)) if finite else None}


def _compare_part(made, expected, tolerance, start, fill):
    """The same of elements in a row, the first of which has the number `start`; ratios: the least and the greatest."""
    got, memory = made.values(), made.array
    if made.kind not in FLOATS:
        bad, error = got != expected, np.abs(got.astype(np.float64) - expected.astype(np.float64))
        relative = np.zeros(1)
    else:
        with np.errstate(invalid="ignore", over="ignore"):
            rounded = Tensor(stored(expected, made.kind), made.kind).values()
            same = (got == rounded) | (np.isnan(got) & np.isnan(rounded))
            error = np.where(same, 0.0, np.abs(got - expected))
            relative = np.where(np.isfinite(error), error / np.maximum(np.abs(expected), 2.0**-126), 0.0)
            bad = ~same
            if tolerance.relative is not None:
                bad &= ~(error <= tolerance.of(made.kind, expected))
    poison = np.full(1, fill, np.uint8).repeat(made.element_size()).view(TYPES[made.kind][1])[0]
    unwritten, far = memory == poison, bad
    if made.kind in FLOATS:
        bad = bad | ~same & unwritten  # no tolerance for what nobody has written: as a float it is near 0
    at = np.flatnonzero(bad)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratios = got[at] / expected[at] if made.kind in FLOATS else np.array([])
    return {"wrong": int(at.size), "far": bool(np.any(far)), "unwritten": int(unwritten.sum()), "worst": np.max(error) if error.size else 0.0,
            "relative": float(np.max(relative)) if relative.size else 0.0,
            "first": [(start + i, _shown(got[i], memory[i], poison), f"{expected[i]:.9g}") for i in at[:5]],
            "ratios": [ratios.min(), ratios.max()] if ratios.size else []}


def _shown(value, memory, poison):
    return "not written" if memory == poison else f"{value:.9g}"
