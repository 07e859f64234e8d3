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
NOTHING = {"wrong": 0, "compared": 0, "unwritten": 0, "worst": None, "relative": 0.0, "first": [], "least_ratio": None, "most_ratio": None}
_SAMPLED = 1 << 22  # elements of an output, from which on a ladder that can check samples does


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


class Reference:
    """What is expected of a problem's outputs: all of it, or, where that would take too long and the ladder can say so, some thousand
    places of each. may_sample: whether large outputs may be looked at so."""

    def __init__(self, ladder, problem, may_sample=False):
        self._tolerance, self._places = ladder.tolerance, None
        self.sampled = bool(may_sample and ladder.sample) and max(t.numel() for t in problem.host_outputs) > _SAMPLED
        if self.sampled:
            random = np.random.default_rng(2)
            self._places = [np.stack([random.integers(0, n, 4096) for n in t.shape]) for t in problem.host_outputs]
            made = ladder.sample([t.values() if isinstance(t, Tensor) else t for t in problem.before], *self._places)
            self._expected = [np.asarray(one) for one in (made if isinstance(made, (list, tuple)) else [made])]
        else:
            self._expected = ladder.expected(problem.before)

    def facts(self, outputs, fill=POISON):
        """What compare() says of each output, as one."""
        facts = dict(NOTHING, worst=0.0, doubt=True)
        for number, (made, expected) in enumerate(zip(outputs, self._expected)):
            if self.sampled:
                made = Tensor(np.ascontiguousarray(made.array[tuple(self._places[number])]), made.kind)
            one = compare("out" if len(outputs) == 1 else f"out{number}", made, expected, self._tolerance, fill)
            worst = (facts["worst"], one["worst"])
            facts = {**one, **{key: facts[key] + one[key] for key in ("wrong", "compared", "unwritten", "first")},
                     "relative": max(facts["relative"], one["relative"]), "worst": None if None in worst else max(worst),
                     "doubt": facts["doubt"] and (one["doubt"] or not one["wrong"])}
        return {**facts, "doubt": facts["doubt"] and facts["wrong"] > 0}


def changed(problem):
    """How many inputs are not as they were before, though they are no outputs."""
    return sum(isinstance(was, Tensor) and not any(host is output for output in problem.host_outputs) and not np.array_equal(_bytes(was), _bytes(now))
               for was, now, host in zip(problem.before, problem.inputs_now(), problem.host_inputs))


def _bytes(tensor):
    return np.ascontiguousarray(tensor.array).view(np.uint8)


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
