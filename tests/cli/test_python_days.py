#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Python days: what ./days reads of a ladder.py, which Python it takes, what it refuses; and, where NumPy and Triton are, what the
interpreter hides and tools/python_days shows: each report has a kernel that causes it."""
import importlib.util
import json
import math
import os
import platform
import re
import struct
import subprocess
import sys
import textwrap
import unittest
from unittest import mock

import support
from days_cli import catalog, kernel_sources, ladders, metrics, paths, python_judge, python_ladders, python_setup, rungs, stages
from days_cli.errors import DaysError

_LADDER = '''
import numpy as np
from python_days import Exercise, Ladder, within
first = Ladder("first", ("n",), rungs=("plain", "wide", "odd"), problem=None, reference=None, shapes=(), show=(1,), bench=(),
               exercise=Exercise("a goal", starts="plain", solution="wide", gates={"load_bits": 128}))
second = Ladder(name="second", extents=("n",), rungs=("other",), problem=None, reference=None, shapes=(), show=(1,), bench=())
'''


class Ladders(support.Case):
    def setUp(self):
        super().setUp()
        self.replace(paths, "ROOT", self.folder)
        self.replace(paths, "MY", self.folder / "my")
        self.day = self.folder / "day90_tri"
        self.day.mkdir()
        (self.day / "README.md").write_text("---\ntitle: T\nkind: python\n---\n")
        (self.day / "exercise.py").write_text('"""An exercise."""\n    # your code\n')
        self.write(_LADDER, plain='"""The plain one."""\nimport triton\nX = 1\n', wide='"""Wide."""\n', odd='"""Changed since plain: odd."""\n',
                   other='"""Other."""\n')

    def write(self, ladder, **files):
        (self.day / "ladder.py").write_text(ladder)
        for number, (name, text) in enumerate(files.items(), 1):
            (self.day / f"0{number}_{name}.py").write_text("# SPDX-License-Identifier: MIT\n" + text)
        support.forget()

    def test_an_order_of_programs_is_asked_with_as_many_of_them(self):
        """Larger blocks share more within a wave as well."""
        day = catalog.resolve("90", "check")
        rung = rungs.of_day(day)["wide"]
        values = {metric.key: 1.0 for metric in metrics.TRITON}
        measured = {"plain": {"programs": 256, "wave_reads": 8.5}, "wide": {"programs": 256, "wave_reads": 5.0}}
        known = lambda kernel: python_judge.Measured({**values, **measured[kernel.variant]}, metrics.TRITON)  # noqa: E731
        self.replace(python_judge, "_known", known)
        gates, says = python_judge.asked_of(rung)
        self.assertIn("Asked: programs 256, as both have: their tiles stay as large.", says)
        for mine, verdict in ((256, "ok"), (128, "FAIL"), (512, "FAIL")):
            found = python_judge.Measured({**values, "programs": mine, "wave_reads": 5.0}, metrics.TRITON)
            self.replace(python_judge, "measure", lambda *_, found=found: found)
            self.assertEqual(python_judge.counters(python_judge.Kernel(day, "wide", "mine.py"), gates).verdict, verdict)
        measured["plain"], measured["wide"] = {"programs": 8, "instructions": 123}, {"programs": 8, "instructions": 58}
        self.assertEqual(python_judge.asked_of(rung)[0], {"instructions": 74, "programs_kept": 8})  # half a block has half of them, too
        measured["plain"], measured["wide"] = {"programs": 256, "wave_reads": 8.5}, {"programs": 64, "wave_reads": 5.0}
        self.assertEqual(list(python_judge.asked_of(rung)[0]), ["programs", "wave_reads"])

    def test_rungs_and_exercise(self):
        day = catalog.resolve("90", "run")
        found = rungs.of_day(day)
        self.assertEqual([(rung.ladder, rung.name, rung.before and rung.before.name, rung.file.name) for rung in found.values()],
                         [("first", "plain", None, "01_plain.py"), ("first", "wide", "plain", "02_wide.py"),
                          ("first", "odd", "plain", "03_odd.py"), ("second", "other", None, "04_other.py")])
        self.assertEqual(ladders.exercise(day), ("a goal", "plain", "wide"))
        self.assertEqual(python_ladders.gates_of(day), {"load_bits": 128})
        text = rungs.start_text(found["wide"])
        compile(text, "wide", "exec")
        self.assertEqual(text.splitlines()[0], "# SPDX-License-Identifier: MIT")
        for part in ("./days check 90 wide", "What plain does: The plain one.", "X = 1"):
            self.assertIn(part, text)

    def test_what_is_made_of_a_rung_changes_with_its_code_alone(self):
        tree = lambda: kernel_sources.Day(kernel_sources.Tree.of_folder(self.folder), "day90_tri")
        self.assertEqual(set(tree().launchers), {"plain", "wide", "odd", "other"})
        first = tree().number("plain")
        self.write(_LADDER, plain='"""Another comment."""\nimport triton\n\nX = 1  # one\n')
        self.assertEqual(tree().number("plain"), first)
        self.write(_LADDER, plain='import triton\nX = 2\n')
        self.assertNotEqual(tree().number("plain"), first)

    def test_a_ladder_that_cannot_be_read(self):
        for text, says in (("Ladder(name=", "day90_tri/ladder.py:1:"), (_LADDER.replace('rungs=("other",)', "rungs=tuple(x)"), "literals"),
                           (_LADDER.replace('"other"', '"missing"'), "has no file NN_missing.py")):
            self.write(text)
            code, _, err = self.days("hint", "90", "wide")
            self.assertIn(says, " ".join(err.split()))
            self.assertNotEqual(code, 0)

    def test_matrices_that_a_transpose_refuses(self):
        """What no test of a day can allocate."""
        class Matrix:
            def __init__(self, rows, cols, pitch, at):
                self.shape, self.dtype, self._strides, self._at = (rows, cols), "float32", (pitch, 1), at

            def stride(self):
                return self._strides

            def element_size(self):
                return 4

            def data_ptr(self):
                return self._at
        of = importlib.util.spec_from_file_location("needs", support.ROOT / "tools" / "python_days" / "needs.py")  # the package asks for NumPy
        needs, far = importlib.util.module_from_spec(of), 1 << 40
        of.loader.exec_module(needs)
        needs.transposed(Matrix(46340, 46340, 46340, 0), Matrix(46340, 46340, 46340, far))
        for x, y, said in ((Matrix(65536, 65536, 65536, 0), Matrix(65536, 65536, 65536, far), "x reaches over 4,294,967,296 elements"),
                           (Matrix(3, 2, 2, 0), Matrix(2, 3, 1 << 31, far), "y reaches over 2,147,483,651 elements"),
                           (Matrix(3, 2, 2, 0), Matrix(2, 3, 3, 20), "x and y overlap in memory"),
                           (Matrix(3, 2, 2, 0), Matrix(3, 2, 2, far), "its transpose is 2 x 3, and y is 3 x 2")):
            with self.assertRaisesRegex(ValueError, said):
                needs.transposed(x, y)
        needs.transposed(Matrix(3, 2, 2, 0), Matrix(2, 3, 3, 24))

    def test_wrong_words(self):
        for words, says in ((("test", "90", "--checked"), "nothing of a Python day is built"), (("test", "90", "--preset", "cpu"), "CMake"),
                            (("explain", "90", "plane"), 'no rung "plane". Nearest: plain'), (("check", "90", "plain"), "first rung"),
                            (("explain", "90", "--backend", "cuda"), "means nothing"), (("asm", "90", "nope"), "no rung")):
            code, _, err = self.days(*words)
            self.assertEqual(code, 2, words)
            self.assertIn(says, " ".join(err.split()))

    def test_bench_needs_a_gpu(self):
        self.replace(python_judge.gpus, "detect", lambda: mock.Mock(gpu=None))
        code, _, err = self.days("bench", "90")
        self.assertEqual(code, 3)
        self.assertIn("on a GPU, and there is none here", " ".join(err.split()))


class SetUp(support.Case):
    def setUp(self):
        super().setUp()
        self.replace(python_setup, "FOLDER", self.folder / "build" / "python")
        self.replace(paths, "BUILD", self.folder / "build")
        self.replace(python_setup, "here", lambda extras=(): None)
        self.replace(python_setup, "own", lambda extras=(): None)
        (self.folder / "build").mkdir()
        python_setup.look.cache_clear()
        self.addCleanup(python_setup.look.cache_clear)

    def refused(self):
        with self.assertRaises(DaysError) as raised:
            python_setup.ensure()
        self.assertEqual(raised.exception.code, 3)
        self.assertFalse((python_setup.FOLDER / "installed.json").exists())
        return raised.exception

    def test_machines_without_a_package(self):
        self.replace(sys, "platform", "darwin")
        self.assertIn("macOS", self.refused().message)
        self.replace(sys, "platform", "win32")
        self.assertIn("packages for Linux", self.refused().message)
        self.replace(sys, "platform", "linux")
        self.replace(platform, "machine", lambda: "riscv64")
        self.assertIn("riscv64", self.refused().message)
        self.replace(platform, "machine", lambda: "aarch64")
        self.replace(platform, "libc_ver", lambda: ("", ""))
        self.assertIn("glibc", self.refused().message)

    def test_a_python_that_is_too_old(self):
        self.replace(python_setup, "_python", lambda: None)
        error = self.refused()
        self.assertIn("needs Python 3.10 to 3.14", error.message)
        self.assertIn("DAYS_PYTHON=", error.hint)

    def test_without_room(self):
        self.replace(python_setup.shutil, "disk_usage", lambda path: mock.Mock(free=10 ** 8))
        self.assertIn("100 MB are free", self.refused().message)

    def test_without_network_nothing_is_left_as_if_it_were_whole(self):
        def pip(python, wanted, what, by_hand):
            raise DaysError(f"pip cannot install {what}: no network", by_hand, 3)
        self.replace(python_setup.cmake_tools, "make_environment", lambda folder, python, by_hand: folder.mkdir(parents=True))
        self.replace(python_setup.cmake_tools, "pip_install", pip)
        error = self.refused()
        self.assertIn("no network", error.message)
        self.assertIn("pip install 'numpy==", error.hint)

    def test_pip_that_installs_nothing(self):
        self.replace(python_setup.cmake_tools, "make_environment", lambda folder, python, by_hand: folder.mkdir(parents=True))
        self.replace(python_setup.cmake_tools, "pip_install", lambda *_: None)
        self.assertIn("pip said that all is well", self.refused().message)

    def test_the_python_that_is_named(self):
        self.environment(DAYS_PYTHON=str(self.folder / "nowhere"))
        with self.assertRaises(DaysError) as raised:
            python_setup.named()
        self.assertIn("is no Python that runs", raised.exception.message)
        fake = self.tool("fake", "echo '[[3, 12], {\"numpy\": \"2.4.1\", \"triton\": \"3.6.0\"}]'\n")
        self.environment(DAYS_PYTHON=str(fake))
        with self.assertRaises(DaysError) as raised:
            python_setup.named()
        self.assertIn("has NumPy 2.4.1, Triton 3.6.0; Python days need Triton 3.6 and NumPy below 2.4", raised.exception.message)

    def test_what_a_day_needs_beside(self):
        self.assertEqual([python_setup.groups()[name].packages for name in ("base", "torch", "numba")],
                         [("numpy", "triton"), ("torch",), ("numba", "numba-cuda")])
        self.assertIn("PyTorch 2.", python_setup.plan(["torch"]))
        day = mock.Mock(target="day90_x", front_matter=lambda: {"needs": ["torch"]})
        self.assertEqual(python_setup.extras_of(day), ("torch",))
        day.front_matter = lambda: {"needs": ["cupy"]}
        with self.assertRaises(DaysError) as raised:
            python_setup.extras_of(day)
        self.assertIn("needs is of torch, numba, not cupy", raised.exception.message)

    def test_sizes_and_versions_are_said_before_anything_is_installed(self):
        for part in ("Triton 3.6.0", "about 205 MB to download", "740 MB in build/python"):
            self.assertIn(part, python_setup.plan().replace(os.path.relpath(python_setup.FOLDER, paths.ROOT), "build/python"))


def _python():
    try:
        return python_setup.here()
    except DaysError:
        return None


_KERNEL = '''
import triton
import triton.language as tl
from python_days import Ladder, within
@triton.jit
def k(x_ptr, y_ptr, n, B: tl.constexpr):
    p = tl.program_id(0)
    i = p * B + tl.arange(0, B)
    there = i < n
{body}
def launch(x, y):
    k[(triton.cdiv(y.numel(), 16),)](x, y, y.numel(), B=16)
'''
_ON_A_GPU = '''
import os, sys
sys.path[:0] = [{tools!r}, {folder!r}]
from python_days import cases, commands, plain, testing
from python_days.day import Day
import triton, kernel
print(os.environ.get("TRITON_INTERPRET"), "python_days.interpreted" in sys.modules, type(kernel.k) is triton.JITFunction)
try:
    from python_days import watch
except RuntimeError as error:
    print(error)
'''
_RUN_ALL = '''
import importlib, json, sys
import numpy as np
sys.path[:0] = [{tools!r}, {folder!r}]
from python_days import interpreted, adapters, cases, Ladder, exact, within
ladder = Ladder("l", ("n",), ("k",), lambda make, n: ([make.normal(n)], [make.output(n)]), lambda x: x, ((40,),), (40,), ())
for number, order in {named!r}:
    out = cases.run(cases.Case("fp32", (40,)), adapters.of(ladder, importlib.import_module("kernel%d" % number).launch, order))
    print(json.dumps([sorted(r.slug for r in out.reports), " ".join(r.says for r in out.reports), out.facts["wrong"]]))
'''
_RUN = '''
import json, sys
import numpy as np
sys.path[:0] = [{tools!r}, {folder!r}]
from python_days import interpreted, adapters, cases, Ladder, exact, within
from python_days.tensors import from_bf16, to_bf16
import kernel
ladder = Ladder("l", ("n",), ("k",), lambda make, n: ([make.normal(n)], [make.output(n)]), lambda x: {reference}, ((40,),), (40,), (), ("fp32", "bf16"))
out = cases.run(cases.Case({kind!r}, (40,)), adapters.of(ladder, kernel.launch, {order!r}))
print(json.dumps([out.result, [r.slug for r in out.reports], out.notes, [r.says for r in out.reports], out.facts["wrong"]]))
'''


@unittest.skipUnless(_python(), "NumPy and Triton are not here")
class Interpreter(support.Case):
    def run_kernel(self, body, reference="x", kind="fp32", order="normal", helpers=""):
        """[result, slugs, notes, reports, wrong elements] of a kernel of this body, which may call these helpers."""
        (self.folder / "kernel.py").write_text(_KERNEL.format(body=textwrap.indent(textwrap.dedent(body).strip("\n"), "    ")) +
                                               textwrap.dedent(helpers))
        text = _RUN.format(tools=str(support.ROOT / "tools"), folder=str(self.folder), reference=reference, kind=kind, order=order)
        done = subprocess.run([_python().path, "-B", "-c", text], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, text=True)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        return json.loads(done.stdout)

    def run_all(self, *kernels):
        """[(slugs, what the reports say, wrong elements)] of kernels, each a text of _KERNEL's kind and an order, all in one process."""
        for number, (text, _) in enumerate(kernels):
            (self.folder / f"kernel{number}.py").write_text(text)
        script = _RUN_ALL.format(tools=str(support.ROOT / "tools"), folder=str(self.folder), named=[(n, order) for n, (_, order) in enumerate(kernels)])
        done = subprocess.run([_python().path, "-B", "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, text=True)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        return [tuple(json.loads(line)) for line in done.stdout.splitlines()]

    def asked_of(self, body, text):
        """What a script finds of a kernel of this body, and of its ladder."""
        (self.folder / "kernel.py").write_text(_KERNEL.format(body=textwrap.indent(textwrap.dedent(body).strip("\n"), "    ")))
        head = _RUN.partition("out = ")[0].format(tools=str(support.ROOT / "tools"), folder=str(self.folder), reference="x")
        (self.folder / "asks.py").write_text(head + textwrap.dedent(text) + "print(json.dumps(found))")
        done = subprocess.run([_python().path, "-B", str(self.folder / "asks.py")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                              text=True)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        return json.loads(done.stdout)

    def test_what_runs_on_a_gpu_has_no_interpreter(self):
        (self.folder / "kernel.py").write_text(_KERNEL.format(body="    pass"))
        done = subprocess.run([_python().path, "-B", "-c", _ON_A_GPU.format(tools=str(support.ROOT / "tools"), folder=str(self.folder))],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, text=True, env={**os.environ, "DAYS_BACKEND": "cuda"})
        self.assertEqual(done.stdout.splitlines(), ["None False True", "the interpreter has no place where kernels run on a GPU: what imports it?"],
                         done.stderr[-2000:])

    def test_a_right_kernel(self):
        for order in ("normal", "reversed", "shuffle"):
            self.assertEqual(self.run_kernel("tl.store(y_ptr + i, tl.load(x_ptr + i, mask=there), mask=there)", order=order),
                             ["ok", [], [], [], 0])

    def test_beyond_the_end_near_and_far(self):
        for beyond in ("i", "i + 1000000000"):
            result, slugs, _, says, _ = self.run_kernel(f"tl.store(y_ptr + i, tl.load(x_ptr + {beyond}), mask=there)")
            self.assertEqual((result, slugs), ("fail", ["oob"]))
            self.assertIn("loads x_ptr[", says[0])

    def test_elements_that_nobody_has_written(self):
        result, slugs, _, says, _ = self.run_kernel("tl.store(y_ptr + i, tl.load(y_ptr + i, mask=there), mask=there)")
        self.assertEqual((result, slugs), ("fail", ["uninit"]))
        self.assertIn("y_ptr[0], which nobody has written", says[0])

    def test_what_nobody_has_written_passes_no_tolerance(self):
        self.assertEqual(self.asked_of("pass", """
            from python_days.comparing import compare
            from python_days.tensors import Tensor, empty
            found = []
            for kind in ("fp32", "fp16", "bf16", "fp64"):
                made = empty((3,), kind)
                made.array[:2] = Tensor.of(np.array([1e-9, 0.0]), kind).array  # the third stays as it was filled
                verdict = compare("y", made, np.array([0.0, 0.0, 0.0]), within(0.1, 0.1))
                found.append([verdict["wrong"], [element["got"] for element in verdict["first"]], verdict["doubt"],
                              compare("y", made, np.array([0.0, 0.0, 0.0]), within(0.1, 0.1), fill=0x5A)["wrong"],
                              compare("y", made, np.array([0.0, 9.0, 0.0]), within(0.1, 0.1))["doubt"]])
            """), [[1, ["not written"], True, 0, False]] * 4)

    def test_large_results_are_compared_in_parts(self):
        """On all cores, and to the same verdict as at one go."""
        self.assertEqual(self.asked_of("pass", """
            from python_days import comparing, tensors
            from python_days.tensors import Tensor
            values = np.arange(60, dtype=np.float32).reshape(6, 10)
            found = []
            for part in (1 << 20, 7):
                tensors.PART = part
                for change in ((), ((5, 9), (0, 3), (2, 2)), ((1, 1),)):
                    made = Tensor.of(values, "fp32")
                    for place in change:
                        made.array[place] = np.nan if len(change) == 1 else -8
                    found.append(comparing.compare("y", made, values.astype(np.float64), within(0.1, 0.1)))
            assert found[0]["wrong"] == 0 and found[1]["wrong"] == 3 and found[2]["worst"] is None, found
            assert [one["at"] for one in found[1]["first"]] == ["y[0, 3]", "y[2, 2]", "y[5, 9]"], found
            found = found[:3] == found[3:]
            from python_days.ladder import Maker
            for kind in ("fp32", "bf16", "int32"):
                tensors.PART = 1 << 20
                whole = Tensor.of(values, kind).array
                tensors.PART = 7
                found = found and bool((Tensor.of(values, kind).array == whole).all())
            one, same = (Maker("fp32", True).normal(40, 50).array for _ in range(2))
            found = found and bool((one == same).all()) and len(np.unique(one)) > 1900 and abs(float(one.mean())) < 0.1
            """), True)

    def test_races_that_come_out_right(self):
        _, slugs, _, says, _ = self.run_kernel("j = tl.minimum(tl.arange(0, B) + p * (B // 2), n - 1)\n"
                                                        "tl.store(y_ptr + j, tl.load(x_ptr + j))", "x")
        self.assertEqual(set(slugs), {"race"})
        self.assertIn("programs run in any order", " ".join(says))

    def test_what_a_mask_leaves_out_is_nobodys(self):
        body = "s = tl.sum(tl.load(x_ptr + i, mask=there{0}), 0)\ntl.store(y_ptr + i, tl.zeros((B,), tl.float32) + s, mask=there)"
        expected = "np.concatenate([x[a:a + 16] * 0 + x[a:a + 16].astype(np.float32).sum() for a in (0, 16, 32)])"
        self.assertEqual(self.run_kernel(body.format(""), expected)[4], self.run_kernel(body.format(", other=0.0"), expected)[4] + 8)

    def test_a_wave_loads_once_what_its_programs_share(self):
        """Three programs load the same 16 floats, two sectors; two of them run at a time."""
        self.assertEqual(self.asked_of("x = tl.load(x_ptr + tl.arange(0, B))\ntl.store(y_ptr + i, x, mask=there)", """
            found = [cases.run(cases.Case("fp32", (40,)), adapters.of(ladder, kernel.launch, wave=wave)).launches[0].wave_sectors for wave in (0, 1, 2, 3)]
            """), [0, 6, 4, 2])

    def test_what_a_rung_does_not_take_it_must_refuse(self):
        self.assertEqual(self.asked_of("tl.store(y_ptr + i, tl.load(x_ptr + i, mask=there), mask=there)", """
            import dataclasses
            def picky(x, y):
                if x.numel() % 16:
                    raise ValueError("16 does not divide it")
                kernel.launch(x, y)
            some = dataclasses.replace(ladder, shapes=((32,), (40,)), types=("fp32",), takes={"k": lambda kind, n: n % 16 == 0})
            found = [[cases.run(case, adapters.of(some, launch)).result for case in cases.all_cases(some, rung)]
                     for rung, launch in (("k", picky), ("k", kernel.launch), ("other", picky))]
            """), [["ok", "refused"], ["ok", "fail"], ["ok", "fail"]])

    def test_lanes_that_store_to_one_element(self):
        self.assertIn("race", self.run_kernel("tl.store(y_ptr + i // 2, tl.load(x_ptr + i, mask=there), mask=there)")[1])

    @staticmethod
    def locked(taken="while tl.atomic_cas(lock, 0, 1) == 1:\n    pass", before="", under="total = tl.load(sums + j)",
               barrier="tl.debug_barrier()", given="tl.atomic_xchg(lock, 0)", zeros="new_zeros", order="normal"):
        """Three programs that add to the same sums under a lock."""
        body = f"lock, sums, j = lock_ptr, sum_ptr, tl.arange(0, B)\nx = tl.load(x_ptr + i, mask=there, other=0.0)\n{before}\n{taken}\n{under}\n" \
               f"tl.store(sums + j, total + x)\n{barrier}\n{given}\ntl.store(y_ptr + i, x, mask=there)"
        text = _KERNEL.replace("k(x_ptr, y_ptr,", "k(x_ptr, y_ptr, lock_ptr, sum_ptr,").replace(
            "(x, y, y.numel(),", f"(x, y, x.{zeros}(2, dtype='int32'), x.new_zeros(16, dtype='float32'), y.numel(),")
        return text.format(body=textwrap.indent(body, "    ")), order

    def test_a_right_lock_gives_no_report(self):
        right = [{"order": order, **taken} for taken in ({}, {"taken": "while tl.atomic_xchg(lock, 1) == 1:\n    pass"})
                 for order in ("normal", "reversed", "shuffle")]
        right.append({"barrier": "", "given": "x = x + 0 * tl.sum(x, 0)\ntl.atomic_xchg(lock, 0)"})  # threads meet in a reduction
        right.append({"given": "tl.atomic_add(lock, -1)"})
        self.assertEqual(self.run_all(*(self.locked(**edits) for edits in right)), [([], "", 0)] * len(right))

    def test_wrong_locks(self):
        wrong = (
            ({"barrier": ""}, ["release"], "gives the lock lock_ptr[0] back in one thread, and others may not have come to what line 16 stores"),
            ({"given": "tl.atomic_xchg(lock, 0, sem='relaxed')"}, ["release"], "publishes nothing"),
            ({"given": "tl.store(lock, 0)"}, ["release"], "is a plain store"),
            ({"taken": "while tl.atomic_cas(lock, 0, 1, sem='relaxed') == 1:\n    pass"}, ["release"], "may be older than the lock"),
            ({"before": "total = tl.load(sums + j)", "under": ""}, ["race", "race"], "programs run in any order"),
            ({"taken": "lock += p % 2\nwhile tl.atomic_cas(lock, 0, 1) == 1:\n    pass"}, ["race", "race"], "programs run in any order"),
            ({"given": ""}, ["hang"], "has looked 10,000 times at lock_ptr[0] in vain: no program that has run gives it back"),
            ({"zeros": "new_empty"}, ["race", "race", "uninit"], "changes lock_ptr[0], which nobody has written"),
            ({"under": "total = tl.load(sums + j)\nwhile tl.atomic_cas(lock, 0, 1) == 1:\n    pass"}, ["hang"], "it holds this lock itself"),
            ({"before": "while tl.atomic_add(lock + 1, 0) == p - 1:\n    pass"}, ["hang"], "must not wait for one that may not run yet"),
            ({"taken": "lock += 2\nwhile tl.atomic_cas(lock, 0, 1) == 1:\n    pass"}, ["oob", "oob", "race", "race"], "lock_ptr[2] of 2"))
        for (edits, slugs, text), found in zip(wrong, self.run_all(*(self.locked(**edits) for edits, _, _ in wrong))):
            self.assertEqual(found[0], slugs, edits)
            self.assertIn(text, found[1], edits)

    def test_threads_that_do_not_wait_for_each_other(self):
        wrong = ("tl.store(y_ptr + i, x, mask=there)\ntl.store(y_ptr + p * B, tl.load(x_ptr + p * B))",  # stored twice
                 "tl.store(y_ptr + i, x + 1, mask=there)\nz = tl.load(y_ptr + p * B + B - 1 - tl.arange(0, B), mask=i < 32)\n"
                 "tl.debug_barrier()\ntl.store(y_ptr + i, x, mask=there)",  # loaded backwards
                 "tl.store(y_ptr + p * B, 1.0)\nz = tl.load(y_ptr + p * B)\ntl.debug_barrier()\ntl.store(y_ptr + i, x, mask=there)",  # all load it
                 "tl.store(y_ptr + i, x, mask=there)\nz = tl.load(y_ptr + p * B + 0 * i)")  # all places load the first
        right = ("tl.store(y_ptr + i, x, mask=there)\nz = tl.load(y_ptr + i, mask=there)",  # the same threads
                 "tl.store(y_ptr + i, x, mask=there)\nz = tl.load(y_ptr + p * B + tl.arange(0, B)[None, :], mask=there[None, :])",
                 "tl.store(y_ptr + i, x, mask=there)\ntl.debug_barrier()\nz = tl.load(y_ptr + p * B)",
                 "tl.store(y_ptr + i, x, mask=there)\nx = tl.cumsum(x, 0)\nz = tl.load(y_ptr + p * B)",
                 "tl.store(y_ptr + p * B, 0.0)\ntl.store(y_ptr + p * B, 1.0)\ntl.debug_barrier()\ntl.store(y_ptr + i, x, mask=there)")
        texts = [_KERNEL.format(body=textwrap.indent("x = tl.load(x_ptr + i, mask=there, other=0.0)\n" + body, "    ")) for body in wrong + right]
        found = self.run_all(*((text, "normal") for text in texts))
        for body, (slugs, says, bad) in zip(wrong, found):
            self.assertEqual((slugs, bad), (["hazard"], 0), body)
            self.assertIn("in another thread", says)
        self.assertEqual(found[len(wrong):], [([], "", 0)] * len(right))

    def test_atomics_on_what_nobody_has_written(self):
        said = self.run_kernel("tl.atomic_add(y_ptr + i, tl.load(x_ptr + i, mask=there), mask=there)")[3]
        self.assertEqual(said, ["program 0 changes y_ptr[0], which nobody has written"])

    def test_the_same_bits_in_each_order_of_programs(self):
        each = "x = tl.load(x_ptr + i, mask=there, other=0.0)\ntl.store(y_ptr + i, x, mask=there)\n"
        for body, orders in ((each, 3), (each + "tl.atomic_add(y_ptr + i, x * 0, mask=there)", 3),
                             (each + "tl.atomic_add(y_ptr + n - 1, 1.0e8 * (p - 1))", 2)):  # after its program's store, or lost
            self.assertEqual(self.asked_of(body, """
                case = cases.Case("fp32", (40,))
                found = cases.repeatable(case, ladder, kernel.launch, cases.run(case, adapters.of(ladder, kernel.launch)))
                """), orders, body)

    def test_promises(self):
        for body in ("i = tl.multiple_of(i + 1, 4)", "there = tl.max_constancy(i < n - 1, 16)", "tl.max_contiguous(i * 2, 4)"):
            result, slugs, _, _, _ = self.run_kernel(body + "\ni = p * B + tl.arange(0, B)\nthere = i < n\n"
                                                     "tl.store(y_ptr + i, tl.load(x_ptr + i, mask=there), mask=there)")
            self.assertEqual((result, slugs), ("fail", ["promise"]), body)
        kept = "tl.multiple_of(i, 16)\ntl.max_contiguous(i, 16)\ntl.store(y_ptr + i, tl.load(x_ptr + i, mask=there), mask=there)"
        self.assertEqual(self.run_kernel(kept)[:2], ["ok", []])

    def test_an_assertion_and_a_mistake_of_pythons(self):
        result, _, notes, _, _ = self.run_kernel("tl.device_assert(p < 1, 'one program')\ntl.store(y_ptr + i, tl.load(x_ptr + i, mask=there), mask=there)")
        self.assertEqual(result, "fail")
        result, _, notes, _, _ = self.run_kernel("tl.store(y_ptr + i, nothing)")
        self.assertIn("NameError", notes[0])
        self.assertIn("kernel.py:10", notes[0])

    def test_what_no_gpu_runs_has_a_sentence(self):
        for body, says in (("if i < n:\n    tl.store(y_ptr + i, tl.load(x_ptr + i))", "an `if` asks once for the whole program"),
                           ("tl.store(y_ptr + i, x_ptr[i], mask=i < n)", "a pointer is not subscripted in Triton: p + i is"),
                           ("y_ptr[i] = i", "a pointer is not subscripted in Triton: tl.store("),
                           ("i[0] = 1", "an element of a block cannot be assigned to")):
            result, _, notes, _, _ = self.run_kernel(body)
            self.assertEqual(result, "fail", body)
            self.assertRegex(notes[0], r"kernel\.py:\d+: " + re.escape(says), body)

    def test_many_programs_of_a_kernel_that_calls_another(self):
        """What is mended for each call is not mended on top of itself."""
        result, _, notes, _, _ = self.run_kernel("for _ in range(1500):\n    there = tl.sum(i[None, :] * 0, 0) + i < n\n"
                                                 "tl.store(y_ptr + i, tl.load(x_ptr + i, mask=there), mask=there)")
        self.assertEqual((result, notes), ("ok", []))

    def test_what_a_kernel_prints_is_shown(self):
        """By the case's line, and then by stage 1, whatever came of it."""
        case = {"result": "ok", "shape": {"n": 3}, "type": "fp32", "inputs": "", "notes": [], "reports": [], "printed": ["here", "there"],
                "printed_lines": 7}
        told = stages.Told({}, [dict(case, printed=[], shape={"n": 0}), case], 2, mock.Mock(problem="", code=0, stderr=""))
        with mock.patch.object(python_judge, "_cases", return_value=told), mock.patch.object(python_judge, "_compiles",
                               return_value=stages.Stage("correct", "ok", "2 cases")):
            stage = python_judge.correct(mock.Mock())
        self.assertEqual(stage.lines, ["Printed at n 3, random inputs:", "    here", "    there", "    (5 lines more)"])

    def test_an_error_of_tf32_is_called_that(self):
        file = self.folder / "k.py"
        file.write_text("c = tl.dot(a, b, c)\n")
        kernel = mock.Mock(file=str(file))
        case = lambda result, kind, worst=1e-3, inputs="": {"result": result, "type": kind, "shape": {"m": 1, "k": 64}, "worst": worst, "unwritten": 0,
                                                            "inputs": inputs}
        cases = [case("fail", "fp32"), case("fail", "fp32", None, "special"), case("ok", "fp16")]
        self.assertIn('input_precision="ieee"', python_judge._as_tf32(kernel, cases))
        self.assertEqual(python_judge._as_tf32(kernel, [*cases, case("fail", "fp16")]), "")
        self.assertEqual(python_judge._as_tf32(kernel, [case("fail", "fp32", 0.5)]), "")
        file.write_text("c += a * b\n")
        self.assertEqual(python_judge._as_tf32(kernel, cases), "")

    def test_dropouts_contestants_draw_masks_of_their_own(self):
        """Day 21's check lets any mask pass that both ways share, and nothing else; PyTorch's own passes."""
        text = f"""
            import sys
            sys.path[:0] = [{str(support.ROOT / "tools")!r}, {str(support.ROOT)!r}]
            try:
                import torch
            except ImportError:
                sys.exit(9)
            from types import SimpleNamespace
            from day21_triton_dropout.tests.contestants import any_mask, autograd, native
            x, dy, p, half = torch.arange(1.0, 5001), -torch.arange(1.0, 5001), 0.1, torch.arange(5000) % 2
            problem = SimpleNamespace(inputs=[x, dy, 7, p])
            for made in (autograd(torch, problem)(), native(torch, problem)(), (x, dy), (x * half / (1 - p), dy / (1 - p)),
                         (x * half / (1 - p), dy * half / (1 - p))):
                print(any_mask(made, problem))
            """
        done = subprocess.run([_python().path, "-B", "-c", textwrap.dedent(text)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, text=True)
        if done.returncode == 9:
            self.skipTest("PyTorch is not here")
        self.assertEqual(done.stdout.splitlines(), ["", "", "y[0] is 1, expected 0 or 1.11111", "position 0 is kept one way and dropped the other",
                                                    "2,500 of 5,000 are kept, expected about 4,500"], done.stderr)

    def test_a_file_without_pytorch(self):
        (self.folder / "kernel.py").write_text("import torch\n")
        text = f"""
            import sys
            sys.path.insert(0, {str(support.ROOT / "tools")!r})
            sys.modules["torch"] = None  # as where it is not installed
            from python_days import day
            try:
                day.load({str(self.folder / "kernel.py")!r})
            except day.DaysError as error:
                print(error.message)
            """
        done = subprocess.run([_python().path, "-B", "-c", textwrap.dedent(text)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, text=True)
        self.assertIn("kernel.py:1: this day runs without PyTorch", done.stdout, done.stderr)

    def values_of(self, codes, kind="fp32"):
        """What each of these expressions of a block z of zeros is, in one kernel."""
        body = "z = tl.load(x_ptr + i, mask=there).to(tl.float32) * 0\ny = z\n"
        body += "".join(f"y = tl.where(i == {number}, {code}, y)\n" for number, code in enumerate(codes)) + "tl.store(y_ptr + i, y, mask=there)"
        return self.asked_of("from triton.language.extra import libdevice\nfrom triton.language.extra.cuda import libdevice as of_cuda\n" + body, f"""
            from python_days import watch
            inputs, outputs = ladder.make({kind!r}, (40,))
            with np.errstate(all="ignore"), watch.Watch():
                kernel.launch(*inputs, *outputs)
            found = [float(value) for value in outputs[0].values()[:{len(codes)}]]
            """)

    def test_exp_and_its_kind_are_a_gpus(self):
        """The product with log2(e) is rounded, which near -86 costs 63 of 2^-24; what has .ftz takes denormals for 0; an fma rounds once; `/` is a
        product with a rounded reciprocal."""
        exp, denormal, *others = self.values_of(["tl.exp(z - 86.640625)", "tl.exp(z - 88)", "tl.exp2(z - 127)", "tl.exp2(z - 126)", "tl.sqrt(z + 1e-39)",
                                                 "tl.rsqrt(z + 1e-39)", "tl.fma(z + 1.25, z + 1.25, z - 1.5625)", "tl.fma(z + 1.1, z + 1.1, z - 1.21)", "(z + 21) / (z + 7)",
                                                 "tl.div_rn(z + 21, z + 7)", "(z + 3e38) / (z + 2.5e38)", "(z + 1) / (z * z)"])
        eleven = struct.unpack("f", struct.pack("f", 1.1))[0]
        self.assertEqual(others, [0, 2.0 ** -126, 0, math.inf, 0, eleven ** 2 - struct.unpack("f", struct.pack("f", 1.21))[0], 3 + 2.0 ** -22, 3,
                                  others[8], math.inf])
        self.assertAlmostEqual(others[8], 1.2, 6)  # though the reciprocal is a denormal
        exact = math.exp(-86.640625)
        self.assertTrue(63 < abs(exp / exact - 1) * 2 ** 24 < 64, exp)
        self.assertTrue(0 < denormal < 2.0 ** -126)

    def test_what_a_gpu_drops_a_nan_in(self):
        keep = "propagate_nan=tl.PropagateNan.ALL"
        kept = self.values_of(["tl.minimum(z + float('nan'), 3.0)", "tl.maximum(3.0, z + float('nan'))", "tl.clamp(z + float('nan'), -1.0, 1.0)",
                               f"tl.minimum(z + float('nan'), 3.0, {keep})", f"tl.clamp(z + float('nan'), -1.0, 1.0, {keep})", "tl.clamp(z + 5, -1.0, 1.0)"])
        self.assertEqual([value if value == value else "nan" for value in kept], [3, 3, -1, "nan", "nan", 1])

    def test_an_fma_rounds_once_where_double_would_decide_a_tie(self):
        self.assertEqual(self.asked_of("pass", """
            from python_days.approximate import fma
            one = np.float32(1) + np.float32(2.0 ** -12)
            found = []
            for low in (2.0 ** -60, -2.0 ** -60, 0.0):  # one * one is 2^-24 and a tie from fp32
                made = fma(*(np.full(1, value, np.float32) for value in (one, one, low)))
                found.append(int((made[0] - np.float32(1)) * 2 ** 23))
            found.append([float(v) for v in fma(*(np.array(v, np.float32) for v in ([np.inf, 3e38, 0], [1, 3e38, 1], [-1, 0, -0.0])))])
            """), [4097, 4096, 4096, [float("inf"), float("inf"), 0.0]])

    def test_libdevice_and_inline_assembly_have_stand_ins(self):
        asm = 'tl.inline_asm_elementwise("{}", "=f,f", [{}], dtype=tl.float32, is_pure=True, pack=1)'.format
        tanh, power, fast, rcp, power2, rough, product = self.values_of(
            ["libdevice.tanh(z + 0.7)", "of_cuda.pow(libdevice.exp(z + 1), 2.0)", "libdevice.fast_expf(z - 88)", asm("rcp.approx.ftz.f32 $0, $1;", "z + 3"),
             asm("ex2.approx.ftz.f32  $0,$1", "z + 0.5"), asm("tanh.approx.f32 $0, $1;", "z + 0.7"), asm("fma.rn.f32 $0, $1, $2, $3;", "z + 2, z + 3, z + 4")])
        for made, exact in ((tanh, math.tanh(0.7)), (power, math.e ** 2), (rcp, 1 / 3), (power2, math.sqrt(2)), (product, 10)):
            self.assertAlmostEqual(made / exact, 1, delta=3e-7)
        self.assertEqual(fast, 0)
        self.assertTrue(2 ** -14 < abs(rough / math.tanh(0.7) - 1) <= 2 ** -11, rough)
        pairs = 'tl.inline_asm_elementwise("tanh.approx.bf16x2 $0, $1;", "=r,r", [(z + 0.7).to(tl.bfloat16)], dtype=tl.bfloat16, is_pure=True, pack=2)'
        self.assertEqual(self.values_of([pairs], "bf16"), [77 / 128])

    def test_what_has_no_stand_in_says_so(self):
        body = "x = tl.load(x_ptr + i, mask=there)\n{0}\ntl.store(y_ptr + i, y, mask=there)"
        for code, says in (("from triton.language.extra import libdevice\ny = libdevice.y0(x)", "has no stand-in for libdevice's y0f:"),
                           ('y = tl.inline_asm_elementwise("mov.b32 $0, $1; // {}", "=f,f", [x], dtype=tl.float32, is_pure=True, pack=1)',
                            'has no stand-in for inline assembly "mov.b32 $0, $1; // {}"')):
            result, _, notes, _, _ = self.run_kernel(body.replace("{0}", code))
            self.assertEqual(result, "fail")
            self.assertRegex(notes[0], r"kernel\.py:1\d: Triton's interpreter " + re.escape(says))

    def test_bf16_is_computed_as_a_gpu_does(self):
        self.assertEqual(self.run_kernel("x = tl.load(x_ptr + i, mask=there)\ntl.store(y_ptr + i, x * x, mask=there)", "x * x", "bf16")[0],
                         "ok")
        self.assertEqual(self.run_kernel("x = tl.load(x_ptr + i, mask=there).to(tl.float32)\ntl.store(y_ptr + i, (x * 1.5).to(tl.bfloat16), "
                                         "mask=there)", "x * 1.5", "bf16")[0], "ok")
        self.assertEqual(self.run_kernel("x = tl.load(x_ptr + i, mask=there, other=-float('inf'))\n"
                                         "tl.store(y_ptr + i, tl.zeros_like(x) + tl.max(x, 0), mask=there)",
                                         "np.concatenate([x[a:a + 16] * 0 + x[a:a + 16].max() for a in (0, 16, 32)])", "bf16")[0], "ok")

    def test_a_reduction_of_the_kernels_own_goes_by_halves(self):
        """Element i meets i + 8, then i + 4: what a function makes that is not associative shows the order. Each step is rounded to the type."""
        helpers = """
            @triton.jit
            def lopsided(a, b):
                return a * 0.5 + b
            @triton.jit
            def both(n, total, more, other):
                return n + more, total + other
            """
        halves = "np.concatenate([halved(np.resize(x, 48)[a:a + 16]).repeat(16) for a in (0, 16, 32)])[:40]"
        body = "x = tl.load(x_ptr + i % n)\ny = tl.reduce(x, 0, lopsided, keep_dims={keep}) + tl.zeros_like(x)\ntl.store(y_ptr + i, y, mask=there)"
        for kind, keep in (("fp32", False), ("bf16", True)):
            rounded = "from_bf16(to_bf16({}))" if kind == "bf16" else "({}).astype(np.float32)"
            one = rounded.format(rounded.format("np.float32(x[:len(x) // 2]) * np.float32(0.5)") + " + np.float32(x[len(x) // 2:])")
            text = f"(halved := lambda x: x if len(x) == 1 else halved({one}), {halves})[1]"
            self.assertEqual(self.run_kernel(body.format(keep=keep), text, kind, helpers=helpers)[0], "ok", kind)
        several = """
            x = tl.load(x_ptr + i % n)
            square = x[:, None] + tl.zeros((B, B), tl.float32)
            many, total = tl.reduce((tl.full((B, B), 1.0, tl.float32), square), {axis}, both)
            tl.store(y_ptr + i, total * 0 + {of}, mask=there)
            """
        self.assertEqual(self.run_kernel(several.format(axis=1, of="many"), "x * 0 + 16", helpers=helpers)[0], "ok")
        self.assertEqual(self.run_kernel(several.format(axis=1, of="total"), "x * 16", helpers=helpers)[0], "ok")
        self.assertEqual(self.run_kernel(several.format(axis=None, of="many"), "x * 0 + 256", helpers=helpers)[0], "ok")
        self.assertEqual(self.run_kernel(several.format(axis=0, of="total"), "x * 16", helpers=helpers)[0], "fail")

    def test_what_a_kernel_takes_another_process_compiles(self):
        few, many, again, refused = self.asked_of("tl.store(y_ptr + i, tl.load(x_ptr + i, mask=there) + tl.arange(0, B), mask=there)", """
            from python_days import device
            from python_days.tensors import Tensor
            x = Tensor.of(np.zeros(64), "fp32")
            found = [list(device.taken(kernel.k, x, x, 40, B=size, num_warps=1)) for size in (32, 2048, 2048)]
            try:
                device.taken(kernel.k, x, x, 40, B=33, num_warps=1)
            except RuntimeError as error:
                found.append(str(error))
            """)
        self.assertEqual((few[1], many[1]), (0, 0))
        self.assertTrue(8 <= few[0] < many[0] <= 255, (few, many))
        self.assertEqual(many, again)
        self.assertIn("power of 2", refused)

    def test_dot_of_fp32_has_ten_digits_unless_it_is_told_otherwise(self):
        dot = ("x = tl.load(x_ptr + i, mask=there, other=0.0)\nsquare = tl.broadcast_to(x[:, None], (B, B)) * (tl.arange(0, B)[None, :] == "
               "tl.arange(0, B)[:, None])\nones = tl.full((B, B), 1.0, tl.float32)\nmade = tl.dot(square, ones{0})\n"
               "tl.store(y_ptr + i, tl.max(made, 1) + tl.min(made, 1) - tl.max(made, 1), mask=there)")
        self.assertGreater(self.run_kernel(dot.format(""))[4], 0)
        self.assertEqual(self.run_kernel(dot.format(', input_precision="ieee"'))[4], 0)

    def test_three_products_of_tf32_keep_nearly_all_digits(self):
        self.assertEqual(self.asked_of("tl.store(y_ptr + i, tl.load(x_ptr + i, mask=there), mask=there)", """
            from python_days.interpreted import interpreter, tl
            builder, kinds = interpreter.InterpreterBuilder(), interpreter._ir.INPUT_PRECISION
            random = np.random.default_rng(1)
            a, b = (random.standard_normal((16, 16)).astype(np.float32) for _ in range(2))
            a[0, 0] = np.inf
            handle = lambda data: interpreter.TensorHandle(data, tl.float32)
            def error(kind):
                made = builder.create_dot(handle(a), handle(b), handle(np.zeros((16, 16), np.float32)), kind, 0).data
                with np.errstate(invalid="ignore"):
                    exact = a.astype(np.float64) @ b.astype(np.float64)
                return float(np.abs(made - exact)[1:].max()), bool(np.isinf(made[0]).all())
            found = [error(kind) for kind in (kinds.IEEE, kinds.TF32x3, kinds.TF32)]
            found = [found[0][0] < 2e-6, found[1][0] < 5e-6, 1e-4 < found[2][0] < 1e-2, all(inf for _, inf in found)]
            """), [True] * 4)


_TWO_WAYS = '''
from python_days import Ladder, within
def problem(make, n):
    return [make.fill([1, 2, 3], n), make.fill([5, 7], n)], [make.output(n), make.output(n)]
l = Ladder("l", ("n",), rungs=("kept", "again"), problem=problem, reference=lambda x, dy: (1.001 * x * x, 2 * x * dy), tolerance=within(relative=1e-2),
           shapes=((100,),), show=(100,), bench=((100,),), gradient=1, asks=("scratch", "alive", "error", "instructions_an_output"))
'''
_KEPT = '''"""Keeps."""
import triton
import triton.language as tl
@triton.jit
def forward(x_ptr, y_ptr, k_ptr, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(y_ptr + i, x * x, mask=i < n)
    tl.store(k_ptr + i, 2 * x, mask=i < n)
@triton.jit
def backward(k_ptr, dy_ptr, dx_ptr, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(dx_ptr + i, tl.load(k_ptr + i, mask=i < n) * tl.load(dy_ptr + i, mask=i < n), mask=i < n)
def launch(x, dy, y, dx):
    kept = x.new_empty(2 * x.numel())
    forward[(1,)](x, y, kept, x.numel(), B=256)
    backward[(1,)](kept, dy, dx, x.numel(), B=256)
'''
_AGAIN = (_KEPT.replace("Keeps.", "Computes again.").replace("    tl.store(k_ptr + i, 2 * x, mask=i < n)\n", "").replace(", k_ptr, n,", ", n,")
          .replace("tl.load(k_ptr", "2 * tl.load(k_ptr").replace("    kept = x.new_empty(2 * x.numel())\n", "").replace("(x, y, kept,", "(x, y,")
          .replace("(kept, dy,", "(x, dy,"))
_CODE = '''
import json, sys
sys.path[:0] = [{tools!r}, {folder!r}]
import numpy as np
from days_cli import metrics
from python_days import commands, compiled, tensors
import kernel
def counted(launch, sm):
    made = compiled.compiled(launch, [tensors.Tensor.of(np.zeros(1 << 16), "fp32") for _ in "xy"], sm)
    return metrics.of_code({{"sm": sm, "load_bits": 0, "kernels": [commands._as_json(one) for one in made]}})
print(json.dumps({{name: counted(launch, 90) for name, launch in kernel.launches.items()}}))
'''
_KERNELS = '''
import triton
import triton.language as tl
@triton.jit
def turned(x, y, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(y + i[None, :] * n + i[:, None], tl.load(x + i[:, None] * n + i[None, :]))
@triton.jit
def stays(x, y, rows, cols, B: tl.constexpr):
    i = tl.arange(0, B)
    for r in range(tl.program_id(0), rows, tl.num_programs(0)):
        v = tl.load(x + r * cols + i)
        tl.store(y + r * cols + i, v * tl.rsqrt(tl.sum(v * v, axis=0)))
@triton.jit
def ahead(x, y, rows, cols, B: tl.constexpr):
    i, step = tl.arange(0, B), tl.num_programs(0)
    v = tl.load(x + tl.program_id(0) * cols + i)
    for r in range(tl.program_id(0), rows, step):
        following = tl.load(x + (r + step) * cols + i, mask=(i < cols) & (r + step < rows))
        tl.store(y + r * cols + i, v * tl.rsqrt(tl.sum(v * v, axis=0)))
        v = following
@triton.jit
def squares(x, y, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i).to(tl.int32, bitcast=True)
    tl.store(y + i, (v * v).to(tl.float32, bitcast=True))
launches = {"turned": lambda x, y: turned[(1,)](x, y, 64, B=64), "stays": lambda x, y: stays[(4,)](x, y, 16, 4096, B=4096, num_warps=8),
            "ahead": lambda x, y: ahead[(4,)](x, y, 16, 4096, B=4096, num_warps=8), "squares": lambda x, y: squares[(1,)](x, y, B=1024)}
'''


@unittest.skipUnless(_python(), "NumPy and Triton are not here")
class Metrics(support.Case):
    """What gates of a Triton day may ask for, counted of kernels that have it and of kernels that have not."""

    def test_memory_and_error_of_two_rungs(self):
        self.replace(paths, "ROOT", self.folder)
        self.replace(paths, "MY", self.folder / "my")
        day = self.folder / "day90_two"
        day.mkdir()
        for name, text in (("README.md", "---\ntitle: T\nkind: python\n---\n"), ("ladder.py", _TWO_WAYS), ("01_kept.py", _KEPT),
                           ("02_again.py", _AGAIN)):
            (day / name).write_text(text)
        support.forget()
        code, out, err = self.days("explain", "90")
        self.assertEqual(code, 0, err)
        found = {words[0]: words[1:] for words in (line.rsplit(None, 2) for line in out.splitlines()) if words}
        self.assertEqual(found["bytes of memory of its own"], ["800", "0"])
        self.assertEqual(found["bytes that wait for the backward"], ["800", "400"])  # the gradient itself waits for nobody
        error = (1.001 - 1) / 1.001 * 2**24
        self.assertEqual(found["worst error in 2^-24 of an element"], [f"{error:,.1f}"] * 2)
        kept = python_judge.asked_of(rungs.of_day(catalog.resolve("90", "check"))["again"])
        self.assertEqual(list(kept[0].items()), [("scratch", 0), ("alive", 500)])
        (day / "ladder.py").write_text(_TWO_WAYS.replace('"alive"', '"life"'))
        support.forget()
        code, _, err = self.days("explain", "90")
        self.assertEqual(code, 1)
        self.assertIn("what a ladder asks is programs, launches,", " ".join(err.split()))

    def test_more_elements_than_int32_counts(self):
        text = (f"import sys; sys.path.insert(0, {str(support.ROOT / 'tools')!r})\nfrom python_days import needs\nclass Large:\n"
                "    def __init__(self, count): self.shape, self.stride = (count,), lambda: (1,)\nneeds.indices_of_32_bits(x=Large(2**31 - 2**16))\n"
                "try:\n    needs.indices_of_32_bits(x=Large(2**31 - 2**16 + 1))\nexcept ValueError as error:\n    print(error)")
        done = subprocess.run([_python().path, "-B", "-c", text], stdout=subprocess.PIPE, check=True, text=True)
        self.assertIn("x reaches over 2,147,418,113 elements, and this kernel counts to 2,147,418,112", done.stdout)

    def test_machine_code(self):
        (self.folder / "kernel.py").write_text(_KERNELS)
        done = subprocess.run([_python().path, "-B", "-c", _CODE.format(tools=str(support.ROOT / "tools"), folder=str(self.folder))],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, text=True)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        found = json.loads(done.stdout)
        of = lambda key: {name: values[key] for name, values in found.items()}  # noqa: E731
        self.assertEqual(of("conversions"), {"turned": 1, "stays": 0, "ahead": 0, "squares": 0})
        self.assertEqual(of("loads_before_barrier"), {"turned": 0, "stays": 0, "ahead": 4, "squares": 0})
        self.assertEqual(of("mufu"), {"turned": 0, "stays": 1, "ahead": 1, "squares": 0})
        self.assertEqual(found["turned"]["shared_accesses"], 64)
        self.assertGreaterEqual(found["squares"]["imad"], 8)
        for name, elements in (("turned", 32), ("stays", 16), ("squares", 8)):
            self.assertAlmostEqual(found[name]["instructions_an_output"] * elements, found[name]["instructions"])
        self.assertEqual(found["squares"]["resident"], 64)
        self.assertLess(found["turned"]["resident"], 64)  # 16 KiB a program


_DEALT = '''
from python_days import Ladder, within
def problem(make, n):
    return [make.normal(n + 16)], [make.output(n)]
def reference(x):
    n = x.size - 16
    return x[:n] + x[1:n + 1] + x[2:n + 2] + x[0]
l = Ladder("l", ("n",), rungs=("neighbours", "apart"), problem=problem, reference=reference, tolerance=within(absolute=1e-5), shapes=((1024,),),
           show=(1024,), bench=((1024,),))
'''
_NEIGHBOURS = '''"""Loads side by side."""
import triton
import triton.language as tl
@triton.jit
def get(x_ptr, i):
    return tl.load(
        x_ptr + i)
@triton.jit
def k(x_ptr, y_ptr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    y = tl.zeros((B,), tl.float32)
    for d in tl.static_range(3):
        y += get(x_ptr, i + d)
    tl.store(y_ptr + i, y +
             tl.load(x_ptr))
def launch(x, y):
    k[(y.numel() // 512,)](x, y, B=512)
'''
_APART = _NEIGHBOURS.replace("tl.program_id(0) * B + tl.arange(0, B)", "tl.arange(0, B) * tl.num_programs(0) + tl.program_id(0)").replace("512", "128")


@unittest.skipUnless(_python(), "NumPy and Triton are not here")
class Lanes(support.Case):
    def test_sectors_of_requests(self):
        """Of 128 neighbours a warp loads those from 0 on by one instruction of 16 bytes a lane, 16 sectors; those from 1 on by four of 4 bytes, 16 sectors
        and once 17; those from 2 on by two of 8, 16 and 17. All warps ask for x[0]. Lanes that are 32 bytes apart want a sector each."""
        self.replace(paths, "ROOT", self.folder)
        self.replace(paths, "MY", self.folder / "my")
        day = self.folder / "day90_dealt"
        day.mkdir()
        for name, text in (("README.md", "---\ntitle: T\nkind: python\n---\n"), ("ladder.py", _DEALT), ("01_neighbours.py", _NEIGHBOURS),
                           ("02_apart.py", _APART)):
            (day / name).write_text(text)
        support.forget()
        for rung, loads, stores, alone in (("neighbours", 1 - 1536 / 32 / (16 + 3 * 16 + 17 + 16 + 17), 0, 7 / 8), ("apart", 7 / 8, 7 / 8, 7 / 8)):
            code, _, err = self.days("explain", "90", rung, "--json", str(self.folder / "told.json"))
            self.assertEqual(code, 0, err)
            lines = json.loads((self.folder / "told.json").read_text())["launches"][0]["lines"]
            found = [1 - one["asked_bytes"] / 32 / one["asked_sectors"] for one in lines]
            self.assertEqual([(round(value, 6), one["op"]) for value, one in zip(found, lines)],
                             [(round(value, 6), op) for value, op in ((loads, "load"), (stores, "store"), (alone, "load"))])
            self.assertTrue(all(one["requests"] for one in lines), lines)


_MANY = '''
from python_days import Ladder, exact
def problem(make, n):
    return [make.normal(n), 2.0], [make.output(n)]
def by_three(make, n):
    return [make.normal(n), 3.0], [make.output(n)]
l = Ladder("l", ("n",), rungs=("fixed", "plain", "tuned"), problem=problem, reference=lambda x, s: s * x, tolerance=exact, shapes=((5,), (4000,)),
           hostile={"three": by_three}, show=(4000,), bench=((1,),), asks=("compiled", "searches"), wave=16,
           calls=tuple(((n,), inputs) for n in (2, 16, 32, 33) for inputs in ("", "three")),
           counts={"fixed": {"compiled": 8, "programs": 132}, "plain": {"compiled": 2}, "tuned": {"compiled": 5, "searches": 4, "programs": 4}})  # the last are wrong
'''
_FIXED = '''"""Knows its numbers."""
import triton
import triton.language as tl
from python_days import device
@triton.jit
def k(x_ptr, y_ptr, n: tl.constexpr, s: tl.constexpr, B: tl.constexpr):
    for first in range(tl.program_id(0) * B, n, tl.num_programs(0) * B):
        i = first + tl.arange(0, B)
        tl.store(y_ptr + i, s * tl.load(x_ptr + i, mask=i < n), mask=i < n)
def launch(x, s, y):
    k[(device.properties(x).multi_processor_count,)](x, y, y.numel(), s, B=32)
'''
_UNKNOWN = _FIXED.replace("n: tl.constexpr, s: tl.constexpr", "n, s").replace("Knows its", "Asks for")
_TUNED = (_UNKNOWN.replace("@triton.jit", "@triton.autotune([triton.Config({'B': 32}), triton.Config({'B': 64})], key=['n'])\n@triton.jit")
          .replace(", s, B=32", ", s"))
_WRONG = '''
from day90_many.ladder import l
from python_days import must_reject
from python_days.day import load
import pathlib
at = pathlib.Path(__file__).resolve().parents[1]
@must_reject(l, "compiled is 8", by="counters")
def knows(x, s, y):
    load(at / "01_fixed.py").launch(x, s, y)
@must_reject(l, "programs is 132", by="counters")
def many(x, s, y):
    load(at / "02_plain.py").launch(x, s, y)
@must_reject(l, "compiled is 1", by="counters")
def one(x, s, y):
    load(at / "02_plain.py").launch(x, s, y)
@must_reject(l, "programs is 40", by="counters")
def few(x, s, y):
    load(at / "02_plain.py").launch(x, s, y)
'''


@unittest.skipUnless(_python(), "NumPy and Triton are not here")
class Calls(support.Case):
    """A device that is assumed, the binaries and searches of a list of calls, and what the tests hold a Triton rung to."""

    def setUp(self):
        super().setUp()
        self.replace(paths, "ROOT", self.folder)
        self.replace(paths, "MY", self.folder / "my")
        self.day = self.folder / "day90_many"
        (self.day / "tests").mkdir(parents=True)
        for name, text in (("README.md", "---\ntitle: T\nkind: python\n---\n"), ("ladder.py", _MANY), ("01_fixed.py", _FIXED),
                           ("02_plain.py", _UNKNOWN), ("03_tuned.py", _TUNED), ("tests/wrong.py", _WRONG)):
            (self.day / name).write_text(text)
        support.forget()
        self.replace(os, "environ", dict(os.environ))
        os.environ.pop("DAYS_DEVICE", None)

    def answers(self):
        """{a test's name: what is wrong}"""
        answers = self.folder / "answers.json"
        subprocess.run([_python().path, "-B", str(support.ROOT / "tools" / "python_days"), str(self.day), "test"], check=False,
                       stdout=subprocess.DEVNULL, env={**os.environ, "DAYS_BACKEND": "simt", "GTEST_OUTPUT": f"json:{answers}"})
        found = json.loads(answers.read_text())
        return {case["name"]: case.get("failures", [{"failure": ""}])[0]["failure"] for suite in found["testsuites"] for case in suite["testsuite"]}

    def test_each_number_that_is_known_makes_a_binary(self):
        found = self.answers()
        self.assertEqual({name: said for name, said in found.items() if said and "must_reject" not in name},
                         {"tuned/fp32_code": "compiled is 4, expected 5", "tuned/fp32_counters": "programs is 132, expected 4"})
        self.assertTrue({"fixed/fp32_counters", "fixed/fp32_code", "plain/fp32_code"} <= set(found))
        self.assertEqual([found[f"must_reject/{name}"] for name in ("knows", "many")], ["", ""])
        self.assertIn("compiled is 2", found["must_reject/one"])
        self.assertIn("programs is 132", found["must_reject/few"])
        asked = python_judge.asked_of(rungs.of_day(catalog.resolve("90", "check"))["plain"])
        self.assertEqual(asked[0], {"compiled": 2})

    def test_the_assumed_device_is_said(self):
        def run(**given):
            return subprocess.run([_python().path, "-B", str(support.ROOT / "tools" / "python_days"), str(self.day), "run", "--variant", "plain"],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, env={**os.environ, "DAYS_BACKEND": "simt", **given})
        self.assertRegex(run().stdout, r"Grids as on an H200, which launchers ask about;(.|\n)*plain +ok +0 +1 +132 ")
        self.assertRegex(run(DAYS_DEVICE="t4").stdout, r"Grids as on a T4(.|\n)*plain +ok +0 +1 +40 ")
        done = run(DAYS_DEVICE="t5")
        self.assertEqual(done.returncode, 2)
        self.assertIn('DAYS_DEVICE is "t5", and the devices that can be assumed are h200, h100, a100, l4, t4', " ".join(done.stderr.split()))

    def test_devices(self):
        text = """
            import json, sys
            sys.path.insert(0, TOOLS)
            from python_days import device
            found = device.assumed()
            print(json.dumps([found.name, found.multi_processor_count, found.L2_cache_size, found.max_threads_per_multi_processor,
                              found.shared_memory_per_multiprocessor, [device.residents(found, *one) for one in
                              ((32, 0, 4), (33, 0, 4), (64, 0, 8), (16, 16384, 4), (255, 0, 32))]]))
            """
        done = subprocess.run([_python().path, "-B", "-c", textwrap.dedent(text).replace("TOOLS", repr(str(support.ROOT / "tools")))],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, text=True)
        record = json.loads((support.ROOT / "docs/results/h200/day16.json").read_text())["device"]
        self.assertEqual(json.loads(done.stdout or "[]"), ["H200", record["multiprocessors"], record["l2_bytes"], 2048, 228 << 10, [16, 12, 4, 13, 0]],
                         done.stderr)


_PLAIN = '''
import numpy as np
from python_days import Counter, Exercise, Ladder, exact
def problem(make, n):
    return [make.normal(n)], [make.output(n)]
def nobody(make, n):
    return [make.normal(n)], [make.output(n + 1)]
def measure(launch, inputs, outputs):
    calls = []
    class Counting(np.ndarray):
        def __getitem__(self, at):
            calls.append(at)
            return super().__getitem__(at)
    launch(inputs[0].view(Counting), outputs[0])
    print("what a rung prints is no part of an answer")
    return {"reads": len(calls)}
l = Ladder("l", ("n",), rungs=("slow", "fast", "odd", "absent"), by="numpy", orders=True, problem=problem, reference=lambda x: 2 * x, tolerance=exact,
           shapes=((1,), (5,)), refused={"a longer output": nobody}, show=(4,), bench=((4,),),
           counters=(Counter("reads", "reads of x"),), measure=measure, counts={"slow": {"reads": 4}, "fast": {"reads": 2}},
           exercise=Exercise("a goal", starts="slow", solution="fast", gates={"reads": 1}))
'''
_SLOW = '''"""An element at a time."""
import os
def launch(x, y):
    if x.shape != y.shape:
        raise ValueError("x and y differ")
    for i in range(len(x)):
        y[i] = 2 * x[i]
'''
_FAST = _SLOW.replace("An element", "All").replace("for i in range(len(x)):\n        y[i] = 2 * x[i]", "y[:] = 2 * x[:]")
_ABSENT = '''"""Needs what is not here."""
from python_days.plain import Unavailable
def launch(x, y):
    raise Unavailable("there is no such library")
'''
_ODD = _SLOW.replace("y[i] = 2 * x[i]", "y[i] = 2 * x[i] if os.environ['SIMT_ORDER'] == 'normal' else 0")


@unittest.skipUnless(_python(), "NumPy and Triton are not here")
class Plain(support.Case):
    """Rungs that are no kernels of Triton's: a ladder by NumPy, which counts itself."""

    def setUp(self):
        super().setUp()
        self.replace(paths, "ROOT", self.folder)
        self.replace(paths, "MY", self.folder / "my")
        self.day = self.folder / "day90_plain"
        self.day.mkdir()
        (self.day / "README.md").write_text("---\ntitle: T\nkind: python\n---\n")
        (self.day / "ladder.py").write_text(_PLAIN)
        for name, text in (("01_slow", _SLOW), ("02_fast", _FAST), ("03_odd", _ODD), ("04_absent", _ABSENT)):
            (self.day / f"{name}.py").write_text(text)
        (self.day / "exercise.py").write_text(_SLOW.replace("y[i] = 2 * x[i]", "pass  # your code"))
        support.forget()

    def program(self, *words):
        environment = {**os.environ, "DAYS_BACKEND": "simt", "NO_COLOR": "1"}
        done = subprocess.run([_python().path, "-B", str(support.ROOT / "tools" / "python_days"), str(self.day), *words], check=False, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
        return done.returncode, done.stdout, done.stderr

    def test_run_shows_the_ladders_own_counters(self):
        code, out, err = self.program("run", "--variant", "slow,fast")
        self.assertEqual(code, 0, err)
        self.assertIn("reads of x", out)
        self.assertRegex(out, r"slow +ok +0 +4\n")
        self.assertNotIn("Triton", out)
        self.assertRegex(self.program("run", "--variant", "absent")[1], r"absent +skip +there is no such library")

    def test_sizes_that_cannot_be(self):
        day20 = support.ROOT / "day20_triton_basics"
        for folder, variant, size, says in ((self.day, "slow", str(10**14), "not enough memory"), (day20, "whole", str(10**14), "not enough memory"),
                                            (day20, "tile", "64x512x500", "a pitch of 500 elements holds no rows of 512")):
            self.day = folder
            for command in ("run", "count"):
                code, _, err = self.program(command, "--size", size, "--variant", variant)
                self.assertEqual(code, 2, err)
                self.assertIn(says, " ".join(err.split()))
                self.assertNotIn("Traceback", err)

    def test_what_a_rung_prints_is_no_part_of_the_answer(self):
        code, out, err = self.program("count", "--variant", "slow")
        self.assertEqual((code, json.loads(out)["counters"][0]["value"]), (0, 4), err)
        self.assertIn("no part of an answer", err)
        self.assertEqual(self.program("compile", "--variant", "slow")[1], "[]")

    def test_tests_hold_a_rung_to_its_counts_and_to_every_order(self):
        code, out, _ = self.program("test")
        self.assertEqual(code, 1)
        self.assertIn("FAIL day90_l fast/counters\n  reads is 1, expected 2", out)
        self.assertIn("FAIL day90_l odd/fp32_shuffle", out)
        self.assertIn("11 passed, 3 failed", out)
        self.assertIn("4 skipped;", out)

    def test_programs_have_to_say_that_all_is_well(self):
        programs = self.day / "programs"
        programs.mkdir()
        for name, text in (("right", "print('ok: right')"), ("silent", "pass"), ("wrong", "print('ok: nearly'); raise SystemExit(3)"), ("later", "print('skip: needs a GPU')")):
            (programs / f"{name}.py").write_text(text)
        code, out, _ = self.program("test")
        self.assertEqual(code, 1)
        self.assertIn("FAIL day90_programs silent\n  it ended with 0: it says nothing", out)
        self.assertIn("FAIL day90_programs wrong\n  it ended with 3: ok: nearly", out)
        self.assertNotIn("day90_programs right", out)
        self.assertIn("12 passed, 5 failed", out)
        self.assertIn("5 skipped;", out)

    def test_judged_as_every_kernel_is(self):
        day = catalog.resolve("90", "check")
        self.replace(python_judge.python_day, "PROGRAM", support.ROOT / "tools" / "python_days")
        self.replace(paths, "BUILD", self.folder)
        stages = lambda name: [(stage.name, stage.verdict) for stage in python_judge.run_stages(
            python_judge.Kernel(day, name), python_ladders.gates_of(day), lambda stage: None)]
        self.assertEqual(stages("exercise"), [("correct", "FAIL")])
        self.assertEqual(stages("slow"), [("correct", "ok"), ("race-free", "ok"), ("counters", "FAIL")])
        self.assertEqual(stages("fast"), [("correct", "ok"), ("race-free", "ok"), ("counters", "ok"), ("speed", "skip")])
        self.assertEqual(stages("odd"), [("correct", "ok"), ("race-free", "FAIL")])
        gates, says = python_judge.asked_of(rungs.of_day(day)["fast"])
        self.assertEqual(gates, {"reads": 1})
        self.assertIn("slow has 4, fast has 1", says[0])


_HALF = '''"""{0}"""
import triton
import triton.language as tl
@triton.jit
def half_kernel(x_ptr, y_ptr, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(y_ptr + i, {1}, mask=i < n)
def launch(x, y):
    if x.shape != y.shape:
        raise ValueError("x and y differ")
    half_kernel[(triton.cdiv(x.numel(), 16),)](x, y, x.numel(), B=16)
'''
_HALVES = '''
from python_days import Exercise, Ladder, exact
l = Ladder("l", ("n",), rungs=("plain", "odd"), problem=lambda make, n: ([make.normal(n)], [make.output(n)]), reference=lambda x: x / 2, tolerance=exact,
           shapes=((1,), (40,)), refused={"a longer output": lambda make, n: ([make.normal(n)], [make.output(n + 1)])}, show=(40,), bench=((40,),),
           compiled_only={"odd": "it takes two instructions of PTX"})
'''
_PTX = 'tl.inline_asm_elementwise("{{ .reg .f32 t; mul.f32 t, $1, 0f3F800000; mul.f32 $0, t, 0f3F000000; }}", "=f,f", [x], dtype=tl.float32, is_pure=True, pack=1)'


@unittest.skipUnless(_python(), "NumPy and Triton are not here")
class CompiledOnly(support.Case):
    """A rung that the interpreter cannot run: it is compiled, its refusals are tested, and everywhere is said why that is all."""

    def setUp(self):
        super().setUp()
        self.replace(paths, "ROOT", self.folder)
        self.replace(paths, "MY", self.folder / "my")
        self.replace(paths, "BUILD", self.folder)
        self.replace(python_judge.python_day, "PROGRAM", support.ROOT / "tools" / "python_days")
        self.day = self.folder / "day90_half"
        self.day.mkdir()
        (self.day / "README.md").write_text("---\ntitle: T\nkind: python\n---\n")
        (self.day / "ladder.py").write_text(_HALVES)
        for name, code in (("01_plain", "x / 2"), ("02_odd", _PTX)):
            (self.day / f"{name}.py").write_text(_HALF.format("A half.", code.replace("{{", "{").replace("}}", "}")))
        support.forget()

    def program(self, *words):
        environment = {**os.environ, "DAYS_BACKEND": "simt", "NO_COLOR": "1"}
        done = subprocess.run([_python().path, "-B", str(support.ROOT / "tools" / "python_days"), str(self.day), *words], check=False, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
        return done.returncode, done.stdout, done.stderr

    def test_run_and_test_say_so(self):
        code, out, err = self.program("run")
        self.assertEqual(code, 0, err)
        self.assertIn("odd         skip  compiled, not interpreted: it takes two instructions of PTX", out)
        code, out, err = self.program("test")
        self.assertEqual(code, 0, out + err)
        self.assertIn("skip odd, compiled, not interpreted: it takes two instructions of PTX", out)
        self.assertIn(" 1 skipped;", out)
        self.assertEqual(json.loads(self.program("mutants")[1])[-1]["file"].endswith("01_plain.py"), True)

    def test_a_rung_that_runs_is_not_excused(self):
        (self.day / "02_odd.py").write_text(_HALF.format("A half.", "x / 2"))
        code, out, _ = self.program("test")
        self.assertEqual(code, 1)
        self.assertIn("the interpreter runs it: take it out of the ladder's compiled_only", out)

    def test_one_that_takes_anything_is_not_excused(self):
        file = self.day / "02_odd.py"
        file.write_text(file.read_text().replace("x.shape != y.shape", "False"))
        code, out, _ = self.program("test")
        self.assertEqual(code, 1)
        self.assertIn("FAIL day90_l odd/fp32_40_a_longer_output", out)

    def test_stages_and_gates_are_of_the_code_alone(self):
        day = catalog.resolve("90", "check")
        found = python_judge.run_stages(python_judge.Kernel(day, "odd"), {"programs": 3}, lambda stage: None)
        self.assertEqual([(stage.name, stage.verdict) for stage in found], [("correct", "skip"), ("race-free", "skip"), ("counters", "skip"), ("speed", "skip")])
        partly = python_judge.counters(python_judge.Kernel(day, "odd"), {"programs": 3, "load_bits": 32})
        self.assertEqual(partly.verdict, "ok")
        self.assertIn("programs not counted: compiled, not interpreted", partly.about)
        self.assertIn("it takes two instructions of PTX; compiles for sm_75, sm_80 and sm_90", found[0].about)
        self.assertEqual(set(python_judge.measure(python_judge.Kernel(day, "odd"))),
                         {metric.key for metric in metrics.TRITON if metric.compiled} - {"wasted_sectors"})  # of the code and of what runs
        gates, _ = python_judge.asked_of(rungs.of_day(day)["odd"])
        self.assertLessEqual(set(gates), {metric.key for metric in metrics.TRITON if metric.compiled})
        code, out, _ = self.days("explain", "90")
        self.assertRegex(out, r"odd +compiled, not interpreted +\d")
        self.assertIn("it takes two instructions of PTX", self.days("explain", "90", "odd")[1])


_GPU_LADDER = '''
import numpy as np
from python_days import Ladder, Tensor, exact
def problem(make, n):
    return [make.padded(make.normal(n, 3), 5)], [make.output(n, 3)]
def nobody(make, n):
    return [make.normal(n, 3)], [make.output(n, 4)]
def on_top(make, n):
    (x,), _ = problem(make, n)
    return [x], [Tensor(x.array[:, 1:], x.kind)]
l = Ladder("l", ("n",), rungs=("right", "wrong", "spoils", "fails", "absent", "picky"), problem=problem, reference=lambda x: 2 * x, shapes=((3,),),
           types=("fp32", "bf16"), refused={"another shape": nobody, "y on top of x": on_top}, show=(4,), bench=((4,),), takes={"picky": lambda kind, n: False})
'''
_GPU_RUNG = '''
from day90_gpu import shared
def launch(x, y):
    shared.asks(x, y)
    assert x.is_cuda and x.stride() == (5, 1)
    {body}
'''
_GPU_SHARED = '''
from python_days import needs
def asks(x, y):
    needs.apart(x=x, y=y)
    if x.shape != y.shape:
        raise ValueError("x and y differ")
'''
_GPU_CONTESTANTS = '''
from contestants import Skip
def returns(torch, problem):
    return lambda: 2 * problem.inputs[0]
def odd(torch, problem):
    return lambda: problem.inputs[0][:2]
def uninstalled(torch, problem):
    import a_wheel_that_nobody_has
def broken(torch, problem):
    return lambda: 1 // 0
def small(torch, problem):
    raise Skip("needs n % 128 == 0")
def random(torch, problem):
    return lambda: 0 * problem.inputs[0]
def other(torch, problem):
    return lambda: 3 * problem.inputs[0]
asked = []
def check(made, problem):
    asked.append(problem.shape["n"])
    return "" if bool(((made[0] == 0) | (made[0] == 2 * problem.inputs[0])).all()) else "neither 0 nor 2 x"
random.check = other.check = check
CONTESTANTS = [("l", make.__name__, make) for make in (returns, odd, uninstalled, broken, small, random, other)]
'''
_NO_GPU_BUT = '''
import json, os, sys, types
sys.path[:0] = [{tools!r}]
import torch
from python_days import own
class Event:
    clock = 0
    def __init__(self, enable_timing): pass
    def record(self):
        Event.clock += 1
        self.at = Event.clock
    def synchronize(self): pass
    def elapsed_time(self, end): return end.at - self.at
torch.cuda.Event, torch.cuda._sleep = Event, lambda ticks: None
torch.cuda.get_device_properties = lambda number: types.SimpleNamespace(L2_cache_size=64)
with own._torch_mode(own.Memory()):
    from python_days import adapters, cases, on_gpu
    from python_days.day import Day
    day = Day({day!r})
    ladder = day.ladders[0]
    found = {{}}
    for rung in ladder.rungs[:4]:
        made = [cases.run(case, adapters.of(ladder, day.launch(rung))) for case in cases.all_cases(ladder)]
        found[rung] = [[one.result, one.notes, one.facts["first"][:1]] for one in made]
    found["table"] = on_gpu._table(day, ladder, [rung for rung in ladder.rungs if rung != "spoils"], "bf16", (4,), False)
    found["asked"] = sys.modules["python_days_file_day90_gpu_tests_contestants"].asked
print(json.dumps(found))
'''


@unittest.skipUnless(python_setup.here(("torch",)), "no PyTorch here: ./days run 72 installs it")
class OnGpu(support.Case):
    """The part that runs on a GPU, on a PyTorch that takes this CPU for one: all but kernels and their times."""

    def test_cases_and_a_table(self):
        day = self.folder / "day90_gpu"
        (day / "tests").mkdir(parents=True)
        (day / "ladder.py").write_text(_GPU_LADDER)
        (day / "shared.py").write_text(_GPU_SHARED)
        (day / "tests" / "contestants.py").write_text(_GPU_CONTESTANTS)
        bodies = ("y.copy_(2 * x)", "y[1:].copy_(2 * x[1:])", "y.copy_(2 * x); x[0, 1] = 0", "raise KeyError('out of patience')",
                  "from python_days.plain import Unavailable; raise Unavailable('no library')", "raise ValueError('n is odd')")
        for number, (name, body) in enumerate(zip(("right", "wrong", "spoils", "fails", "absent", "picky"), bodies), 1):
            (day / f"{number:02d}_{name}.py").write_text(_GPU_RUNG.format(body=body))
        done = subprocess.run([python_setup.here(("torch",)).path, "-B", "-c", _NO_GPU_BUT.format(tools=str(support.ROOT / "tools"), day=str(day))],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, text=True, env={**os.environ, "DAYS_BACKEND": "cuda"})
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        found = json.loads(done.stdout)
        refused = [["refused", [why], []] for why in ("x and y differ", "x and y overlap in memory, and what is stored to one would be loaded of the other")]
        self.assertEqual(found["right"], [["ok", [], []]] * 2 + refused)
        self.assertEqual([case[0] for case in found["wrong"]], ["fail", "fail", "refused", "refused"])
        self.assertEqual((found["wrong"][0][2][0]["at"], found["wrong"][0][2][0]["got"]), ("out[0, 0]", "not written"))
        self.assertEqual(found["spoils"][1], ["fail", [], [{"at": "an input", "got": "changed", "expected": "unchanged"}]])
        self.assertRegex(found["fails"][0][1][0], r"04_fails.py:6: KeyError: 'out of patience'$")
        rows = {row.pop("name"): row for row in found["table"]["rows"]}
        told = lambda name: (rows[name]["result"], rows[name].get("reason") or rows[name].get("report", ""))
        self.assertEqual([rows[name]["result"] for name in ("right", "returns")], ["ok"] * 2)
        self.assertTrue(told("wrong")[0] == "fail" and told("wrong")[1].startswith("out[0, 0] is not written, expected"), told("wrong"))
        self.assertEqual((told("fails")[0], told("fails")[1].rpartition(": ")[2]), ("fail", "'out of patience'"))
        self.assertEqual((told("broken")[0], told("broken")[1].rpartition("/")[2].split(": ")[:2]), ("fail", ["contestants.py:10", "ZeroDivisionError"]))
        self.assertEqual(told("absent"), ("missing", "no library"))
        self.assertEqual(told("picky"), ("skip", "n is odd"))
        self.assertEqual(told("odd"), ("skip", "a result of (2, 3) torch.bfloat16, expected (4, 3) torch.bfloat16"))
        self.assertEqual(told("small"), ("skip", "needs n % 128 == 0"))
        self.assertEqual((told("random"), rows["random"]["worst_error"]), (("ok", ""), None))  # its own check knows no error
        self.assertEqual((told("other"), found["asked"]), (("fail", "neither 0 nor 2 x"), [4, 4]))
        self.assertEqual(told("uninstalled"), ("missing", "not installed: a_wheel_that_nobody_has"))
        right = rows["right"]
        self.assertEqual((right["runs"], right["seconds"], right["python_seconds"], right["noise"]), (56, 1e-3, 1e-3, 0))
        self.assertEqual(right["bytes_per_second"], 48 / 1e-3)
        self.assertEqual(right["of_limit"], right["bytes_per_second"] / found["table"]["limit"]["per_second"])
        self.assertEqual(rows["NumPy"]["kind"], "cpu")


if __name__ == "__main__":
    unittest.main()
