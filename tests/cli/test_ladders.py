#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What days reads of a ladder.json, and tools/check_kernels.py."""
import importlib.util
import json
import tempfile
import unittest
from pathlib import Path

import support
from days_cli import catalog, ladders
from days_cli.errors import DaysError



class Ladders(support.Case):
    def day(self, *ladders, **files):
        support.describe(self.folder, *ladders)
        for name, text in files.items():
            (self.folder / f"{name[1:]}.cu").write_text(text)
        return catalog.Day(97, "scale", "", self.folder)

    def test_a_file_may_hold_several_rungs(self):
        scale = support.ladder("scale", {"plain": "scale_plain", "half2": "scale_half2", "quick": "scale_quick"},
                               exercise={"goal": "a goal", "starts": "plain", "solution": "half2", "gates": {}})
        more = support.ladder("back", {"back_plain": "scale_plain", "other": "scale_other"})
        day = self.day(scale, more, _01_plain="template <class T>\nvoid scale_plain(const Scale<T>& p, cudaStream_t stream) {\n}\n",
                       _02_more="void scale_half2(const days::Scale<float>& p, cudaStream_t) {}\nvoid scale_quick(const Scale<int>&"
                       " p, cudaStream_t) {}\nvoid helper(const Scale<int>& p) {}\n")
        self.assertEqual({name: file.name for name, file in ladders.files(day).items()},
                         {"plain": "01_plain.cu", "half2": "02_more.cu", "quick": "02_more.cu"})
        self.assertEqual(ladders.exercise(day), ("a goal", "plain", "half2"))
        self.assertEqual([(rung.ladder, rung.name, rung.also) for rung in ladders.variants(day)],
                         [("scale", "plain", ("back_plain",)), ("scale", "half2", ()), ("scale", "quick", ()), ("back", "other", ())])
        self.assertEqual(ladders.names(day), ["plain", "half2", "quick", "back_plain", "other"])

    def test_without_an_exercise(self):
        day = self.day(support.ladder("scale", {}))
        self.assertIsNone(ladders.exercise(day))
        self.assertEqual(ladders.files(day), {})

    def test_a_file_that_is_missing_or_damaged(self):
        day = self.day()
        for break_, said in ((lambda: ladders.file(day).write_text('{"ladders": ['), "ladder.json cannot be read"),
                             (lambda: ladders.file(day).unlink(), "day97_scale has no ladder.json")):
            break_()
            ladders._parsed.cache_clear()
            with self.assertRaises(DaysError) as raised:
                ladders.of(day)
            self.assertIn(said, raised.exception.message)
            self.assertIn("tools/ladder_json.py", raised.exception.hint)
        (day.folder / "ladder.cpp").unlink()
        self.assertEqual(ladders.of(day), [])

    def test_a_number_is_of_the_code_alone(self):
        text = '.variant("a", LAUNCHER(f))'
        self.assertEqual(ladders.number(text), ladders.number("// why\n" + text.replace(" ", "\n    ")))
        self.assertNotEqual(ladders.number(text), ladders.number(text.replace('"a"', '"a "')))

    def test_what_report_says_of_a_file(self):
        spec = importlib.util.spec_from_file_location("ladder_json", support.ROOT / "tools" / "ladder_json.py")
        tool = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(tool)
        day = self.day(support.ladder("scale", {"plain": "scale_plain"}), _01_plain="void scale_plain(const Scale<int>& p) {}\n")
        self.assertEqual(tool.problems(day), ["is of another ladder.cpp"])
        ladders.file(day).write_text(ladders.with_source('{\n  "ladders": []\n}\n', ladders.source(day)))
        self.assertEqual(tool.problems(day), [])
        self.assertEqual(ladders.of(day), [])
        one = support.ladder("scale", {"gone": "scale_gone"})
        ladders.file(day).write_text(ladders.with_source("{\n" + json.dumps({"ladders": [one]})[1:], ladders.source(day)))
        self.assertEqual(tool.problems(day), ["names scale_gone, and no NN_*.cu of the day defines it"])
        ladders.file(day).unlink()
        self.assertEqual(tool.problems(day), ["is not there"])

    def test_every_rung_here_has_a_file(self):
        for day in catalog.here():
            if not day.kind.links:
                continue
            files = ladders.files(day)
            rows = (day.folder / "ladder.cpp").read_text(encoding="utf-8").count(".variant(")
            self.assertEqual(len(files), rows, f"{day.target}: each row of ladder.cpp has a kernel's file")
            self.assertEqual(set(files), {rung.name for rung in ladders.variants(day)}, day.target)
            exercise = ladders.exercise(day)
            self.assertLessEqual(set(exercise[1:] if exercise else ()), set(files), day.target)


class WrongKernels(unittest.TestCase):
    def test_a_day_has_six_at_most(self):
        for path in sorted(support.ROOT.glob("day[0-9][0-9]_*/tests/wrong.cu")):
            self.assertIn(path.read_text(encoding="utf-8").count("\nMUST_REJECT"), range(1, 7), path.parent.parent.name)


class Kernels(unittest.TestCase):
    def setUp(self):
        spec = importlib.util.spec_from_file_location("check_kernels", support.ROOT / "tools" / "check_kernels.py")
        self.tool = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.tool)

    def test_unchecked_launches(self):
        text = "// k<<<1, 2>>>();\nk<<<1, 2>>>();\nCUDA_CHECK_LAUNCH();\nk<<<3, 4>>>(\n    x);\nreturn;\n"
        self.assertEqual(list(self.tool.launches(text)), [(2, True), (4, False)])

    def test_rungs_without_their_kernel_or_instruction(self):
        head = "// SPDX-License-Identifier: MIT\n// Teaches: mma_sync,\n// ldmatrix.\n"
        self.assertEqual(list(self.tool.unseen(head + "__global__ void k() { mma_sync(ldmatrix()); }")), [])
        self.assertEqual(list(self.tool.unseen("void rung() { model::multiply(p, stream); }")), [])
        self.assertEqual(list(self.tool.unseen("// __global__, multiply()\nint x;")),
                         ["no __global__ function: a rung's kernel stands in its file"])
        self.assertEqual(list(self.tool.unseen(head + "__global__ void k() { my_mma_sync(\"ldmatrix\"); }")),
                         ["teaches mma_sync, which does not occur in its code",
                          "teaches ldmatrix, which does not occur in its code"])

    def test_rungs_that_operators_name(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "op.py"
            file.write_text('RUNGS = ("tiled", "plain")\na = Op("x[n] -> y[n]", "a", RUNGS)\nb = Op("x[n] -> y[n]", "b", ("wide",), sums=True)\n')
            self.assertEqual(list(self.tool.operators(file)), [(2, "tiled"), (2, "plain"), (3, "wide")])


if __name__ == "__main__":
    unittest.main()
