# SPDX-License-Identifier: MIT
"""days run: builds a day's executable without CMake and becomes it."""
from __future__ import annotations

import os
import sys

from days_cli import arguments, catalog, console, run_build, toolchain
from days_cli.errors import ENVIRONMENT, DaysError

USAGE = "DAY [flags]"
SUMMARY = "builds a day and runs its ladder of kernels"
HELP = """./days run DAY [flags]     builds what is needed, then runs the day's ladder

  --backend cuda|simt      where kernels run (default: the GPU if any)
  --checked                simt that watches every access of a kernel; slower
  --size 4096x33           the problem's own order of extents
  --variant a,b            these rungs alone
  --type fp32|fp16|bf16    this element type
  --list                   the rungs and what each needs; runs nothing
  --json FILE              results as JSON, - for standard output
  --color auto|always|never
  -- flags                 all after -- goes to the day's program as it is

Needs Python and a compiler, no CMake. The program of the day is
build/run/BACKEND/dayNN_name; its own --help has what this day alone can do:
./days run DAY -- --help"""

_PASSED_ON = ("--size", "--variant", "--type", "--json")


def run(args):
    given = arguments.parse("run", args, {"--backend": ("cuda", "simt")}, ("--checked", "--list"), 1, _PASSED_ON)
    if given.get("--help"):
        console.say(HELP)
        return 0
    if not given.words:
        raise DaysError("run which day?", "./days run 1")
    day = catalog.resolve(given.words[0], "run")
    wanted = given.get("--backend")
    if given.get("--checked"):
        if wanted == "cuda":
            raise DaysError("--checked watches kernels on the CPU: it goes with --backend simt",
                            f"./days run {day.number} --checked")
        wanted = "simt"
    backend, remark = toolchain.choose_backend(wanted, f"./days run {day.number} --backend simt")
    if remark:
        console.note(remark)
    program = run_build.build_day(day, backend, bool(given.get("--checked")))
    flags = given.rest + (["--list"] if given.get("--list") else [])
    if console.color_mode() != "auto":
        flags += ["--color", console.color_mode()]
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        os.execv(program, [str(program), *flags])
    except OSError as error:
        raise DaysError(f"{os.path.relpath(program)} cannot be started: {error.strerror}", "./days doctor",
                        ENVIRONMENT) from error
