# SPDX-License-Identifier: MIT
"""Which of a day's test cases an edit of a kernel leaves as they were: those of the rungs whose objects are byte for byte what they
were when all passed. `./days test DAY` spares them, on a CPU, where a case comes out the same each time.

build/PRESET/passed/dayNN.json has, of the last run in which nothing failed, the hash of each object and library that the test
program was linked from, the variables that tests read, and the rungs' groups of cases. Where anything but a rung's own object
differs, or nothing, all cases run."""
from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess

from days_cli import cmake_tools, ladders, paths, toolchain

_VARIABLES = re.compile(r"(DAYS|SIMT|GTEST)_(?!OUTPUT|COLOR)")


def state(preset, day):
    """What the day's test program is made of and reads, as the file keeps it."""
    folder = paths.BUILD / preset
    listed = toolchain.output_of([cmake_tools.find("ninja")[0], "-C", str(folder), "-t", "inputs", _target(day)])
    inputs = [line.strip() for line in listed.splitlines() if line.strip().endswith((".o", ".a", ".so", ".json"))]
    hashes = {}
    for name in inputs:
        try:
            hashes[name] = hashlib.sha256((folder / name).read_bytes()).hexdigest()
        except OSError:
            hashes[name] = ""
    return {"objects": hashes, "environment": {name: value for name, value in sorted(os.environ.items()) if _VARIABLES.match(name)}}


def spared(preset, day, now):
    """The groups ("day43_attention.naive") that need not run again; [] for all to run."""
    try:
        before = json.loads(_file(preset, day).read_text(encoding="utf-8"))
        same = before["environment"] == now["environment"] and before["objects"].keys() == now["objects"].keys()
        changed = {name for name, value in now["objects"].items() if before["objects"][name] != value} if same else set()
        groups = before["groups"]
    except (OSError, ValueError, KeyError, TypeError):
        return []
    rungs = _rungs(day, now["objects"])
    if not changed or not changed <= rungs.keys():
        return []
    try:
        users = _with_users(paths.BUILD / preset, changed, rungs)
    except (OSError, subprocess.CalledProcessError):  # there is no nm
        return []
    again = {name for each in users for name in rungs[each]}
    every = {name for names in rungs.values() for name in names}
    return [group for group in groups if not {rung_of(group, every)} & {"", *again}]


def keep(preset, day, now, groups):
    """After a run in which nothing failed; groups: of all cases, those that were spared too."""
    file = _file(preset, day)
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(".part")
    part.write_text(json.dumps(dict(now, groups=sorted(groups))), encoding="utf-8")
    part.replace(file)


def _target(day):
    return f"day{day.number:02d}_test"


def _file(preset, day):
    return paths.BUILD / preset / "passed" / f"day{day.number:02d}.json"


def _rungs(day, objects):
    """{object: names of the rungs that its file holds}"""
    files = {}
    for rung, file in ladders.files(day).items():
        files.setdefault(f"/{file.parent.name}/{file.name}.o", set()).add(rung)
    return {name: rungs for name in objects for file, rungs in files.items() if name.endswith(file)}


def rung_of(group, rungs):
    """The rung of day43_causal.causal_naive, whose ladder puts a prefix before it: naive. The CPU's versions stand for themselves;
    "" for what is of no rung, as wrong kernels, which may call any."""
    variant = group.partition(".")[2]
    if variant.startswith("CPU_"):
        return variant
    fits = [rung for rung in rungs if variant == rung or variant.endswith("_" + rung)]
    return max(fits, key=len, default="")


def _with_users(folder, changed, rungs):
    """The changed objects, and those of rungs that call a function of one of them, or of these."""
    defined = {name: _symbols(folder / name, "--defined-only") for name in rungs}
    needed = {name: _symbols(folder / name, "--undefined-only") for name in rungs}
    found, more = set(), set(changed)
    while more:
        found |= more
        more = {name for name in rungs if name not in found and any(needed[name] & defined[other] for other in found)}
    return found


def _symbols(path, kind):
    listed = subprocess.run(["nm", "-P", kind, str(path)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    return {line.partition(" ")[0] for line in listed.stdout.splitlines()}
