# SPDX-License-Identifier: MIT
"""Kernels that call host functions or use host variables: what nvcc takes, simtcc takes.

Each case has nvcc's verdict (release 13.0, -std=c++20 --expt-relaxed-constexpr) and ours. ASK_NVCC=1 asks the nvcc that is
here once more; that takes minutes.
"""

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SIMT = Path(__file__).resolve().parents[1]
HOST = "int triple_of(int x) { return x; } "
KERNEL = "__global__ void k(int* p) { %s }"

# nvcc refuses these, and so do we: the name that the message says.
REFUSED = {
    "a call": (HOST + KERNEL % "*p = triple_of(1);", "triple_of"),
    "a call of something declared": ("void triple_of(); " + KERNEL % "triple_of();", "triple_of"),
    "a call by a device function": (HOST + "__device__ int d() { return triple_of(1); }", "triple_of"),
    "a function that says __host__": ("__host__ " + HOST + KERNEL % "*p = triple_of(1);", "triple_of"),
    "an inline function": ("inline " + HOST + KERNEL % "*p = triple_of(1);", "triple_of"),
    "a template": ("template <class T> T triple_of(T x) { return x; } " + KERNEL % "*p = triple_of(1);", "triple_of"),
    "of another namespace": ("namespace a { int triple_of(int); } " + KERNEL % "*p = a::triple_of(1);", "triple_of"),
    "by using namespace": ("namespace a { int triple_of(int); } using namespace a; " + KERNEL % "*p = triple_of(1);", "triple_of"),
    "of C": ('extern "C" int triple_of(int); ' + KERNEL % "*p = triple_of(1);", "triple_of"),
    "through a macro": (HOST + "\n#define H(x) triple_of(x)\n" + KERNEL % "*p = H(1);", "triple_of"),
    "a member": ("struct S { int tripled() { return 1; } }; " + KERNEL % "S s; *p = s.tripled();", "tripled"),
    "a static member": ("struct S { static int tripled() { return 1; } }; " + KERNEL % "*p = S::tripled();", "tripled"),
    "in a branch that is never taken": (HOST + KERNEL % "if (false) *p = triple_of(1);", "triple_of"),
    "after the end": (HOST + KERNEL % "return; triple_of(1);", "triple_of"),
    "by a kernel that only this file sees": (
        HOST + "namespace { " + KERNEL % "*p = triple_of(1);" + " } void run(int* p) { k<<<1, 1>>>(p); }", "triple_of"),
    "the C library": ("#include <cstdlib>\n" + KERNEL % "*p = rand();", "rand"),
    "std::rand": ("#include <cstdlib>\n" + KERNEL % "*p = std::rand();", "rand"),
    "fprintf": ("#include <cstdio>\n" + KERNEL % 'fprintf(stderr, "x");', "fprintf"),
    "a variable": ("int host_factor; " + KERNEL % "*p = host_factor;", "host_factor"),
    "a static variable": ("static int host_factor = 3; " + KERNEL % "*p = host_factor;", "host_factor"),
    "a variable elsewhere": ("extern int host_factor; " + KERNEL % "*p = host_factor;", "host_factor"),
    "a store": ("int host_factor; " + KERNEL % "host_factor = *p;", "host_factor"),
    "an array": ("int host_factor[4]; " + KERNEL % "*p = host_factor[1];", "host_factor"),
}

# nvcc takes these, and so must we.
TAKEN = {
    "unused and only this file's": HOST + "static __device__ int d() { return triple_of(1); }",
    "a template that nobody uses": HOST + "template <class T> __device__ int d(T* p) { return triple_of(1); }",
    "of both sides": HOST + "__host__ __device__ int d() { return triple_of(1); } " + KERNEL % "*p = d();",
    "of both sides, the other branch": HOST + "template <bool b> __host__ __device__ int d() { if constexpr (b) return triple_of(1); "
                                              "else return 2; } " + KERNEL % "*p = d<false>();",
    "constexpr": "constexpr " + HOST + KERNEL % "*p = triple_of(*p);",
    "not evaluated": HOST + KERNEL % "*p = sizeof(triple_of(1)); decltype(triple_of(1)) x = 0; *p = noexcept(triple_of(2)) + x;",
    "discarded": HOST + KERNEL % "if constexpr (false) *p = triple_of(1);",
    "a constant condition": HOST + KERNEL % "*p = true ? 1 : triple_of(1);",
    "named": HOST + KERNEL % "(void)triple_of;",
    "a parameter's name": "int host_factor; __global__ void k(int* p, int host_factor) { *p = host_factor; }",
    "a lambda's name": HOST + KERNEL % "auto triple_of = [](int x) { return x; }; *p = triple_of(1);",
    "declared for the device": "__device__ int triple_of(int); int triple_of(int x) { return x; } " + KERNEL % "*p = triple_of(1);",
    "specialised for the device": "template <class T> int triple_of(T); template <> __device__ int triple_of(int x) { return x; } "
                                  + KERNEL % "*p = triple_of(1);",
    "a host's lambda": "auto triple_of = [](int x) { return x; }; " + KERNEL % "*p = triple_of(1);",
    "handed over": HOST + "template <class F> __global__ void k(F f, int* p) { *p = f(1); } void m() { k<<<1, 1>>>(triple_of, nullptr); }",
    "std": "#include <algorithm>\n" + KERNEL % "std::swap(p[0], p[1]); *p = std::max(p[0], p[1]);",
    "assert": "#include <cassert>\n" + KERNEL % "assert(*p == 1);",
    "a default constructor": "struct S { int x = 1; S() = default; }; " + KERNEL % "S s; *p = s.x;",
    "cudaMalloc": KERNEL % "int* q; cudaMalloc(&q, 4);",
    "a constant": "const int host_factor = 3; const float f = 2; constexpr double d = 1; " + KERNEL % "*p = host_factor + f + d;",
    "a variable's size": "int host_factor[4]; " + KERNEL % "*p = sizeof(host_factor) + sizeof host_factor; decltype(host_factor) x; x[0] = 1; *p = x[0];",
    "a variable's address as an argument": "int host_factor; template <int* q> __device__ int f() { return 1; } " + KERNEL % "*p = f<&host_factor>();",
    "a variable that is discarded": "int host_factor; " + KERNEL % "if constexpr (false) *p = host_factor;",
    "a variable unused and only this file's": "int host_factor; static __device__ int d() { return host_factor; }",
    "a variable in a template that nobody uses": "int host_factor; template <class T> __global__ void k(T* p) { *p = host_factor; }",
    "a static local": KERNEL % "static int host_factor; *p = ++host_factor;",
    "a local of the name": "int host_factor; " + KERNEL % "int m = 1, host_factor = 2; *p = host_factor + m;",
    "a member of the name": "int host_factor; struct S { int host_factor; }; " + KERNEL % "S s; s.host_factor = 1; *p = s.host_factor;",
    "a constant for both": "__constant__ int host_factor; __device__ int m; " + KERNEL % "*p = host_factor + m;",
}


class HostCode(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.simtcc = Path(cls.folder.name) / "simtcc"
        include = f'-DSIMT_INCLUDE_DIR="{SIMT / "include"}"'
        sources = [SIMT / "translator" / name for name in ("unit.cpp", "main.cpp")]
        subprocess.run(["c++", "-O1", "-std=c++20", include, *sources, "-o", cls.simtcc], check=True)

    def judge(self, command, text):
        """Whether it is refused, and what is said."""
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "case.cu"
            source.write_text(text + "\n")
            done = subprocess.run([*command, source], cwd=folder, capture_output=True, text=True, check=False)
            return done.returncode != 0, (done.stdout + done.stderr).replace(folder, "")

    def all(self, command):
        cases = {name: text for name, (text, _) in REFUSED.items()} | TAKEN
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            return dict(zip(cases, pool.map(lambda text: self.judge(command, text), cases.values()), strict=True))

    def test_simtcc(self):
        compiler = [self.simtcc, "c++", "-std=c++20", "-w", "-fsyntax-only"]
        for name, (refused, said) in self.all(compiler).items():
            with self.subTest(name):
                if name in REFUSED:
                    word = REFUSED[name][1]
                    self.assertRegex(said, rf"case\.cu:\d+: error: (kernel|device function) \w+ (calls|uses) the host "
                                           rf"(function|variable) {re.escape(word)}, as nvcc does not allow")
                self.assertEqual(refused, name in REFUSED, said)

    @unittest.skipUnless(os.environ.get("ASK_NVCC") and shutil.which("nvcc"), "ASK_NVCC=1 asks nvcc for its verdicts")
    def test_nvcc(self):
        flags = ["-std=c++20", "--expt-relaxed-constexpr", "-arch=sm_90", "-cuda", "-o", "case.ii"]
        for name, (refused, said) in self.all(["nvcc", *flags]).items():
            with self.subTest(name):
                self.assertEqual(refused, name in REFUSED, said)


if __name__ == "__main__":
    unittest.main()
