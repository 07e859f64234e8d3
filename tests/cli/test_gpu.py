#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""./days gpu with stand-ins for CMake, Ninja, CTest, tests, benchmarks, sanitizers and ncu: what it does in what order, what it keeps, and
that neither time that is up, nor a kill, nor a full disk leaves something half done that is taken for whole."""
import io
import json
import os
import signal
import subprocess
import sys
import tarfile
import time
import unittest
from pathlib import Path

import support
from support import result_file, result_row, result_table as table

DRIVER = """import sys
sys.path[:0] = [{tools!r}, {tests!r}]
from pathlib import Path
from days_cli import catalog, cmake_tools, gpu, main, measuring, paths, results
root = Path({root!r})
paths.ROOT, paths.BUILD, paths.RUN_BUILD, paths.VENV = root, root / "build", root / "build" / "run", root / "build" / "venv"
results._COMMITTED = root / "docs" / "results"
gpu.detect = lambda: gpu.Probe(gpu.Gpu("NVIDIA H200", (9, 0), 150109880320), "580.82.07", (13, 0)) if {gpu} else gpu.Probe()
cmake_tools.find_package = lambda thing: "1.14" if {gtest} else ""
catalog.here = lambda: [catalog.resolve("13", "bench")]
paths.commit = lambda: "fedcba9876543210"
measuring.torch_sees_gpu = lambda: {torch}
sys.exit(main.main(sys.argv[1:]))
"""
RUNG = "__global__ void {name}_kernel(float* x) {{ *x = 1; }}\nvoid transpose_{name}(const float* x, int s) {{ {name}_kernel<<<1, 32>>>(x); }}\n"
LADDER = """const auto transpose = days::ladder<Transpose>("transpose")
    .variant("naive", LAUNCHER(transpose_naive))
    .variant("padded", LAUNCHER(transpose_padded));
"""
BENCH = """#!{python}
import json, os, sys, time
listed, tables, found = json.load(open({data!r}))
if "--tables" in sys.argv:
    print(listed, end=""); sys.exit()
open({log!r}, "a").write("bench " + " ".join(sys.argv[1:]) + "\\n")
if "--cpu-only" in sys.argv:
    for each in tables.values(): each["rows"] = [dict(name="CPU loops", kind="cpu", shape=[1], seconds=2)]
only = [word[7:] for word in sys.argv if word.startswith("--only=")][0]
found["commit"] = os.environ["DAYS_COMMIT"]
for key in open(only).read().splitlines():
    time.sleep(float(open({pause!r}).read()))
    found["tables"].append(tables[key])
    out = sys.argv[sys.argv.index("--json") + 1]
    open(out + ".new", "w").write(json.dumps(found))
    os.replace(out + ".new", out)
"""
TEST = """#!/bin/sh
case "$*" in
*--gtest_list_tests*) printf 'day13_transpose.\\n  naive/fp32_33x65\\n  padded/fp16_7x9\\n  cuBLAS/fp32_33x65  # GetParam() = library\\n  must_reject/fp32_1x1\\n  CPU_threads/fp32_3x3\\n'; exit ;;
esac
echo "test $0 $*" >> "{log}"
sleep "$(cat "{folder}/test_seconds")"
exit "$(cat "{folder}/test_code")"
"""


class Case(support.Case):
    def setUp(self):
        super().setUp()
        self.root, self.log = self.folder / "repository", self.folder / "log"
        self.day = self.root / "day13_transpose"
        for path in (self.day, self.root / "common", self.root / "tests", self.root / "tools", self.root / "docs" / "results"):
            path.mkdir(parents=True)
        (self.day / "README.md").write_text("---\ntitle: Transpose\n---\n")
        (self.day / "ladder.cpp").write_text(LADDER)
        for number, name in enumerate(("naive", "padded"), 1):
            (self.day / f"0{number}_{name}.cu").write_text(RUNG.format(name=name))
        for name in ("CMakePresets.json", "CMakeLists.txt"):
            (self.root / name).write_text((support.ROOT / name).read_text())
        self.set(pause="0", test_seconds="0", test_code="0")
        self.path = self.root / "docs" / "results" / "h200" / "day13.json"
        self.archive = self.root / "build" / "gpu" / "results.tar.gz"
        self.fakes()
        self.driver()

    def set(self, **values):
        for name, value in values.items():
            (self.folder / name).write_text(value)

    def driver(self, gpu=True, gtest=True, torch=False):
        (self.folder / "driver.py").write_text(DRIVER.format(tools=str(support.ROOT / "tools"), tests=str(support.ROOT / "tests" / "cli"), root=str(self.root),
                                                             gpu=gpu, gtest=gtest, torch=torch))

    def fakes(self, sizes=("16384x16384", "8192x16384")):
        listed = "".join(f"transpose fp32 {size}\tnaive\tpadded\n" for size in sizes) + "transpose fp32 64x16384 sweep\tnaive\tpadded\n"
        tables = {line.split("\t")[0]: table([result_row("naive", 500), result_row("padded", 400)], int(line.split()[2].split("x")[0]), "sweep" in line)
                  for line in listed.splitlines()}
        (self.folder / "tables.json").write_text(json.dumps([listed, tables, result_file([], date="2027-01-01T00:00:00Z")]))
        made = self.folder / "made"
        made.mkdir(exist_ok=True)
        (made / "day13_bench").write_text(BENCH.format(python=sys.executable, data=str(self.folder / "tables.json"), log=str(self.log), pause=str(self.folder / "pause")))
        (made / "day13_test").write_text(TEST.format(log=self.log, folder=self.folder))
        (made / "day13_transpose").write_text("#!/bin/sh\n")
        (made / "common_test").write_text(TEST.format(log=self.log, folder=self.folder))
        self.tool("cmake", 'case "$1" in --version) echo "cmake version 3.30.0" ;; *) echo "cmake $*" >> "' + str(self.log) + '" ;; esac')
        tests = [{"name": name, "properties": [{"name": "LABELS", "value": [label]}, {"name": "COST", "value": cost}]}
                 for name, label, cost in (("common_test", "common", 0), ("day13_test", "day13", 13), ("test_stale", "python", 100))]
        (self.folder / "ctest.json").write_text(json.dumps({"tests": tests}))
        self.tool("ctest", f'case "$1" in --version) echo "ctest version 3.30.0" ;; *) cat "{self.folder}/ctest.json" ;; esac')
        self.tool("ninja", f"""[ "$1" = --version ] && {{ echo 1.11.1; exit; }}
bin="$2/bin"; shift 2
if [ "$1" = -n ]; then
  shift; work=
  for target; do [ -e "$bin/$target" ] || {{ work=1; echo "[1/1] Linking CXX executable bin/$target"; }}; done
  [ -n "$work" ] || echo "ninja: no work to do."
  exit
fi
shift 2; code=0; mkdir -p "$bin"
echo "ninja $*" >> "{self.log}"
for target; do
  [ -e "$bin/$target" ] && continue
  if [ -e "{self.folder}/broken_$target" ]; then echo "FAILED: CMakeFiles/$target.dir/x.cu.o"; code=1; continue; fi
  sleep 0.2
  case $target in lib*) : > "$bin/$target.so"; echo "[1/9] Linking CUDA shared library bin/$target.so"; continue ;; esac
  cp "{made}/$target" "$bin/$target"; chmod +x "$bin/$target"
  echo "[1/9] Linking CXX executable bin/$target"
done
exit $code
""")
        self.tool("compute-sanitizer", f'echo "sanitizer $*" >> "{self.log}"\ncat "{self.folder}/sanitizer" 2>/dev/null && exit 86\n'
                  'echo "========= ERROR SUMMARY: 0 errors"')
        self.tool("ncu", "exit 0")
        (self.root / "days").write_text(f"""import sys
open({str(self.log)!r}, "a").write("days " + " ".join(sys.argv[1:]) + "\\n")
print("1 rung profiled, nothing waits. Next: ./days report")
""")
        (self.root / "tools" / "ncu_counters.py").write_text(f"""import json, pathlib, sys
open({str(self.log)!r}, "a").write("counters " + " ".join(sys.argv[1:]) + "\\n")
path = pathlib.Path("docs/results/h200/counters/day13.json")
path.parent.mkdir(parents=True, exist_ok=True)
path.write_text(json.dumps({{"day": "day13_transpose", "rows": [{{"ladder": "transpose", "variant": "naive", "explain": [], "ncu": []}}]}}))
print("1 variants counted, 0 days wait")
""")

    def start(self, *words):
        return subprocess.Popen([sys.executable, "-B", str(self.folder / "driver.py"), "gpu", *words], cwd=self.root, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def gpu(self, *words, code=0):
        process = self.start(*words)
        try:
            said = process.communicate(timeout=60)[0]
        finally:
            process.kill()
        self.assertEqual(process.returncode, code, said)
        self.check_form(said)
        return " ".join(said.split())

    def lines(self, word):
        return [line for line in self.log.read_text().splitlines() if line.startswith(word)] if self.log.exists() else []

    def sizes(self):
        found = json.loads(self.path.read_text()) if self.path.exists() else {"tables": []}
        return [each["shape"]["rows"] for each in found["tables"]]

    def state(self):
        return json.loads((self.root / "build" / "gpu" / "state.json").read_text())

    def leftovers(self):
        done = subprocess.run(["ps", "-eo", "args"], stdout=subprocess.PIPE, text=True, check=False).stdout
        return [line for line in done.splitlines() if str(self.root) in line and "driver.py" not in line]


class Calls(Case):
    def test_all_of_it_and_then_nothing(self):
        said = self.gpu("--for", "40s")
        self.assertEqual(self.sizes(), [16384, 8192, 64])
        steps = [step["name"] for step in self.state()["calls"][0]["steps"]]
        self.assertEqual(steps, ["build", "tests", "headlines", "first tables", "other tables", "sanitizers", "counters", "profile", "CPU rows", "sweeps"])
        self.assertIn("2 passed, 0 failed, 0 skipped", said)
        self.assertIn("4 clean, 0 found something", said)
        self.assertIn("1 variants counted, 0 days wait", said)
        self.assertIn("1 rung profiled, nothing waits.", said)
        self.assertRegex(self.lines("days ")[0], r"^days profile --stale --record --for \d+s$")
        self.assertEqual(len(self.lines("sanitizer")), 4)
        self.assertIn("--gtest_filter=", self.lines("sanitizer")[0])
        for name in ("must_reject", "CPU_threads"):
            self.assertNotIn(name, self.lines("sanitizer")[0])
        self.assertTrue(all("--no-cpu" in line or "--cpu-only" in line for line in self.lines("bench")))
        self.assertTrue(all("--limits=" in line for line in self.lines("bench")))
        self.assertIn("-DPython3_EXECUTABLE=", self.lines("cmake")[0])
        self.assertEqual(len(self.lines("test ")), 2)  # those of ./days need no GPU
        self.assertRegex(said, r"CPU rows [\d.]+ 2 tables")
        tests, benches = self.lines("test "), self.lines("bench")
        said = self.gpu()
        self.assertEqual((self.lines("test "), self.lines("bench"), len(self.lines("sanitizer"))), (tests, benches, 4))
        self.assertIn("2 passed before", said)
        (self.day / "01_naive.cu").write_text(RUNG.format(name="naive").replace("= 1", "= 2"))
        self.gpu("--only", "tests")
        self.assertEqual([line.split("/")[-1].split()[0] for line in self.lines("test ")[2:]], ["day13_test"])  # common's is as it was

    def test_another_machine_takes_it(self):
        self.gpu("--for", "40s")
        kept = self.folder / "kept.tar.gz"
        kept.write_bytes(self.archive.read_bytes())
        results = self.path.read_text()
        self.assertLess(kept.stat().st_size, 16 << 20)
        for folder in ("build", "docs"):
            (self.root / folder).rename(self.folder / f"{folder} of before")
        self.driver(gpu=False)
        said = self.gpu("--take", str(kept))
        self.assertEqual(json.loads(self.path.read_text()), json.loads(results))
        self.assertTrue((self.path.parent / "counters" / "day13.json").exists())
        self.assertIn("3 tables, all new", said)
        self.assertIn("2 tests passed, 0 failed", said)
        self.assertIn("holds no result that is not here", self.gpu("--take", str(kept)))
        # A table that was measured later stays.
        found = json.loads(self.path.read_text())
        found["tables"][0].update(date="2028-01-01T00:00:00Z", commit="0123456789abcdef")
        found["tables"][0]["rows"][0]["seconds"] = 1
        found["tables"][1]["rows"][0]["seconds"] = 1
        self.path.write_text(json.dumps(found))
        self.assertIn("1 tables, 0 of them new; 1 that were measured later stay", self.gpu("--take", str(kept)))
        taken = json.loads(self.path.read_text())
        self.assertEqual({each["shape"]["rows"]: each["rows"][0]["seconds"] for each in taken["tables"]}, {16384: 1, 8192: 500e-6, 64: 500e-6})
        # The numbers of their kernels' texts are today's, and stay where nothing else differs.
        for row in taken["tables"][0]["rows"]:
            row["source"] = "today's"
        self.path.write_text(json.dumps(taken))
        self.assertIn("holds no result that is not here", self.gpu("--take", str(kept)))
        self.assertEqual(json.loads(self.path.read_text()), taken)
        # A rung that the day has no longer does not come back.
        self.path.unlink()
        (self.day / "ladder.json").write_text(json.dumps({"source": "", "ladders": [support.ladder("transpose", {"naive": "transpose_naive"})]}))
        self.assertIn("3 tables, all new; no rungs of the day any more: padded", self.gpu("--take", str(kept)))
        self.assertNotIn('"padded"', self.path.read_text())
        (self.day / "ladder.json").unlink()
        # A machine that is bare goes on.
        self.driver()
        (self.root / "docs").rename(self.folder / "docs of then")
        self.log.unlink()
        self.gpu("--for", "40s", "--from", str(kept))
        self.assertEqual((self.lines("test "), self.lines("bench"), self.lines("sanitizer")), ([], [], []))
        calls = len(self.state()["calls"])
        self.assertIn("newer than the archive's state, and stays", self.gpu("--only", "tests", "--from", str(kept)))
        self.assertEqual(len(self.state()["calls"]), calls + 1)

    def test_files_that_came_anew(self):
        self.path.parent.mkdir(parents=True)
        self.gpu("--only", "bench", "--for", "40s")
        results = json.loads(self.path.read_text())
        self.path.unlink()  # as a machine does that is given the clone's files before each command
        self.log.unlink()
        self.gpu("--only", "bench", "--for", "40s")
        self.assertEqual(self.lines("bench"), [])
        self.assertEqual(json.loads(self.path.read_text()), results)
        with tarfile.open(self.archive) as archive:
            self.assertIn("results/h200/day13.json", archive.getnames())

    def test_tests_begin_while_the_build_goes_on(self):
        self.set(test_seconds="0.3")
        self.gpu("--only", "tests", "--jobs", "2")
        words = [line.split()[0] for line in self.log.read_text().splitlines()]
        self.assertEqual(words.count("test"), 2)
        built = self.lines("ninja")
        self.assertEqual(built, ["ninja day13_test common_test"])  # the longest first, and nothing that is only timed

    def test_a_test_that_fails(self):
        self.set(test_code="1")
        said = self.gpu("--only", "tests", code=1)
        self.assertIn("0 passed, 2 failed", said)
        self.assertIn("day13_test: exit code 1", said)
        with tarfile.open(self.archive) as archive:
            self.assertIn("logs/day13_test.log", archive.getnames())
        self.set(test_code="0")
        self.assertIn("2 passed, 0 failed", self.gpu("--only", "tests"))  # what failed is run again

    def test_what_does_not_build_fails_and_the_rest_goes_on(self):
        (self.folder / "broken_day13_test").write_text("")
        said = self.gpu("--for", "40s", code=1)
        self.assertIn("1 passed, 1 failed", said)
        self.assertIn("day13_test: it does not build", said)
        self.assertEqual(self.sizes(), [16384, 8192, 64])

    def test_sanitizers_that_find_something_and_that_do_not_work(self):
        self.set(sanitizer="========= ERROR SUMMARY: 3 errors\n")
        self.assertIn("sanitizers found something: 13 initcheck, 13 memcheck", self.gpu("--for", "40s", code=1))
        (self.root / "build" / "gpu" / "state.json").unlink()
        (self.folder / "sanitizer").unlink()
        self.tool("compute-sanitizer", 'echo "========= Error: Device not supported"; exit 1')
        self.assertIn("compute-sanitizer does not work here: Device not supported", self.gpu("--for", "40s"))

    def test_only(self):
        self.gpu("--only", "bench", "--for", "30s")
        self.assertEqual((self.sizes(), self.lines("test "), self.lines("counters")), ([16384, 8192, 64], [], []))
        self.log.unlink()
        self.gpu("--only", "counters", "--for", "30s")
        self.assertEqual([line for line in self.log.read_text().splitlines() if line.split()[0] not in ("cmake", "ninja")], self.lines("counters"))
        self.assertEqual(self.lines("ninja"), ["ninja day13_transpose"])
        self.assertEqual((self.root / "build" / "run" / "cuda" / "day13_transpose").resolve(), self.root / "build" / "cuda" / "bin" / "day13_transpose")
        self.assertLess(int(self.lines("counters")[0].split()[-1]), 30)


SERVER = """import json, os, sys
def load(day):
    return [("transpose", "torch", None), ("transpose", "torch.compile", None)], {{}}
def say(text):
    open({log!r}, "a").write("python " + text + "\\n")
if __name__ == "__main__":
    say("begins")
    out = os.fdopen(int(sys.argv[2]), "w")
    def answer(data):
        out.write(json.dumps(data) + "\\n")
        out.flush()
    answer({{"code": 0}})
    for line in sys.stdin:
        asked = json.loads(line)
        say(asked["do"])
        if os.path.exists({dies!r}):
            answer({{"error": "CUDA error: an illegal memory access"}})
            sys.exit(1)
        if asked["do"] == "race":
            found = json.load(open(asked["results"]))
            for table in found["tables"]:
                table["rows"] = [row for row in table["rows"] if row["name"][:5] != "torch"] + [
                    dict(name=name, kind="library", process="python", result="ok", seconds=1) for name, _ in (("torch", 0), ("torch.compile", 0))]
            json.dump(found, open(asked["results"] + ".new", "w"))
            os.replace(asked["results"] + ".new", asked["results"])
        answer({{"code": 0, "done": 1}})
"""


class Unhurried(Case):
    def test_without_an_end(self):
        self.gpu()
        self.assertEqual(self.sizes(), [16384, 8192, 64])
        self.assertIn("--cpu-only", " ".join(self.lines("bench")))


class Contestants(Case):
    def setUp(self):
        super().setUp()
        self.driver(torch=True)
        for path in (self.day / "tests", self.root / "bench"):
            path.mkdir()
        (self.day / "tests" / "contestants.py").write_text("")
        (self.root / "bench" / "contestants.py").write_text(SERVER.format(log=str(self.log), dies=str(self.folder / "dies")))

    def names(self):
        return [[row["name"] for row in each["rows"] if row.get("process") == "python"] for each in json.loads(self.path.read_text())["tables"]]

    def test_one_process_races_for_all_tables(self):
        said = self.gpu("--for", "40s")
        self.assertEqual(self.names(), [["torch", "torch.compile"]] * 3)
        asked = [line.split()[1] for line in self.lines("python")]
        self.assertEqual(asked, ["begins", "compile", "begins", "race", "race", "race"])  # a cache is filled by processes of its own
        self.assertIn("compile cache", said)
        self.assertEqual(self.leftovers(), [])

    def test_rows_that_were_lost_come_back(self):
        self.gpu("--for", "40s")
        found = json.loads(self.path.read_text())
        found["tables"][1]["rows"] = [row for row in found["tables"][1]["rows"] if row["name"] != "torch.compile"]
        before = found["tables"][1]["date"] = "2026-12-31T00:00:00Z"
        self.path.write_text(json.dumps(found))
        self.log.unlink()
        self.archive.unlink()  # which has that row
        said = self.gpu("--only", "bench", "--for", "40s")
        self.assertIn("Day 13 transpose, other tables: 1 of 1 raced in Python", said)
        self.assertEqual((self.names(), self.lines("bench")), ([["torch", "torch.compile"]] * 3, []))
        self.assertEqual(json.loads(self.path.read_text())["tables"][1]["date"], before)  # of what was not measured again

    def test_a_process_that_dies_costs_its_rows_alone(self):
        (self.folder / "dies").write_text("")
        said = self.gpu("--for", "40s", code=1)
        self.assertIn("PyTorch's contestants: CUDA error: an illegal memory access", said)
        self.assertEqual((self.names(), self.sizes()), ([[]] * 3, [16384, 8192, 64]))
        (self.folder / "dies").unlink()
        self.gpu("--for", "40s")
        self.assertEqual(self.names(), [["torch", "torch.compile"]] * 3)


class Trouble(Case):
    def test_time_is_up(self):
        self.set(pause="1.5", test_seconds="0")
        began = time.monotonic()
        said = self.gpu("--for", "6s", "--only", "bench")
        self.assertLess(time.monotonic() - began, 6.5)
        self.assertIn(self.sizes(), ([16384], [16384, 8192]))
        self.assertIn("not begun: ", said)
        self.assertEqual(self.leftovers(), [])
        self.set(pause="0")
        self.gpu("--for", "30s", "--only", "bench")
        self.assertEqual(self.sizes(), [16384, 8192, 64])

    def test_time_is_up_in_a_test(self):
        self.set(test_seconds="30")
        began = time.monotonic()
        said = self.gpu("--for", "5s")
        self.assertLess(time.monotonic() - began, 5.5)
        self.assertIn("waits: 2 tests", said)
        self.assertIn("not begun: headlines", said)
        self.assertEqual((self.state()["tests"], self.leftovers()), ({}, []))

    def _begun(self, *words, until):
        process = self.start(*words)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.kill)
        end = time.monotonic() + 20
        while not until() and time.monotonic() < end:
            time.sleep(0.05)
        self.assertTrue(until())
        return process

    def test_killed_in_the_middle(self):
        self.set(pause="30")
        process = self._begun("--for", "60s", until=lambda: self.lines("bench"))
        process.kill()
        process.wait()
        self.assertTrue(self.leftovers())
        with tarfile.open(self.archive) as archive:  # of the step before: whole
            state = json.loads(archive.extractfile("state.json").read())
        self.assertEqual({name: test["result"] for name, test in state["tests"].items()}, {"common_test": "passed", "day13_test": "passed"})
        self.assertEqual(self.sizes(), [])
        self.set(pause="0")
        said = self.gpu("--for", "40s")
        self.assertEqual((self.leftovers(), self.sizes()), ([], [16384, 8192, 64]))  # what it had left running disturbs nothing
        self.assertIn("2 passed before", said)

    def test_asked_to_end(self):
        self.set(pause="30")
        process = self._begun("--for", "60s", until=lambda: self.lines("bench"))
        process.send_signal(signal.SIGTERM)
        said = process.communicate(timeout=20)[0]
        self.assertEqual(process.returncode, 128 + signal.SIGTERM)
        self.assertIn("2 passed, 0 failed", said)
        self.assertEqual(self.leftovers(), [])

    def test_a_disk_that_is_full(self):
        """The archive cannot be written any more: the one before stands."""
        self.gpu("--for", "30s", "--only", "tests")
        before = self.archive.read_bytes()
        text = (self.folder / "driver.py").read_text().replace("sys.exit(", """
import errno
from days_cli import outputs
whole = outputs.put
def put(target, data, executable=False):
    if str(target).endswith(".tar.gz"): raise OSError(errno.ENOSPC, "No space left on device", str(target))
    whole(target, data, executable)
outputs.put = put
sys.exit(""")
        (self.folder / "driver.py").write_text(text)
        said = self.gpu("--for", "30s", "--only", "bench", code=1)
        self.assertIn("could not be written (No space left on device): the one before stands", said)
        self.assertEqual((self.archive.read_bytes(), self.sizes()), (before, [16384, 8192, 64]))

    def test_a_state_and_archives_that_are_not_whole(self):
        self.gpu("--only", "tests", "--for", "30s")
        whole = self.archive.read_bytes()
        (self.root / "build" / "gpu" / "state.json").write_text('{"schema": 1, "tests": {"day13_te')
        self.assertIn("2 passed, 0 failed", self.gpu("--only", "tests", "--for", "30s"))  # all of it again
        half = self.folder / "half.tar.gz"
        half.write_bytes(whole[:len(whole) // 2])
        self.assertIn("is no archive of ./days gpu, or not whole", self.gpu("--take", str(half), code=2))
        self.assertIn("is no archive of ./days gpu, or not whole", self.gpu("--from", str(half), "--for", "9s", code=2))
        self.assertIn("No such file", self.gpu("--take", str(self.folder / "none"), code=2))
        for name in ("../../evil.json", "results/h200/../../../evil.json", "results/h200/a.sh"):
            with tarfile.open(half, "w:gz") as archive:
                for member, data in (("state.json", json.dumps(self.state()).encode()), (name, b"{}")):
                    info = tarfile.TarInfo(member)
                    info.size = len(data)
                    archive.addfile(info, io.BytesIO(data))
            self.assertIn("which is no result", self.gpu("--take", str(half), code=2))
        self.assertEqual(list(self.folder.rglob("evil.json")), [])

    def test_what_is_not_here(self):
        self.driver(gtest=False)
        self.assertIn("GoogleTest, Google Benchmark not found: install that, put it into .deps/", self.gpu("--for", "9s", code=1))
        self.driver(gpu=False)
        self.assertIn("there is no NVIDIA GPU here", self.gpu("--for", "9s", code=3))
        self.assertIn("0 tests passed", self.gpu("--status"))
        self.driver()
        for name in ("ncu", "compute-sanitizer"):
            (self.bin / name).unlink()
        self.environment(PATH=os.pathsep.join(part for part in os.environ["PATH"].split(os.pathsep) if "cuda" not in part))
        said = self.gpu("--for", "40s")
        self.assertIn("there is no ncu here: it comes with the CUDA toolkit", said)
        if not Path("/usr/local/cuda/bin/compute-sanitizer").exists():
            self.assertIn("there is no compute-sanitizer here", said)

    def test_flags_that_mean_nothing(self):
        self.assertIn('--for "soon" is no time', self.gpu("--for", "soon", code=2))
        self.assertIn("--only is tests or bench", self.gpu("--only", "all", code=2))
        self.assertIn("--jobs takes a number", self.gpu("--jobs", "many", code=2))
        self.assertIn('no preset "cud"', self.gpu("--preset", "cud", code=2))
        self.assertIn("no day", self.gpu("--days", "transpoze", code=2))

    def test_another_card_knows_nothing_of_these_tests(self):
        self.gpu("--only", "tests")
        text = (self.folder / "driver.py").read_text()
        (self.folder / "driver.py").write_text(text.replace("NVIDIA H200", "NVIDIA H100 80GB HBM3"))
        self.assertIn("2 passed, 0 failed", self.gpu("--only", "tests"))


class Deps(Case):
    def test_googletest_in_the_clone(self):
        from days_cli import gpu_tests, paths
        self.replace(paths, "ROOT", self.root)
        (self.root / ".deps" / "lib" / "cmake" / "GTest").mkdir(parents=True)
        self.environment(CMAKE_PREFIX_PATH="/elsewhere")
        gpu_tests.deps()
        gpu_tests.deps()
        self.assertEqual(os.environ["CMAKE_PREFIX_PATH"], f"{self.root / '.deps'}{os.pathsep}/elsewhere")


if __name__ == "__main__":
    unittest.main()
