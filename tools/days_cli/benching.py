# SPDX-License-Identifier: MIT
"""Runs benchmarks, shows what they measured as a table, compares and records it."""
from __future__ import annotations

import json
import os
import sys

from days_cli import builder, clocks, cmake_tools, compare, console, measuring, paths, programs, result_table, results, stale, toolchain
from days_cli.errors import WRONG, DaysError


def preset_of(days, given):
    """The CMake preset to measure these ladder days with; what it needs is installed."""
    backend, remark = "", ""
    if not given.get("--preset"):
        again = " ".join(["./days bench", *(str(day.number) for day in days[:1] if given.words), "--backend simt"])
        backend, remark = toolchain.choose_backend(given.get("--backend"), again)
    if remark:
        console.note(remark)
    preset = cmake_tools.preset_for(given.get("--preset"), backend)
    cmake_tools.ensure(["cmake", "ninja", "gtest", "benchmark"])
    os.environ.setdefault("DAYS_COMMIT", paths.commit())  # for the results
    return preset


def ladders(days, given, raw):
    """Builds the benchmarks with CMake and runs them."""
    preset = preset_of(days, given)
    with builder.lock(paths.BUILD / preset):
        cmake_tools.configure(preset)
        cmake_tools.build(preset, [f"day{day.number:02d}_bench" for day in days])
    worst = 0
    for day in days:
        program = paths.BUILD / preset / "bin" / f"day{day.number:02d}_bench"
        if len(days) > 1:
            console.say(("" if day is days[0] else "\n") + console.paint(f"Day {day.label}", "bold"))
        worst = max(worst, as_it_is(program, raw) if raw else bench(day, program, given))
    return worst


def call(program, flags):
    ended = programs.run_here([program, *flags])
    if ended.problem:
        raise programs.Died(program, ended)
    return ended.code


def as_it_is(program, flags):
    return call(program, ["--benchmark_color=" + ("true" if console.coloured(sys.stdout) else "false"), *flags])


def bench(day, program, given):
    file = paths.BUILD / "bench" / f"day{day.number:02d}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.unlink(missing_ok=True)
    flags = [word for flag in ("--size", "--variant", "--type") if given.get(flag) for word in (flag, given.get(flag))]
    try:
        with clocks.Clocks() as sampled:
            code = call(program, ["--quiet", *measuring.limits_flag(), "--json", str(file), *flags, *(["--sweep"] if given.get("--sweep") else [])])
            if file.exists() and not given.get("--variant") and results.load(file)["backend"] == "cuda":
                code = max(code, _race_python(day, file))
    except BaseException:  # Ctrl-C, too
        if file.exists():
            console.note(f"what was measured until then: {results.shown(file)}")
        raise
    if not file.exists():
        return code or WRONG
    found = results.load(file)
    return keep(day, given, found, sampled, code, file)


def keep(day, given, found, sampled, code, file=None):
    """Shows what was measured, compares and records it; the exit code."""
    if found["backend"] == "cuda" and sampled.summary():
        found["clocks"] = sampled.summary()
    if file:
        results.write(file, found)
    to_stdout = given.get("--json") == "-"
    console.say(json.dumps(found, indent=2) if to_stdout else result_table.render(found))
    gpu = results.slug(found["device"]["name"])
    # Compared first: recording replaces what is compared with.
    if given.get("--compare") or given.get("--against"):
        code = max(code, _compare(day, gpu, given, found, console.note if to_stdout else console.say))
    targets = [given.get("--json")] if given.get("--json") and not to_stdout else []
    if given.get("--record"):
        stale.stamp(found)
        if found["backend"] != "cuda":
            raise DaysError("--record keeps a GPU's times, and there is no GPU here", f"./days bench {day.number}")
        targets.append(results.committed(gpu, day))
    for target in targets:
        path, remarks = results.save(target, found)
        for remark in remarks:
            console.note(remark)
        console.note(f"results: {results.shown(path)}")
    return code


def _race_python(day, file):
    """Adds PyTorch's contestants to the results, where the day has some and this Python has a PyTorch with CUDA."""
    if not (day.folder / "tests" / "contestants.py").exists():
        return 0
    if not measuring.torch_sees_gpu():
        console.note(f"PyTorch's contestants are left out: {sys.executable} has no torch that sees the GPU. pip install torch")
        return 0
    code = call(sys.executable, [str(paths.ROOT / "bench" / "contestants.py"), str(day.number), "--results", str(file)])
    if code > WRONG:
        console.note("PyTorch's contestants are left out: the message above says why")
        return 0
    return code


def _compare(day, gpu, given, found, say):
    path = given.get("--against") or results.committed(gpu, day)
    if not given.get("--against") and not path.exists():
        there = results.recorded(day.number)
        raise DaysError(f"no results of day {day.label} on {found['device']['name']} are recorded"
                        + (f"; there are those of {', '.join(there)}" if there else ""),
                        f"./days bench {day.number} --against {results.shown(results.committed(there[0], day))}" if there
                        else f"./days bench {day.number} --record")
    lines, regression = compare.report(path, results.load(path), found, bool(given.get("--variant")))
    for line in ("", *lines):
        say(line)
    return WRONG if regression else 0
