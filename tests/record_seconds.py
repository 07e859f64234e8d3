#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Puts the seconds that the tests of `./days test` took into tests/seconds.json, where CTest's order comes from.

    tests/record_seconds.py PRESET...     (cpu, cpu-checked, cuda)

Tests that the latest run of a preset left out or that failed keep their seconds; those that there are no more go.
"""
import json
import re
import sys
import xml.etree.ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILE = "tests/seconds.json"


def taken(path):
    """{test: seconds} of the tests that passed; and the names of all."""
    tests = list(xml.etree.ElementTree.parse(path).getroot().iter("testcase"))
    passed = {test.get("name"): float(test.get("time")) for test in tests if test.get("status") == "run"}
    return {name: max(1, round(seconds)) for name, seconds in passed.items()}, {test.get("name") for test in tests}


def main(presets, root=ROOT):
    recorded = json.loads((root / FILE).read_text(encoding="utf-8"))
    known = [name for name in recorded if name != "about"]
    if not presets or not set(presets) <= set(known):
        print(f"error: name presets, of {', '.join(known)}", file=sys.stderr)
        return 2
    for preset in presets:
        path = root / "build" / preset / "test-results" / "ctest.xml"
        try:
            seconds, names = taken(path)
        except (OSError, xml.etree.ElementTree.ParseError, TypeError, ValueError) as error:
            print(f"error: {path}: {error}\nNext: ./days test --preset {preset}", file=sys.stderr)
            return 1
        whole = len({name for name in names if re.fullmatch(r"day\d+_test", name)}) > 1  # ./days test 5 is silent on other days
        kept = {name: old for name, old in recorded[preset].items() if name in names or not whole}
        recorded[preset] = dict(sorted({**kept, **seconds}.items()))
    (root / FILE).write_text(json.dumps(recorded, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
