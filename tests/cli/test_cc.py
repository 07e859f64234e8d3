#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""days cc: nvcc's command line, programs of several files, and errors in the learner's own lines."""
import os
import re
import resource
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import support
from days_cli import compiler_messages, nvcc_flags
from days_cli.errors import DaysError

_ADD = """#include <cstdio>
__global__ void add(const int* a, int* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) b[i] += a[i];
}
int main() {
  int *a, *b;
  cudaMallocManaged(&a, 400);
  cudaMallocManaged(&b, 400);
  for (int i = 0; i < 100; ++i) a[i] = i, b[i] = 1;
  add<<<2, 64>>>(a, b, 100);
  cudaDeviceSynchronize();
  printf("%d\\n", b[99]);
}
"""


class Flags(unittest.TestCase):
    def read(self, line):
        return nvcc_flags.read(line.split())

    def test_what_means_something(self):
        request = self.read("a.cu b.cpp c.o -o prog -I x -Iy --include-path=z -DN=3 -D M -UQ -L lib -lm -O3 -std=c++20 -g "
                            "-Xcompiler -Wall,-fopenmp -Xlinker=-rpath,/x -rdc=true -x cu odd.inc")
        self.assertEqual([(source.path, source.language) for source in request.sources],
                         [("a.cu", "cu"), ("b.cpp", "c++"), ("odd.inc", "cu")])
        self.assertEqual(request.link_inputs, ["c.o", "-lm"])
        self.assertEqual(request.preprocessor, ["-Ix", "-Iy", "-Iz", "-DN=3", "-DM", "-UQ"])
        self.assertEqual(request.compiler, ["-Wall", "-fopenmp"])
        self.assertEqual(request.link, ["-Llib", "-Xlinker", "-rpath", "-Xlinker", "/x"])
        self.assertEqual((request.output, request.optimisation, request.standard), ("prog", "-O3", "c++20"))
        self.assertTrue(request.debug and request.relocatable)
        self.assertEqual(request.notes, {})

    def test_what_does_not(self):
        request = self.read("a.cu -arch=sm_90 -gencode arch=compute_80,code=sm_80 --gpu-architecture sm_75 -Xptxas -v,-O3 "
                            "-maxrregcount=32 --use_fast_math -lineinfo --extended-lambda --expt-relaxed-constexpr -lcuda "
                            "-lcublas -ccbin g++-11 -G --Werror all-warnings -Xcudafe --diag_suppress=177")
        self.assertEqual(request.notes, {
            "gpu": ["-arch", "-gencode", "--gpu-architecture"],
            "tuning": ["-Xptxas", "-maxrregcount", "--use_fast_math", "-lineinfo"],
            "library": ["-lcuda"], "device library": ["-lcublas"], "host": ["-ccbin"], "nvcc": ["--Werror", "-Xcudafe"]})
        self.assertEqual([source.path for source in request.sources], ["a.cu"])

    def test_refused(self):
        for line, message in (("a.cu -ptx", "-ptx: days cc makes programs"), ("a.cu --fastmath", "days cc has no flag"),
                              ("a.cu -o", "-o needs a value"), ("a.cu -Wall", "nvcc knows no flag -Wall"),
                              ("notes.txt", 'do not know what "notes.txt" is'), ("-x f77 a.cu", "-x is cu, c++ or c")):
            with self.assertRaises(DaysError) as caught:
                self.read(line)
            self.assertIn(message, caught.exception.message)
            self.assertEqual(caught.exception.code, 2)


    def test_options_files(self):
        with tempfile.TemporaryDirectory() as folder:
            one, two, loop, open_ = (f"{folder}/{name}" for name in ("one", "two", "loop", "open"))
            for name, text in ((one, '-DA=1\n "-DB=b \'c" -o x # -DC\n'), (two, f"-optf {one} b.cu"), (loop, f"-optf {loop}"),
                               (open_, '"-DA')):
                Path(name).write_text(text)
            # As nvcc reads them: only " quotes, and # is a word like others.
            with self.assertRaises(DaysError) as caught:
                self.read(f"a.cu -optf {one}")
            self.assertIn('what "#" is', caught.exception.message)
            Path(one).write_text('-DA=1\n "-DB=b \'c" -o x\n')
            for flag in (f"-optf {two}", f"--options-file={two}", f"--options-file {two}"):
                request = self.read(f"a.cu {flag} c.cu")
                self.assertEqual([source.path for source in request.sources], ["a.cu", "b.cu", "c.cu"])
                self.assertEqual((request.preprocessor, request.output), (["-DA=1", "-DB=b 'c"], "x"))
            self.assertEqual(self.read(f"a.cu -optf {one},{two}").preprocessor, ["-DA=1", "-DB=b 'c"] * 2)
            for name, message in ((loop, "does one name itself"), (open_, "no closing quotation"), (folder, "Is a directory"),
                                  (folder + "/none", "No such file")):
                with self.assertRaises(DaysError) as caught:
                    self.read(f"-optf {name}")
                self.assertIn(message, caught.exception.message)
                self.assertEqual(caught.exception.code, 2)


class Messages(unittest.TestCase):
    def test_use_of_a_library(self):
        way = "Write the product as a kernel.\nLines that only a GPU needs may stand between #ifndef __SIMT__ and #endif.\n"
        for said, told in (("mine.h:9: error: cublasHandle_t: <cublas_v2.h>: cuBLAS is a device library: it has no CPU version here",
                            "mine.h:9: error: cublasHandle_t: <cublas_v2.h>: cuBLAS is a device library: it has no CPU version here"),
                           ("prog.cpp:9:1: error: 'cublasHandle_t' does not name a type\nprog.cpp:10:1: error: 'cublasCreate' was not",
                            "prog.cpp:9: error: cublasHandle_t: cuBLAS is a device library: it has no CPU version here")):
            self.assertEqual(compiler_messages.compiling(said + "\n", "/simt/include"), told + "\n" + way)
        said = "prog.cu:9:1: error: 'cublas_is_here' was not declared\nprog.cu:10:1: error: 'number' was not declared\n"
        self.assertEqual(compiler_messages.compiling(said, "/simt/include"), said)

    def test_error_inside_a_header(self):
        output = ("In file included from <command-line>:\n/simt/include/x.h: In instantiation of 'f(T)':\n"
                  "prog.cu:7:5:   required from here\n/simt/include/x.h:3:4: error: no x\n")
        told = compiler_messages.compiling(output, "/simt/include")
        self.assertIn("prog.cu:7: error: no x\n", told)
        self.assertLess(told.index("prog.cu:7: error"), told.index("/simt/include/x.h:3"))

    def test_what_a_template_repeats_is_told_once(self):
        def message(dim, kind="warning"):
            return (f"mine.cu: In instantiation of 'void k(A<T>) [with T = float; int kDim = {dim}]':\n"
                    f"mine.cu:9:5:   required from 'void run(Launch) [with Launch = {dim}]'\nmine.cu:8:1:   required from here\n"
                    f"mine.cu:4:15: {kind}: unused variable 'x' [-Wunused-variable]\n    4 |   float x;\n      |         ^\n")
        first = message(64).replace("mine.cu:9:5:   required from 'void run(Launch) [with Launch = 64]'\n", "")
        self.assertEqual(compiler_messages.once(message(64) + message(128)), first)
        other = message(128).replace("mine.cu:4:15", "mine.cu:5:15")
        self.assertEqual(compiler_messages.once(message(64) + other).count("warning"), 2)
        self.assertEqual(compiler_messages.once("ld: something\n"), "ld: something\n")

    def test_linker(self):
        output = ("/usr/bin/ld: /c/a.o: in function `k(int)':\n/w/a.cu:3: undefined reference to `f(int)'\n"
                  "/usr/bin/ld: /c/b.o: in function `k(int)':\n"
                  "/w/b.cu:1: multiple definition of `k(int)'; /c/a.o:/w/a.cu:2: first defined here\n"
                  "collect2: error: ld returned 1 exit status\n")
        self.assertEqual(compiler_messages.linking(output, "/w"),
                         "a.cu:3: error: f(int) is used but defined nowhere\n"
                         "b.cu:1: error: k(int) is defined a second time; first at a.cu:2\n")


@unittest.skipUnless(shutil.which("g++"), "no g++ here")
class Programs(support.Case):
    def write(self, name, text):
        (self.folder / name).write_text(text)

    def check_form(self, text):
        """What the compiler itself says has no limit of columns."""
        own = [line for line in text.splitlines() if not re.match(r"\S+:\d+:|  candidate| *\d* \|", line)]
        super().check_form("\n".join(own))

    def cc(self, *arguments, code=0):
        """What the command says on stderr."""
        done = self.shell("cc", *arguments, cwd=self.folder)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(done.stdout, "")
        return done.stderr.replace("Building the CPU backend, once: about a minute.\n", "")

    def output(self, name="a.out", code=0):
        done = subprocess.run([str(self.folder / name)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              universal_newlines=True, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout + done.stderr

    def fails(self, text, *expected):
        self.write("bad.cu", text)
        said = self.cc("bad.cu", code=1)
        for line in expected:
            self.assertIn(line, said)
        self.assertNotIn("simt/include", said)
        self.assertNotIn(".ii", said)
        self.assertNotIn("simt_", said)

    def test_one_file(self):
        self.write("my prog.cu", _ADD)
        self.assertEqual(self.cc("my prog.cu"), "")
        self.assertEqual(self.output(), "100\n")
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["a.out", "bin", "my prog.cu"])

    def test_quick_and_incremental(self):
        """In seconds of the processor, which another program beside this test does not prolong; the wall's are as many on an idle machine."""
        def spent():
            usage = resource.getrusage(resource.RUSAGE_CHILDREN)
            return usage.ru_utime + usage.ru_stime

        self.write("prog.cu", _ADD)
        self.cc("prog.cu")
        began = spent()
        self.cc("prog.cu")
        unchanged = spent() - began
        self.write("prog.cu", _ADD.replace("+= a[i]", "+= 2 * a[i]"))
        began = spent()
        self.cc("prog.cu")
        changed = spent() - began
        self.assertEqual(self.output(), "199\n")
        # Half a second and two where the machine has nothing else to do.
        self.assertLess(unchanged, 2)
        self.assertLess(changed, 8)

    def test_restored_file(self):
        """cp -p and mv bring an older date along."""
        for text, date in (("new", 2e9), ("old", 1e9)):
            self.write(text, f'#include <cstdio>\nint main() {{ puts("{text}"); }}\n')
            os.utime(self.folder / text, (date, date))
        for text in ("new", "old", "new"):
            shutil.copy2(self.folder / text, self.folder / "prog.cpp")
            self.cc("prog.cpp")
            self.assertEqual(self.output(), text + "\n")

    def test_several_files(self):
        self.write("f.h", "extern __device__ int f(int);\nint host();\n")
        self.write("f.cu", '#include "f.h"\n__device__ int f(int i) { return i * SCALE; }\n')
        self.write("h.cpp", '#include <cuda_runtime.h>\n#include "f.h"\nint host() { return cudaSuccess; }\n')
        self.write("main.cu", """#include <cstdio>
#include "f.h"
__global__ void k(int* p) { p[threadIdx.x] = f(threadIdx.x); }
int main() {
  int* p;
  cudaMallocManaged(&p, 16);
  k<<<1, 4>>>(p);
  cudaDeviceSynchronize();
  printf("%d %d\\n", p[3], host());
}
""")
        self.cc("-rdc=true", "-DSCALE=10", "main.cu", "f.cu", "h.cpp", "-o", "one")
        self.assertEqual(self.output("one"), "30 0\n")
        self.cc("-dc", "-DSCALE=5", "main.cu", "f.cu")
        self.cc("-c", "h.cpp", "-MMD", "-o", "host.o")
        self.assertEqual((self.folder / "host.d").read_text(), "host.o: h.cpp \\\n f.h\n")
        self.cc("-dlink", "main.o", "f.o", "-o", "link.o")
        self.cc("-lib", "f.o", "host.o", "-o", "mine.a")
        self.cc("main.o", "link.o", "mine.a", "-o", "two")
        self.assertEqual(self.output("two"), "15 0\n")

    def test_checked(self):
        self.write("race.cu", """#include <cstdio>
__global__ void k(int* p) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  p[threadIdx.x] = s[63 - threadIdx.x];
}
int main() {
  int* p;
  cudaMalloc(&p, 256);
  k<<<1, 64>>>(p);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
""")
        self.cc("race.cu", "-o", "plain")
        self.output("plain")
        # Ubuntu's compilers define this by themselves, and glibc's memcpy is another one then.
        for flags in ([], ["-D_FORTIFY_SOURCE=2"]):
            self.cc("--checked", *flags, "race.cu", "-o", "checked")
            said = self.output("checked", code=1)
            self.assertIn("simt-race-shared", said)
            self.assertIn("race.cu:5", said)

    def test_lost_output_is_a_failure(self):
        """Of host code and kernels; a program's own failure comes first."""
        self.write("prog.cu", """#include <cstdio>
#include <cstdlib>
__global__ void k() { printf("from a kernel\\n"); }
int main(int count, char** words) {
  if (count > 2) return 0;
  k<<<1, 1>>>();
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  return count > 1 ? atoi(words[1]) : 0;
}
""")
        self.cc("prog.cu", "-o", "prog")
        for arguments, code, said in (("", 3, "error: standard output: "), ("5", 5, ""), ("and nothing", 0, "")):
            for where in (">&-", ">/dev/full") if Path("/dev/full").exists() else (">&-",):
                done = subprocess.run(["sh", "-c", f"./prog {arguments} {where}"], cwd=self.folder, stderr=subprocess.PIPE,
                                      universal_newlines=True, check=False)
                self.assertEqual(done.returncode, code, arguments + where)
                self.assertTrue(done.stderr.startswith(said) and done.stderr.count("\n") == bool(said), done.stderr)

    def test_notes_and_run(self):
        self.write("prog.cu", _ADD)
        done = self.shell("cc", "prog.cu", "-arch=sm_80", "-std=c++11", "-lcudart", "-run", cwd=self.folder)
        self.assertEqual((done.returncode, done.stdout), (0, "100\n"))
        self.assertEqual(done.stderr, "note: -arch: kernels are compiled for this CPU, whatever the GPU\n"
                                      "note: -lcudart: part of simt already\n"
                                      "note: -std=c++11: compiled as C++17, which simt's headers need\n")

    def test_warnings_each_time(self):
        self.write("prog.cu", "int main() { int unused; }\n")
        for _ in range(2):
            self.assertIn("prog.cu:1:18: warning: unused variable", self.cc("prog.cu", "-Xcompiler", "-Wall"))

    def test_errors_at_the_learners_line(self):
        kernel = "__global__ void k(int* p, int n) {\n  %s\n}\nint main() {\n  int* p = 0;\n  %s\n}\n"
        launch = "k<<<1, 1>>>(p, 1);"
        self.fails(kernel % ("p[0] = blokDim.x;", launch), "bad.cu:2:10: error:", "blokDim")
        self.fails(kernel % ("int i = 1", launch) + "int;", "bad.cu:3:1: error: expected")
        self.fails(kernel % ("p[0] = f(n);", launch), "bad.cu:2:10: error:")
        self.fails(kernel % ("p[0] = max(1, 2;", launch), "bad.cu:2: error: '(' is never closed")
        self.fails(kernel % ("__shared__ float s[4]; p = s;", launch), "bad.cu:2:30: error:", "float")
        self.fails(kernel % ("atomicAdd(p, p);", launch), "bad.cu:2:16: error:")
        self.fails(kernel % ("", "k<<<1, 1>>>(p);"), "bad.cu:6:14: error: too few arguments")
        self.fails(kernel % ("", "k<<<1, 1>>>(p, p);"), "bad.cu:6:18: error: invalid conversion")
        self.fails(kernel % ("", "k<<<1>>>(p, 1);"), "bad.cu:6: error: a launch needs <<<grid, block>>>")
        self.fails(kernel % ("", "cudaMalloc(p, 4);"), "bad.cu:6:13: error: no matching function", "cudaMalloc(T**, size_t)")
        self.fails("__device__ int f();\n" + kernel % ("p[0] = f();", launch), "bad.cu:3: error: f() is used but defined")
        self.fails("__global__ void k() {}\n", "error: the program has no main()")

    def test_device_libraries(self):
        self.write("mine.h", "#include <thrust/device_vector.h>\n")
        self.fails('#include "mine.h"\n#include <curand.h>\nint main() { thrust::device_vector<int> v; }\n',
                   "bad.cu:3: error: thrust::device_vector: <thrust/device_vector.h>: Thrust is a device library")
        self.fails("int x;\n#include <cub/block/block_nothing.cuh>\nint main() {}\n",
                   "bad.cu:2: error: <cub/block/block_nothing.cuh>: CUB is a device library")

    def test_usage(self):
        self.write("a.cu", "int main() {}\n")
        for arguments, code, message in ((["none.cu"], 2, "no file none.cu"), ([], 2, "cc which file?"),
                                         (["a.cu", "-o", "no/folder/a"], 2, "no folder"), (["a.cu", "-o", "bin"], 2, "is a folder"),
                                         (["a.cu", "-o", ""], 2, "needs the name of a file"),
                                         (["-c", "a.cu", "a.cu", "-o", "x.o"], 2, "-o names only one")):
            self.assertIn(message, " ".join(self.cc(*arguments, code=code).split()))
        done = self.shell("cc", "--help", cwd=self.folder)
        self.assertEqual((done.returncode, done.stdout[:7]), (0, "./days "))

    @unittest.skipUnless(shutil.which("gdb"), "no gdb here")
    def test_gdb_stops_at_the_line(self):
        self.write("prog.cu", _ADD)
        self.cc("-g", "prog.cu")
        said = subprocess.run(["gdb", "-q", "-batch", "-nx", "-ex", "break prog.cu:4", "-ex", "run", "-ex", "print i", "a.out"],
                              cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                              universal_newlines=True, check=False).stdout
        if "ptrace" in said:
            self.skipTest("gdb may not trace here")
        self.assertIn("prog.cu:4\n4\t  if (i < n) b[i] += a[i];", said)
        self.assertIn("$1 = 0", said)


if __name__ == "__main__":
    unittest.main()
