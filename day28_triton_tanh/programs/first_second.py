# SPDX-License-Identifier: MIT
"""The first second of a program that calls a kernel with nineteen lengths and numbers: binaries of rungs constant and both.

    python day28_triton_tanh/programs/first_second.py            counts, the same everywhere
    python day28_triton_tanh/programs/first_second.py --times    compiles from nothing and again from the cache on disk

Compiling needs no GPU: it is this CPU's work, wherever the kernel runs afterwards."""
import os
import sys
import tempfile
import time
from pathlib import Path

os.environ.pop("TRITON_INTERPRET", None)  # triton reads it as it is imported
sys.dont_write_bytecode = True
# The course's folder, for a copy of this file as well, wherever it lies: then the folder where it is run.
ROOT = next(folder for folder in (*Path(__file__).resolve().parents, Path.cwd()) if (folder / "tools" / "days_cli").is_dir())
sys.path.insert(0, str(ROOT / "tools"))

from python_days.day import Day  # noqa: E402

RUNGS = ("constant", "asked", "blind", "both")


def arguments(ladder, call):
    (shape, inputs) = call
    given, made = ladder.make("fp32", shape, inputs, draw=False)
    return [*given, *made]


def main():
    times = "--times" in sys.argv[1:]
    if times:
        folder = tempfile.TemporaryDirectory()
        os.environ["TRITON_CACHE_DIR"] = folder.name  # nothing has been compiled yet
    else:
        os.environ.setdefault("TRITON_CACHE_DIR", str(ROOT / "build" / "python-cache"))
    from python_days import compiled
    day = Day(ROOT / "day28_triton_tanh")
    ladder = day.ladders[0]
    calls = [arguments(ladder, call) for call in ladder.calls]
    print(f"{len(calls)} calls" + (" on this CPU, as a GPU of sm_90 would need them" if times else ""))
    found = {}
    for rung in RUNGS:
        launch, began = day.launch(rung), time.perf_counter()
        found[rung] = compiled.family(launch, calls, 90)["compiled"]
        cold, began = time.perf_counter() - began, time.perf_counter()
        compiled.family(launch, calls, 90)
        known = time.perf_counter() - began
        spent = f"   {cold:6.2f} s the first time, {known * 1e6 / len(calls):6.0f} us a call afterwards" if times else ""
        print(f"{rung:10}{found[rung]:3} {'binary' if found[rung] == 1 else 'binaries'}{spent}")
    if found != {rung: ladder.counts[rung]["compiled"] for rung in RUNGS}:
        print("these are not the binaries that the ladder says")
        return 1
    print("ok: a length that is known is a binary that is compiled")
    return 0


if __name__ == "__main__":
    sys.exit(main())
