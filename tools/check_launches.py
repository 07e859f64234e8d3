#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every kernel launch is checked: each file of the days, of common/ and of the wrong kernels has as many checks
(CUDA_CHECK_LAUNCH, cudaGetLastError) as launches (<<<...>>>). Prints the files where they differ; exit code 1 then."""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILES = ("day[0-9][0-9]_*/**/*.cu*", "common/*.cu*", "tests/day[0-9][0-9]_*.cu", "bench/*.cu")
NO_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)  # comments and strings
CHECK = re.compile(r"\bCUDA_CHECK_LAUNCH\s*\(|\bcuda(?:GetLastError|PeekAtLastError)\s*\(")


def count(path):
    code = NO_CODE.sub(" ", path.read_text(encoding="utf-8"))
    code = re.sub(r"#\s*define\s+CUDA_CHECK_LAUNCH\b(?:[^\n]*\\\n)*[^\n]*", " ", code)  # the macro itself
    return code.count("<<<"), len(CHECK.findall(code))


def main():
    launches = wrong = 0
    for path in sorted({path for pattern in FILES for path in ROOT.glob(pattern)}):
        found, checks = count(path)
        launches += found
        if found != checks:
            wrong += 1
            print(f"{path.relative_to(ROOT)}: {found} launches, {checks} checks")
    print(f"{launches} launches, {wrong} files where checks and launches differ")
    return 1 if wrong or not launches else 0


if __name__ == "__main__":
    sys.exit(main())
