# SPDX-License-Identifier: MIT
"""The learner's loop without compilers: patterns, hints, progress, files. tests/exercises.py runs the real thing."""
import contextlib
import dataclasses
import errno
import io
import json
import os
import subprocess
import sys
import unittest
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest import mock

import support
from days_cli import catalog, counting, exercises, judge, main, metrics, outputs, paths, programs, stages, traces
from days_cli.commands import hint
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

    def test_in_place_nobody_filled_anything(self):
        in_place = lambda result, n, unwritten: dict(case(result, unwritten=unwritten, n=n), in_place=3, compared=3)
        self.assertEqual(pattern([in_place("ok", 1, 3), in_place("fail", 2, 3)]),
                         "nothing is changed: every array holds what it held before.")
        self.assertEqual(pattern([in_place("ok", 8, 0), in_place("fail", 8, 3), in_place("ok", 9, 0), in_place("fail", 9, 3)]),
                         "the wrong elements hold what they held before: not written, or written and written back.")

    def test_added_to_what_was_there(self):
        cases = [dict(case("fail", n=n), added=3) for n in (8, 9)] + [case("ok", n=0)]
        self.assertEqual(pattern(cases), "every wrong element is what is expected plus what the buffer held before: nobody set "
                                         "it to 0 first.")
        cases[0]["added"] = 2
        self.assertNotIn("plus", pattern(cases))

    def test_one_factor(self):
        off = lambda least, most: [dict(case("fail", n=n), least_ratio=least, most_ratio=most) for n in (8, 9)]
        self.assertEqual(pattern(off(7.9999, 8.0001)), "every wrong element is 8 times what is expected: a factor is missing, or "
                                                       "one too many.")
        for least, most in ((7.9, 8.1), (1.00001, 1.00002), (float("-inf"), 8), (-8, 8), (None, 8), (8, None)):
            self.assertEqual(pattern(off(least, most)), "")
        two = [dict(case, outputs=[dict(name="o", wrong=2, least_ratio=0.9, most_ratio=0.9), dict(name="lse", wrong=1, least_ratio=n, most_ratio=n)])
               for n, case in enumerate(off(0.9, 3), 2)]
        self.assertEqual(pattern(two), "every wrong element of o is 0.9 times what is expected: a factor is missing, or one too many.")
        self.assertEqual(pattern(off(8, 8)[:1]), "")  # three elements are no pattern
        self.assertEqual(pattern([*off(8, 8), case("fail", n=10)]), "")

    def test_several_blocks(self):
        cases = [case("ok", blocks=1, n=32), case("ok", blocks=1, n=64), case("fail", blocks=2, n=96),
                 case("fail", blocks=4, n=128)]
        self.assertIn("more than one block", pattern(cases))

    def test_larger_than(self):
        cases = [case("ok", blocks=2, n=32), case("ok", n=64), case("fail", n=96), case("fail", blocks=2, n=128)]
        self.assertIn("where n is larger than 64 (64 passes, 96 fails)", pattern(cases))

    def test_a_grid_of_one_block_in_two_dimensions(self):
        cases = [case("ok", blocks=1, rows=8, cols=32), case("ok", blocks=1, rows=1, cols=1), case("fail", blocks=1, rows=1, cols=300),
                 case("fail", blocks=1, rows=300, cols=1), case("fail", blocks=1, rows=9, cols=32)]
        self.assertEqual(pattern(cases), "fails exactly where rows is larger than 8 or cols is larger than 32; every launch has one block.")
        for number, one in enumerate(cases):
            one["blocks"] = 1 + number % 2
        self.assertEqual(pattern(cases), "fails exactly where rows is larger than 8 or cols is larger than 32.")

    def test_one_kind_of_inputs(self):
        cases = [case("ok", n=8), case("fail", inputs="huge", n=8), case("ok", n=9), case("fail", inputs="huge", n=9)]
        self.assertEqual(pattern(cases), 'fails exactly with the inputs "huge".')

    def test_one_kind_of_inputs_that_does_not_always_fail(self):
        cases = [case("ok", n=8), case("ok", n=9), case("ok", inputs="causal", n=10), case("fail", inputs="causal", n=8),
                 case("fail", inputs="causal", n=9, m=1)]
        self.assertEqual(pattern(cases), 'fails only with the inputs "causal".')
        self.assertEqual(pattern([*cases, case("fail", inputs="huge", n=9, m=1)]), "")

    def test_an_array_that_rightly_stays_mostly_as_it_was_says_nothing_of_another(self):
        wrong = lambda of_k, of_o: [dict(case("fail", unwritten=6, n=n), in_place=6, outputs=[
            dict(name="k", wrong=of_k, unwritten=6), dict(name="o", wrong=of_o, unwritten=0)]) for n in (8, 9)]
        self.assertEqual(pattern([*wrong(0, 3), case("ok", n=8)]), "")
        self.assertIn("hold what they held before", pattern([*wrong(3, 0), case("ok", n=8)]))

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
            told = [stages.Told({}, cases, len(cases), programs.Ended(1, True, True, stderr=said))
                    for cases, said in (([failed, case("ok", n=9)], ""), ([failed], self.REPORT))]
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
        self.assertIn("You have seen all 3 hints", shown[total][1])
        self.assertNotIn("error", shown[total][1] + shown[total][2])
        again = self.run_days("hint", "5", "--again")[1]
        self.assertIn("Hint 1 of 3", again)
        self.assertIn("Hint 3 of 3", again)

    def test_hints_counted_wrong(self):
        for seen, command, said in ((-9, (), "Hint 1 of 3"), (99, ("--again",), "Hint 3 of 3")):
            exercises.remember(self.day, hints=seen)
            code, out, _ = self.run_days("hint", "5", *command)
            self.assertEqual(code, 0)
            self.assertIn(said, out)

    def run_check(self, verdict="ok"):
        stage = stages.Stage("correct", verdict, "told")
        with mock.patch.object(judge, "judge", lambda kernel, begun, told: [told(stage), stage][1:]):
            return self.run_days("check", "5")

    def broken(self, error=None, after=0):
        """Writing fails, after so many bytes."""
        error = error or OSError(errno.ENOSPC, "No space left on device")

        def write(descriptor, data):
            with open(descriptor, "wb") as file:
                file.write(bytes(data)[:after])
            raise error
        return mock.patch.object(outputs, "_write", write)

    def test_damaged_progress_is_told_and_kept(self):
        path = paths.MY / "progress.json"
        paths.MY.mkdir()
        for number, text in enumerate(("{", "[]", "null", "7", "\xff\xfe", '{"05": 3}', '{"05": {"hints": "two", "last": []}}',
                                       '{"05": {"hints": true}}', "[" * 100000)):
            path.write_bytes(text.encode("latin-1"))
            code, out, err = self.run_days("hint", "5")
            self.assertEqual(code, 0, text[:40])
            self.assertIn("Hint 1 of 3", out)
            kept = paths.MY / ("progress.json.bad" if not number else f"progress.json-{number + 1}.bad")
            self.assertIn(f"kept as {kept}", " ".join(err.split()))
            self.assertEqual(kept.read_bytes(), text.encode("latin-1"))
            self.assertEqual(json.loads(path.read_text())["05"]["hints"], 1)
            path.unlink()

    def test_what_is_sound_in_damaged_progress_stays(self):
        paths.MY.mkdir()
        (paths.MY / "progress.json").write_text('{"01": {"solved": "2026-01-01"}, "05": {"hints": "two", "solution": true}}')
        first = exercises.resolve("1", "check")
        with contextlib.redirect_stderr(io.StringIO()):
            self.assertEqual(exercises.solved_of([first, self.day]), [first])
        self.assertEqual(exercises.progress(self.day), {"solution": True})

    def test_unreadable_progress_is_neither_believed_nor_lost(self):
        path = paths.MY / "progress.json"
        path.mkdir(parents=True)  # EISDIR, for root too
        code, out, err = self.run_check()
        self.assertEqual(code, 0)
        self.assertIn("Solved.", out)
        self.assertIn("could not be saved", err)
        self.assertTrue(path.is_dir())
        code, _, err = self.run_days("next")
        self.assertEqual((code, "is not known" in err), (0, True))

    def test_a_verdict_is_told_though_it_cannot_be_saved(self):
        exercises.start(self.day)
        for verdict, code, said in (("ok", 0, "Solved."), ("FAIL", 1, "Next: ./days hint 5")):
            with self.broken():
                got, out, err = self.run_check(verdict)
            self.assertEqual((got, said in out), (code, True), out)
            self.assertEqual(len(err.splitlines()), 2, err)
            self.assertIn("warning: your progress could not be saved:", err)
        with self.broken():
            code, out, err = self.run_days("hint", "5")
        self.assertEqual(code, 0)
        self.assertIn("Hint 1 of 3", out)

    def test_the_first_date_stays(self):
        exercises.start(self.day)
        exercises.remember(self.day, solved="2001-01-01")
        self.run_check()
        known = exercises.progress(self.day)
        self.assertEqual((known["solved"], known["last"]), ("2001-01-01", "solved"))

    def test_full_disk_leaves_no_half_of_an_exercise(self):
        with self.broken(after=10):
            code, _, err = self.run_days("check", "5")
        self.assertEqual(code, 3)
        self.assertIn("day05.cu: No space left on device", " ".join(err.split()))
        self.assertEqual(list(paths.MY.iterdir()), [])

    def test_full_disk_at_reset_leaves_the_learners_file(self):
        exercises.start(self.day)
        exercises.my_file(self.day).write_text("mine")
        with self.broken():
            self.assertEqual(self.run_days("reset", "5")[0], 3)
        self.assertEqual(exercises.my_file(self.day).read_text(), "mine")
        self.assertEqual(list((paths.MY / "old").iterdir()), [])

    def test_a_file_that_comes_meanwhile_stays(self):
        paths.MY.mkdir()
        mine = paths.MY / "day05.cu"

        def meanwhile(descriptor, data):
            os.close(descriptor)
            mine.write_text("mine")
        for link in (os.link, mock.Mock(side_effect=OSError(errno.EPERM, "no hard links here"))):
            mine.unlink(missing_ok=True)
            with mock.patch.object(outputs, "_write", meanwhile), mock.patch.object(os, "link", link):
                self.assertFalse(exercises.start(self.day))
            self.assertEqual(mine.read_text(), "mine")
        mine.unlink()
        with mock.patch.object(os, "link", link):
            self.assertTrue(exercises.start(self.day))
        self.assertEqual(mine.read_bytes(), exercises.skeleton(self.day).read_bytes())
        self.assertEqual(sorted(os.listdir(paths.MY)), ["day05.cu", "progress.json"])

    def test_no_fact_is_lost_between_two_commands(self):
        paths.MY.mkdir()
        script = ("import sys; from pathlib import Path; sys.path.insert(0, sys.argv[1]); "
                  "from days_cli import exercises, paths; paths.MY = Path(sys.argv[2]); day = exercises.resolve(sys.argv[3], ''); "
                  "[exercises.remember(day, hints=i, last='x' * 2000) for i in range(1, 41)]")
        running = [subprocess.Popen([sys.executable, "-B", "-c", script, str(support.ROOT / "tools"), str(paths.MY), day])
                   for day in ("1", "5", "13")]
        self.assertEqual([process.wait() for process in running], [0, 0, 0])
        found = json.loads((paths.MY / "progress.json").read_text())
        self.assertEqual({day: facts["hints"] for day, facts in found.items()}, {"01": 40, "05": 40, "13": 40})
        self.assertEqual(os.listdir(paths.MY), ["progress.json"])

    def test_no_folder_for_kernels(self):
        elsewhere = paths.MY.parent / "drive" / "my"
        for make, said in ((lambda: paths.MY.write_text("notes"), f"{paths.MY} is a file"),
                           (lambda: paths.MY.symlink_to(elsewhere), f"{paths.MY} leads to {elsewhere}, which is not there.")):
            make()
            for command in ("check", "watch", "reset"):
                code, _, err = self.run_days(command, "5")
                self.assertEqual(code, 3, err)
                self.assertIn(said, " ".join(err.split()))
            for command in (("next",), ("list",), (), ("hint", "5")):
                code, out, err = self.run_days(*command)
                self.assertEqual(code, 0, err)
                self.assertEqual("could not be saved" in err, command == ("hint", "5"))
            self.assertTrue(paths.MY.is_symlink() or paths.MY.read_text() == "notes")
            paths.MY.unlink()
        self.assertFalse(elsewhere.exists())

    def test_exercise_that_is_no_file(self):
        mine = paths.MY / "day05.cu"
        mine.mkdir(parents=True)
        code, _, err = self.run_days("check", "5")
        self.assertEqual((code, "is a folder" in err), (3, True))
        mine.rmdir()
        mine.symlink_to("gone.cu")
        code, _, err = self.run_days("check", "5")
        self.assertEqual((code, "leads to gone.cu, which is not there" in " ".join(err.split())), (3, True))

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_read_only_folder(self):
        exercises.start(self.day)
        paths.MY.chmod(0o555)
        self.addCleanup(paths.MY.chmod, 0o755)
        code, out, err = self.run_check()
        self.assertEqual((code, "Solved." in out, "could not be saved" in err), (0, True, True))
        code, _, err = self.run_days("check", "1")
        self.assertEqual((code, "Permission denied" in err), (3, True))

    def test_a_source_line_of_a_trace_need_not_be_text(self):
        paths.MY.mkdir()
        trace = paths.MY / "trace.json"
        trace.write_bytes(b'{"text": "\xff"}')
        self.assertEqual(traces.load(trace), {"text": "\ufffd"})

    def test_solution_asks_first(self):
        code, _, err = self.run_days("solution", "5")
        self.assertEqual(code, 2)
        self.assertIn("--yes", err)
        code, out, _ = self.run_days("solution", "5", "--yes")
        self.assertEqual(code, 0)
        self.assertIn("+__global__ void lanes_across_kernel", out)
        self.assertTrue(exercises.progress(self.day)["solution"])

    def test_solution_shows_counters_side_by_side(self):
        exercises.start(self.day)
        counted = dict(reads_per_input=3, wasted_sectors=0.25, conflicts=0, bytes_per_request=128, atomics_per_input=0,
                       launches=1, workspace=0)

        def measure(kernel):
            if kernel.file and not complete:
                raise DaysError("my/day05.cu does not compile")
            return dict(counted, wasted_sectors=0.75) if kernel.file else counted, [], []
        with mock.patch.object(counting, "measure", measure):
            complete = True
            out = self.run_days("solution", "5", "--yes")[1]
            self.assertRegex(out, r" +yours +lanes_across\n")
            self.assertRegex(out, r"wasted sectors +75% +25%\n")
            complete = False
            _, out, err = self.run_days("solution", "5", "--yes")
            self.assertRegex(out, r"wasted sectors +- +25%\n")
            self.assertIn("has no counts: my/day05.cu does not compile", err)

    def test_gates_on_launches_and_workspace(self):
        kernel = judge.Kernel(self.day)
        counted = {**{gate.key: 0 for gate in metrics.EXERCISE}, "launches": 2, "workspace": 4096, "blocks": 8}
        few = mock.Mock(blocks=8, block=(32, 8, 1), lines=[])
        few.name = "few_kernel"
        with mock.patch.object(counting, "measure", lambda kernel: (counted, [few], [])):
            stage = judge.counters(kernel, {"blocks": 64})
            self.assertEqual((stage.verdict, stage.about, stage.lines[0]), ("FAIL", "blocks of the smallest launch 8, at least 64",
                                                                            "Launched: few_kernel with 8 blocks of 256 threads"))
            for asked, verdict, about in (({"launches": 1}, "FAIL", "launches 2, at most 1"),
                                          ({"launches": 2}, "ok", "launches 2, at most 2"),
                                          ({"workspace": 0}, "FAIL", "bytes of workspace written 4096, at most 0"),
                                          ({"workspace": 4096}, "ok", "bytes of workspace written 4096, at most 4096"),
                                          ({}, "skip", "this exercise has no gate on counters")):
                stage = judge.counters(kernel, asked)
                self.assertEqual((stage.verdict, stage.about), (verdict, about))

    def test_waste_of_fewer_sectors_passes(self):
        """Blocks of 16 x 16 ask for half sectors, and for fewer of them than blocks of 32 x 8 do."""
        counted = {gate.key: 0 for gate in metrics.EXERCISE}
        line = mock.Mock(space="global", sectors=4, least=2, file="my/day05.cu", line=7, verb="read", text="a[i]")
        launch = mock.Mock(lines=[line])

        def measure(kernel):
            return (dict(counted, sectors=2000) if kernel.variant == "lanes_across" else mine), [launch], []
        with mock.patch.object(counting, "measure", measure):
            for sectors, verdict, about in ((1800, "ok", "wasted sectors 50%, 1,800 sectors in all, lanes_across moves 2,000"),
                                            (2001, "FAIL", "wasted sectors 50%, at most 10%")):
                mine = dict(counted, wasted_sectors=0.5, sectors=sectors)
                stage = judge.counters(judge.Kernel(self.day), {"wasted_sectors": 0.1}, "lanes_across")
                self.assertEqual((stage.verdict, stage.about), (verdict, about))

    def test_launches_are_measured(self):
        values = counting.measure(judge.Kernel(self.day, "lanes_across"))[0]
        self.assertEqual((values["launches"], values["workspace"]), (1, 0))

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
            if exercises.skeleton(day).is_file():
                self.assertEqual(len(exercises.hints(day)), 3, day.label)
                self.assertTrue(day.kind.does.solution(day)[1].is_file())
                text = exercises.skeleton(day).read_text()
                if not day.kind.has_programs:  # a program may be there whole, with bugs to be mended
                    self.assertEqual(text.count(day.kind.blank), 1, day.label)

    def test_a_goal_is_one_line(self):
        """`check` begins with it, and notes show what follows: a goal that wraps would move it."""
        for path in sorted(paths.ROOT.glob("day[0-9][0-9]_*/ladder.json")):
            for ladder in json.loads(path.read_text(encoding="utf-8"))["ladders"]:
                if ladder.get("exercise"):
                    self.assertLess(len(f"my/{path.parent.name[:5]}.cu: {ladder['exercise']['goal']}"), 80, path.parent.name)

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
