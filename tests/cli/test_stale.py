#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Results of kernels that have changed since: found, marked, measured again within a time; benchmark and GPU are fakes."""
import contextlib
import importlib.util
import io
import json
import subprocess
import sys
import unittest

import support
from days_cli import catalog, cmake_tools, gpu, kernel_sources, paths, result_plots, result_table, results, stale
from support import result_file, result_row, result_table as table

RUNG = """// {comment}
#include "common/tile.h"
#include "common/host.h"
__global__ void {name}_kernel(float* x) {{ x[tile()] = {value}; }}
void transpose_{name}(const float* x, int stream) {{ {name}_kernel<<<1, 32>>>(x); }}
"""
RUNGS = {name: f"transpose_{name}" for name in ("naive", "padded", "tiled")}


def describe(day, rungs):
    support.describe(day, support.ladder("transpose", rungs), support.ladder("causal", {"causal_tiled": "transpose_tiled"}))


class Case(support.Case):
    def setUp(self):
        super().setUp()
        self.root = self.folder / "repository"
        self.day = self.root / "day13_transpose"
        for path in (self.day, self.root / "common", self.root / "simt", self.root / "bench", self.root / "docs" / "results" / "h200"):
            path.mkdir(parents=True)
        for name, value in (("ROOT", self.root), ("BUILD", self.root / "build")):
            self.replace(paths, name, value)
        self.replace(results, "_COMMITTED", self.root / "docs" / "results")
        (self.day / "README.md").write_text("---\ntitle: Transpose\n---\n")
        describe(self.day, RUNGS)
        self.rung("01_naive.cu", "naive")
        self.rung("02_padded.cu", "padded")
        self.rung("03_tiled.cu", "tiled")
        self.write("common/tile.h", '#include "simt/runtime.h"\n__device__ int tile() { return 32; }\n')
        self.write("common/host.h", "int host();\n")
        self.write("simt/runtime.h", "__device__ int simt();\n")
        self.path = results.committed("h200", catalog.resolve("13", "bench"))
        self.forget()

    def forget(self):
        stale.kernels.cache_clear()

    def write(self, name, text):
        (self.root / name).write_text(text)
        self.forget()

    def rung(self, file, name, value="1", comment="a rung"):
        self.write(f"day13_transpose/{file}", RUNG.format(name=name, value=value, comment=comment))

    def recorded(self, *tables, **more):
        found = result_file(list(tables), **more)
        stale.stamp(found)
        results.write(self.path, found)
        return found

    def changed(self):
        found = stale.mark(results.load(self.path))
        return sorted({row["name"] for each in found["tables"] for row in each["rows"] if row.get("changed")})


class Sources(Case):
    def setUp(self):
        super().setUp()
        self.recorded(table([result_row("naive", 4000), result_row("padded", 600), result_row("causal_tiled", 500),
                             result_row("cuBLAS geam", 660, kind="library"),
                             {"name": "CPU loops", "kind": "cpu", "shape": [1], "seconds": 5.5}]))
        self.assertEqual(self.changed(), [])

    def test_a_kernel_that_changes(self):
        self.rung("02_padded.cu", "padded", value="2")
        self.assertEqual(self.changed(), ["padded"])
        self.rung("03_tiled.cu", "tiled", value="2")
        self.assertEqual(self.changed(), ["causal_tiled", "padded"])  # a prefix that the ladder puts before a rung's name
        self.rung("02_padded.cu", "padded")
        self.assertEqual(self.changed(), ["causal_tiled"])  # as it was measured

    def test_what_a_gpu_never_sees(self):
        self.rung("02_padded.cu", "padded", comment="other words, // and \"quotes\"")
        self.write("day13_transpose/01_naive.cu", (self.day / "01_naive.cu").read_text().replace(" x[tile()]", "\n  /* x */ x[tile()]"))
        self.write("common/host.h", "int host(int);\n")
        self.write("simt/runtime.h", "__device__ int simt(int);\n")
        self.write("day13_transpose/exercise.cu", "__global__ void mine() {}\n")
        self.assertEqual(self.changed(), [])

    def test_what_all_rungs_share(self):
        everything = ["causal_tiled", "naive", "padded"]
        self.write("common/tile.h", "__device__ int tile() { return 64; }\n")
        self.assertEqual(self.changed(), everything)
        self.write("common/tile.h", '#include "simt/runtime.h"\n__device__ int tile() { return 32; }\n')
        self.assertEqual(self.changed(), [])
        self.write("day13_transpose/scan.cu", "__global__ void scan() {}\n")  # no rung's own: any may launch it
        self.assertEqual(self.changed(), everything)

    def test_kernels_above_the_days(self):
        """What includes a header of model/ runs that folder's kernels."""
        (self.root / "model").mkdir()
        self.write("model/product.h", "void product(int stream);\n")
        self.write("model/tile.cuh", "__device__ int model_tile() { return 8; }\n")
        product = '#include "model/tile.cuh"\n__global__ void product_kernel() {{ {body}; }}\n'
        self.write("model/product.cu", product.format(body="model_tile()"))
        self.write("day13_transpose/linear.h", '#include "model/product.h"\n')
        self.write("day13_transpose/02_padded.cu", '#include "day13_transpose/linear.h"\n' + RUNG.format(name="padded", value="1", comment=""))
        self.recorded(table([result_row("naive", 4000), result_row("padded", 600)]))
        self.assertEqual(self.changed(), [])
        self.write("model/product.cu", product.format(body="model_tile() + 1"))
        self.assertEqual(self.changed(), ["padded"])
        self.write("model/product.cu", "// words\n" + product.format(body="model_tile()"))
        self.write("model/product.h", "void product(long stream);\n")
        self.write("model/files.cpp", "int file();\n")
        self.assertEqual(self.changed(), [])
        self.write("model/tile.cuh", "__device__ int model_tile() { return 16; }\n")
        self.assertEqual(self.changed(), ["padded"])
        self.write("model/tile.cuh", "__device__ int model_tile() { return 8; }\n")
        self.write("model/another.cu", "__global__ void another() {}\n")
        self.assertEqual(self.changed(), ["padded"])

    def test_only_what_is_used_of_a_shared_header(self):
        header = ('#include "simt/runtime.h"\n__device__ int tile() { return 32; }\n\n'
                  "__device__ int rows() { return {}; }\n\n#define MAKE(kind) int make_##kind()\n\n__device__ int count() { return rows(); }\n")
        kernel = RUNG.format(name="padded", value="count()", comment="")
        self.write("common/tile.h", header.replace("return {};", "return 1;"))
        self.write("day13_transpose/02_padded.cu", kernel)
        self.recorded(table([result_row("naive", 4000), result_row("padded", 600)]))
        self.write("common/tile.h", header.replace("return {};", "return 2;"))
        self.assertEqual(self.changed(), ["padded"])  # by way of count()
        self.write("common/tile.h", header.replace("return {};", "return 1;") + "\n__device__ int more() { return 3; }\n")
        self.assertEqual(self.changed(), [])
        self.write("day13_transpose/02_padded.cu", kernel.replace("count()", "days::ptx::make_tile()"))
        self.recorded(table([result_row("naive", 4000), result_row("padded", 600)]))
        self.write("common/tile.h", header.replace("return {};", "return 1;"))
        self.assertEqual(self.changed(), ["padded"])  # a name that a macro makes: any paragraph may be its

    def test_a_shared_paragraph_that_only_calls_what_a_rung_calls_is_not_used(self):
        """A helper that is new in common/ leaves the results of all others alone: names in bodies and parameters are no definitions."""
        header = ("namespace days {\n\n__device__ int tile() { return 32; }\n\ntemplate <class T>\nstruct Pair {\n  T a;\n\n  T more;\n};\n%s\n"
                  "}  // namespace days\n")
        kernel = RUNG.format(name="padded", value="tile() + Pair<int>{}.more", comment="")
        self.write("common/tile.h", header % "")
        self.write("day13_transpose/02_padded.cu", kernel)
        self.recorded(table([result_row("naive", 4000), result_row("padded", 600)]))
        self.write("common/tile.h", header % ("\ntemplate <class T>\n__device__ int twice(T padded, const float* in) {\n  const int more = tile();\n\n"
                                              "  return Pair<int>{more}.a;\n}\n"))
        self.assertEqual(self.changed(), [])
        self.write("common/tile.h", (header % "").replace("T more;", "T more; T last;"))  # of Pair, behind an empty line
        self.assertEqual(self.changed(), ["padded"])
        self.write("common/tile.h", header % "\n__device__ int tile(int) { return 1; }\n")
        self.assertEqual(self.changed(), ["naive", "padded"])

    def test_text_in_quotes_is_no_comment(self):
        self.assertEqual(kernel_sources.plain('a  "x // y"  // z\n/* b\n */ c'), 'a "x // y" c')
        self.assertNotEqual(kernel_sources.plain('f("a  b")'), kernel_sources.plain('f("a b")'))

    def test_a_row_without_a_number_is_not_trusted(self):
        found = results.load(self.path)
        del found["tables"][0]["rows"][0]["source"]
        results.write(self.path, found)
        self.assertEqual(self.changed(), ["naive"])

    def test_what_compiles_to_the_same(self):
        self.rung("02_padded.cu", "padded", value="1 + 0")
        found = results.load(self.path)
        found["tables"][0]["rows"][1]["same"] = stale.kernels("day13_transpose").number("padded")  # as tools/same_code.py says
        results.write(self.path, found)
        self.assertEqual(self.changed(), [])
        stale.stamp(found)
        self.assertNotIn("same", found["tables"][0]["rows"][1])
        self.rung("02_padded.cu", "padded", value="2")
        self.assertEqual(self.changed(), ["padded"])

    def test_marks(self):
        self.rung("02_padded.cu", "padded", value="2")
        found = stale.mark(results.load(self.path))
        text = result_table.render(found, recorded=True)
        self.check_form(text)
        self.assertIn("\npadded †     ok", text)
        self.assertIn("its kernel has changed since it was measured. ./days bench 13 --stale --record", " ".join(text.split()))
        self.assertNotIn("naive †", text)
        picture = result_plots.ladder(found, found["tables"][0])
        self.assertIn(">padded †<", picture)
        self.assertIn(">†: its kernel has changed since it was measured.<", picture)
        found = results.load(self.path)
        self.assertNotIn("†", result_table.render(found) + result_plots.ladder(found, found["tables"][0]))

    def test_marks_in_a_sweeps_lines(self):
        tables = [table([result_row("naive", 9 + i), result_row("padded", 8 + i)], n, True) for i, n in enumerate((256, 1024, 4096))]
        self.recorded(*tables)
        self.rung("02_padded.cu", "padded", value="2")
        found = stale.mark(results.load(self.path))
        self.assertEqual({name for name, _ in result_plots.curves(found["tables"])}, {"naive", "padded †"})

    def test_rungs_that_were_never_measured(self):
        self.assertEqual(stale.never_measured(results.load(self.path)), [])
        describe(self.day, {"new": "transpose_new", **RUNGS})
        self.forget()
        self.assertEqual(stale.never_measured(results.load(self.path)), ["new"])


class Report(Case):
    """tools/results_tables.py in a clone with a day that has results and one that has none."""

    def setUp(self):
        super().setUp()
        spec = importlib.util.spec_from_file_location("results_tables", support.ROOT / "tools" / "results_tables.py")
        self.writer = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.writer)
        self.replace(self.writer, "ROOT", self.root)
        self.recorded(table([result_row("naive", 4000), result_row("padded", 600)]))
        self.note = self.day / "README.md"
        self.note.write_text("<!-- results:h200 -->\n<!-- /results:h200 -->\n")
        self.other = self.root / "day14_softmax" / "README.md"
        self.other.parent.mkdir()
        support.describe(self.other.parent)
        self.other.write_text("# Softmax\n<!-- results:h200 -->\n<!-- /results:h200 -->\n")

    def report(self, *words, code=0):
        self.replace(sys, "argv", ["results_tables.py", *words])
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            got = self.writer.main()
        self.assertEqual(got, code, out.getvalue())
        return out.getvalue()

    def test_a_day_that_was_not_measured_says_so(self):
        self.report("--check", code=1)
        self.report()
        self.assertIn("Not measured on a GPU yet: `./days bench 14`.", self.other.read_text())
        self.assertIn("Not measured on a GPU yet: tiled. `./days bench 13 --stale --record` does.", self.note.read_text())
        self.report("--check")
        self.other.write_text("# Softmax\n")
        self.assertIn("day14_softmax/README.md has no <!-- results:h200 --> markers", self.report("--check", code=1))

    def test_check_enforces_the_mark(self):
        self.report()
        self.assertIn("| padded | 600 µs |", self.note.read_text())
        self.rung("02_padded.cu", "padded", value="2")
        self.assertIn("run ./days report", self.report("--check", code=1))
        self.report()
        text = self.note.read_text()
        self.assertIn("| padded † | 600 µs |", text)
        self.assertIn("| naive | 4 ms |", text)
        self.assertIn("†: its kernel has changed since it was measured. `./days bench 13 --stale --record` measures it again.", text)
        self.assertIn("padded †", (self.day / "pictures" / "results_h200_transpose.svg").read_text())
        self.report("--check")

    def test_tables_of_several_commits(self):
        found = results.load(self.path)
        found["tables"].append(table([result_row("naive", 1)], 256, date="2026-01-01T00:00:00Z", commit="abcdef0123"))
        stale.stamp(found)
        results.write(self.path, found)
        self.report()
        self.assertIn("Some tables are older: 2026-01-01, commit abcdef0.", self.note.read_text())


class Order(Case):
    def test_days(self):
        day = catalog.resolve("13", "bench")
        self.assertEqual(stale.need("h200", day), (0, "never measured"))
        self.recorded(table([result_row("naive", 4000), result_row("padded", 600)]))
        self.assertEqual(stale.need("h200", day), (1, "new: tiled"))
        rows = [result_row(name, 600) for name in ("naive", "padded", "tiled")]
        self.recorded(table(rows), table([dict(row) for row in rows], 256, True))
        self.assertIsNone(stale.need("h200", day))
        self.rung("02_padded.cu", "padded", value="2")
        self.assertEqual(stale.need("h200", day), (2, "2 of 2 tables have changed kernels: padded"))

    def test_tables(self):
        listed = stale.parse_tables("a fp32 1x2\tnaive\tpadded\na fp32 4x4\tnaive\na fp16 1x2\nb fp32 3 sweep\tnaive\n"
                                    "b fp32 4 sweep\tnaive\nb fp32 1\tnew\n")
        fresh = {"a fp32 1x2": {"naive"}, "a fp32 4x4": {"naive"}, "a fp16 1x2": set(), "b fp32 3 sweep": set()}
        self.assertEqual(list(stale.rounds(listed).values()), [0, 2, 2, 3, 3, 2])  # the day's first, others, sweeps
        self.assertEqual(list(stale.rounds(listed[-1:] + listed[:-1]).values()), [0, 1, 2, 2, 3, 3])
        self.assertEqual(stale.stale_tables(listed, fresh), ["a fp32 1x2", "b fp32 1", "b fp32 4 sweep", "b fp32 3 sweep"])
        fresh["a fp32 1x2"] |= {"padded"}
        listed[0][1].append("+CUB")
        self.assertEqual(stale.stale_tables(listed, fresh)[0], "a fp32 1x2")  # a library was built since

    def test_times(self):
        for text, seconds in (("9m", 540), ("90s", 90), ("1.5h", 5400), ("20", 20)):
            self.assertEqual(stale.seconds(text), seconds)
        for text in ("", "0m", "soon", "-1m", "9 m"):
            with self.assertRaises(stale.DaysError):
                stale.seconds(text)


class Measure(Case):
    """./days bench --stale --record with a program that measures the tables that it is told, one every so often."""

    def setUp(self):
        super().setUp()
        (self.root / "build").mkdir()
        self.write("CMakePresets.json", (support.ROOT / "CMakePresets.json").read_text())
        self.replace(gpu, "detect", lambda: gpu.Probe(gpu.Gpu("NVIDIA H200", (9, 0), 150109880320), "580.82.07", (13, 0)))
        for name in ("ensure", "configure"):
            self.replace(cmake_tools, name, lambda *_: None)
        self.built = []
        self.replace(cmake_tools, "build", lambda preset, targets: self.built.extend(targets))
        self.replace(paths, "commit", lambda: "fedcba9876543210")
        self.replace(catalog, "here", lambda: [catalog.resolve("13", "bench")])
        self.program(["naive", "padded"], ["16384x16384", "8192x16384", "4096x16384"])

    def program(self, rungs, sizes, pause=0.0, ends=""):
        """Writes each table's results as it goes, like the real one."""
        program = self.root / "build" / "cuda" / "bin" / "day13_bench"
        program.parent.mkdir(parents=True, exist_ok=True)
        listed = "".join("\t".join([f"transpose fp32 {size}", *rungs]) + "\n" for size in sizes)
        tables = {f"transpose fp32 {size}": table([result_row(name, 500 + i) for i, name in enumerate(rungs)], int(size.split("x")[0]))
                  for size in sizes}
        (self.folder / "tables.json").write_text(json.dumps([listed, tables, result_file([], date="2027-01-01T00:00:00Z")]))
        program.write_text(f"""#!{sys.executable}
import json, os, sys, time
listed, tables, found = json.load(open({str(self.folder / "tables.json")!r}))
if "--tables" in sys.argv:
    print(listed, end=""); sys.exit()
open({str(self.folder / "log")!r}, "a").write(" ".join(sys.argv[1:]) + "\\n")
only = [word[7:] for word in sys.argv if word.startswith("--only=")][0]
stop = [float(word[6:]) for word in sys.argv if word.startswith("--for=")]
began, found["commit"] = time.time(), os.environ["DAYS_COMMIT"]
if "--cpu-only" in sys.argv:
    for each in tables.values(): each["rows"] = [dict(name="CPU loops", kind="cpu", shape=[1], seconds=2)]
for key in open(only).read().splitlines():
    if stop and time.time() - began > stop[0] - {pause}: break
    time.sleep({pause})
    found["tables"].append(tables[key])
    out = sys.argv[sys.argv.index("--json") + 1]
    open(out + ".new", "w").write(json.dumps(found))
    os.replace(out + ".new", out)
{ends}
""")
        program.chmod(0o755)

    def bench(self, *words, code=0):
        self.forget()
        got, out, err = self.days("bench", "--stale", *words)
        self.assertEqual(got, code, out + err)
        return " ".join(out.split()) + " ".join(err.split())

    def sizes(self):
        return [each["shape"]["rows"] for each in results.load(self.path)["tables"]] if self.path.exists() else []

    def test_measures_what_is_missing_and_then_nothing(self):
        said = self.bench("--record", "--preset", "cuda")
        self.assertIn("Day 13 transpose, headlines: 1 of 1 tables measured", said)
        self.assertIn("Day 13 transpose, other tables: 2 of 2 tables measured", said)
        self.assertIn("Day 13 transpose, rows of the CPU: 3 of 3 tables", said)
        self.assertIn("3 tables measured, nothing waits. Next: ./days report", said)
        self.assertEqual(self.sizes(), [16384, 8192, 4096])
        self.assertEqual(self.changed(), [])
        self.assertIn("0 tables measured, nothing waits", self.bench("--record", "--preset", "cuda"))
        self.assertEqual(len((self.folder / "log").read_text().splitlines()), 3)
        self.assertEqual(list((self.root / "build" / "bench").iterdir()), [])

    def test_only_what_changed(self):
        old = table([result_row("naive", 1), result_row("padded", 1)])
        self.recorded(old, table([result_row("naive", 1)], 4096))
        self.bench("--record", "--preset", "cuda")
        found = results.load(self.path)
        self.assertEqual([(each["shape"]["rows"], each.get("commit")) for each in found["tables"]],
                         [(16384, result_file([])["commit"]), (4096, None), (8192, None)])
        self.assertEqual(found["tables"][0]["rows"][:-1], json.loads(json.dumps(stale_stamped(old))))
        self.assertEqual([each["rows"][-1]["name"] for each in found["tables"]], ["CPU loops"] * 3)
        self.assertEqual(found["commit"], "fedcba9876543210")

    def test_ends_in_time_and_goes_on(self):
        self.program(["naive"], ["16384x16384", "8192x16384", "4096x16384"], pause=0.6)
        said = self.bench("--record", "--preset", "cuda", "--for", "1.5s")
        first = len(self.sizes())
        self.assertIn(first, (1, 2))
        self.assertIn("1 days wait. Next: ./days bench --stale --record --for 9m", said)
        for _ in range(3):
            self.bench("--record", "--preset", "cuda", "--for", "1.5s")
        self.assertEqual(self.sizes(), [16384, 8192, 4096])

    def test_a_program_that_dies_loses_nothing_that_it_measured(self):
        self.program(["naive"], ["16384x16384", "8192x16384"], ends="import signal; os.kill(os.getpid(), signal.SIGSEGV)")
        self.assertIn("was ended by SIGSEGV", self.bench("--record", "--preset", "cuda", code=1))
        self.assertEqual(self.sizes(), [16384, 8192])

    def test_what_an_earlier_run_left_is_kept(self):
        part = self.root / "build" / "bench" / "day13.stale.json"
        part.parent.mkdir(parents=True)
        part.write_text(json.dumps(result_file([table([result_row("naive", 7), result_row("padded", 7)])])))
        self.bench("--record", "--preset", "cuda")
        self.assertEqual(self.sizes(), [16384, 8192, 4096])
        self.assertEqual(results.load(self.path)["tables"][0]["rows"][0]["seconds"], 7e-6)

    def test_another_driver_gets_its_own_file_once(self):
        self.recorded(table([result_row("naive", 1)], 256), driver="1.0")
        self.bench("--record", "--preset", "cuda")
        self.assertEqual(self.sizes(), [256])
        other = self.path.with_name("day13-cuda13.0-driver580.82.07.json")
        self.assertEqual(len(results.load(other)["tables"]), 3)
        self.assertIn("0 tables measured", self.bench("--record", "--preset", "cuda"))

    def test_the_plan_needs_no_gpu(self):
        self.assertIn("h200 13 transpose: never measured", self.bench())
        self.recorded(table([result_row("naive", 1), result_row("padded", 1), result_row("tiled", 1)]))
        self.assertIn("h200: 0 of 1 days have something to measure", self.bench())
        self.rung("01_naive.cu", "naive", value="3")
        self.assertIn("h200 13 transpose: 1 of 1 tables have changed kernels: naive", self.bench())
        self.assertEqual(self.built, [])

    def test_refusals(self):
        self.replace(gpu, "detect", lambda: gpu.Probe())
        self.assertIn("there is none here", self.bench("--record", "--preset", "cpu", code=3))
        self.assertIn("--stale measures what is missing, and --compare something else", self.bench("--compare", code=2))
        self.assertIn('--for "soon" is no time', self.bench("--record", "--for", "soon", code=2))
        self.assertIn("--for is for --stale --record", self.bench("--for", "9m", code=2))


def stale_stamped(one):
    found = result_file([one])
    stale.stamp(found)
    return found["tables"][0]["rows"]


class SameCode(unittest.TestCase):
    def test_what_is_compared(self):
        spec = importlib.util.spec_from_file_location("same_code", support.ROOT / "tools" / "same_code.py")
        tool = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(tool)
        self.assertEqual(tool.architecture("sm_90"), "sm_90a")
        self.assertEqual(tool.architecture("sm_75"), "sm_75")
        for one, other, same in (([b"a"], [b"a"], True), ([b"a"], [b"a", b"b"], True), ([b"a", b"b"], [b"b"], True),
                                 ([b"a", b"a"], [b"a", b"b"], False), ([b"a"], [b"b"], False), ([], [b"a"], False),
                                 (None, [b"a"], False), ([b"a"], None, False)):
            self.assertEqual(tool.all_among(one, other), same, (one, other))
        done = subprocess.run([sys.executable, "-B", str(support.ROOT / "tools" / "same_code.py"), "x"], stderr=subprocess.PIPE,
                              check=False)
        self.assertEqual(done.returncode, 2)


if __name__ == "__main__":
    unittest.main()
