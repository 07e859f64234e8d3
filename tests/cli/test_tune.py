# SPDX-License-Identifier: MIT
"""./days tune and days_cli/tuner.py: the space and its constraints, the ranking, what is remembered, the table; and words that are
wrong. Candidates are compiled by a stand-in; the real nvcc has its turn in the day's note."""
import json
import re
import sys
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent))
from support import ROOT, Case  # noqa: E402

from days_cli import catalog, judge, nvcc_code, sass, stages, tuner  # noqa: E402
from days_cli import gpu as gpus  # noqa: E402
from days_cli.errors import DaysError  # noqa: E402

DAY = catalog.resolve("39", "tune")
H200 = tuner.Device(90, 132, 227 * 1024, 24)
NUMBERS = ("block_m", "block_n", "block_k", "warp_m", "warp_n", "thread_m", "thread_n", "stages")


def candidate(*numbers, device=H200):
    return tuner.described(tuner.space_of(DAY), dict(zip(NUMBERS, numbers)), device)


class Space(Case):
    def test_what_follows_from_the_numbers(self):
        found, because = candidate(128, 256, 16, 64, 64, 16, 8, 2)
        self.assertEqual(because, "")
        self.assertEqual((found.rest["threads"], found.rest["shared"], found.rest["lanes"]), (256, 4 * 2 * 16 * 392, 32))
        self.assertEqual(found.rest["ffma"], 8 * 128 * 16)
        self.assertEqual(found.numbers, "128, 256, 16, 64, 64, 16, 8, 2")

    def test_a_constraint_says_why(self):
        self.assertEqual(candidate(128, 128, 8, 64, 64, 16, 16, 2), (None, "32 lanes divide the warp's part"))
        self.assertEqual(candidate(64, 64, 8, 128, 32, 8, 8, 2)[1], "warps divide the block")
        self.assertEqual(candidate(256, 256, 16, 64, 128, 16, 16, 2)[1], "the sums fit the registers")
        small = tuner.Device(75, 40, 48 * 1024, 16)
        self.assertEqual(candidate(128, 256, 16, 64, 64, 16, 8, 2, device=small)[1], "the tiles fit the device's shared memory")
        self.assertIsNotNone(candidate(128, 256, 8, 64, 64, 16, 8, 2, device=small)[0])

    def test_each_tiling_of_the_table_is_in_the_space(self):
        rows = re.findall(r"^    \{\d+, \"[^\"]*\", (.*)\},$", (ROOT / DAY.target / "tunings.h").read_text(), re.MULTILINE)
        self.assertTrue(rows)
        for row in rows:
            tilings = [tuple(map(int, text.split(", "))) for text in re.findall(r"\{([\d, ]+)\}", row)]
            self.assertEqual(len(tilings), 3)
            for purpose, numbers in zip(("large", "medium", "small"), tilings):
                found, because = candidate(*numbers)
                self.assertIsNotNone(found, f"{numbers}: {because}")
                wanted = tuner.space_of(DAY)["classes"][purpose]["constraint"]
                self.assertTrue(tuner.value(wanted, {**found.values, **found.rest}), numbers)

    def test_numbers_of_another_kernel(self):
        day = catalog.resolve("67", "tune")
        found, because = tuner.described(tuner.space_of(day), {"block_m": 128, "block_n": 256, "stages": 4, "together": 16}, H200)
        self.assertEqual((because, found.rest["threads"], found.rest["shared"]), ("", 384, 4 * 49152 + 2 * 16384 + 64))
        self.assertEqual(found.name, "block_m 128, block_n 256, stages 4, together 16")
        self.assertEqual((tuner.arithmetic(found), tuner.pace(found)), (1024, 1.0))
        self.assertIn("shared memory", tuner.described(tuner.space_of(day), {**found.values, "stages": 5}, H200)[1])

    def test_expressions_are_arithmetic_and_no_more(self):
        self.assertEqual(tuner.value("a // 2 + 3 * b", {"a": 9, "b": 2}), 10)
        for text in ("__import__('os')", "a.b", "[a]", "a if b else c", "lambda: 1", "a ** 9", "(a"):
            with self.assertRaises(DaysError, msg=text):
                tuner.value(text, {"a": 1, "b": 1})
        with self.assertRaisesRegex(DaysError, "'c' is not defined"):
            tuner.value("a + c", {"a": 1})


class Ranking(Case):
    def test_spills_are_last_and_what_cannot_run_too(self):
        good, spilled, huge = (candidate(128, 256, 16, 64, 64, *thread, 2)[0] for thread in ((16, 8), (8, 16), (16, 8)))
        good.registers, spilled.registers, spilled.spills, huge.registers = 219, 128, 4, 300
        self.assertIs(tuner.ranked([spilled, huge, good], H200, ["4096x4096x4096"])[0], good)
        self.assertEqual([tuner.share(one, H200, ["4096x4096x4096"]) for one in (spilled, huge)], [0, 0])

    def test_shared_memory_sets_the_pace_of_small_squares(self):
        small, large = candidate(64, 64, 16, 32, 32, 8, 4, 2)[0], candidate(128, 256, 16, 64, 64, 16, 8, 2)[0]
        for one in (small, large):
            one.rest["l2_bytes"] = 1e9
        # 12 floats for 32 multiply-adds: 12 turns of shared memory for 8, and its stores
        self.assertAlmostEqual(tuner.pace(small), 8 / (12 + 64 * 2 / 32 / 4), delta=0.02)
        self.assertGreater(tuner.pace(large), 0.9)

    def test_the_last_blocks_leave_multiprocessors_idle(self):
        one = candidate(128, 128, 16, 64, 64, 16, 8, 2)[0]
        one.registers = 219
        self.assertEqual(tuner.spread(one, H200, "4096x4096x4096"), (1024 / (8 * 132), 8))
        self.assertEqual(tuner.spread(one, H200, "128x128x128"), (1 / 132, 4))


class Remembering(Case):
    def setUp(self):
        super().setUp()
        patch = mock.patch.object(tuner, "FOLDER", self.folder / "tune")
        patch.start()
        self.addCleanup(patch.stop)

    def test_what_was_found_is_there_again(self):
        one = candidate(128, 256, 16, 64, 64, 16, 8, 2)[0]
        one.registers, one.verdict, one.seconds = 219, "ok", {"4096x4096x4096": 0.0026}
        tuner.Cache(DAY, "NVIDIA H200 sm 90a").keep(one)
        again = candidate(128, 256, 16, 64, 64, 16, 8, 2)[0]
        tuner.Cache(DAY, "NVIDIA H200 sm 90a").fill(again)
        self.assertEqual((again.registers, again.verdict, again.seconds), (219, "ok", {"4096x4096x4096": 0.0026}))
        other = candidate(128, 256, 16, 64, 64, 16, 8, 2)[0]
        tuner.Cache(DAY, "another GPU").fill(other)
        self.assertEqual(other.registers, 0)

    def test_another_template_begins_anew_and_a_broken_file_too(self):
        one = candidate(128, 256, 16, 64, 64, 16, 8, 2)[0]
        one.registers = 219
        cache = tuner.Cache(DAY, "x")
        cache.keep(one)
        one.registers = 0
        with mock.patch.object(tuner, "source_key", lambda day: "other"):
            tuner.Cache(DAY, "x").fill(one)
        self.assertEqual(one.registers, 0)
        for text in ("", "{", "[]", '{"source": 1}', '{"candidates": {}}'):
            cache.path.write_text(text)
            tuner.Cache(DAY, "x").fill(one)
            self.assertEqual(one.registers, 0)

    def test_the_best_has_been_measured_at_all_sizes(self):
        fast, slow, half, wrong = (candidate(128, 256, 16, 64, 64, *t, s)[0] for t, s in (((16, 8), 2), ((16, 8), 3), ((8, 16), 2), ((8, 16), 3)))
        for one, verdict, seconds in ((fast, "ok", {"1": 1, "2": 4}), (slow, "ok", {"1": 2, "2": 3}), (half, "ok", {"1": 0.1}),
                                      (wrong, "c[0,0] yours 1", {"1": 0.1, "2": 0.1})):
            one.verdict, one.seconds = verdict, seconds
        self.assertIs(tuner.best([slow, wrong, half, fast], ["1", "2"]), fast)
        self.assertIsNone(tuner.best([half, wrong], ["1", "2"]))

    def test_a_row_is_added_and_replaced(self):
        text = (ROOT / DAY.target / "tunings.h").read_text()
        three = [candidate(128, 256, 16, 64, 64, 16, 8, 2)[0]] * 3
        with_it, before = tuner.with_row(text, 93, "NVIDIA X", three)
        self.assertIsNone(before)
        self.assertEqual(len(with_it.splitlines()), len(text.splitlines()) + 1)
        self.assertIn('    {93, "NVIDIA X", {128, 256, 16, 64, 64, 16, 8, 2}, {128,', with_it)
        again, before = tuner.with_row(with_it, 93, "NVIDIA Y", three)
        self.assertIn("NVIDIA X", before)
        self.assertEqual(again, with_it.replace("NVIDIA X", "NVIDIA Y"))
        with self.assertRaisesRegex(DaysError, "no table"):
            tuner.with_row("// nothing", 90, "x", three)


class Command(Case):
    """The whole command, without a GPU, with an nvcc and a check that stand in."""

    def setUp(self):
        super().setUp()
        self.compiled, self.checked, self.verdict = [], [], stages.Stage("correct", "ok", "")
        for where, name, stand_in in ((tuner, "FOLDER", self.folder / "tune"), (nvcc_code, "compiled", self._compile),
                                      (judge, "correct", self._correct), (gpus, "detect", gpus.Probe)):
            patch = mock.patch.object(where, name, stand_in)
            patch.start()
            self.addCleanup(patch.stop)

    def _compile(self, sources, arch, flags, lines=True):
        self.compiled.append(sources[0].read_text())
        self.assertEqual((arch, lines), ("90a", False))
        return [sass.Kernel("k", "k", registers=200 + len(self.compiled))]

    def _correct(self, kernel, backend="simt"):
        self.checked.append((kernel.file, backend))
        return {}, self.verdict

    def test_ranks_checks_the_first_and_remembers(self):
        code, out, _ = self.days("tune", "39", "--first", "3")
        self.assertEqual(code, 0)
        self.assertIn("No GPU: nothing is timed.", out)
        self.assertEqual((len(self.compiled), len(self.checked)), (3, 1))
        self.assertIn('#include "day39_matmul_thread_coarsening/tuning/candidate.cuh"', self.compiled[0])
        self.assertLessEqual(max(map(len, out.splitlines())), 80)
        self.assertEqual(len(re.findall(r"^\d+x\d+x\d+ .* ok$", out, re.MULTILINE)), 1)
        self.assertEqual(self.days("tune", "39", "--first", "3")[1], out)
        self.assertEqual((len(self.compiled), len(self.checked)), (3, 1))
        self.days("tune", "39", "--first", "4", "--check", "2")
        self.assertEqual((len(self.compiled), len(self.checked)), (4, 2))

    def test_a_kernel_with_other_numbers(self):
        code, out, _ = self.days("tune", "67", "--first", "2")
        self.assertEqual(code, 0)
        self.assertRegex(out, r"(?m)^ block_m block_n stages together regs .* result$")
        self.assertRegex(out, r"(?m)^     128     256      4       16  201 .* ok$")
        self.assertIn("of the wgmma rate", out)
        self.assertLessEqual(max(map(len, out.splitlines())), 80)
        code, _, said = self.days("tune", "67", "--arch", "80")
        self.assertNotEqual(code, 0)
        self.assertIn("sm_90 alone", said)

    def test_a_wrong_candidate_ends_with_1(self):
        self.verdict = stages.Stage("correct", "FAIL", "1 of 2 cases pass", ["m 1, n 1, k 1, random inputs:"])
        code, out, _ = self.days("tune", "39", "--first", "2")
        self.assertEqual(code, 1)
        self.assertIn("FAIL\n    m 1, n 1, k 1, random inputs:\n", out)

    def test_json(self):
        code, out, _ = self.days("tune", "39", "--first", "2", "--check", "0", "--json", str(self.folder / "t.json"))
        self.assertEqual(code, 0, out)
        made = json.loads((self.folder / "t.json").read_text())
        self.assertEqual((made["device"], len(made["candidates"]), made["candidates"][0]["seconds"]), (None, 2, {}))

    def test_why_compiles_nothing(self):
        code, out, _ = self.days("tune", "39", "--why")
        self.assertEqual((code, self.compiled), (0, []))
        self.assertIn("not: warps divide the block", out)

    def test_wrong_words(self):
        for words, says in (((), "tune which day?"), (("38x",), 'no day "38x"'), (("13",), "has nothing to tune"),
                            (("39", "--first", "0"), '--first is a number from 1 to 10000, not "0"'),
                            (("39", "--first", "many"), "--first is a number"), (("39", "--check", "-1"), "--check is a number"),
                            (("39", "--class", "huge"), "--class is large or medium or small"),
                            (("39", "--arch", "h200"), "--arch is an architecture"), (("39", "--arch", "99"), "its limits are not known"),
                            (("39", "--fast"), "no flag --fast. Nearest: --first"), (("39", "--record"), "--record needs the GPU"),
                            (("39", "40"), "does not know what to do with")):
            code, _, err = self.days("tune", *words)
            self.assertEqual(code, 2, words)
            self.assertIn(says, " ".join(err.split()), words)
            self.assertIn("Next: ", err, words)

    def test_on_a_gpu_what_is_wrong_is_not_timed(self):
        timed = []

        def time(kernel, names, flags):
            timed.append(flags)
            return {"rows": [{"name": "exercise", "seconds": 0.004 - 0.001 * len(timed) / 10}]}, None
        with mock.patch.object(gpus, "detect", lambda: gpus.Probe(gpus.Gpu("NVIDIA H200", (9, 0), 1 << 37))), \
                mock.patch.object(judge, "timed", time):
            code, out, _ = self.days("tune", "39", "--first", "2")
            self.assertEqual((code, len(timed)), (0, 4))
            self.assertEqual(timed[0], ["--size", "4096x4096x4096"])
            self.assertEqual({backend for _, backend in self.checked}, {"cuda"})
            self.assertIn("4096 ms", out)
            self.verdict = stages.Stage("correct", "FAIL", "", ["c[0,0] yours nan"])
            code, out, _ = self.days("tune", "39", "--first", "3")
            self.assertEqual((code, len(timed)), (1, 4))
            self.assertRegex(out, r"FAIL\n    c\[0,0\] yours nan\n")
            code, _, err = self.days("tune", "39", "--first", "2", "--record")
            self.assertEqual(code, 2)
            self.assertIn("nothing was measured for medium", err)


if __name__ == "__main__":
    import unittest
    unittest.main()
