#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds `./days new` to its promise, in a copy of what git tracks: the new day builds without a warning, its tests fail
until its kernels are written, and pass then; its exercise is one as every day's: the skeleton fails stage 1, the solution
passes, the rung to start from fails a gate, and there are three hints. Takes minutes: .ci/run calls it, ctest doesn't."""
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HOLE = "// The kernel goes here. Until it writes y[i], the day's tests fail."
KERNEL = "y[i] = x[i];"
RUNGS = ("01_naive.cu", "02_neighbours.cu")


def copy_of_the_clone(folder):
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout.split(b"\0")
    for name in filter(None, names):
        source = ROOT / name.decode()
        if source.exists():
            target = folder / name.decode()
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)


def days(folder, *arguments):
    done = subprocess.run(["./days", *arguments], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          universal_newlines=True, check=False)
    print(f"$ ./days {' '.join(arguments)}    -> {done.returncode}", flush=True)
    return done.returncode, done.stdout


def replace(day, old, new):
    """In each rung, where it must be."""
    for rung in RUNGS:
        text = (day / rung).read_text()
        must(text.count(old) == 1, f"{rung} has no {old}", text)
        (day / rung).write_text(text.replace(old, new))


def must(condition, message, output):
    if not condition:
        print(output)
        sys.exit(f"FAIL: {message}")


def main():
    with tempfile.TemporaryDirectory(prefix="new day ") as temporary:
        folder = Path(temporary) / "clone"
        copy_of_the_clone(folder)
        code, output = days(folder, "new", "97", "proof")
        must(code == 0, "days new fails", output)
        day = folder / "day97_proof"
        for rung in RUNGS:
            must(HOLE in (day / rung).read_text(), f"{rung} has no hole", (day / rung).read_text())

        code, output = days(folder, "check", "97")
        must(code == 1 and "1 correct    FAIL" in output, "the skeleton must fail stage 1", output)
        must("warning:" not in output, "the skeleton must build without a warning", output)
        for hint in range(1, 4):
            code, output = days(folder, "hint", "97")
            must(code == 0 and f"Hint {hint} of 3" in output, f"the note must have hint {hint} of 3", output)

        code, output = days(folder, "test", "97", "--preset", "cpu")
        must(code == 1, "the tests of empty kernels must fail", output)
        must("does not compile" not in output and "warning:" not in output, "the new day must build", output)
        must("0 passed" not in output, "the wrong kernel is rejected, and that is a test that passes", output)

        replace(day, HOLE, KERNEL)
        code, output = days(folder, "test", "97", "--backend", "simt")
        must(code == 0, "the tests of right kernels must pass", output)
        must("warning:" not in output, "the day must build without a warning", output)
        done = subprocess.run([sys.executable, "-B", "tests/exercises.py", "97"], cwd=folder, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, universal_newlines=True, check=False)
        must(done.returncode == 0, "the exercise must fail, its solution pass, its starting rung fail a gate", done.stdout)

        if shutil.which("nvcc"):
            command = ["nvcc", "-std=c++20", "-arch=sm_75", "-I.", "--Werror", "all-warnings", "-Xcompiler=-Wall,-Wextra",
                       "-Xcompiler=-Werror", "-c", "-o", "naive.o"]
            for old, new in ((KERNEL, KERNEL), (KERNEL, HOLE)):
                replace(day, old, new)
                for kernel in (*RUNGS, "exercise.cu"):
                    done = subprocess.run([*command, f"day97_proof/{kernel}"], cwd=folder, stdout=subprocess.PIPE,
                                          stderr=subprocess.STDOUT, universal_newlines=True, check=False)
                    must(done.returncode == 0, f"nvcc must compile the new {kernel}", done.stdout)
    print("a new day builds, fails its tests and its exercise's check, and passes both once it is written")


if __name__ == "__main__":
    main()
