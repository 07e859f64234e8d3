# SPDX-License-Identifier: MIT
"""days test: CMake's configure, build and ctest, and a summary of what the tests say."""
from __future__ import annotations

from days_cli import arguments, catalog, console, testing

USAGE = "[DAY]"
SUMMARY = "runs a day's tests, or all"
HELP = """./days test [DAY]     builds and runs the tests of a day, or all of them

  --backend cuda|simt     where kernels run (default: the GPU if any)
  --preset NAME,...       these CMake presets (cpu, cpu-checked, cuda) instead
                          of cpu then cpu-checked, or cuda
  --checked               the preset cpu-checked: every access is watched
  --all                   every case, also those that would repeat what others
                          show, which takes thrice as long; and all rungs
  --color auto|always|never

In the lines . is a test that passed, s one skipped, F one that failed. Of one
day on a CPU, when nothing but rungs has changed since all passed, those rungs
are tested and the others spared; the last line names them.
Needs CMake, Ninja, GoogleTest and Google Benchmark; gets what is missing where
it may. Test programs: build/PRESET/bin/*_test, logs: build/PRESET/Testing."""


def run(args):
    given = arguments.parse("test", args, {"--backend": ("cuda", "simt"), "--preset": None}, ("--checked", "--all"), 1)
    if given.get("--help"):
        console.say(HELP)
        return 0
    if given.words:
        day = catalog.resolve(given.words[0], "test")
        return day.kind.does.test(day, given)
    return testing.with_cmake(None, given)
