#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds `./days new` to its promise, in a copy of what git tracks: the new day builds without a warning, its tests fail
until its kernels are written, and pass then; its exercise is one as every day's: the skeleton fails stage 1, the solution
passes, the rung to start from fails a gate, and there are three hints. So do a program day and a Python day. Takes minutes: .ci/run calls
it, ctest doesn't."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HOLE = "// The kernel goes here. Until it writes y[i], the day's tests fail."
KERNEL = "y[i] = x[i];"
RUNGS = ("01_naive.cu", "02_neighbours.cu")
PROGRAM_HOLE = """  // The kernel goes here. Until it writes y[i], the day's tests fail.
  static_cast<void>(x), static_cast<void>(y);
"""
PYTHON_HOLE = "mask=there & (x != x))  # The kernel goes here. Until it stores each y, the day's tests fail.\n"
PYTHON_KERNEL = "mask=there)\n"
PROGRAM_KERNEL = "  y[i] = 2 * x[i] + 1;\n"


def copy_of_the_clone(folder):
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout.split(b"\0")
    for name in filter(None, names):
        source = ROOT / name.decode()
        if source.exists():
            target = folder / name.decode()
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
    subprocess.run(["git", "init", "--quiet", str(folder)], check=True)  # tests/mutant_edits.py asks git for the files


def days(folder, *arguments):
    done = subprocess.run(["./days", *arguments], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          universal_newlines=True, check=False)
    print(f"$ ./days {' '.join(arguments)}    -> {done.returncode}", flush=True)
    return done.returncode, done.stdout


def replace(day, old, new, rungs=RUNGS):
    """In each rung, where it must be."""
    for rung in rungs:
        text = (day / rung).read_text()
        must(text.count(old) == 1, f"{rung} has no {old}", text)
        (day / rung).write_text(text.replace(old, new))


def must(condition, message, output):
    if not condition:
        print(output)
        sys.exit(f"FAIL: {message}")


def program_day(folder):
    """The same of ./days new --kind program."""
    code, output = days(folder, "new", "98", "proof_program", "--kind", "program")
    must(code == 0, "days new --kind program fails", output)
    shared = folder / "day98_proof_program" / "proof_program.cuh"
    text = shared.read_text()
    must(text.count(PROGRAM_HOLE) == 1, "the kernel has no hole", text)
    code, output = days(folder, "check", "98")
    must(code == 1 and "1 correct    FAIL" in output, "the skeleton must fail stage 1", output)
    must("warning:" not in output, "the skeleton must build without a warning", output)
    for hint in range(1, 4):
        code, output = days(folder, "hint", "98")
        must(code == 0 and f"Hint {hint} of 3" in output, f"the note must have hint {hint} of 3", output)
    code, output = days(folder, "test", "98", "--preset", "cpu")
    must(code == 1 and "1 passed" in output, "the programs of an empty kernel must fail, the mistake be noticed", output)
    must("does not compile" not in output and "warning:" not in output, "the new day must build", output)
    shared.write_text(text.replace(PROGRAM_HOLE, PROGRAM_KERNEL))
    code, output = days(folder, "test", "98", "--backend", "simt")
    must(code == 0, "the tests of a right kernel must pass", output)
    done = subprocess.run([sys.executable, "-B", "tests/exercises.py", "98"], cwd=folder, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, universal_newlines=True, check=False)
    must(done.returncode == 0, "the exercise must fail, its solution pass, its starting program fail a gate", done.stdout)
    if shutil.which("nvcc"):
        for line in re.findall(r"^    (nvcc .*?) &&", (shared.parent / "README.md").read_text(), re.MULTILINE):
            done = subprocess.run(line, shell=True, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  universal_newlines=True, check=False)
            must(done.returncode == 0, f"{line} must compile", done.stdout)


def python_day(folder):
    """The same of ./days new --kind python, with the Python that this clone runs its own Python days with."""
    sys.path.insert(0, str(ROOT / "tools"))
    from days_cli import python_setup
    os.environ["DAYS_PYTHON"] = python_setup.ensure().path
    code, output = days(folder, "new", "99", "proof_python", "--kind", "python")
    must(code == 0, "days new --kind python fails", output)
    day = folder / "day99_proof_python"
    rungs = sorted(path.name for path in day.glob("[0-9][0-9]_*.py"))
    must(len(rungs) == 2, "a new Python day has two rungs", str(rungs))
    code, output = days(folder, "check", "99")
    must(code == 1 and "1 correct    FAIL" in output, "the skeleton must fail stage 1", output)
    for hint in range(1, 4):
        code, output = days(folder, "hint", "99")
        must(code == 0 and f"Hint {hint} of 3" in output, f"the note must have hint {hint} of 3", output)
    code, output = days(folder, "test", "99")
    must(code == 1, "the tests of empty kernels must fail", output)
    must("0 passed" not in output, "the wrong kernel is rejected, and that is a test that passes", output)
    replace(day, PYTHON_HOLE, PYTHON_KERNEL, rungs)
    code, output = days(folder, "test", "99")
    must(code == 0, "the tests of right kernels must pass", output)
    done = subprocess.run([sys.executable, "-B", "tests/exercises.py", "99"], cwd=folder, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, universal_newlines=True, check=False)
    must(done.returncode == 0, "the exercise must fail, its solution pass, its starting rung fail a gate", done.stdout)


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

        done = subprocess.run([sys.executable, "-B", "tools/results_tables.py", "--check"], cwd=folder, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, universal_newlines=True, check=False)
        must("day97" not in done.stdout, "the new note must say that nothing is measured yet", done.stdout)

        replace(day, HOLE, KERNEL)
        code, output = days(folder, "test", "97", "--backend", "simt")
        must(code == 0, "the tests of right kernels must pass", output)
        must("warning:" not in output, "the day must build without a warning", output)
        done = subprocess.run([sys.executable, "-B", "tests/exercises.py", "97"], cwd=folder, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, universal_newlines=True, check=False)
        must(done.returncode == 0, "the exercise must fail, its solution pass, its starting rung fail a gate", done.stdout)

        done = subprocess.run([sys.executable, "-B", "tests/mutant_edits.py", "--jobs", "1", "--only", "day97"], cwd=folder,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True, check=False)
        must(done.returncode == 0 and "2 found" in done.stdout, "the tests must notice the day's mutants", done.stdout)

        if shutil.which("nvcc"):
            command = ["nvcc", "-std=c++20", "-arch=sm_75", "-I.", "--Werror", "all-warnings", "-Xcompiler=-Wall,-Wextra",
                       "-Xcompiler=-Werror", "-c", "-o", "naive.o"]
            for old, new in ((KERNEL, KERNEL), (KERNEL, HOLE)):
                replace(day, old, new)
                for kernel in (*RUNGS, "exercise.cu"):
                    done = subprocess.run([*command, f"day97_proof/{kernel}"], cwd=folder, stdout=subprocess.PIPE,
                                          stderr=subprocess.STDOUT, universal_newlines=True, check=False)
                    must(done.returncode == 0, f"nvcc must compile the new {kernel}", done.stdout)
        program_day(folder)
        python_day(folder)
    print("a new day builds, fails its tests and its exercise's check, and passes both once it is written")


if __name__ == "__main__":
    main()
