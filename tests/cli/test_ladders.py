#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What days reads of a ladder.cpp, and tools/check_kernels.py."""
import importlib.util
import unittest

import support
from days_cli import catalog, ladders

_LADDER = '''
const auto scale = days::ladder<Scale>("scale")
    .variant("plain", LAUNCHER(scale_plain))
    .variant("half2", LAUNCHER(scale_half2)).needs(kWhole)
    .variant(rung("quick").c_str(), LAUNCHER(common::scale_quick))
    .exercise(LAUNCHER(exercise), "a goal, in "
              "two parts", "plain", "half2", {.speed = 0.5});
'''


class Ladders(support.Case):
    def day(self, ladder, **files):
        for name, text in {"ladder.cpp": ladder, **{f"{name[1:]}.cu": text for name, text in files.items()}}.items():
            (self.folder / name).write_text(text)
        return catalog.Day(97, "scale", "", self.folder)

    def test_a_file_may_hold_several_rungs(self):
        day = self.day(_LADDER, _01_plain="template <class T>\nvoid scale_plain(const Scale<T>& p, cudaStream_t stream) {\n}\n",
                       _02_more="void scale_half2(const days::Scale<float>& p, cudaStream_t) {}\nvoid scale_quick(const Scale<int>&"
                       " p, cudaStream_t) {}\nvoid helper(const Scale<int>& p) {}\n")
        self.assertEqual({name: file.name for name, file in ladders.files(day).items()},
                         {"plain": "01_plain.cu", "half2": "02_more.cu", "quick": "02_more.cu"})
        self.assertEqual(ladders.exercise(day), ("a goal, in two parts", "plain", "half2"))

    def test_without_an_exercise(self):
        self.assertIsNone(ladders.exercise(self.day("")))
        self.assertEqual(ladders.files(self.day("")), {})

    def test_every_rung_here_has_a_file(self):
        for day in catalog.here():
            if day.kind != "ladder":
                continue
            files = ladders.files(day)
            rows = (day.folder / "ladder.cpp").read_text(encoding="utf-8").count(".variant(")
            self.assertEqual(len(files), rows, f"{day.target}: each row of ladder.cpp has a kernel's file")
            exercise = ladders.exercise(day)
            self.assertLessEqual(set(exercise[1:] if exercise else ()), set(files), day.target)


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
        self.assertEqual(list(self.tool.unseen("// __global__\nint x;")),
                         ["no __global__ function: a rung's kernel stands in its file"])
        self.assertEqual(list(self.tool.unseen(head + "__global__ void k() { my_mma_sync(\"ldmatrix\"); }")),
                         ["teaches mma_sync, which does not occur in its code",
                          "teaches ldmatrix, which does not occur in its code"])


if __name__ == "__main__":
    unittest.main()
