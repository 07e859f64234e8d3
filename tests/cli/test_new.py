#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""days new: what it writes, what it refuses. (That the new day builds and fails its tests: .ci/run.)"""
import os
import re
import unittest

import support
from days_cli import catalog, exercises, outputs, paths


class New(support.Case):
    def setUp(self):
        super().setUp()
        for name in ("day05_matmul", "day99_extra"):
            (self.folder / name).mkdir()
        self.replace(paths, "ROOT", self.folder)

    def files(self):
        return sorted(path.relative_to(self.folder).as_posix() for path in self.folder.rglob("*") if path.is_file())

    def test_files(self):
        code, out, err = self.days("new", "14", "softmax")
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(self.files(), [
            "day14_softmax/01_naive.cu", "day14_softmax/02_neighbours.cu", "day14_softmax/README.md",
            "day14_softmax/exercise.cu", "day14_softmax/ladder.cpp", "day14_softmax/ladder.json", "day14_softmax/reference.cpp",
            "day14_softmax/softmax.h", "day14_softmax/tests/mutants.txt", "day14_softmax/tests/wrong.cu"])
        for name in self.files():
            self.assertIn(name, out)
            self.assertNotRegex((self.folder / name).read_text(), r"@\w+@")
        self.assertIn("./days test 14", out)
        ladder = (self.folder / "day14_softmax" / "ladder.cpp").read_text()
        for part in ('.hostile("special values"', '.hostile("misaligned"', ".parallel(LAUNCHER(softmax_parallel))"):
            self.assertIn(part, ladder)
        note = (self.folder / "day14_softmax" / "README.md").read_text()
        for part in ("<!-- results:h200 -->\nNot measured on a GPU yet: `./days bench 14`.\n<!-- /results:h200 -->", "## Five mistakes"):
            self.assertIn(part, note)
        self.assertIn("struct Softmax {", (self.folder / "day14_softmax" / "softmax.h").read_text())
        support.forget()
        day = catalog.resolve("softmax", "run")
        self.assertEqual(day.front_matter(), {"title": "Softmax", "teaches": "What it teaches, in a line for the README's table",
                                              "kind": "ladder", "builds_on": [], "minutes": 60})
        self.assertEqual(len(exercises.hints(exercises.resolve("softmax", "hint"))), 3)
        self.assertRegex((self.folder / "day14_softmax" / "README.md").read_text(),
                         r"\n    nvcc .* day14_softmax/\*\.cu day14_softmax/\*\.cpp -o day14\n")

    def test_outside_the_plan(self):
        self.assertEqual(self.days("new", "88", "two_words")[0], 0)
        self.assertIn("struct TwoWords {", (self.folder / "day88_two_words" / "two_words.h").read_text())
        self.assertEqual([day.label for day in catalog.tracks()[-1][1]], ["99 extra"])
        support.forget()
        self.assertEqual([day.label for day in catalog.tracks()[-1][1]], ["88 two_words", "99 extra"])

    def refuses(self, number, name, message):
        before = self.files()
        code, out, err = self.days("new", number, name)
        self.assertEqual((code, out), (2, ""))
        self.assertIn("error: " + message, " ".join(err.split()))
        self.assertEqual(self.files(), before)

    def test_refusals(self):
        self.refuses("14", "relu", "day 14 is softmax in the plan")
        self.refuses("97", "softmax", "softmax is day 14 in the plan")
        self.refuses("05", "matmul", "there is day05_matmul already")
        self.refuses("5", "other", "there is day05_matmul already")
        self.refuses("98", "extra", "there is day99_extra already")
        for number in ("0", "00", "100", "-1", "x", "1.5"):
            self.refuses(number, "fresh", f'a day\'s number is 01 to 99, not "{number}"' if number != "-1" else
                         "days new has no flag -1")
        for name in ("Fresh", "2d", "a-b", "a b", "x", "", "../x", "while", "a__b", "a_", "_a", "half", "\u00fc\u00fc"):
            self.refuses("97", name, f'"{name}" cannot be a name')

    def test_leftover_file(self):
        (self.folder / "day97_fresh").write_text("mine")
        self.assertEqual(self.days("new", "97", "fresh")[0], 3)
        self.assertEqual((self.folder / "day97_fresh").read_text(), "mine")

    @unittest.skipIf(os.geteuid() == 0, "root may write anywhere")
    def test_no_permission(self):
        self.folder.chmod(0o500)
        self.assertEqual(self.days("new", "97", "fresh")[0], 3)
        self.folder.chmod(0o700)
        self.assertEqual(self.files(), [])

    def test_all_or_nothing(self):
        put = outputs.put

        def until_the_tests(path, text):
            if path.parent.name == "tests":
                raise OSError("no space left")
            put(path, text)

        self.replace(outputs, "put", until_the_tests)
        self.assertEqual(self.days("new", "97", "fresh")[0], 3)
        self.assertFalse((self.folder / "day97_fresh").exists())

    def test_templates_carry_the_licence(self):
        for template in paths.TEMPLATES.rglob("*.in"):
            if re.search(r"\.(h|cu|cpp)\.in$", template.name):
                self.assertTrue(template.read_text().startswith("// SPDX-License-Identifier: MIT\n"), template)


if __name__ == "__main__":
    unittest.main()
