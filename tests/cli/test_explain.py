#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""days explain: what its text says of a trace, the picture, errors. tests/cli/test_trace.py has the counts."""
import contextlib
import io
import json
import re
import subprocess
import sys
import unittest
import xml.etree.ElementTree as ElementTree
from unittest import mock

import support
from days_cli import counting, ladder_explain, trace_picture, trace_text, traces
from days_cli.commands import explain
from days_cli.errors import DaysError
from support import ROOT

LOAD, STORE = "global load", "global store"


def line(operation, addresses, requests=10, size=4, text="a[i]", number=7):
    """A line of a trace whose requests are all like this one."""
    request = {"block": [0, 0, 0], "warp": 0, "bytes": size, "addresses": addresses}
    space, _, kind = operation.partition(" ")
    entry = {"file": "k.cu", "line": number, "text": text, "operation": operation, "first": [request]}
    one = traces.Request((0, 0, 0), 0, size, tuple(addresses))
    op = "ld" if kind == "load" else "st"
    if space == "global":
        sectors = one.sectors()
        entry.update({traces.requests_metric(op): requests, traces.sectors_metric(op): requests * len(sectors),
                      f"simt_least_sectors_op_{op}": requests * -(-sum(sectors.values()) // 32),
                      f"simt_requested_bytes_op_{op}": requests * size * len(one.active)})
    else:
        wavefronts, least = one.wavefronts()
        entry.update({f"simt_shared_requests_op_{op}": requests, traces.WAVEFRONTS.format(op): requests * wavefronts,
                      traces.CONFLICTS.format(op): requests * (wavefronts - least)})
    return entry


def trace(*lines, **totals):
    names = [traces.CONFLICTS, "simt_requested_bytes_op_{}", "simt_distinct_bytes_op_{}", "simt_shared_requests_op_{}",
             "simt_distinct_sectors_of_blocks_op_{}"]
    all_totals = {name.format(op): 0 for name in names for op in ("ld", "st")}
    all_totals.update(simt_atomic_sectors=0, simt_atomic_requested_bytes=0, simt_shared_atomic_requests=0)
    all_totals.update(dict({"simt_branches": 0, "simt_divergent_branches": 0, "simt_barriers": 0, "simt_bulk_bytes": 0,
                            "simt_product_bytes": 0, "simt_under_way_bytes": 0},
                           **totals))
    return {"compiler": "g++", "kernels": [{"name": "k", "file": "k.cu", "grid": [2, 1, 1], "block": [32, 1, 1],
                                            "totals": all_totals, "lines": list(lines)}]}


def described(*lines, **totals):
    return "\n".join(trace_text.describe(traces.launches(trace(*lines, **totals))[0]))


class OnAGpu(unittest.TestCase):
    """The command for ncu: what was counted, and not the launches that time it."""

    def command(self, *kernels, program="build/run/day"):
        data = trace(line(LOAD, [0]))
        data["kernels"] = [dict(data["kernels"][0], name=name) for name in kernels]
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            launches = traces.launches(data)
            ladder_explain.foot({"--ncu": True}, launches, ROOT / "p.svg", program, ladder_explain._first_launches(launches))
        return output.getvalue()

    def test_per_request_is_the_same_in_both_tables(self):
        """What moves, divided by requests: sectors, or wavefronts."""
        launch = traces.launches(trace(line(LOAD, [4096 * i for i in range(32)]), line("shared load", [128 * i for i in range(32)])))[0]
        self.assertEqual(trace_text.global_tables(launch)[1].split()[-3], "32.0")
        self.assertEqual(trace_text.shared_tables(launch)[1].split()[-1], "32.0")

    def test_counts_for_some_outputs(self):
        table = {"tables": [{"type": "fp16", "written_bytes": 2 * 1000}]}
        self.assertEqual(ladder_explain._per({"--per": "32"}, table), (0.032, "Tables: for 32 of its 1,000 outputs."))
        self.assertEqual(ladder_explain._per({}, table), (1, ""))
        for per in ("0", "x", "-1", "1.5"):
            with self.assertRaisesRegex(DaysError, f"--per {per}: for how many"):
                ladder_explain._per({"--per": per}, table)
        launch = traces.launches(trace(line(LOAD, [4 * i for i in range(32)])))[0]
        row = trace_text.global_tables(launch, 1 / 128)[1].split()
        self.assertEqual(row[-5:-3], ["0.078", "0.312"])
        self.assertEqual(trace_text.global_tables(launch)[1].split()[-5:-3], ["10", "40"])

    def test_one_kernel(self):
        self.assertIn("On a GPU:\nncu -k copy_kernel -c 1 --metrics \\\nl1tex__", self.command("copy_kernel"))
        self.assertIn(".sum \\\nbuild/run/day\nPicture: ", self.command("copy_kernel"))

    def test_several(self):
        self.assertIn("\nncu -k regex:'^(rows|columns)$' -c 3 --metrics \\\n", self.command("rows", "columns", "rows"))

    def test_a_long_command_is_parted_at_its_flags(self):
        day = "build/run/cuda/day43_flash_attention"
        self.assertIn(f"\n{day} \\\n--variant naive --size 1x2x256x256x64 --type fp32\nPicture: ",
                      self.command("copy_kernel", program=f"{day} --variant naive --size 1x2x256x256x64 --type fp32"))
        self.assertIn(f"\n{day} --variant naive\n", self.command("copy_kernel", program=f"{day} --variant naive"))


class Sentences(unittest.TestCase):
    """One plain sentence for each kind of access."""

    def says(self, addresses, sentence, operation=LOAD, size=4):
        self.assertIn(sentence, " ".join(described(line(operation, addresses, size=size)).split()))

    def test_global(self):
        self.says([4 * i for i in range(32)],
                  "Neighbouring lanes read neighbouring 4 bytes: each load moves 4 sectors, all of whose bytes are used.")
        self.says([4096 * i for i in range(32)],
                  "Neighbouring lanes write 4,096 bytes apart, so each store moves 32 sectors where 4 would hold the bytes.",
                  STORE)
        self.says([4 * i + 4 for i in range(32)],
                  "but the first does not start a sector: each load moves 5 sectors where 4 would do.")
        self.says([64] * 32, "All lanes read the same 4 bytes: one sector serves the whole warp, a broadcast.")
        self.says([8, *[None] * 31], "One lane reads alone")
        self.says([0, 400, 8, *[None] * 29], "The lanes read at irregular distances")
        self.says([16 * i for i in range(32)], "each load moves 16 sectors, all of whose bytes are used.", size=16)

    def test_shared(self):
        self.says([128 * i for i in range(32)], "Neighbouring lanes read 128 bytes apart, in shared memory: 32 different "
                  "words of one bank, which gives one at a time, so the warp waits for 32 wavefronts.", "shared load")
        self.says([64 * i for i in range(32)], "64 bytes apart, in shared memory: 4 different words of one bank for each quarter "
                  "of the warp, which gives one at a time, so the warp waits for 16 wavefronts.", "shared load", size=16)
        self.says([16 * i for i in range(32)], "16 bytes apart, in shared memory: 2 different words of one bank for each half "
                  "of the warp, which gives one at a time, so the warp waits for 4 wavefronts.", "shared load", size=8)

    def test_only_waste_has_its_colour(self):
        """A broadcast uses 4 bytes of a sector, and no fewer sectors could hold them."""
        fills = [trace_picture.svg("t", traces.launches(trace(line(LOAD, [distance * i for i in range(32)])))).count(
            f'height="16.00" rx="1" fill="{trace_picture._WASTE}"') for distance in (0, 4, 4096)]
        self.assertEqual(fills, [0, 0, 32])

    def test_picture_in_text(self):
        text = described(line(STORE, [4096 * i for i in range(32)]))
        self.assertIn("warp 0, first write   lane 0    1    2    3  ...    31\n"
                      "                    sector 0  128  256  384  ...  3968   4 of 32 B used\n", text)

    def test_the_typical_request_is_drawn(self):
        """The border's lanes all read one element; most requests are not the border's."""
        entry = dict(line(LOAD, [0] * 32, requests=100), like_typical=90,
                     typical={"block": [3, 0, 0], "warp": 2, "bytes": 4, "addresses": [64 * i for i in range(32)]})
        text = described(entry)
        self.assertIn("block 3,0,0, warp 2, a typical read   lane 0  1  2  3  ...  31\n", text)
        self.assertIn("Neighbouring lanes read 64 bytes apart, so each load moves 32 sectors where 4 would hold the bytes. "
                      "90 of its 100 requests cost the same.", " ".join(text.split()))
        self.assertIn("block 3,0,0, warp 2: lanes to sectors, 32 sectors for 128 bytes",
                      trace_picture.svg("t", traces.launches(trace(entry))))
        self.assertNotIn("typical", described(line(LOAD, [0] * 32)))


class Tables(unittest.TestCase):
    def test_columns(self):
        text = described(line(LOAD, [4 * i for i in range(32)], 32768, text="in[y * cols + x]"),
                         line(STORE, [4096 * i for i in range(32)], 32768, text="out[x * rows + y]"))
        self.assertTrue(text.startswith(
            "k.cu                         requests    sectors  per request  least  wasted\n"
            "7  read   in[y * cols + x]     32,768    131,072          4.0    4.0      0%\n"
            "7  write  out[x * rows + y]    32,768  1,048,576         32.0    4.0     88%\n"), text)

    def test_in_all_is_what_check_counts(self):
        read, write = line(LOAD, [4 * i for i in range(32)], 100), line(STORE, [4096 * i for i in range(32)], 300)
        totals = {name: read.get(name, 0) + write.get(name, 0) for op in ("ld", "st") for name in (
            traces.requests_metric(op), traces.sectors_metric(op), f"simt_least_sectors_op_{op}",
            f"simt_requested_bytes_op_{op}")}
        totals["simt_distinct_sectors_of_blocks_op_ld"] = 400
        launches = traces.launches(trace(read, write, **totals))
        self.assertEqual("\n".join(trace_text.in_all(launches, 3200)),
                         "in all    requests       sectors  per request  least  wasted  distinct a block\n"
                         "               400        10,000         25.0    4.0     84%               200\n"
                         "As check counts: reads per input 4.00, wasted sectors 84%, bytes a request 128.")
        launches[0].times = 3
        found = traces.figures(launches, 3200)
        self.assertEqual((found["requests"], found["sectors"], found["sectors_a_block"]), (1200, 30000, 200))
        self.assertEqual(trace_text.kernels_table(launches)[1].split(), ["k", "3", "1,200", "30,000", "84%", "0"])

    def test_at_most_80_columns(self):
        long = "reinterpret_cast<const float4*>(input_of_the_layer + offset_of_the_block)[threadIdx.x + 17 * step]"
        for number in (7, 1234567):
            text = described(line(LOAD, [4096 * i for i in range(32)], 10**9, text=long, number=number),
                             line("shared store", [128 * i for i in range(32)], 10**9, text=long, number=number))
            for row in text.splitlines():
                self.assertLessEqual(len(row), 80, row)

    def test_what_else_is_said(self):
        branch = {"file": "k.cu", "line": 9, "text": "if (i < n) {", "operation": "branch", "simt_branches": 8,
                  "simt_divergent_branches": 1}
        barrier = {"file": "k.cu", "line": 11, "text": "__syncthreads();", "operation": "barrier", "simt_barriers": 4}
        text = described(line(LOAD, [4 * i for i in range(32)]), branch, barrier, simt_branches=8,
                         simt_divergent_branches=1, simt_barriers=4, simt_requested_bytes_op_ld=4096,
                         simt_distinct_bytes_op_ld=1024, simt_bulk_bytes=65536, simt_product_bytes=196608, simt_under_way_bytes=8192)
        self.assertIn("Loads ask for 4.0 bytes for each byte of input (1,024 bytes).", text)
        self.assertIn("Branches: 8 by warps, 1 divergent (lanes went both ways):\n    9  if (i < n) {", text)
        self.assertIn("Barriers: 2.0 a block, 4 in all (line 11).", text)
        self.assertIn("Bulk copies moved 65,536 bytes besides", text)
        self.assertIn("Products of warpgroups read 196,608 bytes of shared memory, in no lane's name.", text)
        self.assertIn("When a block waits for copies, 8,192 bytes are under way.", text)

    def test_like_launches_are_one(self):
        twice = trace(line(LOAD, [0] * 32))
        twice["kernels"] *= 2
        self.assertEqual([launch.times for launch in traces.launches(twice)], [2])

    def test_kernels_of_a_rung_read_the_same_input_again(self):
        one = {name: 0 for op in ("ld", "st") for name in (traces.requests_metric(op), traces.sectors_metric(op),
                                                           f"simt_least_sectors_op_{op}")}
        twice = trace(line(LOAD, [0] * 32), **one, simt_requested_bytes_op_ld=4096, simt_distinct_bytes_op_ld=4096)
        twice["kernels"].append(dict(twice["kernels"][0], name="other"))
        for inputs, reads in ((4096, "2.0"), (0, "-")):
            row = ladder_explain._summary(traces.launches(twice), inputs)  # pylint: disable=protected-access
            self.assertEqual(row.split()[0], reads)


class Picture(unittest.TestCase):
    def svg(self, *lines):
        text = trace_picture.svg('<a> & "b"', traces.launches(trace(*lines)))
        return text, ElementTree.fromstring(text)

    def test_card(self):
        text, root = self.svg(line(LOAD, [4096 * i for i in range(32)]))
        card = root[0]
        self.assertEqual((card.get("fill"), card.get("width")), ("#ffffff", str(trace_picture.WIDTH)))
        self.assertIn('<a> & "b"', [element.text for element in root])
        self.assertNotRegex(text, r"@font-face|href|<style|<script")
        sizes = [float(size) for size in re.findall(r'font-size="([\d.]+)"', text)]
        self.assertGreaterEqual(min(sizes), 8)

    def test_every_sector_and_bank(self):
        _, root = self.svg(line(LOAD, [4096 * i for i in range(32)]), line("shared load", [128 * i for i in range(32)]))
        fills = [element.get("fill") for element in root]
        self.assertEqual(fills.count("#f3c9b5"), 32 + 1)  # 32 sectors, and the legend
        self.assertEqual(fills.count("#c2410c"), 1 + 1)  # one bank with a conflict
        self.assertIn("block 0,0,0, warp 0: lanes to banks, 32 words of one bank: 32 wavefronts", [e.text for e in root])
        width = trace_picture.WIDTH
        for element in root:
            if element.get("x"):
                self.assertTrue(0 <= float(element.get("x")) <= width, ElementTree.tostring(element))


class Command(support.Case):
    def fails(self, words, message, hint):
        code, out, err = self.days("explain", *words.split())
        self.assertEqual((code, out), (2, ""), err)
        self.assertIn(message, " ".join(err.split()))
        self.assertIn(f"Next: {hint}\n", err)

    def test_errors(self):
        self.fails("", "explain which day?", "./days explain 1")
        self.fails("vector_ad 7 8", 'does not know what to do with "8"', "./days explain --help")
        self.fails("matmull rows", 'no day "matmull". Nearest: 05 matmul', "./days explain 5")
        self.fails("5 rows -Ix", "-Ix goes with --file", "./days explain --help")
        self.fails("--file no.cu", "there is no file no.cu", "./days explain --help")
        self.fails("--file README.md", "README.md is neither C++ (.cu, .cpp) nor Python (.py)", "./days explain --help")
        self.fails("5 --file days", 'explain --file takes no day: "5"', "./days explain --help")

    def test_a_shared_second_stage_is_the_rungs(self):
        """Kernels of common/ count, but for those of the harness, which make the inputs."""
        day = mock.Mock(target="day12_layer_norm")
        files = ["common/harness/fill.cuh", "day12_layer_norm/08_grad_partials.cu", "common/sum_partials.cuh", "common/harness.cu",
                 "my/day12.cu", "day13_transpose/01_naive.cu"]
        data = {"kernels": [{"file": file} for file in files]}
        counted = [kernel["file"] for kernel in counting.of_day(data, day, "my/day12.cu")["kernels"]]
        self.assertEqual(counted, ["day12_layer_norm/08_grad_partials.cu", "common/sum_partials.cuh", "my/day12.cu"])
        cub = {"kernels": [{"file": files[0]}, {"file": "cub/device.cuh"}]}  # a baseline has no kernel of ours
        self.assertEqual(counting.of_day(cub, day)["kernels"], [{"file": "cub/device.cuh"}])

    def test_unknown_variant(self):
        self.fails("5 lanes_acros", 'day 05 matmul has no variant "lanes_acros". Nearest: lanes_across', "./days explain 5 lanes_across")
        self.fails("5 xyz", 'day 05 matmul has no variant "xyz". There are lanes_down, lanes_across, exercise', "./days explain 5 lanes_down")

    def test_json_needs_no_value(self):
        for words, target in (("5 rows --json", "-"), ("5 rows --json --type fp32", "-"), ("5 rows --json x.json", "x.json"),
                              ("--json 5 lanes_down", "5")):
            self.assertEqual(explain._parse(words.split()).get("--json"), target, words)

    def test_a_program(self):
        source = self.folder / "shift.cu"
        source.write_text("""#include <cstdio>
__global__ void shift(const float* in, float* out) { out[threadIdx.x] = in[threadIdx.x + SHIFT]; }
int main(int argc, char** argv) {
  float *in, *out;
  cudaMalloc(&in, 4096);
  cudaMalloc(&out, 4096);
  shift<<<1, 64>>>(in, out);
  printf("%s %d\\n", argv[1], cudaDeviceSynchronize());
  return 7;
}
""")
        command = [sys.executable, "-B", str(ROOT / "days"), "explain", "--file", str(source), "-DSHIFT=1"]
        done = subprocess.run([*command, "--", "hello"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              universal_newlines=True, check=False, cwd=self.folder)
        self.assertEqual(done.returncode, 7, done.stderr)  # the program's own
        self.assertNotIn("ncu", done.stdout)
        command.append("--ncu")
        done = subprocess.run([*command, "--", "hello"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              universal_newlines=True, check=False, cwd=self.folder)
        self.assertTrue(done.stdout.startswith("hello 0\n\nshift: grid 1, block 64\n"), done.stdout)
        self.assertRegex(done.stdout, r"2  read   in\[threadIdx.x \+ SHIFT\] +2 +10 +5.0 +4.0 +20%\n")
        self.assertRegex(done.stdout, r"On a GPU:\nncu --metrics \\\n(l1tex__\S+,\\\n)+l1tex__\S+ \\\n\./shift hello\n")
        self.assertLessEqual(max(map(len, done.stdout.splitlines())), 80)
        self.assertTrue((ROOT / "build/explain/shift.svg").read_text().startswith("<svg"))
        done = subprocess.run([*command, "--json", "--", "hello"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              universal_newlines=True, check=False)
        self.assertEqual([kernel["name"] for kernel in json.loads(done.stdout)["kernels"]], ["shift"])
        self.assertEqual(done.stderr, "hello 0\n")

    def test_docs_show_what_it_prints(self):
        page = (ROOT / "docs/explain.md").read_text()
        block = re.search(r"    \$ \./days explain --file docs/programs/transpose\.cu\n((?:    .*\n|\n)+)", page).group(1)
        shown = re.sub(r"^    ", "", block, flags=re.M).strip()
        done = subprocess.run([sys.executable, "-B", str(ROOT / "days"), "explain", "--file", "docs/programs/transpose.cu"],
                              stdout=subprocess.PIPE, universal_newlines=True, check=False, cwd=ROOT)
        self.assertEqual(done.stdout.strip(), shown)


if __name__ == "__main__":
    unittest.main()
