#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The door for who writes Python: day 20 without a compiler; check, explain and asm of a Triton file of one's own, with NumPy's arrays, and with
PyTorch's tensors where build/python, or the Python at hand, has it."""
import json
import os
import shutil
import subprocess
import sys
import unittest

import support
from days_cli import python_setup

KERNEL = '''import numpy as np
import triton
import triton.language as tl


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(out + at, tl.load(x + at, mask) + tl.load(y + at, mask), mask)


'''
ARRAYS = '''def main():
    n = 1000
    x, y = np.random.randn(n).astype(np.float32), np.random.randn(n).astype(np.float32)
    out = np.zeros(n, np.float32)
    add[(triton.cdiv(n, 256),)](x, y, out, n, BLOCK=256)
    assert np.array_equal(out, x + y), "sums differ"
'''
TENSORS = '''import torch
DEVICE = triton.runtime.driver.active.get_active_torch_device()


def launch(n=1000):
    x, y = torch.randn(n, device=DEVICE), torch.randn(n).cuda()
    out = torch.empty(n, device="cuda")
    assert x.is_cuda and x.device == DEVICE == out.device
    add[(triton.cdiv(n, 256),)](x, y, out, n, BLOCK=256)
    torch.cuda.synchronize()
    assert torch.equal(out, x + y)
    print("printed once")
'''


@unittest.skipUnless(python_setup.here(), "no NumPy and Triton here: ./days run 20 installs them")
class Own(support.Case):
    def file(self, text, *edits, name="mine.py"):
        for old, new in edits:
            self.assertIn(old, text)
            text = text.replace(old, new)
        path = self.folder / name
        path.write_text(text)
        return str(path)

    def check(self, *given, code=0):
        got, out, err = self.days("check", "--file", self.file(*given))
        said = " ".join((out + err).split()).replace(str(self.folder), "")
        self.assertEqual(got, code, said)
        return said

    def test_good(self):
        said = self.check(KERNEL + ARRAYS)
        for text in ("1 accesses ok add: 1 launch, 12 accesses", "2 race-free ok programs in 3 orders", "3 compiles ok for sm_75, sm_80, sm_90"):
            self.assertIn(text, said)

    def test_each_fault_has_its_line(self):
        for old, new, text in (
                ("tl.load(y + at, mask), mask)", "tl.load(y + at, mask))", "/mine.py:10 tl.store(out + at, tl.load(x + at, mask) + tl.load(y + at, "
                 "mask)) program 3 stores out[1000] of 1000, and so do 23 lanes more"),
                ("tl.store(out + at,", "tl.store(out + at % 300,", "2 race-free FAIL programs in normal order error: race between programs "
                 "[triton-race] /mine.py:10"),
                ("at = tl.program_id(0) * BLOCK", "at = tl.multiple_of(tl.program_id(0) * BLOCK + 1, 16)", "tl.multiple_of says 16, and there is 1"),
                ("x + y),", "x - y),", "1 accesses FAIL add: 1 launch, 12 accesses /mine.py:18: AssertionError: sums differ"),
                ("    add[(triton", "    return  # add[(triton", "1 accesses FAIL main() starts no kernel of Triton's"),
                ("mask = at < n", "mask, table = at < n, {'a': 1}", "3 compiles FAIL the compiler refuses it for sm_75"),
                ("n = 1000", "n = nothing", "1 accesses FAIL main() fails /mine.py:14: NameError: name 'nothing' is not defined")):
            self.assertIn(text, self.check(KERNEL + ARRAYS, (old, new), code=1))

    def test_a_function_that_many_programs_call(self):
        called = (("@triton.jit\ndef add", "@triton.jit\ndef row(at):\n    return at[None, :]\n\n\n@triton.jit\ndef add"),
                  ("    mask = at < n", "    at = tl.sum(row(at) + row(at) - row(at), 0)\n    mask = at < n"), ("cdiv(n, 256)", "cdiv(n, 2)"), ("BLOCK=256", "BLOCK=2"))
        self.assertIn("add: 1 launch, 1,500 accesses", self.check(KERNEL + ARRAYS, *called))

    def test_what_cannot_be_looked_at(self):
        for edit, text in ((("def main()", "def main(n)"), "main() needs n; nobody is here to give that"),
                           (("def main()", "def other()"), "/mine.py has no main() and no launch()"),
                           (("def main()", "def main("), "mine.py:13: "),
                           (("import triton\n", "import triton\nimport nowhere\n"), "Next: DAYS_PYTHON=/a/python/that/has/it ./days check --file /mine.py")):
            self.assertIn(text, self.check(KERNEL + ARRAYS, edit, code=1))
        for words, hint in ((("check", "--file", "absent.py"), "./days check --help"), (("check", "--file", "mine.cu"), "./days cc --checked mine.cu"),
                            (("check", "--file", "mine.py", "5"), "./days check --file mine.py"), (("cc", "mine.py"), "./days check --file mine.py"),
                            (("explain", "--file", "mine.py", "--size", "5"), "./days explain --file mine.py"),
                            (("explain", "mine.py"), "./days explain --file mine.py"), (("check", "--file", "notes.txt"), "./days check --help")):
            code, _, err = self.days(*words)
            self.assertEqual(code, 2, words)
            self.assertIn(hint, err)

    def test_explain_and_asm(self):
        path = self.file(KERNEL + ARRAYS)
        code, out, _ = self.days("explain", "--file", path)
        self.assertEqual(code, 0)
        self.assertRegex(out, r"10  load   x +4 +4,000")
        self.assertIn("4 LDG.32", out)
        self.assertIn("In all: 8,000 bytes loaded, 4,000 stored", out)
        self.assertRegex(out, r"sm_75 +\d+ .*\nsm_80 .*\nsm_90 ")
        code, out, _ = self.days("explain", "--file", path, "--json")
        self.assertEqual(json.loads(out)["launches"][0]["grid"][:1], [4])
        code, out, _ = self.days("asm", "--file", path)
        self.assertEqual(code, 0)
        self.assertRegex(out, r"   10 +\d+  tl.store.*4 LDG.32")
        again = self.days("asm", "--file", self.file(KERNEL + ARRAYS, name="again.py"))[1]
        self.assertRegex(again, r"\nagain.py\n(.*\n)*   10 +\d+  tl.store.*4 LDG.32")  # and not Triton's binary of the other file

    @unittest.skipUnless(python_setup.here(("torch",)), "no PyTorch here: ./days run 72 installs it")
    def test_tensors_of_pytorch(self):
        said = self.check(KERNEL + TENSORS)
        self.assertIn("2 race-free ok", said)
        self.assertEqual(said.count("printed once"), 1)
        for edits, text in (((("mask = at < n", "mask = at < n - 1"),), "of a tensor 1000 1 elements were never written, the first at 999"),
                            ((("tl.store(out + at, ", "tl.store(out + at, tl.load(out + at, mask) + "),), "program 0 loads out[0], which nobody has written")):
            self.assertIn(text, self.check(KERNEL + TENSORS, *edits, code=1))
        filled = (('device="cuda")', 'device="cuda").zero_()'), ("tl.store(out + at, ", "tl.store(out + at, tl.load(out + at, mask) + "))
        self.assertIn("3 compiles ok", self.check(KERNEL + TENSORS, *filled))


@unittest.skipUnless(python_setup.here(), "no NumPy and Triton here: ./days run 20 installs them")
class NoCompiler(support.Case):
    def test_day_20_needs_python_alone(self):
        thin = self.folder / "thin"
        thin.mkdir()
        (thin / "python3").symlink_to(os.path.realpath(sys.executable))
        for tool in ("env", "git", "ls", "cat"):
            (thin / tool).symlink_to(shutil.which(tool))
        where = {"PATH": str(thin), "HOME": str(self.folder), "DAYS_MY": str(self.folder / "my"), "DAYS_PYTHON": python_setup.here().path}
        for words, code, text in ((("run", "20"), 0, "whole       ok"), (("explain", "20", "block"), 0, "LDG.32"), (("check", "20"), 1, "1 correct    FAIL")):
            done = subprocess.run([str(support.ROOT / "days"), *words], env=where, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(text, done.stdout)


if __name__ == "__main__":
    unittest.main()
