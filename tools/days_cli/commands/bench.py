# SPDX-License-Identifier: MIT
"""days bench: builds a day's benchmark with CMake and runs it; without a day, all of them."""
from __future__ import annotations

import os
import subprocess
import sys

from days_cli import arguments, builder, catalog, cmake_tools, console, paths, toolchain
from days_cli.errors import WRONG, DaysError

USAGE = "[DAY] [flags]"
SUMMARY = "measures the kernels against the libraries"
HELP = """./days bench [DAY] [flags]     Google Benchmark: one day, or all of them

  --backend cuda|simt     where kernels run (default: the GPU if any)
  --preset NAME           this CMake preset (cpu, cpu-checked, cuda) instead
  --color auto|always|never
  --benchmark_...         and all after -- goes to the benchmark as it is, like
                          --benchmark_filter=vector --benchmark_out=FILE

Needs CMake, Ninja, GoogleTest and Google Benchmark; gets what is missing where
it may. The program is build/PRESET/bin/dayNN_bench."""


def run(args):
    given = arguments.parse("bench", [arg for arg in args if not _for_benchmark(arg)],
                            {"--backend": ("cuda", "simt"), "--preset": None}, (), 1, ("--benchmark_filter",))
    passed_on = [arg for arg in args if _for_benchmark(arg)] + given.rest
    if given.get("--help"):
        console.say(HELP)
        return 0
    days = [catalog.resolve(given.words[0], "bench")] if given.words else catalog.here()
    days = [day for day in days if (paths.ROOT / "bench" / f"day{day.number:02d}_bench.cpp").exists()]
    if not days:
        raise DaysError(f"day {given.words[0]} has no benchmark" if given.words else "no day has a benchmark",
                        "./days list")
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
    worst = 0
    for day in days:
        program = paths.BUILD / preset / "bin" / f"day{day.number:02d}_bench"
        if len(days) > 1:
            console.say(console.paint(f"Day {day.label}", "bold"))
        color = ["--benchmark_color=" + ("true" if console.coloured(sys.stdout) else "false")]
        code = subprocess.run([str(program), *color, *passed_on], check=False).returncode
        if code < 0:
            raise DaysError(f"{os.path.relpath(program)} was ended by signal {-code}", code=WRONG)
        worst = max(worst, code)
    return worst


def _for_benchmark(argument):
    return argument.startswith("--benchmark_")
