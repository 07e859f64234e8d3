#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What .ci/run asks of .ci/days.py (which days) and .ci/cpu_table.py (what they cost)."""
import importlib.util
import json
import os
import subprocess
import sys
import unittest

import support

CI = support.ROOT / ".ci"
DAY = 24 * 3600


def module(name):
    spec = importlib.util.spec_from_file_location(name, CI / f"{name}.py")
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


class Days(support.Case):
    NOW = 1_800_000_000

    def setUp(self):
        super().setUp()
        for name in ("DAYS_CI_ALL", "DAYS_CI_BASE"):
            os.environ.pop(name, None)
        self.clone = self.folder / "repository"
        (self.clone / ".ci").mkdir(parents=True)
        (self.clone / ".ci" / "days.py").write_text((CI / "days.py").read_text())
        for number in range(1, 87):
            self.write(f"day{number:02}_x/README.md")
        self.git("init", "-q")
        self.commit(10 * DAY)

    def write(self, *paths):
        for path in paths:
            path = self.clone / path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text((path.read_text() if path.exists() else "") + "x\n")

    def git(self, *words, when=NOW):
        stamp = f"{when} +0000"
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=self.clone, check=True,
                       stdout=subprocess.DEVNULL, env=dict(os.environ, GIT_COMMITTER_DATE=stamp, GIT_AUTHOR_DATE=stamp))

    def commit(self, seconds_ago, *paths):
        self.write(*paths)
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "x", when=self.NOW - seconds_ago)

    def chosen(self, *words, clone=None, text=None, code=0):
        done = subprocess.run([sys.executable, "-B", ".ci/days.py", *words], cwd=clone or self.clone, input=text,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout.split(), done.stderr

    def test_the_last_day_and_two_others(self):
        self.commit(25 * 3600, "day07_x/01_a.cu")  # too long ago
        self.commit(23 * 3600, "day11_x/01_a.cu")
        self.commit(3600, "day12_x/tests/test.cpp", "README.md")
        self.commit(0, "docs/notebooks/day13.ipynb", "day14_x/tests/mutants.txt", "docs/results/h200/day15.json")
        got, said = self.chosen("12")
        self.assertEqual(len(got), 6)
        self.assertLessEqual({"11", "12", "13", "14"}, set(got))
        self.assertFalse({"07", "15"} & set(got))
        self.assertIn("touched in the last 24 hours: 11 12 13 14; others, by ", said)

    def test_common_brings_a_few_and_each_commit_others(self):
        picks = set()
        for minute in range(4):
            self.commit(60 * (4 - minute), "common/reduce.cuh")
            got, _ = self.chosen("12")
            self.assertEqual(len(got), 5)
            picks.add(tuple(got))
        self.assertEqual(len(picks), 4)
        self.assertEqual(self.chosen("12")[0], got)  # the same commit, the same days

    def test_a_commit_that_touches_all_days_ends_in_time(self):
        self.commit(0, *(f"day{number:02}_x/01_a.cu" for number in range(1, 81)))
        got, said = self.chosen("8")
        self.assertEqual(len(got), 8)
        self.assertEqual(sum(int(day) > 80 for day in got), 2)  # others have their turn all the same
        self.assertIn("left out, as 8 are the most: ", said)
        self.commit(0, *(f"day{number:02}_x/01_a.cu" for number in range(81, 87)))
        again, said = self.chosen("8")
        self.assertEqual(len(again), 8)
        self.assertNotEqual(got, again)
        self.assertEqual(len(said.split("are the most: ")[1].split(",")[0].split()), 78)
        self.assertEqual(len(self.chosen("100")[0]), 86)
        self.assertEqual(len(self.chosen("1")[0]), 1)

    def test_shallow_clone(self):
        self.commit(3600, "day11_x/01_a.cu")
        self.commit(0, "day12_x/01_a.cu")
        for depth, touched in (("1", set()), ("2", {"12"}), ("3", {"11", "12"})):
            clone = self.folder / f"shallow{depth}"
            subprocess.run(["git", "clone", "-q", "--depth", depth, f"file://{self.clone}", str(clone)], check=True)
            got, said = self.chosen("12", clone=clone)
            self.assertEqual(len(got), 2 + len(touched))
            self.assertLessEqual(touched, set(got))
            self.assertEqual("this clone is shallow" in said, depth != "3")
        self.assertEqual(got, self.chosen("12")[0])  # as in the whole repository

    def test_merge_and_base(self):
        self.git("checkout", "-q", "-b", "branch", "HEAD")
        self.commit(5 * DAY, "day21_x/01_a.cu")
        self.git("checkout", "-q", "-")
        self.commit(4 * DAY, "day22_x/01_a.cu")
        self.git("merge", "-q", "--no-ff", "-m", "merge", "branch")
        self.assertIn("21", self.chosen("12")[0])  # the merge brought it in
        self.git("checkout", "-q", "branch")
        self.commit(3 * DAY, "day23_x/01_a.cu")
        self.commit(0, "LICENSE")
        self.assertFalse({"21", "23"} & set(self.chosen("12")[1].split("; others")[0].split()))
        os.environ["DAYS_CI_BASE"] = "HEAD~3"
        self.assertIn("hours: 21 23;", self.chosen("12")[1])

    def test_all_pick_and_bad_words(self):
        self.assertEqual(len(self.chosen("--all")[0]), 86)
        self.assertEqual(len(self.chosen("3", "--pick", text="a\nb\nc\nd\n")[0]), 3)
        os.environ["DAYS_CI_ALL"] = "1"
        self.assertEqual(len(self.chosen("2")[0]), 86)
        self.assertEqual(self.chosen("3", "--pick", text="a\nb\nc\nd\n")[0], list("abcd"))
        del os.environ["DAYS_CI_ALL"]
        for words in ([], ["0"], ["x"], ["3", "--all"]):
            self.chosen(*words, code=2)

    def test_the_workflow_has_every_stage(self):
        run = (CI / "run").read_text()
        stages = set(run.split("\nstages=(")[1].split(")")[0].split())
        workflow = (support.ROOT / ".github" / "workflows" / "ci.yml").read_text()
        shards = [line.split("stages:")[1].strip(' "').split() for line in workflow.splitlines() if "stages:" in line]
        self.assertEqual({stage for shard in shards for stage in shard}, stages)
        self.assertTrue(all(f"\nstage_{stage}() {{" in run for stage in stages))
        course = workflow.split("\n  course:\n")[1].split("\n  toolkit:\n")[0]
        for needed in ("fetch-depth: 0", "actions/cache@", "path: build/ci/ccache", ".ci/run $ALL ", "github.event_name == 'schedule'"):
            self.assertIn(needed, course)
        self.assertRegex(workflow, r"schedule:\n +- cron:")
        self.assertLessEqual(set(run.split("declare -A most=(")[1].split(")\n")[0].replace("[", " ").replace("]", " ").split()[::2]),
                             stages)


class CpuTable(support.Case):
    def setUp(self):
        super().setUp()
        self.table = module("cpu_table")
        self.budget = self.folder / "cpu_budget.json"
        self.replace(self.table, "BUDGET", self.budget)
        self.limits()

    def limits(self, average=30, most=60, **exceptions):
        self.budget.write_text(json.dumps({"average": average, "most": most,
                                           "exceptions": {day[3:]: exception for day, exception in exceptions.items()}}))

    def build(self, name, lines, tests):
        folder = self.folder / name
        (folder / "Testing" / "Temporary").mkdir(parents=True, exist_ok=True)
        (folder / "cpu.log").write_text("".join(line + "\n" for line in lines))
        (folder / "Testing" / "Temporary" / "LastTest.log").write_text("".join(
            f"{number}/9 Testing: {test}\n{number}/9 Test: {test}\nOutput:\n{said}\n<end of output>\n"
            for number, (test, said) in enumerate(tests.items(), 1)))
        return str(folder)

    def run_table(self, *folders):
        import contextlib
        import io
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            code = self.table.main(list(folders))
        return code, out.getvalue()

    def test_sums(self):
        plain = self.build("cpu", ["0m9.00s 0m1.00s day05_kernels a.o",  # compiled again since
                                   "0m1.50s 0m0.50s day05_kernels a.o", "1m1.00s 0m0.00s simt b.o",
                                   "0m0.02s 0m0.02s day05_test c d.o", "0m0.30s 0m0.00s day05_test bin/day05_test",
                                   "0m50.00s 0m0.00s day05_bench e.o"],
                           {"day05_test": "12 kernels run, 3 skipped (2: a; 1: b); 4.5 s of CPU", "simt_test": "x"})
        checked = self.build("checked", [], {"day05_test": "12 kernels run, 0 skipped; 10.0 s of CPU",
                                             "day60_test": "[ PASSED ] 9 tests.\nprograms and their tests took 7.5 s of CPU"})
        code, text = self.run_table(plain, checked)
        self.assertEqual(code, 0, text)
        self.assertRegex(text, r"\n05 +2\.3 +4\.5 +0\.0 +10\.0 +16\.8\n60 +0\.0 +0\.0 +0\.0 +7\.5 +7\.5\n")
        self.assertIn("and 61.0 to build what days share", text)
        self.assertIn("12.2 s a day on average, 16.8 at most; 1 of 4 objects were cached", text)

    def test_budget(self):
        folder = self.build("cpu", ["0m1.00s 0m0.00s day05_kernels a.o", "0m59.50s 0m0.00s day06_kernels b.o"],
                            {"day06_test": "1 kernels run, 0 skipped; 1.0 s of CPU"})
        code, text = self.run_table(folder)
        self.assertEqual(code, 1)
        self.assertIn("FAIL day 06 takes 60.5 s of CPU, and may take 60: ", text)
        self.assertIn("FAIL days take 30.8 s of CPU on average, and may take 30: ", text)
        self.limits(average=40, day06={"seconds": 70, "why": "it draws"}, day07={"seconds": 70, "why": "gone"})
        code, text = self.run_table(folder)
        self.assertEqual(code, 1)
        self.assertIn("60.5  may take 70: it draws", text)
        self.assertIn("FAIL cpu_budget.json has an exception for day 07, which was not tested", text)
        self.limits(average=40, day06={"seconds": 70, "why": "it draws"})
        self.assertEqual(self.run_table(folder)[0], 0)

    def test_nothing_measured(self):
        code, text = self.run_table(self.build("cpu", [], {}))
        self.assertEqual(code, 1)
        self.assertIn("DAYS_CPU_SECONDS=ON", text)

    def test_the_wrapper(self):
        log = self.folder / "cpu.log"
        done = subprocess.run([str(CI / "cpu_seconds"), str(log), "day05_test", "a b.o", sys.executable, "-c",
                               "import time\nwhile time.process_time() < 0.3: pass\nprint('hi')\nraise SystemExit(3)"],
                              stdout=subprocess.PIPE, check=False)
        self.assertEqual((done.returncode, done.stdout), (3, b"hi\n"))
        target, took = self.table.built(self.folder)["a b.o"]
        self.assertEqual(target, "day05_test")
        self.assertGreaterEqual(took, 0.2)
        self.assertEqual([path.name for path in self.folder.glob("cpu.log*")], ["cpu.log"])

    def test_the_committed_budget_is_read(self):
        self.assertGreater(json.loads((CI / "cpu_budget.json").read_text())["average"], 0)


if __name__ == "__main__":
    unittest.main()
