# SPDX-License-Identifier: MIT
"""What the failing cases of a kernel have in common, in one sentence: the line that starts a learner thinking."""
from __future__ import annotations

import math

_FACTORS = (4, 8, 16, 32, 64, 128, 256, 512, 1024, 2)
# A NaN that is added to stays the same NaN, so the two mistakes look alike.
_UNWRITTEN = "The wrong elements hold what they were filled with: not written, or only added to."
_UNCHANGED = "The wrong elements hold what they held before: not written, or written and written back."


def pattern(cases):
    """cases: those of a day's --cases that ran, each with shape {extent: n}, inputs, result, wrong, unwritten, added, compared,
    blocks and, where nothing is 0, least_ratio and most_ratio; outputs has the same of each. "" where nothing is seen."""
    failed = [case for case in cases if case["result"] == "fail"]
    passed = [case for case in cases if case["result"] == "ok"]
    if not failed:
        return ""
    wrong = [case for case in failed if case["wrong"]]
    in_place = all(case.get("in_place", 0) for case in failed)
    if wrong and all(case["unwritten"] == case["compared"] for case in cases):
        if in_place:
            return "nothing is changed: every array holds what it held before."
        return "nothing is written: every output still holds what it was filled with."
    if wrong and all(case.get("added", 0) == case["wrong"] for case in wrong):
        return "every wrong element is what is expected plus what the buffer held before: nobody set it to 0 first."
    where = _where(failed, passed) if passed else ""
    # Of each output by itself: most of an array that is changed in place may be as it was, and rightly so.
    bad = [output for case in wrong for output in case.get("outputs") or [case] if output["wrong"]]
    unwritten = bool(bad) and all(output.get("unwritten", 0) >= output["wrong"] for output in bad)
    said = _UNCHANGED if in_place else _UNWRITTEN
    if where:
        return f"fails exactly {where}" + ("" if where.endswith("?") else ".") + (" " + said if unwritten else "")
    kinds = {case["inputs"] for case in failed}
    if len(failed) > 1 and len(kinds) == 1 and "" not in kinds:  # not all of them fail, but nothing else does
        return f'fails only with the inputs "{kinds.pop()}".' + (" " + said if unwritten else "")
    if unwritten:
        return said[0].lower() + said[1:]
    return _factors(wrong)


def _factors(wrong):
    """One factor by which all the wrong elements are too large or too small; where there are several outputs, of one of them."""
    factor = _factor(wrong)
    if factor:
        return f"every wrong element is {factor:.4g} times what is expected: a factor is missing, or one too many."
    names = dict.fromkeys(output["name"] for case in wrong for output in case.get("outputs", []) if output["wrong"])
    for name in names if len(names) > 1 else ():
        factor = _factor([output for case in wrong for output in case["outputs"] if output["name"] == name and output["wrong"]])
        if factor:
            return f"every wrong element of {name} is {factor:.4g} times what is expected: a factor is missing, or one too many."
    return ""


def _factor(wrong):
    """The factor of all wrong elements, in cases, or outputs of cases, enough to believe it; 0 where there is none."""
    ratios = [case.get(name) for case in wrong for name in ("least_ratio", "most_ratio")]
    if sum(case["wrong"] for case in wrong) < 4 or None in ratios:  # JSON writes null for what is not finite
        return 0
    least, most = min(case["least_ratio"] for case in wrong), max(case["most_ratio"] for case in wrong)
    if not (math.isfinite(least) and math.isfinite(most)) or most - least > 1e-2 * abs(most):
        return 0
    return 0 if abs(most - 1) < 1e-2 else most  # an error of rounding is no factor


def _where(failed, passed):
    """A condition on shape, inputs or launch that holds for each failed case and for no passed one."""
    def tells(condition):
        return all(map(condition, failed)) and not any(map(condition, passed))

    kinds = {case["inputs"] for case in failed}
    if len(kinds) == 1 and "" not in kinds and tells(lambda case: case["inputs"] in kinds):
        return f'with the inputs "{kinds.pop()}"'
    extents = list(failed[0]["shape"]) if failed[0]["shape"].keys() == passed[0]["shape"].keys() else []
    for extent in extents:
        fitting = [factor for factor in _FACTORS if tells(lambda case: case["shape"][extent] % factor)]
        if fitting:
            others = sorted(fitting)[1:]
            return f"where {extent} is not a multiple of {min(fitting)}" + \
                (f" (or of {', '.join(map(str, others))}: these shapes can't tell)" if others else "")
    if tells(lambda case: case["blocks"] > 1):
        return "where the launch has more than one block"
    for extent in extents:
        least, most = min(case["shape"][extent] for case in failed), max(case["shape"][extent] for case in passed)
        if least > most:
            return f"where {extent} is larger than {most} ({most} passes, {least} fails)"
        least, most = min(case["shape"][extent] for case in passed), max(case["shape"][extent] for case in failed)
        if least > most:
            return f"where {extent} is smaller than {least} ({most} fails, {least} passes)"
    most = {extent: max(case["shape"][extent] for case in passed) for extent in extents}
    if len(extents) > 1 and all(any(case["shape"][extent] > most[extent] for extent in extents) for case in failed):
        # No passed one is: the first block, or a grid of fixed size, does what it can.
        beyond = [extent for extent in extents if any(case["shape"][extent] > most[extent] for case in failed)]
        grids = {case["blocks"] for case in (*failed, *passed)} - {0}
        return "where " + " or ".join(f"{extent} is larger than {most[extent]}" for extent in beyond) + \
            (f"; every launch has {'one block' if grids == {1} else f'{min(grids)} blocks'}" if len(grids) == 1 else "")
    for i, one in enumerate(extents):
        for other in extents[i + 1:]:
            if tells(lambda case: case["shape"][one] != case["shape"][other]):
                return f"where {one} and {other} differ. Is one taken for the other, as a length or a stride?"
    return ""
