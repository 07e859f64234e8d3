#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Where a learner goes on: next, check's last line and list say the same, on the spine or in the track of what was solved last."""
import contextlib
import io
import unittest

import support
from days_cli import catalog, checking, exercises, following, paths, rungs
from days_cli.stages import Stage


class Following(support.Case):
    def setUp(self):
        super().setUp()
        self.replace(paths, "MY", self.folder / "my")
        self.moment = 0

    def solve(self, word, name=None):
        """As check does it; what its last line says."""
        self.moment += 1
        what = exercises.resolve(word, "check", *([name] if name else []))
        self.replace(exercises, "now", lambda: f"2026-01-01T00:00:{self.moment:02d}")
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            checking.conclude(what, [Stage("counters", "ok", "")], True)
        return said.getvalue().partition("Next: ")[2].partition(", or see ours")[0]

    def next(self, *words):
        code, out, err = self.days("next", *words)
        self.assertEqual((code, err), (0, ""))
        return " ".join(out.split())

    def way(self, name):
        return following.checkable(dict(following.ways())[name])

    def agree(self, command):
        """What check said last stands first among next's commands, and list marks the day."""
        out = self.days("next")[1]
        self.assertEqual(next(line for line in out.splitlines() if line.startswith("  ./days")).split("  ")[1], command)
        marks = [line for line in self.days("list")[1].splitlines() if line.startswith("> ")]
        self.assertEqual([int(line.split()[1]) for line in marks], [int(command.split()[2])])
        self.assertIn(command, self.days()[1])

    def test_it_begins_with_the_spine(self):
        self.assertIn("Spine: 0 of", self.next())
        self.agree("./days run 1")

    def test_the_spine_leads_past_what_is_not_written(self):
        spine = self.way(catalog.SPINE)
        for day, after in zip(spine[:-1], spine[1:]):
            command = self.solve(str(day.number))
            self.assertEqual(command, f"./days run {after.number}")
        self.agree(command)
        self.assertEqual([day.number for day in spine[:3]], [1, 5, 6])
        self.solve(str(spine[-1].number))
        self.assertIn(f"Spine: all {len(spine)} days that are here are solved", self.next())

    def test_it_stays_in_the_track_of_what_was_solved_last(self):
        self.solve("1")
        track = self.way("Triton and PyTorch")
        for day, after in zip(track[:-1], track[1:]):
            self.agree(self.solve(str(day.number)))
            self.assertIn(f"Next: day {after.label}", self.next())
            self.assertIn("The spine goes on with day 05 matmul: ./days next --track spine", self.next())
        self.assertEqual(self.solve(str(track[-1].number)), "./days run 5")  # the track is through
        self.solve("5")
        self.assertIn("Next: day 06", self.next())

    def test_side_days_of_what_is_solved(self):
        self.solve("1")
        self.assertIn("Open side days: 03, 04, 33, 42, 61, ", self.next())
        self.solve("5")
        self.assertRegex(self.next(), r"Open side days: 31, 45, 03, 04, .*and \d+ more")

    def test_a_track_is_chosen_by_a_part_of_its_name(self):
        for word, label in (("triton", "20 triton_basics"), ("PyTorch", "20 triton_basics"), ("elem", "07 gelu"), ("spine", "01 vector_add")):
            self.assertIn(f"Next: day {label}", self.next("--track", word))
        code, _, err = self.days("next", "--track", "foo")
        self.assertEqual(code, 2)
        self.assertIn('no track "foo". There are Spine, Foundations', err)
        self.assertIn("./days next --track spine", err)
        self.assertEqual(self.days("next", "--track", "")[0], 2)

    def test_rungs(self):
        self.agree(self.solve("14", "registers"))
        self.assertIn("Next: rung cluster of day 14 softmax", self.next())
        command = self.solve("14", "cluster")
        self.agree(command)

    def test_an_exercise_that_is_a_rung_counts_as_it(self):
        for word, name in (("5", "lanes_across"), ("31", "grouped")):
            day = catalog.resolve(word, "check")
            rung = rungs.of_day(day)[name]
            self.assertEqual(exercises.as_rung(day), rung)
            solved = exercises.rungs_solved(day)[0]
            self.solve(word)
            self.assertTrue(exercises.solved_at(rung))
            self.assertEqual(exercises.rungs_solved(day)[0], solved + 1)
        self.solve("4", "box_shared")  # and the other way round
        self.assertTrue(exercises.solved_at(catalog.resolve("4", "check")))
        self.assertIsNone(exercises.as_rung(catalog.resolve("1", "check")))

    def test_progress_of_an_earlier_version(self):
        paths.MY.mkdir()
        (paths.MY / "progress.json").write_text('{"01": {"solved": "2026-01-01"}, "05": {"solved": "2026-01-02"}, "77 x": {"solved": "2027"}}')
        self.assertIn("Next: day 06", self.next())


if __name__ == "__main__":
    unittest.main()
