# SPDX-License-Identifier: MIT
"""The program of a Python day, which ./days starts with a Python that has NumPy and Triton (days_cli/python_day.py):

    python tools/python_days FOLDER run      [--variant a,b] [--size N[xM]] [--type fp32] [--json FILE] [--list]
    python tools/python_days FOLDER cases    --variant NAME [--file F] [--order O] [--small] --out FILE
    python tools/python_days FOLDER count    --variant NAME [--file F] [--size N] [--type T] [--wave N] [--dealt FILE]   as JSON; FILE: one answer of compile
    python tools/python_days FOLDER compile  --variant a,b [--file F] [--arch 75,90] [--type T] [--size N] [--lines] [--stage ttgir]
    python tools/python_days FOLDER test
    python tools/python_days FOLDER mutants  [--numbers 3,5]      as JSON: all of them, or whether the tests notice these
    python tools/python_days FOLDER bench    [--variant a,b] [--size N] [--type T] [--sweep] --json FILE
    python tools/python_days FILE own         --out FILE: a file of no day, in three orders of programs, as JSON
    python tools/python_days FILE own_made    [--arch 75,90] [--lines] [--stage ttgir] --out FILE: what the compiler makes of its kernels

Kernels run on a GPU where PyTorch sees one, else in Triton's interpreter; with DAYS_BACKEND=simt always there."""
from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path[0] = str(Path(__file__).resolve().parents[1])

from days_cli import console, paths  # noqa: E402
from days_cli.errors import ENVIRONMENT, USAGE, DaysError  # noqa: E402


def _followed(body):
    """The body's exit code. Whoever started this is told that it has begun, and that it came to its end with this code: what
    common/progress.h tells. What a DaysError says was said in whole, too."""
    number = os.environ.get("DAYS_PROGRESS")
    if not number:
        return body()
    with open(int(number), "w", buffering=1, encoding="utf-8", closefd=False) as out:
        out.write("begin\n")
        try:
            code = body()
        except DaysError as error:
            out.write(f"end {error.code}\n")
            raise
        out.write(f"end {code}\n")
        return code


def _within_memory(body):
    try:
        return body()
    except MemoryError as error:
        raise DaysError(f"there is not enough memory: {error or 'less is free than this wants'}", "choose a smaller --size", USAGE) from error


def _parsed(words):
    parser = argparse.ArgumentParser(prog="python tools/python_days", add_help=False)
    parser.add_argument("folder")
    parser.add_argument("command", choices=("run", "cases", "count", "compile", "test", "bench", "mutants", "own", "own_made"))
    for name in ("variant", "size", "type", "json", "file", "order", "out", "arch", "stage", "numbers", "wave", "dealt"):
        parser.add_argument(f"--{name}")
    for name in ("list", "small", "lines", "sweep"):
        parser.add_argument(f"--{name}", action="store_true")
    given, rest = parser.parse_known_args(words)
    if rest:
        raise DaysError(f"a Python day knows no flag {rest[0]}", "./days run --help", USAGE)
    return given


def _imported():
    """NumPy and Triton, or why not."""
    os.environ.setdefault("TRITON_CACHE_DIR", str(paths.BUILD / "python-cache"))
    try:
        import numpy  # noqa: F401
        import triton  # noqa: F401
    except Exception as error:
        raise DaysError(f"{sys.executable} cannot import what Python days need: {error}", "rm -r build/python && ./days doctor",
                        ENVIRONMENT) from error


def main(words):
    given = _parsed(words)
    if given.command not in ("compile", "own_made") and not _gpu_wanted():
        os.environ["TRITON_INTERPRET"] = "1"
    else:
        os.environ.pop("TRITON_INTERPRET", None)
    _imported()
    from python_days import commands
    return _followed(lambda: _within_memory(lambda: getattr(commands, given.command)(given)))


def _gpu_wanted():
    return os.environ.get("DAYS_BACKEND") == "cuda"


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except DaysError as failure:
        console.print_error(failure)
        sys.exit(failure.code)
