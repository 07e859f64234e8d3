# SPDX-License-Identifier: MIT
"""The learner's loop without compilers: patterns, hints, progress, files. tests/exercises.py runs the real thing."""
import contextlib
import dataclasses
import io
import unittest
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest import mock

import support  # noqa: F401  (finds days_cli)
from days_cli import catalog, exercises, judge, main, paths
from days_cli.commands import hint, solution
from days_cli.errors import DaysError
from days_cli.patterns import pattern


def case(result, inputs="", blocks=1, unwritten=0, **shape):
    wrong = 3 if result == "fail" else 0
    return {"result": result, "shape": shape, "inputs": inputs, "wrong": wrong, "unwritten": unwritten, "compared": 9,
            "blocks": blocks}


class Patterns(unittest.TestCase):
    def test_all_right_says_nothing(self):
        self.assertEqual(pattern([case("ok", n=1), case("ok", n=33)]), "")

    def test_nothing_written(self):
        self.assertIn("nothing is written", pattern([case("fail", unwritten=9, n=1), case("fail", unwritten=9, n=4)]))

    def test_tail_with_the_factors_that_cannot_be_told_apart(self):
        cases = [case("fail", n=n) for n in (1, 3, 33, 36)] + [case("ok", n=n) for n in (32, 64, 4096)]
        self.assertEqual(pattern(cases), "fails exactly where n is not a multiple of 8 (or of 16, 32: these shapes can't "
                                         "tell).")

    def test_tail_that_nobody_writes(self):
        cases = [case("fail", unwritten=3, n=5), case("fail", unwritten=3, n=6), case("ok", n=4), case("ok", n=12)]
        self.assertEqual(pattern(cases), "fails exactly where n is not a multiple of 4. The wrong elements hold what they "
                                         "were filled with: not written, or only added to.")

    def test_unwritten_without_a_condition(self):
        cases = [case("fail", unwritten=3, n=8), case("fail", unwritten=3, n=9), case("ok", n=8), case("ok", n=9)]
        self.assertEqual(pattern(cases), "the wrong elements hold what they were filled with: not written, or only added "
                                         "to.")

    def test_several_blocks(self):
        cases = [case("ok", blocks=1, n=32), case("ok", blocks=1, n=64), case("fail", blocks=2, n=96),
                 case("fail", blocks=4, n=128)]
        self.assertIn("more than one block", pattern(cases))

    def test_larger_than(self):
        cases = [case("ok", blocks=2, n=32), case("ok", n=64), case("fail", n=96), case("fail", blocks=2, n=128)]
        self.assertIn("where n is larger than 64 (64 passes, 96 fails)", pattern(cases))

    def test_one_kind_of_inputs(self):
        cases = [case("ok", n=8), case("fail", inputs="huge", n=8), case("ok", n=9), case("fail", inputs="huge", n=9)]
        self.assertEqual(pattern(cases), 'fails exactly with the inputs "huge".')

    def test_a_stride_taken_for_another(self):
        cases = [case("ok", m=8, n=8), case("ok", m=16, n=16), case("fail", m=8, n=16), case("fail", m=16, n=8)]
        self.assertEqual(pattern(cases), "fails exactly where m and n differ. Is one taken for the other, as a length or a "
                                         "stride?")

    def test_no_pattern_is_no_sentence(self):
        cases = [case("ok", n=8), case("fail", n=8, inputs=""), case("fail", n=9), case("ok", n=10), case("ok", n=11)]
        self.assertEqual(pattern(cases), "")


class WrongElements(unittest.TestCase):
    """What stage 1 says besides the elements themselves."""
    REPORT = "error: race on shared memory [simt-race-shared]\nmy/day13.cu:36  tile[1][0]\n"

    def stage(self, text, notes=(), unwritten=0):
        failed = dict(case("fail", unwritten=unwritten, n=8), type="fp32", first=[], notes=list(notes))
        with TemporaryDirectory() as folder:
            file = Path(folder) / "mine.cu"
            file.write_text(text)
            kernel = mock.Mock(file=str(file))
            told = [({}, [failed, dict(case("ok", n=9))], ""), ({}, [failed], self.REPORT)]
            with mock.patch.object(judge, "_cases", side_effect=told):
                return judge.correct(kernel)[1].lines

    def test_a_race_behind_them_is_told(self):
        self.assertIn("error: race on shared memory [simt-race-shared]", self.stage("__shared__ float tile[32];"))

    def test_nothing_shared_or_nothing_written_is_not_run_again(self):
        self.assertNotIn("race", " ".join(self.stage("float sum = 0;")))
        self.assertNotIn("race", " ".join(self.stage("__shared__ float tile[32];", unwritten=9)))

    def test_a_launch_that_cannot_be_says_the_bounds(self):
        lines = self.stage("", ["kernel launch returned cudaErrorInvalidConfiguration: invalid configuration argument"])
        self.assertIn("1 to 65535 blocks along y", " ".join(lines))


class Files(unittest.TestCase):
    def setUp(self):
        self.folder = TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        patch = mock.patch.object(paths, "MY", Path(self.folder.name) / "my")
        patch.start()
        self.addCleanup(patch.stop)
        self.day = exercises.resolve("5", "check")

    def run_days(self, *arguments):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main.main(arguments)
        return code, out.getvalue(), err.getvalue()

    def test_start_copies_once(self):
        self.assertTrue(exercises.start(self.day))
        exercises.my_file(self.day).write_text("mine")
        self.assertFalse(exercises.start(self.day))
        self.assertEqual(exercises.my_file(self.day).read_text(), "mine")

    def test_reset_loses_nothing(self):
        exercises.start(self.day)
        for text in ("first", "second"):
            exercises.my_file(self.day).write_text(text)
            self.assertEqual(self.run_days("reset", "5")[0], 0)
        self.assertEqual(exercises.my_file(self.day).read_text(), exercises.skeleton(self.day).read_text())
        self.assertEqual(sorted(path.read_text() for path in (paths.MY / "old").iterdir()), ["first", "second"])

    def test_hints_unfold_one_by_one(self):
        total = len(exercises.hints(self.day))
        self.assertEqual(total, 3)
        shown = [self.run_days("hint", "5") for _ in range(total + 1)]
        self.assertEqual([code for code, _, _ in shown], [0] * (total + 1))
        for number, (_, out, _) in enumerate(shown[:total], 1):
            self.assertIn(f"Hint {number} of {total}", out)
            self.assertTrue(all(len(line) <= 80 for line in out.splitlines()), out)
        self.assertIn("you have seen all 3 hints", shown[total][2])
        again = self.run_days("hint", "5", "--again")[1]
        self.assertIn("Hint 1 of 3", again)
        self.assertIn("Hint 3 of 3", again)

    def test_damaged_progress_is_told_and_kept(self):
        paths.MY.mkdir()
        (paths.MY / "progress.json").write_text("{")
        code, _, err = self.run_days("hint", "5")
        self.assertEqual(code, 3)
        self.assertIn("progress.json cannot be read", err)
        self.assertEqual((paths.MY / "progress.json").read_text(), "{")

    def test_solution_asks_first(self):
        code, _, err = self.run_days("solution", "5")
        self.assertEqual(code, 2)
        self.assertIn("--yes", err)
        code, out, _ = self.run_days("solution", "5", "--yes")
        self.assertEqual(code, 0)
        self.assertIn("+__global__ void columns_kernel", out)
        self.assertTrue(exercises.progress(self.day)["solution"])

    def test_solution_shows_counters_side_by_side(self):
        exercises.start(self.day)
        counted = dict(reads_per_input=3, wasted_sectors=0.25, conflicts=0, bytes_per_request=128)

        def measure(kernel):
            if kernel.file and not complete:
                raise DaysError("my/day05.cu does not compile")
            return dict(counted, wasted_sectors=0.75) if kernel.file else counted, []
        with mock.patch.object(judge, "measure", measure):
            complete = True
            out = self.run_days("solution", "5", "--yes")[1]
            self.assertRegex(out, r" +yours +columns\n")
            self.assertRegex(out, r"wasted sectors +75% +25%\n")
            complete = False
            _, out, err = self.run_days("solution", "5", "--yes")
            self.assertRegex(out, r"wasted sectors +- +25%\n")
            self.assertIn("has no counts: my/day05.cu does not compile", err)

    def test_next_goes_on_after_what_is_solved(self):
        first = self.run_days("next")[1]
        self.assertIn("day 01 vector_add", first)
        exercises.remember(exercises.resolve("1", "check"), solved="2026-01-01")
        self.assertNotIn("day 01 vector_add", self.run_days("next")[1])

    def test_a_day_without_exercise(self):
        bare = dataclasses.replace(self.day, folder=paths.MY)
        with mock.patch.object(exercises.catalog, "resolve", return_value=bare), self.assertRaises(DaysError) as raised:
            exercises.resolve("5", "check")
        self.assertIn("has no exercise", raised.exception.message)

    def test_every_command_takes_a_day(self):
        for command in ("check", "watch", "hint", "solution", "reset"):
            code, _, err = self.run_days(command)
            self.assertEqual(code, 2, command)
            self.assertIn(f"./days {command} 1", err)


class Shipped(unittest.TestCase):
    def test_each_exercise_has_hints_and_a_solution(self):
        for day in catalog.here():
            if (day.folder / "exercise.cu").is_file():
                self.assertEqual(len(exercises.hints(day)), 3, day.label)
                self.assertTrue(solution.solution_of(day)[1].is_file())
                text = (day.folder / "exercise.cu").read_text()
                self.assertEqual(text.count("// your code"), 1, day.label)

    def test_hints_print_at_80_columns(self):
        for day in catalog.here():
            for text in exercises.hints(day):
                out = io.StringIO()
                with contextlib.redirect_stdout(out):
                    hint._print(text)
                for line in out.getvalue().splitlines():
                    self.assertLessEqual(len(line), 80, f"{day.label}: {line}")


if __name__ == "__main__":
    unittest.main()
