#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds `./days new` to its promise, in a copy of what git tracks: the new day builds without a warning, its tests fail
until its kernel is written, and pass then. Takes a minute: .ci/run calls it, ctest doesn't."""
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HOLE = "  // The kernel goes here. Until it writes y[i], the day's tests fail.\n"


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
        kernel = folder / "day97_proof" / "01_naive.cu"
        must(HOLE in kernel.read_text(), "the kernel has no hole", kernel.read_text())

        code, output = days(folder, "test", "97", "--backend", "simt")
        must(code == 1, "the tests of an empty kernel must fail", output)
        must("does not compile" not in output and "warning:" not in output, "the new day must build", output)
        must("0 passed" not in output, "the wrong kernel is rejected, and that is a test that passes", output)

        kernel.write_text(kernel.read_text().replace(HOLE, "  y[i] = x[i];\n"))
        code, output = days(folder, "test", "97", "--backend", "simt")
        must(code == 0, "the tests of a right kernel must pass", output)
        must("warning:" not in output, "the day must build without a warning", output)

        if shutil.which("nvcc"):
            command = ["nvcc", "-std=c++20", "-arch=sm_75", "-I.", "--Werror", "all-warnings", "-Xcompiler=-Wall,-Wextra",
                       "-Xcompiler=-Werror", "-c", "-o", "naive.o"]
            written = kernel.read_text()
            for text in (written, written.replace("  y[i] = x[i];\n", HOLE)):
                kernel.write_text(text)
                done = subprocess.run([*command, "day97_proof/01_naive.cu"], cwd=folder, stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT, universal_newlines=True, check=False)
                must(done.returncode == 0, "nvcc must compile the new kernel", done.stdout)
    print("a new day builds, fails its tests, and passes them once it is written")


if __name__ == "__main__":
    main()
