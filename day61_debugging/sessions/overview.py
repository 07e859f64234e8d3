#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What each tool said of each planted bug, from the sessions beside this file: python3 day61_debugging/sessions/overview.py

"silent" where it reported nothing. A star: the program's result was another one than without a tool, right or wrong.
"""
import re
import sys
from pathlib import Path

BUGS = ("out_of_bounds", "race", "uninitialised", "diverged_barrier", "nan", "hang", "unchecked_error", "missing_wait")
TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck", "cuda-gdb")


def result(output):
    """Whether the program's own comparison found its results right; None where it did not get there."""
    if re.search(r"SIGINT|\[stopped", output):
        return "no end"
    counted = re.search(r"^(\d+) of \d+ .* wrong$", output, re.MULTILINE)
    return None if counted is None else "right" if counted[1] == "0" else "wrong"


def report(output):
    """How many errors a tool of compute-sanitizer counted, or what cuda-gdb showed; "silent" where it was nothing."""
    summary = re.search(r"SUMMARY: (\d+ (?:error|hazard)s?)", output)
    if summary:
        return "silent" if summary[1].startswith("0 ") else summary[1]
    if "SIGINT" in output:
        return "threads"
    return "the call" if "API error detected" in output else "silent"


def main():
    print(f"{'':<17}{'no tool':<9}" + "".join(f"{tool:<11}" for tool in TOOLS).rstrip())
    for bug in BUGS:
        text = (Path(__file__).parent / f"{bug}.txt").read_text(encoding="utf-8")
        outputs = dict(re.findall(r"^\$ ([^\n]+)\n(.*?)(?=^\$ |\Z)", text, re.DOTALL | re.MULTILINE))
        alone = result(outputs[f"./{bug}"])
        cells = []
        for tool in TOOLS:
            output = next(output for command, output in outputs.items() if tool in command)
            star = "*" if result(output) not in (None, alone) else ""
            cells.append(f"{report(output) + star:<11}")
        print(f"{bug:<17}{alone:<9}{''.join(cells)}".rstrip())
    return 0


if __name__ == "__main__":
    sys.exit(main())
