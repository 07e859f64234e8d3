#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every file of the runtime and of the translator is compiled, in one unit (simt/units, simt/translator/unit.cpp).

The translator's main() is a unit of its own."""
import re
import unittest
from pathlib import Path

SIMT = Path(__file__).resolve().parents[1]


class Units(unittest.TestCase):
    def test_each_file_once(self):
        units = [(unit, SIMT) for unit in (SIMT / "units").glob("*.cpp")] + [(SIMT / "translator" / "unit.cpp", SIMT / "translator")]
        named = [folder / name for unit, folder in units
                 for name in re.findall(r'^#include "(.*\.cpp)"$', unit.read_text(), re.MULTILINE)]
        present = [path for folder in ("api", "runtime", "runtime/ptx", "translator") for path in (SIMT / folder).glob("*.cpp")
                   if path not in (SIMT / "translator" / "main.cpp", SIMT / "translator" / "unit.cpp")]
        self.assertEqual(sorted(named), sorted(present))


if __name__ == "__main__":
    unittest.main()
