#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Kinds of days: what the notes say, what each folder holds, what a command refuses and why."""
import dataclasses
import unittest

import support
from days_cli import catalog, exercises, kinds, paths


class Shipped(support.Case):
    def test_every_note_names_its_kind_and_the_folder_has_its_contents(self):
        for day in catalog.here():
            self.assertIn("kind", day.front_matter(), day.target)
            self.assertEqual(kinds.lacks(day), [], f"{day.target}, {day.kind}")

    def test_what_is_missing_is_named(self):
        day = catalog.resolve("1", "run")
        self.replace(catalog.Day, "kind", dataclasses.replace(day.kind, contents=("README.md", "nothing.here")))
        self.assertEqual(kinds.lacks(day), ["nothing.here"])


class Commands(support.Case):
    """With a day of each kind, and one whose note names a kind that there is not."""

    def setUp(self):
        super().setUp()
        self.replace(paths, "ROOT", self.folder)
        self.replace(paths, "MY", self.folder / "my")
        for folder, kind, exercise in (("day90_tri", "python", "exercise.py"), ("day91_ranks", "distributed", "exercise.cu"),
                                       ("day92_odd", "ladders", "exercise.cu"), ("day93_copies", "program", "exercise.cu"),
                                       ("day94_plain", "", "exercise.cu")):
            (self.folder / folder).mkdir()
            (self.folder / folder / exercise).write_text("// your code\n")
            kind = f"kind: {kind}\n" if kind else ""
            (self.folder / folder / "README.md").write_text(
                f"---\ntitle: A title\n{kind}minutes: 5\n---\n<details><summary>Hint 1: x</summary>\nLook.\n</details>\n")
        support.forget()

    def refused(self, *arguments):
        code, out, err = self.days(*arguments)
        self.assertEqual((code, out), (2, ""), arguments)
        return " ".join(err.split())

    def test_distributed_days_say_what_would_be_run(self):
        for command in ("run", "test", "bench", "check", "watch", "explain", "solution"):
            self.assertIn(f"day 91 ranks is a distributed day: ./days {command} would ", self.refused(command, "91"))
        self.assertIn("torchrun, mpirun or Slurm", self.refused("run", "91"))

    def test_what_needs_no_runner_works_for_every_kind(self):
        for number, name in (("90", "day90.py"), ("91", "day91.cu")):
            self.assertEqual(self.days("hint", number)[:2], (0, "Hint 1 of 1\nLook.\n"))
            self.assertEqual(self.days("reset", number)[0], 0)
            self.assertTrue((paths.MY / name).is_file())

    def test_list_names_the_kind(self):
        code, out, _ = self.days("list")
        self.assertEqual(code, 0)
        for line in ("90 tri                          A title, 5 min, python\n", "93 copies                       A title, 5 min, program\n",
                     "94 plain                        A title, 5 min\n", "92 odd                          A title, 5 min, ladders\n"):
            self.assertIn(line, out)

    def test_a_kind_that_there_is_not(self):
        for command in ("run", "check", "hint"):
            self.assertIn("day92_odd/README.md: kind is ladder, program, python or distributed, not \"ladders\"",
                          self.refused(command, "92"))

    def test_without_a_kind_it_is_a_ladder(self):
        self.assertEqual(catalog.resolve("94", "run").kind.name, "ladder")

    def test_next_passes_over_what_cannot_be_checked(self):
        (self.folder / "day92_odd" / "README.md").unlink()
        support.forget()
        code, out, _ = self.days("next", "--track", "more")
        self.assertEqual(code, 0)
        self.assertIn("More days: 0 of 4 days solved. Next: day 90 tri", out)

    def test_every_kind_says_something_for_every_command(self):
        self.assertEqual(set(kinds.KINDS["distributed"].not_yet), {"run", "test", "bench", "check", "explain", "solution"})

    def test_the_exercise_of_a_python_day_is_python(self):
        day = next(day for day in catalog.here() if day.number == 90)
        self.assertEqual(exercises.my_file(day).name, "day90.py")


if __name__ == "__main__":
    unittest.main()
