#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the tests of a Python day for CTest, with the Python that ./days would use for it. It installs nothing: where NumPy and Triton
are not here, it says so and ends with 77, which CTest takes for skipped.

    tests/python_day.py 20 [--backend cuda]
"""
import os
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))
from days_cli import catalog, console, python_day, python_setup  # noqa: E402
from days_cli.errors import DaysError  # noqa: E402

SKIPPED = 77


def main(words):
    try:
        day = catalog.resolve(words[0], "test")
        where = "cuda" if words[1:] == ["--backend", "cuda"] and python_setup.with_gpu()[0] else "simt"
        if where == "simt" and not python_setup.here(python_setup.extras_of(day)):
            print(f"what this day needs is not here; ./days test {day.number} installs them")
            return SKIPPED
        line, environment = python_day.command(day, ["test"], where)
    except DaysError as error:
        console.print_error(error)
        return error.code
    os.execve(line[0], line, {**os.environ, **environment})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
