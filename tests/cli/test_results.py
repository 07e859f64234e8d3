#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Result files: shown, recorded, compared, never overwritten by another machine's; the benchmark program is a fake."""
import json
import unittest

import support
from days_cli import catalog, clocks, cmake_tools, compare, gpu, paths, result_table, results
from days_cli.errors import DaysError
from support import result_file, result_row, result_table as table


def plain():
    return table([result_row("naive", 4000), result_row("padded", 600, noise=0.05),
                  {"name": "cluster", "kind": "variant", "result": "skip", "reason": "needs sm_100, this is sm_90"},
                  {"name": "wrong", "kind": "variant", "result": "fail", "report": "[0,32] is nan, expected 0.01823"},
                  result_row("cuBLAS geam", 660, kind="library"),
                  {"name": "CPU loops", "kind": "cpu", "shape": [16384, 16384], "seconds": 5.5, "bytes_per_second": 3.9e8}])


class Files(support.Case):
    def test_names_of_devices(self):
        for name, folder in (("NVIDIA H200", "h200"), ("Tesla T4", "t4"), ("NVIDIA A100-SXM4-80GB", "a100-sxm4-80gb"),
                             ("NVIDIA GeForce RTX 4090", "rtx-4090"), ("NVIDIA H100 80GB HBM3", "h100"), ("NVIDIA H100 PCIe", "h100-pcie"),
                             ("NVIDIA Graphics Device", "gpu")):
            self.assertEqual(results.slug(name), folder)

    def save(self, old, new):
        path = self.folder / "day13.json"
        results.write(path, old)
        target, remarks = results.save(path, new)
        self.assertEqual(results.load(target), new)
        if target != path:
            self.assertEqual(results.load(path), old)
        return target.name, " ".join(remarks)

    def test_another_machine_gets_another_file(self):
        old = result_file([plain()])
        for change, name, said in (
                ({}, "day13.json", ""),
                ({"date": "2027-01-01T00:00:00Z"}, "day13.json", ""),
                ({"cuda": "13.1"}, "day13-cuda13.1-driver580.82.07.json", "CUDA 13.0, now 13.1"),
                ({"driver": "590.1"}, "day13-cuda13.0-driver590.1.json", "driver 580.82.07, now 590.1"),
                ({"name": "Tesla T4"}, "day13-t4-cuda13.0-driver580.82.07.json", "GPU NVIDIA H200, now Tesla T4")):
            got, remark = self.save(old, result_file([plain()], **change))
            self.assertEqual(got, name)
            self.assertIn(said, remark)
            self.assertEqual("is kept" in remark, name != "day13.json")

    def test_a_file_without_the_drivers_version(self):
        old = result_file([plain()])
        del old["driver_version"]
        self.assertEqual(self.save(old, result_file([plain()]))[0], "day13.json")
        self.assertEqual(self.save(old, dict(result_file([plain()]), driver="13.1"))[0], "day13-cuda13.0-driver580.82.07.json")

    def test_tables_that_go_are_named(self):
        old = result_file([plain(), table([result_row("naive", 1)], 16381)])
        self.assertIn("these of its tables are no more: transpose 16381 x 16384 fp32", self.save(old, result_file([plain()]))[1])

    def test_what_is_no_result_file(self):
        path = self.folder / "x.json"
        for text in ("{", "[]", '{"schema": 2}'):
            path.write_text(text)
            with self.assertRaises(DaysError):
                results.place(path, result_file([]))
            self.assertEqual(path.read_text(), text)
        with self.assertRaises(DaysError):
            results.load(self.folder / "none.json")


class Tables(support.Case):
    def test_a_table(self):
        text = result_table.render(result_file([plain()]))
        self.check_form(text)
        self.assertEqual(text, """\
Day 13 transpose, 16384 x 16384 fp32, 1 GiB in + 1 GiB out
NVIDIA H200 sm_90, CUDA 13.0, driver 580.82.07. Limit = its own copy, 4000 GB/s
  in a burst, 3880 sustained, measured in the same run

rung        result  error           time     GB/s  of limit         sust.  x lib
naive       ok      0            4.00 ms      537  #           13%    14%   0.17
padded      ok      0         600 us ±5%     3579  #########   89%    92%   1.10
cluster     skip    needs sm_100, this is sm_90
wrong       FAIL    not timed
  [0,32] is nan, expected 0.01823
cuBLAS geam ok      0             660 us     3254  ########    81%    84%   1.00
CPU loops                         5.50 s    0.390""")

    def test_as_the_executables_write_numbers(self):
        self.assertEqual([result_table.digits(x) for x in (0.1234, 3.8449, 9.996, 44.64, 99.96, 12345)],
                         ["0.123", "3.84", "10.0", "44.6", "100", "12345"])
        self.assertEqual([result_table.time_text(x) for x in (9.996e-4, 3.84e-3, 9.9960, 5.2e-7)],
                         ["1.00 ms", "3.84 ms", "10.0 s", "0.520 us"])
        self.assertEqual([result_table.bytes_text(x) for x in (1073741820.0, 2**28, 1000, 1536)],
                         ["1 GiB", "256 MiB", "1000 B", "1.5 KiB"])

    def test_long_names_and_reasons_stay_within_80_columns(self):
        rows = [result_row("torch scaled_dot_product_attention", 500, kind="library", noise=0.5),
                {"name": "x", "kind": "variant", "result": "skip", "reason": "needs " + "cols % 8 == 0 and " * 9}]
        self.check_form(result_table.render(result_file([table(rows)])))

    def test_a_sweep_is_one_table(self):
        tables = [table([result_row("naive", 9), result_row("padded", 8), result_row("cuBLAS geam", 7, kind="library")], n, True)
                  for n in (255, 4096)] + [table([result_row("naive", 9)], 7, True, verified="sampled")]
        tables[1]["rows"].append({"name": "wrong", "kind": "variant", "result": "fail", "report": "x"})
        text = result_table.render(result_file(tables))
        self.check_form(text)
        lines = text.splitlines()[-4:]
        self.assertEqual(lines[0], "rowsxcols  best rung       time    GB/s limit  library    x lib checked")
        self.assertRegex(lines[1], r"^255x16384  padded +8\.00 us .* cuBLAS gea +0\.88 in full$")
        self.assertRegex(lines[2], r"^4096x16384 .* FAIL$")
        self.assertRegex(lines[3], r"^7x16384    naive .* sampled$")

    def test_no_time_without_a_gpu(self):
        row = {"name": "naive", "kind": "variant", "result": "ok", "worst_error": 0}
        cpu = {"name": "CPU loops", "kind": "cpu", "shape": [16384, 16384], "seconds": 5.5}
        text = result_table.render(result_file([dict(table([row, cpu]), limit=None)], backend="simt"))
        self.check_form(text)
        self.assertIn("No GPU: every kernel ran on this CPU and is checked, none is timed.", " ".join(text.split()))
        self.assertIn("\nrung        result  error      time     GB/s\nnaive       ok      0\n"
                      "CPU loops                    5.50 s    0.390\n", text)
        self.assertIn("A GPU adds each rung's time", text)
        self.assertNotIn("H200", text)

    def test_python_contestants_are_compared_in_their_own_process(self):
        rows = [result_row("padded", 600, python_seconds=610e-6), result_row("naive", 900),
                result_row("torch", 305, kind="library", process="python")]
        text = result_table.render(result_file([table(rows, python={"about": "torch 2.11.0"})]))
        self.assertRegex(text, r"padded .* 0\.50\n")
        self.assertRegex(text, r"naive .*%\n")  # not timed there: no ratio
        self.assertIn("torch 2.11.0: timed in one process with the rungs", " ".join(text.split()))


class Recorded(support.Case):
    def setUp(self):
        super().setUp()
        self.replace(results, "_COMMITTED", self.folder / "results")
        day = catalog.resolve("13", "run")
        results.write(results.committed("h200", day), result_file([plain(), table([result_row("naive", 9)], 16381)]))
        results.write(self.folder / "results" / "t4" / "day05.json", result_file([plain()]))

    def test_needs_neither_gpu_nor_compiler(self):
        self.only_fakes("env")
        code, out, err = self.days("run", "13", "--recorded", "H200")
        self.assertEqual((code, err), (0, ""))
        self.assertIn("Recorded, not measured now: NVIDIA H200 sm_90, CUDA 13.0, driver 580.82.07, commit 0123456, 2026-11-21.",
                      " ".join(out.split()))
        self.assertEqual(out.count("Day 13 transpose"), 2)

    def test_chosen(self):
        out = self.days("run", "13", "--recorded", "h200", "--size", "16381x16384")[1]
        self.assertEqual(out.count("Day 13"), 1)
        out = self.days("run", "13", "--recorded", "h200", "--variant", "padded")[1]
        self.assertEqual(out.count("Day 13"), 1)
        self.assertNotIn("naive", out)

    def test_refused(self):
        for line, said in (("--recorded t4", 'on "t4" are recorded. There are: h200; of other days: t4'),
                           ("--recorded h200 --size 3x4", "nothing recorded is --size 3x4. There are: transpose 16384 x 16384"),
                           ("--recorded h200 --type fp16", "nothing recorded is --type fp16"),
                           ("--recorded h200 --variant none", "nothing recorded is --variant none"),
                           ("--recorded h200 --json x", "shows a file that is JSON already"),
                           ("--recorded h200 --backend cuda", "--backend has no place there"),
                           ("--recorded h200 --checked", "--checked has no place there"),
                           ("--recorded h200 --image x.png", "--image has no place there")):
            code, out, err = self.days("run", "13", *line.split())
            self.assertEqual((code, out), (2, ""), line)
            self.assertIn(said, " ".join(err.split()), line)


class Committed(support.Case):
    def test_every_committed_file_can_be_shown(self):
        shown = 0
        for day in catalog.here():
            for device in results.recorded(day.number):
                found = results.load(results.committed(device, day))
                self.assertEqual(results.slug(found["device"]["name"]), device)
                self.check_form(result_table.render(found, recorded=True))
                shown += 1
        self.assertGreater(shown, 0)


class Compare(support.Case):
    def verdicts(self, old, new, partial=False):
        return {row[1]: row[5] for row in compare.rows(result_file([table(old)]), result_file([table(new)]), partial)}

    def test_more_than_noise(self):
        old = [result_row(name, 100) for name in "abcd"] + [result_row("noisy", 100, noise=0.05)]
        new = [result_row("a", 102.9), result_row("b", 103.1), result_row("c", 97.1), result_row("d", 97),
               result_row("noisy", 120, noise=0.05)]
        self.assertEqual(self.verdicts(old, new), {"a": "", "b": "slower", "c": "", "d": "faster", "noisy": ""})
        new[-1] = result_row("noisy", 123, noise=0.05)
        self.assertEqual(self.verdicts(old, new)["noisy"], "slower")

    def test_lost_and_new(self):
        wrong = {"name": "a", "kind": "variant", "result": "fail", "report": "x"}
        old, new = [result_row("a", 100), result_row("b", 100)], [wrong, result_row("c", 1)]
        self.assertEqual(self.verdicts(old, new), {"a": "lost", "b": "lost", "c": "new"})
        self.assertEqual(self.verdicts(old, new, True), {"a": "lost", "c": "new"})

    def judged(self, old, new, **machine):
        lines, regression = compare.report(self.folder / "old.json", result_file([table(old)]),
                                           result_file([table(new)], **machine))
        self.check_form("\n".join(lines))
        return "\n".join(lines), regression

    def test_only_our_own_rungs_regress(self):
        self.assertTrue(self.judged([result_row("a", 100)], [result_row("a", 110)])[1])
        self.assertTrue(self.judged([result_row("a", 100)], [{"name": "a", "kind": "variant", "result": "skip"}])[1])
        text, regression = self.judged([result_row("a", 100, kind="library")], [result_row("a", 110, kind="library")])
        self.assertIn("slower", text)
        self.assertFalse(regression)

    def test_another_machine_is_not_judged(self):
        text, regression = self.judged([result_row("a", 100)], [result_row("a", 200)], cuda="13.1")
        self.assertIn("Another machine: CUDA 13.0, now 13.1", text)
        self.assertFalse(regression)

    def test_nothing_in_common(self):
        lines, regression = compare.report("x", result_file([plain()]), result_file([table([result_row("a", 1)], 5)]))
        self.assertEqual((lines[-1], regression), ("no shape is in both", False))

    def test_limits_are_shown(self):
        text, _ = self.judged([result_row("a", 100)], [result_row("a", 100)])
        self.assertIn("transpose 16384 x 16384 fp32; copy 4000, now 4000 GB/s\n", text)
        self.assertIn("1 rows compared, 0 slower, 0 faster, 0 lost, 0 new", text)


class Bench(support.Case):
    """./days bench with a program that writes the results that it is told."""

    def setUp(self):
        super().setUp()
        self.replace(paths, "BUILD", self.folder / "build")
        self.replace(results, "_COMMITTED", self.folder / "results")
        self.replace(gpu, "detect", lambda: gpu.Probe())
        for name in ("ensure", "configure", "build"):
            self.replace(cmake_tools, name, lambda *_: None)
        self.program = self.folder / "build" / "cpu" / "bin" / "day13_bench"
        self.program.parent.mkdir(parents=True)
        self.measures(result_file([plain()]))

    def measures(self, found, code=0):
        (self.folder / "next.json").write_text(json.dumps(found))
        self.program.write_text(f"""#!/bin/sh
echo "$*" >> "{self.folder}/log"
while [ $# -gt 0 ]; do [ "$1" = --json ] && cp "{self.folder}/next.json" "$2"; shift; done
exit {code}""")
        self.program.chmod(0o755)

    def bench(self, *flags, code=0):
        got, out, err = self.days("bench", "13", *flags)
        self.assertEqual(got, code, out + err)
        return out, " ".join(err.split())

    def test_shows_a_table_and_passes_flags_on(self):
        out, _ = self.bench("--sweep", "--type", "fp16", "--size", "3x4", "--variant", "naive,padded")
        self.assertIn("rung        result  error", out)
        log = (self.folder / "log").read_text()
        self.assertRegex(log, r"^--quiet --json .*/build/bench/day13.json --size 3x4 --variant naive,padded --type fp16 --sweep\n$")

    def test_a_run_that_is_stopped_says_where_its_results_are(self):
        self.program.write_text(self.program.read_text().replace("exit 0", "kill -TERM $$"))
        _, err = self.bench(code=1)
        self.assertRegex(err, r"what was measured until then: .*build/bench/day13.json")
        self.assertIn("was ended by SIGTERM", err)

    def test_a_wrong_kernel_is_shown_and_fails(self):
        self.measures(result_file([plain()]), 1)
        self.assertIn("FAIL", self.bench(code=1)[0])

    def test_a_program_that_writes_nothing(self):
        self.program.write_text("#!/bin/sh\nexit 3")
        self.bench(code=3)
        self.program.write_text("#!/bin/sh\nexit 0")
        self.bench(code=1)

    def test_json_is_kept_where_the_machine_differs(self):
        file = self.folder / "mine.json"
        self.bench("--json", str(file))
        self.measures(result_file([plain()], cuda="13.2"))
        _, err = self.bench("--json", str(file))
        self.assertIn("CUDA 13.0, now 13.2", err)
        self.assertEqual(results.load(file)["cuda"], "13.0")
        self.assertEqual(results.load(self.folder / "mine-cuda13.2-driver580.82.07.json")["cuda"], "13.2")

    def test_json_alone(self):
        out, _ = self.bench("--json", "-")
        self.assertEqual(json.loads(out), result_file([plain()]))

    def test_what_is_no_result_file_is_seen_before_anything_runs(self):
        file = self.folder / "notes.txt"
        file.write_text("mine")
        self.assertIn("is no JSON", self.bench("--json", str(file), code=2)[1])
        self.assertEqual(file.read_text(), "mine")
        self.assertFalse((self.folder / "log").exists())

    def test_record_and_compare(self):
        _, err = self.bench("--compare", code=2)
        self.assertIn("no results of day 13 transpose on NVIDIA H200 are recorded Next: ./days bench 13 --record", err)
        self.bench("--record")
        out, _ = self.bench("--compare")
        self.assertIn("3 rows compared, 0 slower, 0 faster, 0 lost, 0 new", out)
        slow = plain()
        slow["rows"][0]["seconds"] *= 1.1
        self.measures(result_file([slow]))
        out, _ = self.bench("--compare", code=1)
        self.assertRegex(out, r"naive +4\.00 ms +4\.40 ms +1\.10 +3%  slower\n")
        self.bench("--against", str(self.folder / "results" / "h200" / "day13.json"), code=1)
        self.measures(result_file([slow], name="Tesla T4"))
        self.assertIn("there are those of h200 Next: ./days bench 13 --against", self.bench("--compare", code=2)[1])
        self.bench("--against", str(self.folder / "results" / "h200" / "day13.json"))

    def test_nothing_of_a_cpu_is_recorded(self):
        self.measures(result_file([plain()], backend="simt"))
        self.assertIn("--record keeps a GPU's times", self.bench("--record", code=2)[1])
        self.assertEqual(results.recorded(), [])

    def test_flags_that_do_not_go_together(self):
        for flags, said in ((["--compare", "--benchmark_filter=x"], "--compare is for the table"),
                            (["--against", "none.json"], "none.json: No such file"), (["--swep"], "Nearest: --sweep")):
            self.assertIn(said, self.bench(*flags, code=2)[1])
        code, _, err = self.days("bench", "--json", "x.json")
        self.assertEqual(code, 2)
        self.assertIn("--json is for one day", err)

    def test_clocks(self):
        self.tool("nvidia-smi", """echo "$*" > "$(dirname "$0")/said"
printf '0, 345, 1593, 70.1, 30\\n90, 1980, 3201, 500, 50\\n100, 1755, 3201, 700.5, 61\\n[N/A], x\\n99, 17'; exec sleep 60""")
        with clocks.Clocks() as sampled:
            import time
            time.sleep(0.3)
        self.assertEqual(sampled.summary()["sm_mhz"], {"least": 1755, "median": 1867.5, "most": 1980})
        self.assertEqual(sampled.summary()["celsius"], {"least": 50, "median": 55.5, "most": 61})
        (self.bin / "nvidia-smi").unlink()
        self.replace(clocks.shutil, "which", lambda name: None)
        with clocks.Clocks() as sampled:
            pass
        self.assertEqual(sampled.summary(), {})


if __name__ == "__main__":
    unittest.main()
