#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every file of the runtime and of the translator is compiled, in one unit (common/simt/units, common/simt/simtcc.cpp).

The translator's main() is a unit of its own."""
import re
import unittest
from pathlib import Path

SIMT = Path(__file__).resolve().parents[2] / "common" / "simt"


class Units(unittest.TestCase):
    def test_each_file_once(self):
        units = [*sorted((SIMT / "units").glob("*.cpp")), SIMT / "simtcc.cpp"]
        named = [SIMT / name for unit in units
                 for name in re.findall(r'^#include "(.*\.cpp)"$', unit.read_text(), re.MULTILINE)]
        present = [path for folder in ("api", "runtime", "runtime/ptx", "simtcc") for path in (SIMT / folder).glob("*.cpp")
                   if path != SIMT / "simtcc" / "main.cpp"]
        self.assertEqual(sorted(named), sorted(present))


if __name__ == "__main__":
    unittest.main()
