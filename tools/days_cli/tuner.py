# SPDX-License-Identifier: MIT
"""The tuner: a day's candidates, which of them are possible, what can be known of one without running it, and what has been found
out before. The space is dayNN_name/tuning/space.json, the template tuning/candidate.cuh; docs/tuning.md says what they hold."""
from __future__ import annotations

import ast
import functools
import hashlib
import itertools
import json
import math
import re
from dataclasses import dataclass, field
from typing import Dict, List, Optional, Tuple

from days_cli import paths, sass
from days_cli.errors import WRONG, DaysError

FOLDER = paths.BUILD / "tune"
# What the ranking without a GPU takes for granted: (multiprocessors, KiB of shared memory of a block, bytes that L2 delivers to a
# multiprocessor in a turn). The first of an H200, an A100, an RTX 4090 and a T4; L2's is a guess of half of what is usually seen.
DEVICES = {90: (132, 227, 24), 80: (108, 163, 24), 86: (84, 99, 16), 89: (128, 99, 16), 75: (40, 64, 16), 100: (148, 227, 24),
           120: (170, 99, 16)}
_ENOUGH_WARPS = 8  # two for each of the four schedulers


@dataclass(frozen=True)
class Device:
    sm: int
    multiprocessors: int
    shared: int  # bytes that a block may have
    l2_bytes: float  # a turn, a multiprocessor


@dataclass
class Candidate:
    """values: the numbers of the space by name, in its order; rest: what follows from them."""
    values: Dict[str, int]
    rest: Dict[str, float]
    registers: int = 0  # 0: not compiled
    spills: int = 0
    verdict: str = ""  # of the check: "ok", or what is wrong
    seconds: Dict[str, float] = field(default_factory=dict)  # by size

    @property
    def name(self):
        v = self.values
        if "warp_m" not in v:
            return ", ".join(f"{name} {value}" for name, value in v.items())
        return (f"{v['block_m']}x{v['block_n']}x{v['block_k']} warp {v['warp_m']}x{v['warp_n']} thread {v['thread_m']}x{v['thread_n']} "
                f"stages {v['stages']}")

    @property
    def numbers(self):
        return ", ".join(str(value) for value in self.values.values())

    @property
    def file(self):
        return "_".join(str(value) for value in self.values.values()) + ".cu"


def folder_of(day):
    return paths.ROOT / day.target / "tuning"


def space_of(day):
    """The day's space.json; DaysError where it has none or a broken one."""
    path = folder_of(day) / "space.json"
    if not path.is_file():
        raise DaysError(f"day {day.label} has nothing to tune: there is no {path.relative_to(paths.ROOT)}",
                        f"./days explain {day.number}" if day.kind.links else "./days list")
    try:
        space = json.loads(path.read_text(encoding="utf-8"))
        missing = [key for key in ("tiling", "values", "derived", "constraints", "counts", "classes") if key not in space]
        if missing or set(space["tiling"]) != set(space["values"]):
            raise ValueError(f"it lacks {', '.join(missing)}" if missing else "tiling and values name different numbers")
        return space
    except (ValueError, TypeError) as error:
        raise DaysError(f"{path.relative_to(paths.ROOT)}: {error}", code=WRONG) from error


_ALLOWED = (ast.Expression, ast.BoolOp, ast.And, ast.Or, ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod, ast.Compare,
            ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Name, ast.Load, ast.Constant)


@functools.lru_cache(maxsize=None)
def _compiled(expression):
    try:
        tree = ast.parse(expression, mode="eval")
    except SyntaxError as error:
        raise DaysError(f'space.json: "{expression}" is no expression', code=WRONG) from error
    for node in ast.walk(tree):
        if not isinstance(node, _ALLOWED):
            raise DaysError(f'space.json: "{expression}" has {type(node).__name__}; it may have whole numbers, names, + - * // %, '
                            "comparisons, and, or", code=WRONG)
    return compile(tree, "space.json", "eval")


def value(expression, names):
    try:
        return eval(_compiled(expression), {"__builtins__": {}}, names)  # pylint: disable=eval-used
    except (NameError, ZeroDivisionError) as error:
        raise DaysError(f'space.json: "{expression}": {error}', code=WRONG) from error


def described(space, values, device):
    """The Candidate of these numbers, or (None, which constraint it breaks)."""
    names = dict(values, device_shared=device.shared)
    for name, expression in space["derived"].items():
        names[name] = value(expression, names)
    for expression, because in space["constraints"]:
        if not value(expression, names):
            return None, because
    for name, expression in space["counts"].items():
        names[name] = value(expression, names)
    return Candidate(dict(values), {name: names[name] for name in names if name not in values}), ""


def candidates(space, device):
    """(all that are possible, {constraint: how many it alone, as the first, ruled out})."""
    found, out = [], {}
    for numbers in itertools.product(*(space["values"][name] for name in space["tiling"])):
        candidate, because = described(space, dict(zip(space["tiling"], numbers)), device)
        if candidate:
            found.append(candidate)
        else:
            out[because] = out.get(because, 0) + 1
    return found, out


# ---- what is known without running it ----

def arithmetic(candidate):
    """The turns of the arithmetic of a tile: said, or those of its FFMA, four in one."""
    return candidate.rest.get("arithmetic") or candidate.rest["ffma"] / 4


def pace(candidate):
    """The arithmetic's share of the turns of a tile: 1 where nothing else takes longer. Turns of a multiprocessor, as notes count
    them: 4 instructions of warps are issued in one, shared memory delivers 128 bytes; and L2's bytes."""
    c = candidate.rest
    issued = sum(c.get(name, 0) for name in ("ffma", "loads", "copies", "other")) / 4
    return arithmetic(candidate) / max(arithmetic(candidate), issued, c["shared_turns"], c["global_bytes"] / c["l2_bytes"])


def flight(candidate, device):
    """(blocks, warps) of a multiprocessor at a time; registers as compiled, else the least."""
    registers = candidate.registers or min(255, int(1.15 * candidate.rest["least_registers"]))
    blocks, _ = sass.blocks(device.sm, candidate.rest["threads"], registers, candidate.rest["shared"])
    return blocks, blocks * candidate.rest["threads"] // 32


def spread(candidate, device, size):
    """(the share of the multiprocessors' time in which they have work, warps of a multiprocessor that run at a time): the busiest
    multiprocessor has so many blocks more than the average."""
    m, n = (int(number) for number in size.split("x")[:2])
    blocks = -(-m // candidate.values["block_m"]) * -(-n // candidate.values["block_n"])
    most = -(-blocks // device.multiprocessors)
    return blocks / (most * device.multiprocessors), min(flight(candidate, device)[0], most) * candidate.rest["threads"] // 32


def share(candidate, device, sizes):
    """What of the arithmetic's rate it can reach at most, by the counts; 0 where it spills or cannot run."""
    candidate.rest.setdefault("l2_bytes", device.l2_bytes)
    if not flight(candidate, device)[0] or candidate.spills:
        return 0.0
    shares = [busy * min(1, warps / _ENOUGH_WARPS) for busy, warps in (spread(candidate, device, size) for size in sizes)]
    return pace(candidate) * math.prod(shares) ** (1 / len(shares))


def ranked(found, device, sizes):
    """Best first. What is equal by the counts: more warps, then fewer bytes of global memory for the arithmetic, more under way, fewer registers."""
    def key(candidate):
        c = candidate.rest
        return (-round(share(candidate, device, sizes), 3), -min(16, flight(candidate, device)[1]), c["global_bytes"] / arithmetic(candidate),
                -c.get("under_way", 0), candidate.registers, c["shared"])
    return sorted(found, key=key)


# ---- what has been found out before ----

def source_key(day):
    """Changes with the template and all that it includes of the day and its problems."""
    files = [folder_of(day) / "candidate.cuh", *sorted((paths.ROOT / day.target).glob("*.cuh")),
             *sorted((paths.ROOT / day.target).glob("*.h")), *sorted((paths.ROOT / "common" / "problems").glob("gemm*.h"))]
    files = [file for file in files if file.name != "tunings.h"]
    return hashlib.sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest()[:12]


class Cache:
    """What was compiled and measured before, of one architecture or GPU: build/tune/dayNN-WHERE.json. Another source begins anew."""

    def __init__(self, day, where):
        self.path = FOLDER / f"day{day.number:02d}-{re.sub(r'[^a-z0-9]+', '-', where.lower()).strip('-')}.json"
        self._key = source_key(day)
        try:
            data = json.loads(self.path.read_text(encoding="utf-8"))
            self._known = data["candidates"] if data.get("source") == self._key else {}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            self._known = {}

    def fill(self, candidate):
        known = self._known.get(candidate.numbers)
        if isinstance(known, dict):
            candidate.registers, candidate.spills = known.get("registers", 0), known.get("spills", 0)
            candidate.verdict, candidate.seconds = known.get("verdict", ""), dict(known.get("seconds", {}))

    def keep(self, candidate):
        self._known[candidate.numbers] = {"registers": candidate.registers, "spills": candidate.spills,
                                          "verdict": candidate.verdict, "seconds": candidate.seconds}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        fresh = self.path.with_suffix(".new")
        fresh.write_text(json.dumps({"source": self._key, "candidates": self._known}, indent=1) + "\n", encoding="utf-8")
        fresh.replace(self.path)


# ---- the table of the rung ----

def best(found, sizes):
    """The fastest of those that were measured at all of these sizes, by the geometric mean; None where there is none."""
    timed = [c for c in found if c.verdict == "ok" and all(size in c.seconds for size in sizes)]
    return min(timed, key=lambda c: math.prod(c.seconds[size] for size in sizes), default=None)


def row(sm, by, chosen: List[Candidate]):
    return "    {" + f'{sm}, "{by}", ' + ", ".join("{" + candidate.numbers + "}" for candidate in chosen) + "},"


def with_row(text, sm, by, chosen) -> Tuple[str, Optional[str]]:
    """tunings.h with the row of this compute capability, in the place of an older one; and that one."""
    lines = text.splitlines()
    begin = next((i for i, line in enumerate(lines) if line.startswith("inline constexpr Tunings kTunings[]")), None)
    if begin is None:
        raise DaysError("tunings.h has no table kTunings", "git checkout -- '*/tunings.h'", WRONG)
    end = next(i for i in range(begin, len(lines)) if lines[i].startswith("};"))
    old = [i for i in range(begin + 1, end) if re.match(rf"\s*{{{sm},", lines[i])]
    before = lines[old[0]] if old else None
    if old:
        lines[old[0]] = row(sm, by, chosen)
    else:
        lines.insert(end, row(sm, by, chosen))
    return "\n".join(lines) + "\n", before
