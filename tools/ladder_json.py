#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes each ladder day's ladder.json: what its program says of its ladders, for all tools to read.

    tools/ladder_json.py             writes those whose ladder.cpp has changed since they were written
    tools/ladder_json.py DAY ...     writes those of these days
    tools/ladder_json.py --check     writes nothing and compiles nothing; exit code 1 where ladder.cpp has changed since, or a
                                     rung has no file

A file keeps a number of ladder.cpp's text without comments: what it was written from. Whether the program still says the same
is compared where it is built anyway, by the day's tests: what a header says may change as well.
"""
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from days_cli import catalog, console, ladders, outputs, paths, run_build  # noqa: E402
from days_cli.errors import DaysError  # noqa: E402


def written(day):
    """The text of the day's ladder.json, by its program."""
    program = run_build.build_host(day)
    ended = subprocess.run([program, "--list", "--json", "-"], check=False, capture_output=True, encoding="utf-8")
    if ended.returncode or not ended.stdout.startswith("{\n"):
        raise DaysError(f"{day.target}: its program does not say what its ladders are: {ended.stderr.strip() or 'no output'}",
                        f"./days run {day.number} --list", 1)
    return ladders.with_source(ended.stdout, ladders.source(day))


def problems(day):
    """What is wrong with the file that is there, in sentences."""
    if not ladders.file(day).is_file():
        return ["is not there"]
    if ladders.source_of(day) != ladders.source(day):
        return ["is of another ladder.cpp"]
    found = ladders.files(day)
    return [f"names {rung.launcher}, and no NN_*.cu of the day defines it" for rung in ladders.variants(day) if rung.name not in found]


def main(words):
    check = words == ["--check"]
    days = [day for day in catalog.here() if day.kind.links] if check or not words else [catalog.resolve(word, "run") for word in words]
    bad = 0
    for day in days:
        if not day.kind.links:
            raise DaysError(f"day {day.label} has no ladder.cpp", "./days list")
        wrong = problems(day)
        if check:
            bad += bool(wrong)
            for sentence in wrong:
                print(f"error: {day.target}/ladder.json {sentence}: run tools/ladder_json.py {day.number}", file=sys.stderr)
        elif words or wrong:
            outputs.put(ladders.file(day), written(day))
            print(f"wrote {ladders.file(day).relative_to(paths.ROOT)}", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except DaysError as error:
        console.print_error(error)
        sys.exit(error.code)
