#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""days test and days bench with a fake CMake, ctest and test programs: what is built, what is said, the exit code."""
import contextlib
import io
import json
import os
import sys
import unittest

import support
from days_cli import cmake_tools, gpu, passed, paths
from days_cli import testing

sys.path.insert(0, str(support.ROOT / "tests"))
import record_seconds  # noqa: E402

_CASES = {
    "good": {"name": "", "result": "COMPLETED"},
    "wrong": {"name": "", "result": "COMPLETED"},
    "silent": {"name": "", "result": "SKIPPED"},
    "skip": {"name": "", "result": "SKIPPED", "skipped": [{"message": "x.cpp:3\nneeds sm_90, this is sm_75\n"}]},
    "bad": {"name": "", "result": "COMPLETED",
            "failures": [{"failure": "tests/x.cpp:7\n33 x 33: out[0,32] is nan, expected 0.01823", "type": ""}]},
}


class Summary(support.Case):
    def setUp(self):
        super().setUp()
        self.root = self.folder / "repository"
        for name in ("day05_matmul", "day14_softmax", "bench", "cmake", "build/cpu"):
            (self.root / name).mkdir(parents=True)
        support.describe(self.root / "day05_matmul")
        for name in ("CMakePresets.json", "CMakeLists.txt", "cmake/build.json"):
            (self.root / name).write_text((support.ROOT / name).read_text())
        for name, value in (("ROOT", self.root), ("BUILD", self.root / "build"), ("VENV", self.root / "build" / "venv")):
            self.replace(paths, name, value)
        self.replace(cmake_tools, "find_package", lambda thing: "1.12")
        self.replace(gpu, "detect", lambda: gpu.Probe())
        self.log = self.folder / "log"
        self.tool("ninja", "echo 1.11.1")
        self.cmake()
        self.ctest(("day05_test", ["day05"], "run", ["good", "good"]))

    def cmake(self, build="exit 0", configure="exit 0"):
        self.tool("cmake", f"""echo "cmake $*" >> "{self.log}"
case "$*" in --version) echo 3.25.1 ;; --build*) {build} ;; *) {configure} ;; esac""")

    def ctest(self, *tests, code=0):
        """tests: (name, labels, ctest's status, kinds of cases or None for a program that is no GoogleTest)."""
        listed = {"tests": [dict({"name": name, "properties": [{"name": "LABELS", "value": labels}]},
                                 **({"command": ["/usr/bin/python3", "x.py"]} if "python" in labels else {}))
                            for name, labels, _, _ in tests]}
        xml = "".join(f'<testcase name="{name}" status="{status}"><system-out>said by {name}</system-out></testcase>'
                      for name, _, status, _ in tests)
        writes = ""
        for name, _, _, kinds in tests:
            if kinds is not None:
                cases = [dict(_CASES[kind], name=f"naive/fp32_{size}x33") for size, kind in enumerate(kinds, 1)]
                if "wrong" in kinds:
                    cases[kinds.index("wrong")]["name"] = "must_reject/zeros"
                text = json.dumps({"testsuites": [{"name": "day05_matmul", "testsuite": cases}]})
                writes += f"""printf '%s' '{text.replace(chr(92), chr(92) * 2)}' | sed 's/\\\\\\\\/\\\\/g' > "$results/{name}.json"\n"""
        self.tool("ctest", f"""echo "ctest $*" >> "{self.log}"
case "$*" in *--version*) echo 3.25.1; exit ;; *show-only*) echo '{json.dumps(listed)}'; exit ;; esac
results=${{GTEST_OUTPUT#json:}}
mkdir -p "$results"
{writes}
echo '    Start 1: {tests[0][0]}'
printf '%s' '<testsuite>{xml}</testsuite>' > "$results/ctest.xml"
exit {code}""")

    def run_days(self, *line, code):
        got, out, err = self.days(*line)
        self.assertEqual(got, code, out + err)
        return out, " ".join(err.split())

    def test_all_good(self):
        out, err = self.run_days("test", "5", code=0)
        self.assertEqual(err, "")
        self.assertEqual(out, "".join(f"Day 05 matmul on this CPU ({preset}): 1 rung x 2 shapes\n"
                                      "naive        ..\n2 passed, 0 failed, 0 skipped\n"
                                      for preset in ("cpu", "cpu-checked")))
        log = self.log.read_text()
        self.assertIn("cmake --preset cpu\n", log)
        self.assertIn("cmake --build --preset cpu --target day05_test\n", log)
        self.assertIn("ctest --preset cpu -L ^day05$ --output-junit", log)

    def test_seconds_are_recorded_for_the_next_order(self):
        recorded = self.root / "tests" / "seconds.json"
        recorded.parent.mkdir()
        recorded.write_text(json.dumps({"about": "...", "cuda": {}, "cpu": {"day03_test": 7, "day05_test": 9, "day14_test": 5}}))
        results = self.root / "build" / "cpu" / "test-results" / "ctest.xml"
        results.parent.mkdir(parents=True)

        def record(*tests):
            results.write_text("<testsuite>" + "".join(f'<testcase name="{name}" time="{seconds}" status="{status}"/>'
                                                       for name, seconds, status in tests) + "</testsuite>")
            self.assertEqual(record_seconds.main(["cpu"], self.root), 0)
            return json.loads(recorded.read_text())["cpu"]

        one = record(("day05_test", "12.6", "run"), ("day05_hello", "0.1", "run"))
        self.assertEqual(one, {"day03_test": 7, "day05_hello": 1, "day05_test": 13, "day14_test": 5})
        all_of_them = record(("day05_test", "99", "fail"), ("day14_test", "40.2", "run"))
        self.assertEqual(all_of_them, {"day05_test": 13, "day14_test": 40})
        results.unlink()
        for presets, code in ((["cpu"], 1), (["gpu"], 2), ([], 2)):
            with contextlib.redirect_stderr(io.StringIO()) as said:
                self.assertEqual(record_seconds.main(presets, self.root), code)
            self.assertIn("error: ", said.getvalue())

    def test_rungs_that_an_edit_left_alone_are_spared_and_named(self):
        support.describe(self.root / "day05_matmul", support.ladder("matmul", {"naive": "m_naive", "wide": "m_wide"}))
        for number, rung in enumerate(("naive", "wide"), 1):
            (self.root / "day05_matmul" / f"0{number}_{rung}.cu").write_text(f"void m_{rung}(const Matmul<float>& p) {{}}")
        self.ctest(("day05_test", ["day05"], "run", ["good"]))
        self.tool("ctest", f"echo \"filter $GTEST_FILTER\" >> '{self.log}'\n" + (self.bin / "ctest").read_text())
        self.replace(passed, "spared", lambda *of: ["day05_matmul.wide", "day05_matmul.CPU_parallel"])
        out, _ = self.run_days("test", "5", code=0)
        self.assertIn("filter -day05_matmul.wide/*:day05_matmul.CPU_parallel/*\n", self.log.read_text())
        self.assertTrue(out.endswith("unchanged since all passed, and not run: wide\n"), out)
        self.log.write_text("")
        self.run_days("test", "5", "--all", code=0)
        self.run_days("test", code=0)
        self.assertNotIn("filter -", self.log.read_text())

    def test_skips_are_counted_with_their_reason(self):
        self.ctest(("day05_test", ["day05"], "run", ["good", "skip", "skip"]))
        out, _ = self.run_days("test", "5", code=0)
        self.assertIn("naive        .ss\n", out)
        self.assertIn("2 skipped: needs sm_90, this is sm_75", out)
        self.assertIn("1 passed, 0 failed, 2 skipped", out)

    def test_reasons_from_the_text(self):
        """GoogleTest before 1.13 has them nowhere else."""
        text = """[ RUN      ] day05_matmul.naive/fp32_1x33
/x/testing.h:147: Skipped
not built
[  SKIPPED ] day05_matmul.naive/fp32_1x33 (0 ms)"""
        case = testing._case("day05_matmul", {"name": "naive/fp32_1x33", "result": "SKIPPED"}, text)
        self.assertEqual(case.message.strip().splitlines()[-1], "not built")

    def test_a_variant_that_never_ran(self):
        self.ctest(("day05_test", ["day05"], "run", ["wrong", "silent", "silent"]))
        out, _ = self.run_days("test", "5", code=0)
        self.assertIn("naive        ss  says not why\nmust be rejected: zeros ok\n", out)

    def test_failure(self):
        self.ctest(("day05_test", ["day05"], "fail", ["good", "bad"]), code=8)
        out, _ = self.run_days("test", "5", code=1)
        self.assertIn("naive        .F\n", out)
        self.assertIn("33 x 33: out[0,32] is nan, expected 0.01823", out)
        self.assertIn("Next: build/cpu/bin/day05_test --gtest_filter='day05_matmul.naive/fp32_2x33'", out)
        self.assertIn("1 passed, 1 failed, 0 skipped on this CPU (cpu)", out)

    def test_no_case_failed_but_the_program_did(self):
        self.ctest(("day05_test", ["day05"], "fail", ["skip"]), code=8)
        out, _ = self.run_days("test", "5", code=1)
        self.assertIn("said by day05_test", out)
        self.assertIn("0 passed, 1 failed, 1 skipped", out)

    def test_crash(self):
        self.ctest(("day05_test", ["day05"], "fail", None), code=8)
        out, _ = self.run_days("test", "5", code=1)
        self.assertIn("FAIL", out)
        self.assertIn("said by day05_test", out)

    def test_nothing_ran(self):
        self.ctest(("day05_test", ["day05"], "run", ["skip", "skip"]))
        self.run_days("test", "5", code=1)

    def test_other_programs(self):
        self.ctest(("day05_test", ["day05"], "run", ["good"]), ("day05_sectors", ["day05", "program"], "run", None),
                   ("test_cli", ["python"], "run", None))
        out, _ = self.run_days("test", code=0)
        self.assertIn("day05_sectors                    ok", out)
        self.assertIn("3 passed, 0 failed, 0 skipped on this CPU (cpu)", out)
        self.assertIn("--target day05_sectors day05_test\n", self.log.read_text())

    def test_without_tests(self):
        self.tool("ctest", """case "$*" in --version) echo 3.25.1 ;; *) echo '{"tests": []}' ;; esac""")
        self.assertIn("error: day 05 matmul has no tests", self.run_days("test", "5", code=1)[1])

    def test_ctest_that_stops_halfway(self):
        self.ctest(("day05_test", ["day05"], "run", ["good"]), ("day05_sectors", ["day05"], "run", None))
        script = (self.bin / "ctest").read_text()
        self.tool("ctest", script[len("#!/bin/sh\n"):].replace('<testcase name="day05_sectors"', '<gone name="x"')
                  .replace("</testcase></testsuite>", "</gone></testsuite>"))
        self.assertIn("error: ctest ran 1 of 2 tests", self.run_days("test", "5", code=1)[1])

    def test_does_not_configure(self):
        self.cmake(configure="echo 'CMake Error at x:1 (message):'; echo '  GTest cannot be downloaded'; echo; exit 1")
        self.assertIn("error: cmake --preset cpu fails: GTest cannot be downloaded Next: cmake --preset cpu",
                      self.run_days("test", code=3)[1])

    def test_does_not_compile(self):
        self.cmake(build="""echo '[1/9] Building CXX object day05_matmul/CMakeFiles/day05_kernels.dir/02_x.cu.o'
echo 'FAILED: day05_matmul/CMakeFiles/day05_kernels.dir/02_x.cu.o'
echo "day05_matmul/02_x.cu:7:3: error: expected ;"; exit 1""")
        err = self.run_days("test", code=1)[1]
        self.assertIn("day05_matmul/02_x.cu:7:3: error: expected ;", err)
        self.assertIn("error: 02_x.cu does not compile Next: cmake --build --preset cpu", err)

    def test_moved_clone_is_configured_afresh(self):
        cache = self.root / "build" / "cpu" / "CMakeCache.txt"
        cache.write_text("CMAKE_HOME_DIRECTORY:INTERNAL=/elsewhere\n")
        self.run_days("test", "5", code=0)
        self.assertIn("cmake --preset cpu --fresh\n", self.log.read_text())
        self.log.write_text("")
        cache.write_text(f"CMAKE_HOME_DIRECTORY:INTERNAL={self.root}\n")
        self.run_days("test", "5", code=0)
        self.assertNotIn("--fresh", self.log.read_text())

    def test_what_is_configured_is_not_configured_again(self):
        folder = self.root / "build" / "cpu"
        (folder / "CMakeCache.txt").write_text(f"CMAKE_HOME_DIRECTORY:INTERNAL={self.root}\n")
        (folder / "build.ninja").write_text("")
        self.tool("ninja", f"""echo "ninja $*" >> "{self.log}"; echo 1.11.1""")
        self.run_days("test", "5", "--preset", "cpu", code=0)
        self.assertIn(f"ninja -C {folder} build.ninja\n", self.log.read_text())  # which looks whether CMake has work
        self.assertNotIn("cmake --preset cpu\n", self.log.read_text())
        self.log.write_text("")
        os.utime(self.root / "CMakePresets.json", (2**32, 2**32))  # of which Ninja knows nothing
        self.run_days("test", "5", "--preset", "cpu", code=0)
        self.assertIn("cmake --preset cpu\n", self.log.read_text())
        os.utime(self.root / "CMakePresets.json", (1, 1))
        self.tool("ninja", "case $1 in -C) exit 1 ;; esac; echo 1.11.1")  # CMake says best what is wrong
        self.log.write_text("")
        self.run_days("test", "5", "--preset", "cpu", code=0)
        self.assertIn("cmake --preset cpu\n", self.log.read_text())

    def test_all_cases_of_a_checked_build(self):
        self.tool("ctest", (self.bin / "ctest").read_text()[len("#!/bin/sh\n"):].replace(
            "mkdir -p", f'echo "all: $DAYS_TEST_ALL" >> "{self.log}"; mkdir -p', 1))
        os.environ.pop("DAYS_TEST_ALL", None)
        self.run_days("test", "5", "--checked", code=0)
        self.assertIn("all: \n", self.log.read_text())
        self.run_days("test", "5", "--checked", "--all", code=0)
        self.assertIn("all: 1\n", self.log.read_text())

    def test_several_presets(self):
        self.run_days("test", "5", "--preset", "cpu,cpu-checked", code=0)
        self.assertIn("ctest --preset cpu-checked", self.log.read_text())
        self.log.write_text("")
        self.run_days("test", "5", "--checked", code=0)
        self.assertNotIn("--preset cpu ", self.log.read_text())

    def benchmark(self, script):
        program = self.root / "build" / "cpu" / "bin" / "day05_bench"
        program.parent.mkdir(exist_ok=True)
        program.write_text(f'#!/bin/sh\necho "bench $*" >> "{self.log}"\n{script}\n')
        program.chmod(0o755)

    def test_bench(self):
        self.benchmark("exit 0")
        self.run_days("bench", "5", "--benchmark_filter=vector", code=0)
        self.assertIn("cmake --build --preset cpu --target day05_bench\n", self.log.read_text())
        self.assertIn("bench --benchmark_color=false --benchmark_filter=vector\n", self.log.read_text())
        self.run_days("bench", "--", "--benchmark_list_tests", code=0)
        self.assertIn("bench --benchmark_color=false --benchmark_list_tests\n", self.log.read_text())

    def test_bench_fails(self):
        self.benchmark("exit 1")
        self.run_days("bench", "5", code=1)
        self.benchmark("kill -SEGV $$")
        self.assertIn("was ended by SIGSEGV", self.run_days("bench", "5", code=1)[1])

    def test_day_without_benchmark(self):
        self.assertIn("error: day 14 has no benchmark", self.run_days("bench", "14", code=2)[1])


if __name__ == "__main__":
    unittest.main()
