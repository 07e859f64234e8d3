#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What tests/mutants.py makes of mutants and verdicts. Nothing is built: builds and runs are stood in for."""
import argparse
import contextlib
import importlib.util
import io
import sys
import unittest
from unittest import mock

import support


def module():
    spec = importlib.util.spec_from_file_location("days_mutants", support.ROOT / "tests" / "mutants.py")
    loaded = importlib.util.module_from_spec(spec)
    sys.modules["days_mutants"] = loaded
    spec.loader.exec_module(loaded)
    return loaded


days_mutants = module()
FOUND, SURVIVED, NOT_REACHED = (getattr(days_mutants.mutants, name) for name in ("FOUND", "SURVIVED", "NOT_REACHED"))


class Mutants(support.Case):
    """A day of four lines, each of which has a mutant."""

    def setUp(self):
        super().setUp()
        self.day = self.folder / "day99_lines"
        self.day.mkdir()
        (self.day / "01_lines.cu").write_text("int a;\nint b;\nint c;\nint d;\n")
        (self.day / "tests").mkdir()
        self.unseen = self.day / "tests" / "mutants.txt"
        self.table = self.folder / "mutants.md"
        self.table.write_text("# Scores\n\n| day | mutants |\n|---|---|\n| 98 | 7 |\n\nWhat follows.\n")
        mutant = days_mutants.mutants.Mutant
        self.mutants = [mutant(10 + i, "day99_lines/01_lines.cu", i, 1, "< becomes <=") for i in range(1, 5)]
        self.builds = []

    def judge(self, first, then=None, **arguments):
        """Whether enough were found, what is said, and who was tried. first, then: verdicts in the plain build and in the checked one."""
        test = mock.Mock(command=["day99_test", "--gtest_filter=a/*"], reaches=frozenset(range(100)))
        tried = []

        def verdicts(chosen, tests, jobs=0, seconds=None):
            of = then if self.builds else first
            tried.append([mutant.number for mutant in chosen])
            return [(mutant, of[mutant.number]) for mutant in chosen]

        all_arguments = argparse.Namespace(**{"only": None, "sample": None, "seconds": None, "seed": "1", "least": 95, "jobs": 0,
                                              "plain": False, "record": False, **arguments})
        said = io.StringIO()
        with mock.patch.multiple(days_mutants, ROOT=self.folder, TABLE=self.table, mutants_of=lambda folder: self.mutants,
                                 tests_of=lambda day, folder=None: [test],
                                 build=lambda days, folder: self.builds.append(folder)), \
                mock.patch.object(days_mutants.mutants, "verdicts", verdicts), contextlib.redirect_stdout(said):
            passed = days_mutants.judge(self.day, all_arguments)
        return passed, said.getvalue(), tried

    def test_survivors_are_tried_in_a_checked_build(self):
        plain = {11: FOUND, 12: SURVIVED, 13: SURVIVED, 14: NOT_REACHED}
        passed, said, tried = self.judge(plain, {12: FOUND, 13: SURVIVED}, record=True)
        self.assertFalse(passed)
        self.assertEqual(self.builds, [days_mutants.CHECKED])
        self.assertEqual(tried[1], [12, 13])
        self.assertNotIn("01_lines.cu:2:1", said)
        self.assertIn("01_lines.cu:3:1  survived: < becomes <=\n    int c;    SIMT_MUTANT=13\n", said)
        self.assertIn("01_lines.cu:4:1  not reached", said)
        self.assertIn("day99: 2 of 4 mutants found, 50.0%, 1 of them by a checked build alone; "
                      "1 survived, 1 not reached; 0 change nothing", said)
        self.assertEqual(self.table.read_text(), "# Scores\n\n| day | mutants |\n|---|---|\n| 98 | 7 |\n"
                                                 "| 99 | 4 | 2 | 50.0% | 1 | 1 | 1 | 0 |\n\nWhat follows.\n")

    def test_no_checked_build_where_there_is_no_need_or_no_time(self):
        found = dict.fromkeys(range(11, 15), FOUND)
        self.assertTrue(self.judge(found)[0])
        for arguments in ({"plain": True}, {"seconds": 20}):
            self.assertFalse(self.judge({**found, 12: SURVIVED}, **arguments)[0])
        self.assertEqual(self.builds, [])

    def test_what_changes_nothing_counts_for_nothing(self):
        self.unseen.write_text("01_lines.cu: nobody reads it\n= int b;\n= < becomes <=\n")
        passed, said, tried = self.judge({11: FOUND, 13: FOUND, 14: FOUND})
        self.assertTrue(passed)
        self.assertEqual(tried, [[11, 13, 14]])
        self.assertIn("3 of 3 mutants found, 100.0%, 0 of them", said)
        self.assertIn("1 change nothing", said)

    def test_entries_that_fit_nothing(self):
        no_line = 'no mutant "< becomes <=" in a line "int e;"'
        for text, message in (("01_lines.cu: a reason\n= int e;\n= < becomes <=\n", no_line),
                              ("01_lines.cu: a reason\n= int b;\n", "lacks a reason, or a line"),
                              ("01_lines.cu\n= int b;\n= < becomes <=\n", "lacks a reason")):
            self.unseen.write_text(text)
            errors = io.StringIO()
            with self.assertRaises(SystemExit) as ended, contextlib.redirect_stderr(errors):
                self.judge({})
            self.assertEqual(ended.exception.code, 2)
            self.assertIn(message, errors.getvalue())


if __name__ == "__main__":
    unittest.main()
