#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Program days without compilers: names, flags, gates, what a recorded order lets overlap. day60_test runs the real thing."""
import json
import unittest

import support
import results_tables
from days_cli import (catalog, gpu, paths, program_day, program_explain, program_judge, result_plots, result_table, results,
                      run_build, stale, timeline)
from days_cli.errors import WRONG, DaysError
from support import result_file, result_row
from support import result_table as table_of

NOTE = """---
title: Copies
kind: program
minutes: 5
goal: two at once
starts: one
solution: two
gates: [copies_beside_kernels >= 90%, steps <= 45%, speed >= 90%]
---
"""


def operation(number, kind, slot, floor=0, after=(), pageable=False, place="prog.cu:1", stream=None):
    return {"number": number, "kind": kind, "name": kind, "stream": stream or f"stream {slot}", "bytes": 4, "pageable": pageable,
            "place": place, "ran": number, "slot": slot, "floor": floor, "after": list(after)}


class Order(support.Case):
    """What SIMT_TIMELINE wrote, scheduled."""

    def recorded(self, *operations):
        path = self.folder / "timeline.json"
        path.write_text(json.dumps({"complete": True, "operations": operations}))
        return timeline.recorded(path)

    def chunks(self, count, streams, pageable=False):
        parts = ("H2D", "kernel", "D2H")
        return self.recorded(*(operation(3 * chunk + part + 1, kind, chunk % streams, pageable=pageable and kind != "kernel")
                               for chunk in range(count) for part, kind in enumerate(parts)))

    def test_one_stream_overlaps_nothing(self):
        line = self.chunks(4, 1)
        self.assertEqual((line.length, timeline.copies_beside_kernels(line)), (12, (0, 8)))

    def test_streams_fill_the_engines(self):
        line = self.chunks(16, 4)
        self.assertEqual((line.length, timeline.copies_beside_kernels(line)), (18, (32, 32)))
        self.assertEqual(timeline.drawing(line), ["copy in   0123012301230123..", "kernel    .0123012301230123.",
                                                  "copy out  ..0123012301230123"])

    def test_two_halves(self):
        line = self.chunks(2, 2)
        self.assertEqual((line.length, timeline.copies_beside_kernels(line)), (4, (4, 4)))

    def test_pageable_memory_keeps_the_host(self):
        line = self.chunks(16, 4, pageable=True)
        self.assertEqual(timeline.copies_beside_kernels(line), (0, 32))
        self.assertEqual(line.length, 48)
        self.assertIn("32 copies are from or to pageable memory: the host waits for each.", timeline.describe(line))

    def test_an_event_orders(self):
        line = self.recorded(operation(1, "kernel", 1), operation(3, "H2D", 2, after=[(1, 1)]))
        self.assertEqual((line.length, timeline.copies_beside_kernels(line)), (2, (0, 1)))

    def test_an_event_orders_only_what_is_before_it(self):
        line = self.recorded(operation(1, "kernel", 1), operation(2, "kernel", 1), operation(3, "H2D", 2, after=[(1, 1)]))
        self.assertEqual((line.length, timeline.copies_beside_kernels(line)), (2, (1, 1)))

    def test_the_host_that_waits_orders_all(self):
        line = self.recorded(operation(1, "kernel", 1), operation(2, "H2D", 2, floor=1))
        self.assertEqual((line.length, timeline.copies_beside_kernels(line)), (2, (0, 1)))

    def test_it_says_that_the_host_waits(self):
        after_each = self.recorded(*(operation(number, "kernel", number % 2, floor=5 + number - 1) for number in (5, 6, 7)))
        self.assertIn("The host waits 2 times on the way, and issues nothing meanwhile.",
                      timeline.describe(after_each))
        before_all = self.recorded(*(operation(number, "kernel", number % 2, floor=4) for number in (5, 6, 7)))
        self.assertEqual(timeline.waiting(before_all), [])
        copies = self.recorded(operation(1, "D2H", 1, pageable=True), operation(2, "D2H", 1, floor=1, pageable=True))
        self.assertEqual(timeline.waiting(copies), [])

    def test_what_prepares_buffers_is_left_out(self):
        line = self.recorded(operation(1, "fill", 0, place="common/buffer.h:40"), operation(2, "kernel", 1),
                             operation(3, "host function", 1))
        self.assertEqual([o.number for o in line.operations], [2])

    def test_a_long_one_is_cut(self):
        line = self.recorded(*(operation(i + 1, "kernel", 0) for i in range(1000)))
        self.assertEqual(len(timeline.drawing(line)[0]), 10 + 60 + 4)
        self.assertEqual(program_explain.card("t", line).svg().count("<rect"), 25)

    def test_marks(self):
        for stream, mark in (("stream 3", "3"), ("default stream", "0"), ("graph 12", "g"), ("stream 10", "+")):
            line = self.recorded(operation(1, "kernel", 1, stream=stream))
            self.assertEqual(timeline.mark(line.operations[0]), mark)

    def test_measured_times(self):
        path = self.folder / "timeline.json"
        path.write_text(json.dumps({"operations": [
            {"number": 1, "kind": "H2D", "stream": "stream 1", "begin": 0, "end": 1e-3},
            {"number": 2, "kind": "kernel", "stream": "stream 1", "begin": 1e-3, "end": 3e-3},
            {"number": 3, "kind": "H2D", "stream": "stream 2", "begin": 1e-3, "end": 2e-3}]}))
        line = timeline.measured(path)
        self.assertEqual(timeline.copies_beside_kernels(line), (1, 2))
        self.assertIn("3 ms, by CUDA events", program_explain.card("t", line).svg())

    def test_nothing_was_written(self):
        with self.assertRaises(DaysError):
            timeline.recorded(self.folder / "none.json")


class Recorded(support.Case):
    """The tables of programs: some have no limit, no rate, one row or none that is timed."""

    def test_tables_and_notes(self):
        seconds = lambda name, time: {"name": name, "kind": "variant", "result": "ok", "worst_error": 0, "seconds": time,
                                      "noise": 0.01, "runs": 10}
        rate = lambda name, time: dict(seconds(name, time), bytes_per_second=2**29 / time)
        table = lambda ladder, rows, size=0, **more: {
            "ladder": ladder, "type": "uint32", "shape": {"n": 1 << 26}, "read_bytes": size, "written_bytes": size, "flops": 0,
            "verified": "reference", "rows": rows, **more}
        found = result_file([
            table("pageable", [rate("pageable", 0.03)], 2**28),
            table("model", [dict(rate("1 chunks", 0.02), of_limit=0.99), dict(rate("16 chunks", 0.01), of_limit=0.97)], 2**28,
                  limit={"name": "pipeline model", "per_second": 9e10}),
            table("launches", [seconds("plain launches", 2.5e-3), seconds("graph", 1e-3)]),
            table("dependent", [{"name": "dependent", "kind": "variant", "result": "skip", "reason": "needs sm_90"}])])
        found["day"] = "day60_streams_and_graphs"
        for recorded in (False, True):
            self.check_form(result_table.render(found, recorded))
        text = results_tables.render(found)
        for line in ("| pageable | 30 ms | 17.9 |  |  |", "| 16 chunks | 10 ms | 53.69 | 97.0% |  |", "| graph | 1 ms |  |  |  |",
                     "| dependent | needs sm_90 |  |  |  |", "the limit is this device's own pipeline model, 90 GB/s"):
            self.assertIn(line, text)
        self.assertEqual([name for name, _, _ in result_plots.pictures(found)], ["results_h200_model.svg"])


class Day(support.Case):
    """With a program day 93 whose programs are shell scripts."""

    def setUp(self):
        super().setUp()
        self.replace(paths, "ROOT", self.folder)
        self.replace(paths, "BUILD", self.folder / "build")
        self.replace(paths, "MY", self.folder / "my")
        self.replace(program_explain, "_PICTURES", self.folder / "build" / "explain")
        self.day = self.folder / "day93_copies"
        self.day.mkdir()
        self.write(NOTE)
        for name in ("01_one", "02_two", "exercise"):
            (self.day / f"{name}.cu").write_text('const days::About about{"x", "does ' + name + '", 1, 1};\n// your code\n')
        self.scripts = {}
        self.replace(run_build, "build_programs", lambda day, sources, *_: {source: self.script(source) for source in sources})
        self.replace(gpu, "detect", lambda: gpu.Probe())
        support.forget()

    def write(self, note):
        (self.day / "README.md").write_text(note + "<details><summary>Hint 1: x</summary>\nLook.\n</details>\n")

    def script(self, source):
        name = source.rsplit("/", 1)[-1].replace(".cu", "")
        return self.tool(name, self.scripts.get(name, 'echo "ok: 4 elements are right"'))

    def of(self):
        return catalog.resolve("93", "run")

    def test_list_and_names(self):
        code, out, _ = self.days("run", "93", "--list")
        self.assertEqual((code, out), (0, "  one            does 01_one\n  two            does 02_two\n"))
        self.assertEqual(list(program_day.sources(self.of())), ["one", "two"])

    def test_unknown_names(self):
        for command, flags in (("run", ("--variant", "tow")), ("explain", ("tow",))):
            code, _, err = self.days(command, "93", *flags)
            self.assertEqual(code, 2)
            self.assertIn('no program "tow". Nearest: two', " ".join(err.split()))

    def test_flags_that_mean_nothing(self):
        for line, said in (("run 93 --type fp16", "--type has no place here"), ("run 93 --json x", "--json has no place here"),
                           ("run 93 --with x.cu", "none of its programs takes"), ("explain 93 --type fp16", "--type means nothing"),
                           ("bench 93 --sweep", "--sweep means nothing"), ("bench 93 --benchmark_filter=x", "Google Benchmark does not"),
                           ("bench 93 --backend simt", "time nothing on a CPU")):
            code, out, err = self.days(*line.split())
            self.assertEqual((code, out), (2, ""), line)
            self.assertIn(said, " ".join(err.split()), line)

    def test_bench_wants_a_gpu(self):
        for line in ("bench 93", "explain 93 --backend cuda"):
            code, out, err = self.days(*line.split())
            self.assertEqual((code, out), (3, ""), line)
            self.assertIn("there is none here", " ".join(err.split()))

    def test_bench_joins_the_programs_tables(self):
        self.replace(gpu, "detect", lambda: gpu.Probe(gpu.Gpu("NVIDIA H200", (9, 0), 1 << 37), "580.82.07", (13, 0)))
        for name in ("01_one", "02_two"):
            found = result_file([table_of([result_row(name, 100.0)], ladder=name)])
            (self.folder / f"{name}.json").write_text(json.dumps(found))
            self.scripts[name] = f'while [ $# -gt 0 ]; do [ "$1" = --json ] && cp "{self.folder}/{name}.json" "$2"; shift; done'
        code, out, err = self.days("bench", "93", "--json", str(self.folder / "all.json"))
        self.assertEqual(code, 0, out + err)
        found = json.loads((self.folder / "all.json").read_text())
        self.assertEqual([table["ladder"] for table in found["tables"]], ["01_one", "02_two"])
        self.assertEqual(found["day"], "day93_copies")

    def test_stale_programs_are_measured_and_kept(self):
        recorded = self.folder / "docs" / "results"
        self.replace(results, "_COMMITTED", recorded)
        self.replace(paths, "commit", lambda: "fedcba9876543210")
        said = lambda *words: self.days("bench", "93", "--stale", *words)
        (recorded / "h200").mkdir(parents=True)
        (recorded / "h200" / "day01.json").write_text(json.dumps(result_file([])))
        self.assertIn("never measured", said()[1])
        code, _, err = said("--record")
        self.assertEqual(code, 3, err)
        self.assertIn("there is none here", " ".join(err.split()))

        self.replace(gpu, "detect", lambda: gpu.Probe(gpu.Gpu("NVIDIA H200", (9, 0), 1 << 37), "580.82.07", (13, 0)))
        for name in ("one", "two"):
            (self.folder / f"{name}.json").write_text(json.dumps(result_file([table_of([result_row("plain", 100.0)], ladder=name)])))
        keep = 'while [ $# -gt 0 ]; do [ "$1" = --json ] && cp "{}" "$2"; shift; done; echo "{}" >> "{}"'
        log = self.folder / "log"
        self.scripts["01_one"] = keep.format(self.folder / "one.json", "one", log)
        self.scripts["02_two"] = "kill -SEGV $$"  # what was measured before it is kept
        self.assertEqual(said("--record")[0], 1)
        self.assertEqual([table["ladder"] for table in results.load(recorded / "h200" / "day93.json")["tables"]], ["one"])
        stale.kernels.cache_clear()
        self.assertIn("new: two", said()[1])

        self.scripts["02_two"] = keep.format(self.folder / "two.json", "two", log)
        code, out, err = said("--record")
        self.assertEqual(code, 0, out + err)
        self.assertIn("1 of 1 programs measured", out)
        self.assertIn("nothing waits", said("--record")[1])
        self.assertEqual(log.read_text().split(), ["one", "two"])

        source = self.day / "01_one.cu"
        source.write_text("// a comment\n" + source.read_text())
        stale.kernels.cache_clear()
        self.assertIn("0 of 1 days have something to measure", said()[1])
        source.write_text(source.read_text() + "int more;\n")
        stale.kernels.cache_clear()
        self.assertIn("1 of 2 tables have changed kernels: one", said()[1])
        self.assertIn("1 of 1 programs measured", said("--record")[1])
        self.assertEqual(log.read_text().split(), ["one", "two", "one"])

    def test_check_believes_only_the_last_line(self):
        self.scripts["exercise"] = self.scripts["day93"] = "exit 0"
        code, out, _ = self.days("check", "93")
        self.assertEqual(code, 1)
        self.assertIn("1 correct    FAIL  the program's own size\nThe program ended with 0 and said nothing.", out)

    def test_check_reports(self):
        self.scripts["day93"] = ('echo "ok: 4 elements are right"; case "$SIMT_ORDER" in reversed) '
                                 'echo "error: order [simt-stream-order]" >&2; echo "my/day93.cu:3  x" >&2;; esac')
        code, out, _ = self.days("check", "93")
        self.assertEqual(code, 1)
        self.assertIn("1 correct    ok", out)
        self.assertIn("2 race-free  FAIL  streams and threads in reversed order\nerror: order [simt-stream-order]\nmy/day93.cu:3  x\n",
                      out)

    def test_check_a_size_that_is_wrong(self):
        self.scripts["day93"] = '[ "$2" = 257 ] && { echo "y[3] is 0, expected 1"; echo "FAIL: x"; exit 1; }; echo "ok: 4"'
        _, out, _ = self.days("check", "93")
        self.assertIn("1 correct    FAIL  257 elements\ny[3] is 0, expected 1\n", out)
        self.scripts["day93"] = '[ "$2" = 1 ] && { echo "y[0] is 0, expected 1"; exit 1; }; echo "ok: 4"'
        self.assertIn("1 correct    FAIL  1 element\n", self.days("check", "93")[1])

    def test_sizes_that_are_no_numbers(self):
        self.write(NOTE.replace("gates: [", "sizes: [tiny, small]\ngates: ["))
        self.scripts["day93"] = 'case "$2" in ""|tiny) echo "ok: 4";; small) [ -n "$SIMT_ORDER" ] && exit 1; echo "ok: 4";; *) exit 2;; esac'
        out = self.days("check", "93")[1]
        self.assertIn("1 correct    ok    3 sizes, each element compared", out)
        self.assertIn("2 race-free  FAIL", out)  # the last of them in other orders
        self.scripts["day93"] = '[ "$2" = small ] && exit 1; echo "ok: 4"'
        self.assertIn("1 correct    FAIL  --size small\n", self.days("check", "93")[1])

    def test_tables_of_one_size_in_units_of_their_own(self):
        rows = [result_row("step", 2e6, units_per_second=300.0)]
        tables = [table_of(rows, ladder="one", part=part, work={"unit": "token", "units": 600}, limit={"name": "model", "per_second": 600.0})
                  for part in ("fused", "plain")]
        found = result_file(tables, day="day93_copies")
        text = result_table.render(found)
        self.assertIn("Day 93 one fused, 16384 x 16384 fp32", text)
        self.assertIn("Limit = its own model, 600 tokens/s", " ".join(text.split()))
        self.assertRegex(text, r"step +ok +0 +2\.00 s +300 ")
        self.assertEqual([results.key_text(table) for table in results.main_tables(found)],
                         ["one fused fp32 16384x16384", "one plain fp32 16384x16384"])

    def test_gates(self):
        self.scripts["day93"] = f"""echo "ok: 4 elements are right"
[ -n "$SIMT_TIMELINE" ] && cat > "$SIMT_TIMELINE" <<END
{json.dumps({"complete": True, "operations": [operation(i + 1, kind, 1) for i, kind in enumerate(("H2D", "kernel", "D2H"))]})}
END
exit 0"""
        code, out, _ = self.days("check", "93")
        self.assertEqual(code, 1)
        self.assertIn("copies that may run beside a kernel: 0%, at least 90%", " ".join(out.split()))
        self.assertIn("copy in   1..\nkernel    .1.\ncopy out  ..1\n", out)
        self.assertIn("A column is a step, a digit a stream (0 the default one", out)
        self.assertIn("./days explain 93 exercise", out)
        self.scripts["day93"] = 'echo "ok: 4"; [ -n "$SIMT_TIMELINE" ] && echo \'{"operations": []}\' > "$SIMT_TIMELINE"; exit 0'
        self.assertIn("no kernel ran", self.days("check", "93")[1])

    def test_front_matter_that_says_too_little(self):
        for old, new, said in (("goal: two at once\n", "", "goal is missing"), ("starts: one", "starts: none", "starts is one of one, two"),
                               ("steps <= 45%", "steps < 45%", "a gate is"), ("steps <= 45%", "sectors <= 45%", "a gate is")):
            self.write(NOTE.replace(old, new))
            with self.assertRaises(DaysError) as caught:
                program_judge.exercise_of(self.of())
            self.assertEqual(caught.exception.code, WRONG)
            self.assertIn(said, caught.exception.message)

    def test_a_program_that_dies_is_an_error(self):
        self.scripts["01_one"] = "kill -SEGV $$"
        code, _, err = self.days("run", "93")
        self.assertEqual(code, 1)
        self.assertIn("SIGSEGV", err)

    def test_explain_of_a_file_names_its_day(self):
        self.scripts["day93"] = "exit 1"
        self.days("check", "93")
        for name, cure in (("my/day93.cu", "./days explain 93 exercise"), ("day93_copies/exercise.cu", "./days explain 93 exercise"),
                           ("other.cu", "./days explain --file other.cu")):
            code, _, err = self.days("explain", str(self.folder / name) if name != "other.cu" else name)
            self.assertEqual(code, 2)
            self.assertIn(cure, " ".join(err.split()))

    def test_explain_json(self):
        self.scripts["01_one"] = f"""cat > "$SIMT_TIMELINE" <<END
{json.dumps({"operations": [operation(1, "kernel", 1)]})}
END"""
        self.scripts["02_two"] = self.scripts["01_one"]
        found = json.loads(self.days("explain", "93", "--json")[1])
        self.assertEqual([(p["program"], p["steps"]) for p in found["programs"]], [("one", 1.0), ("two", 1.0)])
        out = self.days("explain", "93", "one")[1]
        self.assertIn("Day 93 one: the order that simt recorded, no times", out)
        self.assertTrue((self.folder / "build" / "explain" / "93_one.svg").is_file())
        self.assertIn("program         kernels", self.days("explain", "93")[1])


if __name__ == "__main__":
    unittest.main()
