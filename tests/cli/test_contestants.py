#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Contestants from Python: the day's shared library through ctypes on the CPU backend, and the race without a GPU."""
import importlib.util
import re
import shutil
import struct
import subprocess
import sys
import types
import unittest

import support
from days_cli import catalog, gpu, ladders, library, program_day, racing, results, run_build
from days_cli import benching, measuring
from days_cli.errors import DaysError
from support import ROOT, result_file, result_row, result_table

sys.path.insert(0, str(ROOT / "bench"))
import contestants  # noqa: E402

_BUILT = []


def built():
    """Day 01's library, made once for all tests."""
    if not _BUILT:
        _BUILT.append(library.Library(run_build.build_library(catalog.resolve("1", "bench"), "simt")))
    return _BUILT[0]


def floats(data):
    return list(struct.unpack(f"<{len(data) // 4}f", data))


@unittest.skipUnless(shutil.which("g++") or shutil.which("clang++"), "no C++ compiler here")
class SharedLibrary(unittest.TestCase):
    def test_describes_itself(self):
        described = built().description()
        self.assertEqual(described["backend"], "simt")
        self.assertEqual([ladder["ladder"] for ladder in described["ladders"]], ["vector_add", "matrix_add"])
        rows = {row["name"]: row for row in described["ladders"][0]["rows"]}
        self.assertEqual(rows["CUB"], {"name": "CUB", "kind": "library", "absent": {"fp32": "not built"}})
        self.assertEqual(rows["float4"]["absent"], {})

    def test_a_rung_on_memory_of_ours(self):
        with built().contest("vector_add", "fp32", [33]) as theirs, built().contest("vector_add", "fp32", [33]) as mine:
            pointers = [buffer.pointer for buffer in mine.buffers]
            mine.buffers[0].write(struct.pack("<33f", *range(33)))
            mine.buffers[1].write(struct.pack("<33f", *range(0, 66, 2)))
            for row in ("one_each", "grid_stride", "float4", "shared"):
                mine.buffers[2].write(b"\xff" * 132)
                built().launch("vector_add", "fp32", row, [33], pointers)
                self.assertEqual(floats(mine.buffers[2].read()), [3.0 * i for i in range(33)], row)
            self.assertNotIn(theirs.buffers[2].pointer, pointers)

    def test_refusals_come_with_their_reason(self):
        with built().contest("vector_add", "fp32", [33]) as contest:
            pointers = [buffer.pointer for buffer in contest.buffers]
            for row, shape, given, said in (("none", [33], pointers, 'vector_add has no row "none"'),
                                            ("one_each", [33, 1], pointers, "vector_add takes 1"),
                                            ("one_each", [33], pointers[:2], "more than the 2"),
                                            ("CUB", [33], pointers, "CUB: not built"),
                                            ("float4", [33], [pointers[0] + 4, *pointers[1:]], "16")):
                with self.assertRaises(library.Refused) as caught:
                    built().launch("vector_add", "fp32", row, shape, given)
                self.assertIn(said, caught.exception.message)

    def test_a_contest_sees_what_is_wrong(self):
        with built().contest("vector_add", "fp32", [1000]) as contest:
            contest.prepare("float4")
            contest.launch("float4")
            self.assertEqual(contest.verify(), {"ok": True, "worst": 0, "lines": []})
            a, b, c = contest.buffers
            total = [struct.unpack("<f", struct.pack("<f", x + y))[0] for x, y in zip(floats(a.read()), floats(b.read()))]
            contest.prepare()
            self.assertFalse(contest.verify()["ok"])  # poisoned
            c.write(struct.pack("<1000f", *total))
            self.assertTrue(contest.verify()["ok"])
            total[999] += 1
            c.write(struct.pack("<1000f", *total))
            report = contest.verify()
            self.assertFalse(report["ok"])
            self.assertIn("1 of 1000 wrong", report["lines"][-1])
            a.write(bytes(4000))
            self.assertTrue(any("input a[" in line for line in contest.verify()["lines"]))
            with self.assertRaises(DaysError):
                c.write(b"short")


class FakeTensor:
    """As much of a tensor as the checks need."""

    def __init__(self, values):
        self.values, self.shape, self.dtype = values, (len(values),), "float32"


class FakeTorch:
    __version__ = "9.9"
    resets = 0

    class compiler:  # pylint: disable=invalid-name
        @staticmethod
        def reset():
            FakeTorch.resets += 1


class FakeSide(contestants.Host):
    """A PyTorch of lists of floats."""

    def __init__(self):
        super().__init__(FakeTorch)

    def tensors(self, contest):
        return [_Floats(floats(buffer.read())) for buffer in contest.buffers]

    def finish(self, contest, problem):
        for buffer, tensor in zip(contest.outputs, problem.outputs):
            buffer.write(struct.pack(f"<{len(tensor.values)}f", *tensor.values))


class _Floats(FakeTensor):
    def view(self, *_):
        return self

    def fill_(self, _):
        self.values[:] = [float("nan")] * len(self.values)

    def copy_(self, other):
        self.values[:] = other.values


FakeTorch.uint8 = None


@unittest.skipUnless(shutil.which("g++") or shutil.which("clang++"), "no C++ compiler here")
class Rows(unittest.TestCase):
    """Contestants with a PyTorch of this file's."""

    def rows(self, *entries):
        table = result_table([result_row("one_each", 5), {"name": "CPU loops", "kind": "cpu", "shape": [40], "seconds": 1}])
        table.update(ladder="vector_add", shape={"n": 40})
        good = contestants.table_rows(built(), FakeSide(), ["n"], table, entries)
        self.assertEqual([row["name"] for row in table["rows"]], ["one_each", *(name for name, _ in entries), "CPU loops"])
        self.assertEqual(table["python"], {"about": "torch 9.9"})
        return good, {row["name"]: row for row in table["rows"]}

    @staticmethod
    def add(torch, problem):
        a, b = problem.inputs
        return lambda: _Floats([struct.unpack("<f", struct.pack("<f", x + y))[0] for x, y in zip(a.values, b.values)])

    @staticmethod
    def into(torch, problem):
        made = Rows.add(torch, problem)
        return lambda: problem.outputs[0].copy_(made())

    @staticmethod
    def nothing(torch, problem):
        return lambda: None

    @staticmethod
    def first(torch, problem):
        return lambda: problem.inputs[0]

    @staticmethod
    def short(torch, problem):
        return lambda: _Floats([0.0] * 39)

    @staticmethod
    def two(torch, problem):
        return lambda: [problem.inputs[0], problem.inputs[1]]

    @staticmethod
    def liger(torch, problem):
        raise ModuleNotFoundError("No module named 'liger_kernel'", name="liger_kernel")

    @staticmethod
    def picky(torch, problem):
        raise contestants.Skip(f"needs n % 128 == 0, this is {problem.shape['n']}")

    @staticmethod
    def unsupported(torch, problem):
        def run():
            raise RuntimeError("No available kernel. Aborting execution.\nmore")
        return run

    @staticmethod
    def either(torch, problem):
        """Each element is one of a or of b: a result among many."""
        return lambda: _Floats([x if at % 3 else y for at, (x, y) in enumerate(zip(*(one.values for one in problem.inputs)))])

    @staticmethod
    def neither(torch, problem):
        return lambda: _Floats([*problem.inputs[0].values[:-1], 1e9])

    @staticmethod
    def one_of_both(made, problem):
        wrong = [i for i, values in enumerate(zip(made[0].values, *(one.values for one in problem.inputs))) if values[0] not in values[1:]]
        return f"out[{wrong[0]}] is neither a's nor b's" if wrong else ""

    def test_a_result_that_is_not_unique(self):
        Rows.either.check = Rows.neither.check = self.one_of_both
        good, rows = self.rows(("either", self.either))
        self.assertTrue(good)
        self.assertEqual((rows["either"]["result"], rows["either"]["worst_error"]), ("ok", None))
        good, rows = self.rows(("neither", self.neither))
        self.assertFalse(good)
        self.assertEqual((rows["neither"]["result"], rows["neither"]["report"]), ("fail", "out[39] is neither a's nor b's"))

    def test_right_ones(self):
        good, rows = self.rows(("returns", self.add), ("writes", self.into))
        self.assertTrue(good)
        for name in ("returns", "writes"):
            self.assertEqual(rows[name], {"name": name, "kind": "library", "process": "python", "result": "ok",
                                          "worst_error": 0})  # and no time: there is no GPU

    def test_wrong_ones(self):
        for name in ("nothing", "first", "short", "two"):
            good, rows = self.rows((name, getattr(self, name)))
            self.assertFalse(good, name)
            self.assertEqual(rows[name]["result"], "fail", name)
            self.assertTrue(rows[name]["report"], name)
            self.assertNotIn("seconds", rows[name])

    def test_absent_ones(self):
        good, rows = self.rows(("Liger", self.liger), ("picky", self.picky), ("FLASH", self.unsupported))
        self.assertTrue(good)
        self.assertEqual((rows["Liger"]["result"], rows["Liger"]["reason"]), ("missing", "not installed: liger_kernel"))
        self.assertEqual((rows["picky"]["result"], rows["picky"]["reason"]), ("skip", "needs n % 128 == 0, this is 40"))
        self.assertEqual((rows["FLASH"]["result"], rows["FLASH"]["reason"]),
                         ("skip", "No available kernel. Aborting execution."))

    def test_again_replaces(self):
        table = result_table([])
        table.update(ladder="vector_add", shape={"n": 40})
        before = FakeTorch.resets
        for _ in range(2):
            contestants.table_rows(built(), FakeSide(), ["n"], table, [("returns", self.add)])
        self.assertEqual(len(table["rows"]), 1)
        self.assertEqual(FakeTorch.resets - before, 2)  # what torch.compile made for another table is forgotten


class Race(unittest.TestCase):
    def test_by_turns_after_a_round_of_warming_up(self):
        calls = []

        def timed(body):
            body()
            return 0.1 if calls[-1] == "slow" else 0.001

        seconds = racing.by_turns({"slow": lambda: calls.append("slow"), "fast": lambda: calls.append("fast")}, timed)
        self.assertEqual(calls, ["slow", "fast"] * (len(calls) // 2))
        self.assertEqual([len(times) for times in seconds.values()], [7, 7])  # 0.5 s are spent, and seven is the least
        self.assertEqual(racing.summary([1, 2, 4]), (2, 1.4826 * 1 / 2))

    def test_a_row_says_what_its_table_measures(self):
        row, table = {}, {"read_bytes": 6, "written_bytes": 2, "limit": {"per_second": 8}}
        racing.record(row, [2, 2, 2], table)
        self.assertEqual(row, {"seconds": 2, "noise": 0, "runs": 3, "bytes_per_second": 4, "of_limit": 0.5})
        racing.record(row, [1], {**table, "flops": 40, "limit": {"per_second": 80, "sustained_per_second": 50}})
        self.assertEqual((row["flops_per_second"], row["of_limit"], row["of_sustained"]), (40, 0.5, 0.8))


def of_program(said="", seconds=2.0, error=None):
    def make(*_):
        if error:
            raise error
        return lambda: seconds
    make.check = lambda function, table: said
    return make


class Programs(support.Case):
    """Of a program day: there is no library, and a function judges itself."""

    def setUp(self):
        super().setUp()
        compiler = types.SimpleNamespace(reset=lambda: None)
        self.side = types.SimpleNamespace(torch=types.SimpleNamespace(compiler=compiler, __version__="9.9"))
        self.replace(contestants, "_step_clock", lambda torch: lambda body: body())
        self.work = {**result_table([result_row("half", 1.0)]), "ladder": "speed", "work": {"unit": "token", "units": 4096}}
        self.work.update(read_bytes=0, written_bytes=0)

    def raced(self, *entries):
        path = self.folder / "r.json"
        results.write(path, result_file([self.work, {**self.work, "ladder": "other"}]))
        code = contestants.run_programs(self.side, [("speed", *entry) for entry in entries], {}, path)
        return code, results.load(path)["tables"]

    def test_their_rows_stand_in_tables_of_work(self):
        code, (table, other) = self.raced(("eager", of_program()), ("lacks", of_program(error=contestants.Skip("needs sm_80"))),
                                          ("large", of_program(error=RuntimeError("out of memory\nTried to"))),
                                          ("absent", of_program(error=ImportError("none", name="torch_gpt"))))
        self.assertEqual(code, 0)
        self.assertEqual([row["name"] for row in table["rows"]], ["half", "eager", "lacks", "large", "absent"])
        self.assertEqual((table["rows"][1]["units_per_second"], table["rows"][1]["result"]), (2048, "ok"))
        self.assertNotIn("bytes_per_second", table["rows"][1])
        self.assertEqual([row.get("reason") for row in table["rows"][2:]], ["needs sm_80", "out of memory", "not installed: torch_gpt"])
        self.assertEqual(table["python"], {"about": "torch 9.9"})
        self.assertEqual([row["name"] for row in other["rows"]], ["half"])

    def test_a_wrong_one_has_no_time(self):
        code, (table, _) = self.raced(("eager", of_program("losses [3, 4]")), ("compiled", of_program()))
        self.assertEqual(code, 1)
        self.assertEqual((table["rows"][1]["result"], table["rows"][1]["report"]), ("fail", "losses [3, 4]"))
        self.assertNotIn("seconds", table["rows"][1])
        self.assertEqual(table["rows"][2]["seconds"], 2)

    def test_they_follow_what_was_measured_right(self):
        day, found, said = catalog.resolve("79", "bench"), result_file([self.work]), []
        self.replace(measuring.console, "note", said.append)
        self.assertEqual(measuring.raced(day, found, 1), (found, 1))
        self.assertEqual(measuring.raced(day, None, 0), (None, 0))
        self.assertEqual(measuring.raced(catalog.resolve("60", "bench"), found, 0), (found, 0))
        self.assertEqual(said, [])
        self.replace(measuring, "torch_sees_gpu", lambda: False)
        self.assertEqual(measuring.raced(day, found, 0), (found, 0))
        self.assertIn("PyTorch's contestants are left out", said[0])


class Files(support.Case):
    def test_every_file_names_ladders_of_its_day(self):
        files = sorted(ROOT.glob("day*/tests/contestants.py"))
        self.assertTrue(files)
        for file in files:
            number = file.parent.parent.name[3:5]
            entries, shapes = contestants.load(catalog.resolve(number, "bench"))
            self.assertLessEqual(set(shapes), {ladder for ladder, _, _ in entries})
            self.assertTrue(entries)
            day = catalog.resolve(number, "bench")
            names = [(ladder, name) for ladder, name, make in entries if callable(make)]
            self.assertEqual(len(set(names)), len(entries), file)
            if day.kind.in_python:
                text = (day.folder / "ladder.py").read_text()
                known = {*re.findall(r"^(\w+) = Ladder\(", text, re.MULTILINE), *re.findall(r'= Ladder\(\n +"(\w+)",', text)}
            elif day.kind.has_programs:
                known = set(program_day.sources(day))
            else:
                known = {ladder["name"] for ladder in ladders.of(day)}
            self.assertLessEqual({ladder for ladder, _ in names}, known, file)

    def test_without_pytorch(self):
        self.replace(contestants.gpu, "detect", lambda: gpu.Probe())
        self.environment(PYTHONPATH=str(self.folder))
        (self.folder / "torch.py").write_text("raise ImportError('none')")
        done = subprocess.run([sys.executable, str(ROOT / "bench" / "contestants.py"), "1"], stderr=subprocess.PIPE,
                              stdout=subprocess.PIPE, universal_newlines=True, check=False)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("PyTorch is not installed in this Python", " ".join(done.stderr.split()))

    def test_without_cuda(self):
        (self.folder / "torch.py").write_text("class cuda:\n  is_available = staticmethod(lambda: False)\n"
                                              "class version:\n  cuda = None\n")
        results.write(self.folder / "r.json", result_file([result_table([])]))
        self.environment(PYTHONPATH=str(self.folder))
        done = subprocess.run([sys.executable, str(ROOT / "bench" / "contestants.py"), "1", "--results",
                               str(self.folder / "r.json")], stderr=subprocess.PIPE, universal_newlines=True, check=False)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("this PyTorch is built without CUDA: nothing of it can be timed", " ".join(done.stderr.split()))

    def test_bench_goes_on_without_it(self):
        (self.folder / "torch.py").write_text("raise ImportError('none')")
        self.environment(PYTHONPATH=str(self.folder))
        said = []
        self.replace(benching.console, "note", said.append)
        self.assertEqual(benching._race_python(catalog.resolve("13", "bench"), self.folder / "x.json"), 0)
        self.assertIn("PyTorch's contestants are left out", said[0])
        self.assertEqual(benching._race_python(catalog.resolve("16", "bench"), self.folder / "x.json"), 0)
        self.assertEqual(len(said), 1)  # day 16 has none to leave out

    @unittest.skipUnless(importlib.util.find_spec("torch"), "PyTorch is not installed: its contestants are not checked")
    def test_the_contestants_are_right(self):
        for file in sorted(ROOT.glob("day*/tests/contestants.py")):
            done = subprocess.run([sys.executable, str(ROOT / "bench" / "contestants.py"), file.parent.parent.name[3:5]],
                                  stdout=subprocess.PIPE, universal_newlines=True, check=False)
            self.assertEqual(done.returncode, 0, done.stdout)
            self.assertIn(" ok\n", done.stdout)


if __name__ == "__main__":
    unittest.main()
