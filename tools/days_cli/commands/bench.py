# SPDX-License-Identifier: MIT
"""days bench: builds a day's benchmark with CMake, runs it, shows its results as a table; without a day, all of them."""
from __future__ import annotations

import itertools
import os
import time

from days_cli import arguments, benching, builder, catalog, cmake_tools, console, measuring, paths, results, stale
from days_cli import gpu as gpus
from days_cli.errors import ENVIRONMENT, DaysError

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
    days = _days(given)
    _check(given, days, raw)
    if given.get("--stale"):
        return _stale(days, given)
    worst = 0
    # Days in C++ are built together; each kind measures its own, in the order of the days.
    for kind, group in itertools.groupby(sorted(days, key=lambda day: not day.kind.links), key=lambda day: day.kind):
        worst = max(worst, kind.does.bench(list(group), given, raw))
    return worst


def _days(given):
    """What is asked for, or all that are here and have something to measure."""
    days = [catalog.resolve(given.words[0], "bench")] if given.words else \
        [day for day in catalog.here() if day.kind.reader.measured(day)]
    days = [day for day in days if not day.kind.links or day.kind.reader.measured(day)]
    if not days:
        raise DaysError(f"day {given.words[0]} has no benchmark" if given.words else "no day has a benchmark", "./days list")
    return days


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


def _stale(days, given):
    """--stale: says what has to be measured; with --record measures it, as much as --for leaves time for."""
    if not given.get("--record"):
        return _say_stale(sorted(days, key=lambda day: not day.kind.links))
    built = [day for day in days if day.kind.links]
    if built:
        preset = benching.preset_of(built, given)
        on_gpu = preset == "cuda"
    else:
        preset, on_gpu = None, bool(gpus.detect().gpu) and given.get("--backend") != "simt"
        os.environ.setdefault("DAYS_COMMIT", paths.commit())
    if not on_gpu:
        raise DaysError("--stale --record measures on a GPU, and there is none here", "./days bench --stale", ENVIRONMENT)
    return _measure_stale(built, [day for day in days if not day.kind.links], preset, stale.seconds(given.get("--for")) if given.get("--for") else None)


def _measure_stale(days, others, preset, most):
    """Measures what is missing or has changed, round by round, until `most` seconds have passed."""
    until = time.time() + most if most else float("inf")
    if days:
        with builder.lock(paths.BUILD / preset):
            cmake_tools.configure(preset)
    session = measuring.Session([*days, *others], preset, until)
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
