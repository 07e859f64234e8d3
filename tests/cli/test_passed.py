#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which cases an edit of a rung leaves as they were: with a fake Ninja, and objects that a compiler made."""
import shutil
import subprocess
import unittest

import support
from days_cli import catalog, passed, paths

_LADDERS = (support.ladder("matmul", {name: f"matmul_{name}" for name in ("naive", "tiled", "wide")}),
            support.ladder("other", {"other_naive": "matmul_naive"}))
_RUNGS = {  # wide calls what tiled has
    "01_naive": "void matmul_naive(const Matmul<float>& p) {}",
    "02_tiled": "int tiles(int n) { return n; }\nvoid matmul_tiled(const Matmul<float>& p) { tiles(1); }",
    "03_wide": "int tiles(int);\nvoid matmul_wide(const Matmul<float>& p) { tiles(2); }",
}
_GROUPS = {"day05_matmul.naive", "day05_matmul.tiled", "day05_matmul.wide", "day05_other.other_naive", "day05_matmul.CPU_parallel",
           "day05_matmul.must_reject"}


class Passed(support.Case):
    def setUp(self):
        super().setUp()
        root = self.folder / "repository"
        self.day_folder, self.build = root / "day05_matmul", root / "build" / "cpu"
        self.objects = self.build / "CMakeFiles" / "day05_kernels.dir" / "day05_matmul"
        for folder in (self.day_folder, self.objects):
            folder.mkdir(parents=True)
        support.describe(self.day_folder, *_LADDERS)
        self.replace(paths, "ROOT", root)
        self.replace(paths, "BUILD", root / "build")
        for name, text in _RUNGS.items():
            (self.day_folder / f"{name}.cu").write_text(text)
            self.compile(name, text)
        (self.build / "libsimt.a").write_text("one")
        names = [path.relative_to(self.build) for path in sorted(self.objects.iterdir())] + ["libsimt.a", "rules.ninja"]
        self.tool("ninja", '[ "$1" = --version ] && exec echo 1.11.1\n' + "".join(f"echo '{name}'\n" for name in names))
        self.day = catalog.resolve("5", "test")
        self.keep()

    def compile(self, name, text):
        source = self.folder / "x.cpp"
        source.write_text("template <class T> struct Matmul { T x; };\n" + text)
        subprocess.run([shutil.which("g++") or "c++", "-c", str(source), "-o", str(self.objects / f"{name}.cu.o")], check=True)

    def edit(self, name):
        self.compile(name, _RUNGS[name] + "\nint more = 1;")

    def keep(self):
        passed.keep("cpu", self.day, passed.state("cpu", self.day), _GROUPS)

    def spared(self):
        return {group.partition(".")[2] for group in passed.spared("cpu", self.day, passed.state("cpu", self.day))}

    def test_an_edited_rung_runs_and_the_others_are_spared(self):
        self.edit("03_wide")
        self.assertEqual(self.spared(), {"naive", "tiled", "other_naive", "CPU_parallel"})

    def test_a_rung_is_run_in_each_ladder_that_has_it(self):
        self.edit("01_naive")
        self.assertEqual(self.spared(), {"tiled", "wide", "CPU_parallel"})

    def test_what_calls_an_edited_rungs_function_runs_too(self):
        self.edit("02_tiled")
        self.assertEqual(self.spared(), {"naive", "other_naive", "CPU_parallel"})

    def test_all_runs_where_nothing_has_changed(self):
        self.assertEqual(self.spared(), set())

    def test_all_runs_where_more_than_a_rung_has_changed(self):
        self.edit("03_wide")
        (self.build / "libsimt.a").write_text("two")
        self.assertEqual(self.spared(), set())

    def test_all_runs_where_a_rung_is_new(self):
        self.edit("03_wide")
        self.tool("ninja", (self.bin / "ninja").read_text() + "echo CMakeFiles/day05_kernels.dir/day05_matmul/04_new.cu.o\n")
        self.assertEqual(self.spared(), set())

    def test_all_runs_with_another_environment(self):
        self.edit("03_wide")
        self.environment(SIMT_ORDER="reversed")
        self.assertEqual(self.spared(), set())

    def test_all_runs_where_nothing_is_known_of_a_run_before(self):
        self.edit("03_wide")
        for text in ("{", "[]", '{"objects": {}}'):
            (self.build / "passed" / "day05.json").write_text(text)
            self.assertEqual(self.spared(), set(), text)

    def test_all_runs_where_objects_cannot_be_read(self):
        self.edit("03_wide")
        self.tool("nm", "exit 1")
        self.assertEqual(self.spared(), set())


if __name__ == "__main__":
    unittest.main()
