#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reports of ncu, read in all their forms and by the four questions. The figures are made up; no ncu runs."""
import contextlib
import io
import json
import subprocess
import sys
import unittest
from unittest import mock

import support
import ncu_counters
import ncu_report
from days_cli import paths

TOOL = paths.ROOT / "tools" / "ncu_report.py"
PREAMBLE = "==PROF== Connected to process 7\n==PROF== Profiling \"candidate_kernel\": 0%\nok: right\n==PROF== Disconnected\n"
_HEAD = '"ID","Process ID","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC"'
_KERNEL = '"0","7","day40::candidate_kernel(const float *, const float *, float *, int, int)","1","7","(32, 8, 1)","(32, 1, 1)","0","9.0"'
RAW = {ncu_report.MEMORY: ("%", "21.5"), ncu_report.ARITHMETIC: ("%", "3.2"), "dram__throughput.avg.pct_of_peak_sustained_elapsed": ("%", "4.75"),
       ncu_report.L1: ("%", "90.1"), ncu_report.DURATION: ("ns", "1,234,500"), "device__attribute_multiprocessor_count": ("", "132"),
       ncu_report.WAVES: ("", "0.05"), ncu_report.REGISTERS: ("register/thread", "46"), ncu_report.POSSIBLE: ("%", "62.5"),
       ncu_report.ACHIEVED: ("%", "12.4"), "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio": ("inst", "2.5"),
       "smsp__average_warps_issue_stalled_mio_throttle_per_issue_active.ratio": ("inst", "9.25"),
       "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio": ("inst", "0"),
       "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum": ("", "100"), "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum": ("sector", "3,200"),
       "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum": ("", "64"), "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum": ("", "62"),
       "launch__name_of_something": ("", "text")}


def raw_page(figures):
    quoted = lambda words: ",".join(f'"{word}"' for word in words)
    return (PREAMBLE + _HEAD + "," + quoted(figures) + "\n" + ",".join(['""'] * 9) + "," + quoted(unit for unit, _ in figures.values())
            + "\n" + _KERNEL + "," + quoted(value for _, value in figures.values()) + "\n")


def details_page(*rows):
    return (PREAMBLE + _HEAD + ',"Section Name","Metric Name","Metric Unit","Metric Value","Rule Name","Rule Type"\n'
            + "".join(f'{_KERNEL},"{section}","{name}","{unit}","{value}","",""\n' for section, name, unit, value in rows)
            + f'{_KERNEL},"Launch Statistics","","","","LaunchConfiguration","WRN"\n')


def tool(*arguments):
    return subprocess.run([sys.executable, str(TOOL), *map(str, arguments)], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)


class Read(support.Case):
    def file(self, text, name="report.csv"):
        path = self.folder / name
        path.write_text(text)
        return path

    def refused(self, path):
        error = io.StringIO()
        with contextlib.redirect_stderr(error), self.assertRaises(SystemExit) as stopped:
            ncu_report.read(path)
        self.assertEqual(stopped.exception.code, 2)
        return error.getvalue()

    def test_the_raw_page(self):
        launch, = ncu_report.read(self.file(raw_page(RAW)))
        self.assertEqual((launch["kernel"], launch["grid"], launch["block"]), ("candidate_kernel", [32, 1, 1], [32, 8, 1]))
        self.assertEqual(launch["figures"][ncu_report.DURATION], 1234500)
        self.assertEqual(launch["figures"][ncu_report.MULTIPROCESSORS], 132)
        self.assertEqual(launch["figures"][ncu_report.DRAM], 4.75)
        self.assertNotIn("launch__name_of_something", launch["figures"])

    def test_the_details_page(self):
        launch, = ncu_report.read(self.file(details_page(
            ("GPU Speed Of Light Throughput", "Memory Throughput", "%", "71.5"), ("GPU Speed Of Light Throughput", "Duration", "ms", "1.25"),
            ("Memory Workload Analysis", "Memory Throughput", "Gbyte/s", "900"), ("Launch Statistics", "Waves Per SM", "", "3.5"))))
        self.assertEqual(launch["figures"][ncu_report.MEMORY], 71.5)  # and not the one of the other section
        self.assertEqual(launch["figures"][ncu_report.DURATION], 1.25e6)
        self.assertEqual(launch["figures"][ncu_report.WAVES], 3.5)

    def test_names_of_kernels(self):
        for name in ("day40::(anonymous namespace)::a_kernel(const float *)", "void day40::<unnamed>::a_kernel<float, 8>(int)",
                     "unnamed>::a_kernel(const float *, int)", "void unnamed>::a_kernel<__half, 0>(Matmul<T1>, int)", "a_kernel"):
            self.assertEqual(ncu_counters.function_name(name), "a_kernel")

    def test_what_was_recorded(self):
        launches = ncu_report.read(self.file(raw_page(RAW)))
        self.assertEqual(ncu_report.read(self.file(json.dumps({"kernels": launches}), "report.json")), launches)

    def test_what_is_no_report(self):
        self.assertIn("there is no file", self.refused(self.folder / "none.csv"))
        for text in ("", "hello\n", PREAMBLE, "{}", '{"kernels": []}', '{"kernels": [{"kernel": "k"}]}', "[1]"):
            self.assertIn("is no report", self.refused(self.file(text)))
        self.assertIn("ERR_NVGPUCTRPERM", self.refused(self.file("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission")))

    def test_its_own_format_needs_ncu(self):
        with mock.patch.object(ncu_report.shutil, "which", return_value=None):
            self.assertIn("ncu --import report.ncu-rep --csv --page raw", self.refused(self.file("x", "report.ncu-rep")))


class Show(support.Case):
    def launch(self, grid=(32, 1, 1), **more):
        figures = ncu_report.parse(raw_page(RAW))[0]["figures"] | {getattr(ncu_report, name): value for name, value in more.items()}
        return {"kernel": "k", "grid": list(grid), "block": [32, 8, 1], "figures": figures}

    def test_the_four_questions(self):
        self.assertEqual(ncu_report.show(self.launch()), [
            "k: grid 32, block 32 x 8; 1,234.5 µs",
            "  Are there enough?        32 blocks for 132 multiprocessors, 0.05 waves",
            "                           warps: 62% possible, 12% there; 46 registers a thread",
            "  Is anything busy?        memory 22%, arithmetic 3%, DRAM 5%",
            "                           L1 90%, of the cycles in which it has work",
            "  Are the sectors used?    store: 32.0 sectors a request",
            "                           shared load: 62 of 64 wavefronts are conflicts",
            "  What do warps wait for?  mio throttle: 9.2 cycles an instruction",
            "                           long scoreboard: 2.5 cycles an instruction",
            "  -> Too few blocks, so that all shares of peaks are small: mend that first."])

    def test_what_it_answers_first(self):
        first = lambda **more: ncu_report.first(self.launch((4096, 1, 1), **more)["figures"], self.launch((4096, 1, 1)))
        self.assertIn("what the warps wait for", first())
        self.assertIn("sectors and banks", first(MEMORY=80))
        self.assertIn("DRAM is busy", first(MEMORY=90, DRAM=90))
        self.assertIn("Arithmetic is busy", first(MEMORY=70, ARITHMETIC=85))
        self.assertEqual(ncu_report.first({}, self.launch()), "")

    def test_what_is_missing_names_its_section(self):
        lines = ncu_report.show({"kernel": "k", "grid": [], "block": [], "figures": {}})
        for (question, section, _), line in zip(ncu_report.QUESTIONS, lines[1:]):
            self.assertEqual(line, f"  {question:<25}not in it: --section {section}")

    def test_beside_explain(self):
        counts = {"kernels": [{"name": "candidate_kernel", "grid": [32, 1, 1], "block": [32, 8, 1], "totals": {
            "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum": 100, "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum": 3200,
            "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum": 62}}]}
        report, explained = self.folder / "report.csv", self.folder / "counts.json"
        report.write_text(raw_page(RAW))
        explained.write_text(json.dumps(counts))
        done = tool("show", report, "--explain", explained)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("st sectors             3,200         3,200\n", done.stdout)
        counts["kernels"][0]["totals"]["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"] = 400
        explained.write_text(json.dumps(counts))
        done = tool("show", report, "--explain", explained)
        self.assertEqual(done.returncode, 1)
        self.assertIn("st sectors               400         3,200  differs", done.stdout)
        counts["kernels"][0]["name"] = "other_kernel"
        explained.write_text(json.dumps(counts))
        self.assertIn("no kernel is in both", tool("show", report, "--explain", explained).stderr)
        explained.write_text("nothing")
        self.assertEqual(tool("show", report, "--explain", explained).returncode, 2)


class CommandLine(support.Case):
    def test_words_that_mean_nothing(self):
        for words in ((), ("look",), ("show",), ("--bogus",), ("show", "x.csv", "--kernel"), ("recorded", "40"), ("recorded", "40", "none"),
                      ("recorded", "61", "x"), ("recorded", "x", "y"), ("record", "h200", "40", "none")):
            done = tool(*words)
            self.assertEqual((done.returncode, done.stdout), (2, ""), words)
            self.assertTrue(done.stderr.startswith("error: "), words)

    def test_what_was_never_recorded_says_how(self):
        with mock.patch.object(ncu_report, "ROOT", self.folder), contextlib.redirect_stdout(io.StringIO()) as said, \
                mock.patch.object(ncu_report, "launchers", return_value=("day40_nsight_compute", ["candidate"])):
            ncu_report.recorded("40", "candidate", "")
            folder = self.folder / "docs" / "results" / "h200" / "reports"
            folder.mkdir(parents=True)
            (folder / "day40_candidate.json").write_text(json.dumps(
                {"device": "NVIDIA H200", "cuda": "13.0", "ncu": "2025.3", "kernels": ncu_report.parse(raw_page(RAW))}))
            ncu_report.recorded("40", "candidate", "candidate_kernel")
        lines = said.getvalue().splitlines()
        self.assertEqual(lines[0], "not profiled on a GPU yet: tools/ncu_report.py record h200 40 candidate")
        self.assertEqual(lines[1:3], ["NVIDIA H200, CUDA 13.0, ncu 2025.3", "candidate_kernel: grid 32, block 32 x 8; 1,234.5 µs"])

    def test_what_was_counted(self):
        done = tool("counted", "13", "shared")
        self.assertIn("shared load: 1,015,808 of 1,048,576 wavefronts are conflicts", done.stdout)
        self.assertEqual((tool("counted", "13", "none").returncode, tool("counted", "x", "shared").returncode), (2, 2))

    def test_what_is_profiled(self):
        words = list(map(str, ncu_report.command("day40_nsight_compute", "spread", [{"kernel": "a"}, {"kernel": "b"}], "r.ncu-rep")))
        self.assertIn("regex:^(a|b)$", words)
        self.assertEqual(words[words.index("--launch-skip") + 1], "2")
        self.assertEqual(words[words.index("--launch-count") + 1], "2")
        self.assertEqual(words[-3:], ["build/run/cuda/day40_nsight_compute", "--variant", "spread"])


if __name__ == "__main__":
    unittest.main()
