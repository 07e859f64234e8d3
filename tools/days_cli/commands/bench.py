# SPDX-License-Identifier: MIT
"""days bench: builds a day's benchmark with CMake, runs it, shows its results as a table; without a day, all of them."""
from __future__ import annotations

import json
import os
import sys
import time

from days_cli import (arguments, builder, catalog, clocks, cmake_tools, compare, console, measuring, paths, program_day,
                      programs, python_day, result_table, results, stale, toolchain)
from days_cli import gpu as gpus
from days_cli.errors import ENVIRONMENT, WRONG, DaysError

USAGE = "[DAY] [flags]"
SUMMARY = "measures the kernels against the libraries"
HELP = """./days bench [DAY] [flags]     Google Benchmark: one day, or all of them

  --sweep                 each ladder's sizes from small to big, odd ones too
  --size 4096x33          this size alone
  --variant a,b           these rungs and libraries alone
  --type fp32|fp16|bf16   this element type alone
  --json FILE             results as JSON too (docs/results.md), - for standard
                          output and no table; a file that is there of another
                          GPU, CUDA or driver is kept
  --record                the same to docs/results/GPU/dayNN.json
  --stale                 what of docs/results/GPU is of kernels that have
                          changed since, or is missing; needs no GPU
  --stale --record        measures that, most needed first, and saves each
                          table; what is there already is not measured again
  --for 9m                with it: ends in time, and goes on when called again
  --compare               beside docs/results/GPU/dayNN.json: what is slower by
                          more than noise is marked, and the exit code is 1
  --against FILE          the same beside any result file
  --backend cuda|simt     where kernels run (default: the GPU if any)
  --preset NAME           this CMake preset (cpu, cpu-checked, cuda) instead
  --color auto|always|never
  --benchmark_...         and all after -- goes to the benchmark as it is, like
                          --benchmark_filter=vector --benchmark_out=FILE; then
                          Google Benchmark's own output is shown

Where this Python has a PyTorch that sees the GPU, a day's contestants from
there race too (dayNN_name/tests/contestants.py), and are in the same table.

Of a program day each program times itself, on a GPU alone.

Without a GPU each kernel is checked, and only the CPU's versions are timed.
Needs CMake, Ninja, GoogleTest and Google Benchmark; gets what is missing where
it may. The program is build/PRESET/bin/dayNN_bench."""

_VALUED = {"--backend": ("cuda", "simt"), "--preset": None, "--json": None, "--against": None, "--size": None,
           "--variant": None, "--type": None, "--for": None}


def run(args):
    cut = args.index("--") if "--" in args else len(args)
    raw = [arg for arg in args[:cut] if _for_benchmark(arg)] + args[cut + 1:]
    given = arguments.parse("bench", [arg for arg in args[:cut] if not _for_benchmark(arg)], _VALUED,
                            ("--sweep", "--record", "--compare", "--stale"), 1)
    if given.get("--help"):
        console.say(HELP)
        return 0
    if given.words:
        day = catalog.resolve(given.words[0], "bench")
        if day.kind == "python" and not given.get("--stale"):
            return _python(day, given, raw)
    days, program_days = _days(given)
    _check(given, days or program_days, raw)
    if given.get("--stale"):
        return _stale(days, program_days, given)
    worst = _ladders(days, given, raw) if days else 0
    for day in program_days:
        if day.kind == "python" and python_day.backend("simt" if given.get("--backend") == "simt" or raw else None)[0] == "cuda":
            worst = max(worst, _python(day, given, raw))
        elif day.kind == "python":
            console.note(f"Day {day.label} is a Python day: it is timed on a GPU alone, by ./days bench {day.number}")
        elif given.words or gpus.detect().gpu and given.get("--backend") != "simt" and not raw:
            worst = max(worst, _programs(day, given, raw))
        else:
            console.note(f"Day {day.label} is a program day: it is timed on a GPU alone, by ./days bench {day.number}")
    return worst


def _preset(days, given):
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


def _ladders(days, given, raw):
    """Builds the benchmarks with CMake and runs them."""
    preset = _preset(days, given)
    with builder.lock(paths.BUILD / preset):
        cmake_tools.configure(preset)
        cmake_tools.build(preset, [f"day{day.number:02d}_bench" for day in days])
    worst = 0
    for day in days:
        program = paths.BUILD / preset / "bin" / f"day{day.number:02d}_bench"
        if len(days) > 1:
            console.say(("" if day is days[0] else "\n") + console.paint(f"Day {day.label}", "bold"))
        worst = max(worst, _as_it_is(program, raw) if raw else _bench(day, program, given))
    return worst


def _programs(day, given, raw):
    """A program day: its programs time themselves."""
    for flag in ("--sweep", "--type", "--preset"):
        if given.get(flag):
            raise DaysError(f"day {day.label} is a program day: {flag} means nothing to its programs", f"./days bench {day.number}")
    if raw:
        raise DaysError(f"day {day.label} is a program day: Google Benchmark does not time it", f"./days bench {day.number}")
    if given.get("--backend") == "simt":
        raise DaysError(f"the programs of day {day.label} time nothing on a CPU", f"./days run {day.number} --backend simt")
    program_day.require_gpu(day, "bench")
    os.environ.setdefault("DAYS_COMMIT", paths.commit())
    flags = ["--size", given.get("--size")] if given.get("--size") else []
    with clocks.Clocks() as sampled:
        found, code = program_day.measure(day, program_day.chosen(day, given.get("--variant"), "bench"), flags)
    return _keep(day, given, found, sampled, code) if found else code or WRONG


def _python(day, given, raw):
    """A Python day: its program times rungs and contestants in one process, on a GPU alone."""
    if raw or given.get("--preset"):
        raise DaysError(f"day {day.label} is a Python day: neither CMake nor Google Benchmark has a part in it", f"./days bench {day.number}")
    _check(given, [day], raw)
    where, remark = python_day.backend(given.get("--backend"), f"./days run {day.number}")
    if where != "cuda":
        raise DaysError(remark or f"./days bench times the rungs of day {day.label} on a GPU, and there is none here",
                        f"./days run {day.number}", ENVIRONMENT)
    file = paths.BUILD / "bench" / f"day{day.number:02d}.json"
    found, sampled, code = _python_measured(day, given, file)
    return _keep(day, given, found, sampled, code, file)


def _python_measured(day, given, file):
    """(results, clocks, exit code) of a run of a Python day's benchmark."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.unlink(missing_ok=True)
    os.environ.setdefault("DAYS_COMMIT", paths.commit())
    flags = [word for flag in ("--size", "--variant", "--type") if given.get(flag) for word in (flag, given.get(flag))]
    with clocks.Clocks() as sampled:
        code = python_day.run_here(day, ["bench", "--json", str(file), *flags, *(["--sweep"] if given.get("--sweep") else [])], "cuda")
    if not file.exists():
        raise DaysError(f"the benchmark of day {day.label} measured nothing", f"./days run {day.number}", code or WRONG)
    return results.load(file), sampled, code


def _days(given):
    """(ladder days, program days) of what is asked for, or of all that are here."""
    days = [catalog.resolve(given.words[0], "bench")] if given.words else catalog.here()
    # those without CMake's benchmark
    program_days = [day for day in days if day.kind == "python" or day.kind == "program" and (given.words or program_day.times(day))]
    days = [day for day in days if (day.folder / "ladder.cpp").exists()]
    if not days and not program_days:
        raise DaysError(f"day {given.words[0]} has no benchmark" if given.words else "no day has a benchmark",
                        "./days list")
    return days, program_days


def _check(given, days, raw):
    """Combinations that mean nothing, before anything is built."""
    for flag in ("--json", "--against", "--size", "--variant"):
        if given.get(flag) and not given.words:
            raise DaysError(f"{flag} is for one day", f"./days bench {days[0].number} {flag} {given.get(flag)}")
    if given.get("--for"):
        stale.seconds(given.get("--for"))
        if not (given.get("--stale") and given.get("--record")):
            raise DaysError("--for is for --stale --record", f"./days bench --stale --record --for {given.get('--for')}")
    if given.get("--stale"):
        for flag in ("--json", "--against", "--compare", "--size", "--variant", "--type"):
            if given.get(flag):
                raise DaysError(f"--stale measures what is missing, and {flag} something else", "./days bench --help")
    if raw:
        for flag in ("--stale", "--sweep", "--record", "--compare", "--against", "--json", "--size", "--variant", "--type"):
            if given.get(flag):
                raise DaysError(f"{flag} is for the table; Google Benchmark's flags replace it", "./days bench --help")
    if given.get("--against"):
        results.load(given.get("--against"))
    if given.get("--json"):
        results.check_place(given.get("--json"))


def _for_benchmark(argument):
    return argument.startswith("--benchmark_")


def _call(program, flags):
    ended = programs.run_here([program, *flags])
    if ended.problem:
        raise programs.Died(program, ended)
    return ended.code


def _as_it_is(program, flags):
    return _call(program, ["--benchmark_color=" + ("true" if console.coloured(sys.stdout) else "false"), *flags])


def _bench(day, program, given):
    file = paths.BUILD / "bench" / f"day{day.number:02d}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.unlink(missing_ok=True)
    flags = [word for flag in ("--size", "--variant", "--type") if given.get(flag) for word in (flag, given.get(flag))]
    try:
        with clocks.Clocks() as sampled:
            code = _call(program, ["--quiet", *measuring.limits_flag(), "--json", str(file), *flags, *(["--sweep"] if given.get("--sweep") else [])])
            if file.exists() and not given.get("--variant") and results.load(file)["backend"] == "cuda":
                code = max(code, _race_python(day, file))
    except BaseException:  # Ctrl-C, too
        if file.exists():
            console.note(f"what was measured until then: {results.shown(file)}")
        raise
    if not file.exists():
        return code or WRONG
    found = results.load(file)
    return _keep(day, given, found, sampled, code, file)


def _keep(day, given, found, sampled, code, file=None):
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


def _say_stale(days):
    """What --stale --record would measure, as far as it is known before anything is built."""
    for gpu in results.recorded() or ["h200"]:
        wanted = [(*need, day) for day in days for need in [stale.need(gpu, day, measuring.contestants(day))] if need]
        for _, why, day in sorted(wanted, key=lambda entry: (entry[0], entry[2].number)):
            for line in console.wrap(f"{day.label}: {why}", "    ", f"{gpu}  "):
                console.say(line)
        console.say(f"{gpu}: {len(wanted)} of {len(days)} days have something to measure"
                    + (". On that GPU:\n  ./days bench --stale --record --for 9m" if wanted else ""))
    return 0


def _stale(days, program_days, given):
    """--stale: says what has to be measured; with --record measures it, as much as --for leaves time for."""
    if not given.get("--record"):
        return _say_stale([*days, *program_days])
    if days:
        preset = _preset(days, given)
        on_gpu = preset == "cuda"
    else:
        preset, on_gpu = None, bool(gpus.detect().gpu) and given.get("--backend") != "simt"
        os.environ.setdefault("DAYS_COMMIT", paths.commit())
    if not on_gpu:
        raise DaysError("--stale --record measures on a GPU, and there is none here", "./days bench --stale", ENVIRONMENT)
    return _measure_stale(days, program_days, preset, stale.seconds(given.get("--for")) if given.get("--for") else None)


def _measure_stale(days, program_days, preset, most):
    """Measures what is missing or has changed, round by round, until `most` seconds have passed."""
    until = time.time() + most if most else float("inf")
    if days:
        with builder.lock(paths.BUILD / preset):
            cmake_tools.configure(preset)
    session = measuring.Session([*days, *program_days], preset, until)
    try:
        waiting = max(session.run(), session.measure_cpu()[1])
    finally:
        session.close()
    if waiting:
        console.say(f"{session.measured} tables measured, {waiting} days wait. Next: ./days bench --stale --record"
                    + (" --for 9m" if most else ""))
    else:
        console.say(f"{session.measured} tables measured, nothing waits. Next: ./days report")
    return session.worst


def _race_python(day, file):
    """Adds PyTorch's contestants to the results, where the day has some and this Python has a PyTorch with CUDA."""
    if not (day.folder / "tests" / "contestants.py").exists():
        return 0
    if not measuring.torch_sees_gpu():
        console.note(f"PyTorch's contestants are left out: {sys.executable} has no torch that sees the GPU. pip install torch")
        return 0
    code = _call(sys.executable, [str(paths.ROOT / "bench" / "contestants.py"), str(day.number), "--results", str(file)])
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
