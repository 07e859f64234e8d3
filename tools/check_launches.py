#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every kernel launch is checked: in the files of the days, of common/ and of the wrong kernels, the statement after each
<<<...>>> is a check (CUDA_CHECK_LAUNCH or cudaGetLastError). Prints the launches without one; exit code 1 then."""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILES = ("day[0-9][0-9]_*/**/*.cu*", "common/*.cu*", "tests/day[0-9][0-9]_*.cu", "bench/*.cu")
NO_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)  # comments and strings
CHECK = re.compile(r"\bCUDA_CHECK_LAUNCH\s*\(|\bcuda(?:GetLastError|PeekAtLastError)\s*\(")


def launches(path):
    """(line, whether it is checked) of each launch in the file."""
    code = NO_CODE.sub(lambda match: "\n" * match.group().count("\n"), path.read_text(encoding="utf-8"))
    for launch in re.finditer("<<<", code):
        statements = code[launch.end():].split(";", 2)
        yield code.count("\n", 0, launch.start()) + 1, len(statements) == 3 and bool(CHECK.search(statements[1]))


def main():
    count = unchecked = 0
    for path in sorted({path for pattern in FILES for path in ROOT.glob(pattern)}):
        for line, checked in launches(path):
            count += 1
            if not checked:
                unchecked += 1
                print(f"{path.relative_to(ROOT)}:{line}: the statement after this launch does not check it")
    print(f"{count} launches, {count - unchecked} checks")
    return 1 if unchecked or not count else 0


if __name__ == "__main__":
    sys.exit(main())
