# SPDX-License-Identifier: MIT
"""days bench: builds a day's benchmark with CMake, runs it, shows its results as a table; without a day, all of them."""
from __future__ import annotations

import json
import os
import subprocess
import sys

from days_cli import arguments, builder, catalog, clocks, cmake_tools, compare, console, paths, result_table, results, toolchain
from days_cli.errors import WRONG, DaysError

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
there race too (bench/dayNN_contestants.py), and are in the same table.

Without a GPU each kernel is checked, and only the CPU's versions are timed.
Needs CMake, Ninja, GoogleTest and Google Benchmark; gets what is missing where
it may. The program is build/PRESET/bin/dayNN_bench."""

_VALUED = {"--backend": ("cuda", "simt"), "--preset": None, "--json": None, "--against": None, "--size": None,
           "--variant": None, "--type": None}


def run(args):
    cut = args.index("--") if "--" in args else len(args)
    raw = [arg for arg in args[:cut] if _for_benchmark(arg)] + args[cut + 1:]
    given = arguments.parse("bench", [arg for arg in args[:cut] if not _for_benchmark(arg)], _VALUED,
                            ("--sweep", "--record", "--compare"), 1)
    if given.get("--help"):
        console.say(HELP)
        return 0
    days = _days(given)
    _check(given, days, raw)
    backend, remark = "", ""
    if not given.get("--preset"):
        again = " ".join(["./days bench", *(str(day.number) for day in days[:1] if given.words), "--backend simt"])
        backend, remark = toolchain.choose_backend(given.get("--backend"), again)
    if remark:
        console.note(remark)
    preset = cmake_tools.preset_for(given.get("--preset"), backend)
    cmake_tools.ensure(["cmake", "ninja", "gtest", "benchmark"])
    with builder.lock(paths.BUILD / preset):
        cmake_tools.configure(preset)
        cmake_tools.build(preset, [f"day{day.number:02d}_bench" for day in days])
    os.environ.setdefault("DAYS_COMMIT", paths.commit())  # for the results
    worst = 0
    for day in days:
        program = paths.BUILD / preset / "bin" / f"day{day.number:02d}_bench"
        if len(days) > 1:
            console.say(("" if day is days[0] else "\n") + console.paint(f"Day {day.label}", "bold"))
        worst = max(worst, _as_it_is(program, raw) if raw else _bench(day, program, given))
    return worst


def _days(given):
    days = [catalog.resolve(given.words[0], "bench")] if given.words else catalog.here()
    days = [day for day in days if (paths.ROOT / "bench" / f"day{day.number:02d}_bench.cpp").exists()]
    if not days:
        raise DaysError(f"day {given.words[0]} has no benchmark" if given.words else "no day has a benchmark",
                        "./days list")
    return days


def _check(given, days, raw):
    """Combinations that mean nothing, before anything is built."""
    for flag in ("--json", "--against", "--size", "--variant"):
        if given.get(flag) and not given.words:
            raise DaysError(f"{flag} is for one day", f"./days bench {days[0].number} {flag} {given.get(flag)}")
    if raw:
        for flag in ("--sweep", "--record", "--compare", "--against", "--json", "--size", "--variant", "--type"):
            if given.get(flag):
                raise DaysError(f"{flag} is for the table; Google Benchmark's flags replace it", "./days bench --help")
    if given.get("--against"):
        results.load(given.get("--against"))
    if given.get("--json"):
        results.check_place(given.get("--json"))


def _for_benchmark(argument):
    return argument.startswith("--benchmark_")


def _call(program, flags):
    code = subprocess.run([str(program), *flags], check=False).returncode
    if code < 0:
        raise DaysError(f"{os.path.relpath(program)} was ended by signal {-code}", code=WRONG)
    return code


def _as_it_is(program, flags):
    return _call(program, ["--benchmark_color=" + ("true" if console.coloured(sys.stdout) else "false"), *flags])


def _bench(day, program, given):
    file = paths.BUILD / "bench" / f"day{day.number:02d}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.unlink(missing_ok=True)
    flags = [word for flag in ("--size", "--variant", "--type") if given.get(flag) for word in (flag, given.get(flag))]
    try:
        with clocks.Clocks() as sampled:
            code = _call(program, ["--quiet", "--json", str(file), *flags, *(["--sweep"] if given.get("--sweep") else [])])
            if file.exists() and not given.get("--variant") and results.load(file)["backend"] == "cuda":
                code = max(code, _race_python(day, file))
    except BaseException:  # Ctrl-C, too
        if file.exists():
            console.note(f"what was measured until then: {results.shown(file)}")
        raise
    if not file.exists():
        return code or WRONG
    found = results.load(file)
    if found["backend"] == "cuda" and sampled.summary():
        found["clocks"] = sampled.summary()
    results.write(file, found)
    to_stdout = given.get("--json") == "-"
    console.say(json.dumps(found, indent=2) if to_stdout else result_table.render(found))
    gpu = results.slug(found["device"]["name"])
    # Compared first: recording replaces what is compared with.
    if given.get("--compare") or given.get("--against"):
        code = max(code, _compare(day, gpu, given, found, console.note if to_stdout else console.say))
    targets = [given.get("--json")] if given.get("--json") and not to_stdout else []
    if given.get("--record"):
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
    if not (paths.ROOT / "bench" / f"day{day.number:02d}_contestants.py").exists():
        return 0
    has = subprocess.run([sys.executable, "-c", "import sys, torch; sys.exit(not torch.cuda.is_available())"], check=False,
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0
    if not has:
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
