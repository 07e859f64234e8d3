#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which day a learner means, and that the plan and the folders agree."""
import unittest

import support
from days_cli import catalog, paths
from days_cli.errors import USAGE, DaysError


class Plan(support.Case):
    def test_every_number_once(self):
        planned = [day for track, days in catalog.tracks() if track != "More days" for day in days]
        self.assertEqual(sorted(day.number for day in planned), list(range(1, len(planned) + 1)))
        self.assertEqual(len({day.name for day in planned}), len(planned))

    def test_the_plan_alone_says_where_a_day_stands(self):
        for day in catalog.here():
            self.assertFalse({"track", "order"} & set(day.front_matter()), day.target)

    def test_a_day_stands_after_what_it_builds_on(self):
        seen = set()
        for day in catalog.all_days():
            if day.folder:
                for earlier in day.front_matter().get("builds_on", []):
                    self.assertIn(int(str(earlier)[:2]), seen, f"{day.target} builds on day {earlier}, which comes later")
                seen.add(day.number)


class Spine(support.Case):
    def test_what_a_day_builds_on_stands_before_it(self):
        seen = []
        for day in catalog.spine():
            for earlier in catalog.builds_on(day):
                self.assertIn(earlier, seen, f"{day.target} builds on day {earlier}, which is not before it on the spine")
            seen.append(day.number)
        self.assertEqual(len(seen), len(set(seen)))

    def test_every_other_day_hangs_on_one_of_them(self):
        for day in catalog.here():
            after = catalog.hangs_on(day)
            if day in catalog.spine() or not day.track:
                self.assertIsNone(after, day.label)
                continue
            self.assertIn(after, catalog.spine(), f"{day.label}: whom of the spine does it build on?")
            allowed = {other.number for other in catalog.spine()[:catalog.spine().index(after) + 1]}
            for earlier in catalog.builds_on(day):
                self.assertTrue(earlier in allowed or earlier not in {other.number for other in catalog.spine()}, day.label)

    def test_side_days_of_side_days(self):
        hang = {side.number: catalog.hangs_on(side).number for side in catalog.here() if catalog.hangs_on(side)}
        self.assertEqual({number: hang[number] for number in (3, 4, 9, 41, 59, 72)}, {3: 1, 4: 1, 9: 7, 41: 7, 59: 16, 72: 14})


class Names(support.Case):
    """With the days 05 matmul, 06 matmul_coalesced, 14 softmax here, 40 nsight_compute planned, 99 extra of its own."""

    def setUp(self):
        super().setUp()
        for name in ("day05_matmul", "day06_matmul_coalesced", "day14_softmax", "day99_extra", "day7_odd", "dayAB_x"):
            (self.folder / name).mkdir()
        self.replace(paths, "ROOT", self.folder)

    def test_right(self):
        for word, number in (("14", 14), ("day14", 14), ("014", 14), ("softmax", 14), ("soft", 14), ("s", 14), ("5", 5),
                             ("05", 5), ("day05_matmul", 5), ("day05_matmul/", 5), ("05_matmul", 5), ("SoftMax", 14),
                             ("matmul", 5), ("matmul_", 6), ("matmul-coalesced", 6), ("extra", 99), ("99", 99)):
            self.assertEqual(catalog.resolve(word, "run").number, number, word)

    def wrong(self, word):
        with self.assertRaises(DaysError) as caught:
            catalog.resolve(word, "run")
        self.assertEqual(caught.exception.code, USAGE)
        return caught.exception.message, caught.exception.hint

    def test_nearest(self):
        self.assertEqual(self.wrong("sofmax"), ('no day "sofmax". Nearest: 14 softmax', "./days run 14"))
        for word in ("98", "0", "100"):  # a number's neighbour has nothing to do with it
            self.assertEqual(self.wrong(word), (f'no day "{word}". They have the numbers 1 to 99', "./days list"))

    def test_ambiguous(self):
        self.assertEqual(self.wrong("mat"), ('"mat" may be 05 matmul, 06 matmul_coalesced', "./days run 5"))

    def test_planned(self):
        for word in ("40", "nsight_compute", "nsight"):
            self.assertEqual(self.wrong(word)[0], "day 40 nsight_compute is planned, not written yet")

    def test_nonsense(self):
        for word in ("", "...", "999999999999", "-", "day", "xyzzy", "5x"):
            self.assertIn(f'"{word}"', self.wrong(word)[0])

    def test_without_any_day(self):
        for folder in self.folder.glob("day*"):
            folder.rmdir()
        support.forget()
        self.assertEqual(self.wrong("98")[1], "./days list")


class FrontMatter(unittest.TestCase):
    def test_values(self):
        text = '---\ntitle: "Softmax: online"\nbuilds_on: [1, 05_matmul]\nminutes: 60\n---\n# x\n'
        self.assertEqual(catalog.parse_front_matter(text), {
            "title": "Softmax: online", "builds_on": [1, "05_matmul"], "minutes": 60})

    def test_none(self):
        self.assertEqual(catalog.parse_front_matter("# Day\n\n---\nnot: this\n---\n"), {})


if __name__ == "__main__":
    unittest.main()
