#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""simtcc as a user and as a build system call it: programs, bad command lines, a full disk, an interrupted build; CMake projects
whose language is CUDA, find_package(simt), and an installation that was moved.

CTest says where simt was built (SIMT_BUILD); without that there is nothing to test."""
import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

BUILD = os.environ.get("SIMT_BUILD", "")
CMAKE = os.environ.get("SIMT_CMAKE", "cmake")
GENERATOR = os.environ.get("SIMT_GENERATOR", "Unix Makefiles")
PROJECTS = Path(__file__).resolve().parent / "projects"

_PROGRAM = """#include <cstdio>
__global__ void fill(int* x) { x[threadIdx.x] = threadIdx.x; }
int main() {
  int* x;
  cudaMallocManaged(&x, 128);
  fill<<<1, 32>>>(x);
  cudaDeviceSynchronize();
  printf("%d\\n", x[31]);
}
"""


@unittest.skipUnless(BUILD, "SIMT_BUILD is not set: run by ctest")
class Case(unittest.TestCase):
    PREFIX = "simt's \"test\" "

    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix=self.PREFIX)
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name).resolve()
        (self.folder / "tmp").mkdir()
        (self.folder / "prog.cu").write_text(_PROGRAM)
        self.environment = {**os.environ, "TMPDIR": str(self.folder / "tmp")}

    def run_(self, *words, code=0, **options):
        done = subprocess.run([str(word) for word in words], cwd=options.pop("cwd", self.folder), stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, universal_newlines=True, check=False,
                              env={**self.environment, **options})
        self.assertEqual(done.returncode, code, done.stdout)
        return done.stdout

    def simtcc(self, *words, code=0, **options):
        return self.run_(BUILD + "/bin/simtcc", *words, code=code, **options)


class Command(Case):
    def test_program(self):
        self.assertEqual(self.simtcc("prog.cu", "-o", "my \"own\" program"), "")
        self.assertEqual(self.run_("./my \"own\" program"), "31\n")
        self.assertEqual(list((self.folder / "tmp").iterdir()), [])

    def test_odd_names(self):
        for name in ("with space.cu", "with'quote.cu", 'with"two.cu', "with$dollar.cu", "wíth.cu"):
            shutil.copy(self.folder / "prog.cu", self.folder / name)
            self.simtcc(name, "-o", "x", "-run")
            self.simtcc("-c", name, "-MD", "-o", "x.o")

    def test_who_it_is(self):
        self.assertIn("release 13.0, V13.0.0", self.simtcc("--version"))
        self.assertIn("simtcc FILE...", self.simtcc("--help"))
        self.assertEqual(self.simtcc("--list-gpu-code"), "sm_90\n")
        said = self.simtcc("-v", "__cmake_determine_cuda", code=2)
        self.assertIn(f"#$ TOP={os.path.realpath(BUILD)}/lib/simt/toolkit\n", said)
        said = self.simtcc("-dryrun", "prog.cu")
        self.assertIn("simt-translate", said)
        self.assertFalse((self.folder / "a.out").exists())

    def test_bad_command_lines(self):
        for words, code, message in ((["none.cu"], 2, "error: no file none.cu"), ([], 2, "which file?"),
                                     (["prog.cu", "--fastmath"], 2, "simtcc has no flag --fastmath. Nearest: --use_fast_math"),
                                     (["prog.cu", "-Wall"], 2, "simtcc -Xcompiler -Wall"), (["prog.cu", "-o"], 2, "-o needs a value"),
                                     (["prog.cu", "-o", "prog.cu"], 2, "a file that is read"),
                                     (["prog.cu", "-o", "no/folder"], 2, "no folder no"), (["-ptx", "prog.cu"], 2, "no GPU code"),
                                     (["-optf", "none.rsp", "prog.cu"], 2, "No such file")):
            said = self.simtcc(*words, code=code)
            self.assertIn(message, " ".join(said.split()))
            self.assertIn("\nNext: ", said)
        self.assertEqual((self.folder / "prog.cu").read_text(), _PROGRAM)
        self.assertIn("error: CXX=none", self.simtcc("prog.cu", code=3, CXX="none"))
        (self.folder / "bad.cu").write_text("__global__ void k() {\n  x = 1;\n}\n")
        self.assertIn("bad.cu:2:3: error:", self.simtcc("-c", "bad.cu", code=1))
        self.assertFalse((self.folder / "bad.o").exists())

    def test_what_a_build_system_says(self):
        """Notes are for people; unknown flags are the host compiler's where nvcc is told so."""
        self.assertIn("note: -arch", self.simtcc("-arch=sm_80", "-c", "prog.cu"))
        self.assertEqual(self.simtcc("-forward-unknown-to-host-compiler", "-Wall", "-pthread", "-arch=sm_80", "-MD", "-MT", "t", "-MF",
                                     "t.d", "-x", "cu", "-c", "prog.cu", "-o", "t.o"), "")
        self.assertTrue((self.folder / "t.d").read_text().startswith("t: prog.cu"))
        (self.folder / "flags").write_text('-DA="1 2" -isystem=.')
        self.assertEqual(self.simtcc("-Xcompiler", "-Wall -Wextra", "--options-file", "flags", "-c", "prog.cu"), "")

    def test_device_libraries(self):
        """A header may be included; the first name that is used is an error, with a way out. In a C++ file the compiler finds it."""
        headers = "".join(f"#include <{name}>\n" for name in ("cub/cub.cuh", "thrust/sort.h", "cublas_v2.h", "curand_kernel.h",
                                                              "cuda/ptx", "cuda/memory_resource", "cuda/std/inplace_vector"))
        (self.folder / "unused.cu").write_text(headers + "#define CHECK(x) ((x) == CUBLAS_STATUS_SUCCESS)\n"
                                               "bool cublas_is_here = false;\n" + _PROGRAM)
        self.simtcc("unused.cu", "-o", "unused")
        self.assertEqual(self.run_("./unused"), "31\n")
        for line, used, header, title in (
                ("__global__ void k() { cub::BlockReduce<int, 32> r; }", "cub::BlockReduce", "cub/cub.cuh", "CUB"),
                ("using namespace thrust;", "thrust", "thrust/sort.h", "Thrust"),
                ("cublasHandle_t handle;", "cublasHandle_t", "cublas_v2.h", "cuBLAS"),
                ("__device__ float f(void* s) { return curand_uniform(s); }", "curand_uniform", "curand_kernel.h", "cuRAND"),
                ("namespace ptx = cuda::ptx;", "cuda::ptx", "cuda/ptx", "cuda::ptx"),
                ("cuda::std::inplace_vector<int, 4> v;", "cuda::std::inplace_vector", "cuda/std/inplace_vector",
                 "cuda::std::inplace_vector")):
            (self.folder / "used.cu").write_text(headers + line + "\n")
            said = self.simtcc("-c", "used.cu", code=1)
            self.assertIn(f"used.cu:8: error: {used}: <{header}>: {title} is a device library: it has no CPU version here\n", said)
            self.assertIn("Lines that only a GPU needs may stand between #ifndef __SIMT__ and #endif.", said)
        (self.folder / "host.cpp").write_text("#include <cublas_v2.h>\nint cub;\ncublasHandle_t handle;\n")
        said = self.simtcc("-c", "host.cpp", code=1)
        self.assertIn("host.cpp:3: error: cublasHandle_t: cuBLAS is a device library: it has no CPU version here\n", said)
        (self.folder / "torch.cu").write_text("#include <torch/extension.h>\n")
        said = self.simtcc("-c", "torch.cu", code=1)
        self.assertIn("torch.cu:1: error: <torch/extension.h>: PyTorch's headers are not found\n", said)
        self.assertIn("docs/pytorch.md", said)

    def test_shared_library(self):
        """Kernels in library and program, one runtime."""
        (self.folder / "l.cu").write_text("__global__ void k(int* p) { *p = 7; }\nvoid seven(int* p) { k<<<1, 1>>>(p); }\n")
        (self.folder / "m.cu").write_text("#include <cstdio>\nvoid seven(int*);\n__global__ void twice(int* p) { *p *= 2; }\n"
                                          "int main() { int* p; cudaMallocManaged(&p, 4); seven(p); twice<<<1, 1>>>(p);\n"
                                          "cudaDeviceSynchronize(); printf(\"%d\\n\", *p); }\n")
        for checked in ([], ["--checked"]):
            self.simtcc(*checked, "-shared", "-Xcompiler", "-fPIC", "l.cu", "-o", "libl.so")
            self.simtcc(*checked, "m.cu", "-L.", "-ll", "-o", "m")
            self.assertEqual(self.run_("./m", LD_LIBRARY_PATH=str(self.folder)), "14\n")

    def test_mutants(self):
        """A program that looks at 31 of 32 values: its test misses what goes wrong in the last one, and nothing else."""
        (self.folder / "sum.cu").write_text("""#include <cstdio>
template <int kMany>
__global__ void sums(const int* x, int* sum) {
  __shared__ int part[kMany];
  const int t = threadIdx.x, last = kMany - 1 - t;
  part[t] = x[t];
  __syncthreads();
  int all = 0;
  for (int i = 0; i <= last; ++i) all += part[i];
  if (t == 77) all = 0;
  sum[t] = all;
}
int main() {
  int *x, *sum;
  cudaMallocManaged(&x, 128);
  cudaMallocManaged(&sum, 128);
  for (int i = 0; i < 32; ++i) x[i] = i * i + 1;
  sums<32><<<1, 32>>>(x, sum);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  int expected = x[0];
  for (int i = 1; i < 32; ++i)
    if (sum[31 - i] != (expected += x[i])) return 1;
}
""")
        said = self.simtcc("--mutants", "--test", "./sum", "sum.cu", "-o", "sum", code=1)
        self.assertRegex(said, r"sum.cu:10:12: survived: 77 becomes 77 \+ 1 \(SIMT_MUTANT=\d+\)\n")
        self.assertRegex(said, r"sum.cu:10:22: not reached: 0 becomes 0 \+ 1")
        self.assertRegex(said, r"(?m)^\d+ mutants: \d+ found, 1 survived, 1 not reached; \d+% found$")
        listed = [line.split("\t") for line in (self.folder / "sum.mutants").read_text().splitlines()]
        self.assertIn("__syncthreads() is left out", [edit for *_, edit in listed])
        self.assertEqual({name for _, name, *_ in listed}, {"sum.cu"})
        self.run_("./sum")
        for number, _, _, _, edit in listed:
            if edit in ("<= becomes <", "__syncthreads() is left out", "all += part[i] is left out", "[i] becomes the next element"):
                self.run_("./sum", SIMT_MUTANT=number, code=1)
        self.assertIn("SIMT_MUTANT=x must be", self.run_("./sum", SIMT_MUTANT="x", code=2))
        # In steps, as a build system goes.
        self.simtcc("--mutants", "-c", "sum.cu")
        self.simtcc("--mutants", "sum.o", "-o", "linked")
        again = self.simtcc("--test", "./linked", "linked.mutants", code=1)
        self.assertEqual(again, said)
        self.assertIn("without a mutant", self.simtcc("--test", "false", "linked.mutants", code=1))
        self.assertIn("--test needs", self.simtcc("--test", "./sum", "sum.cu", code=2))

    def test_mutants_that_do_not_compile(self):
        """A line where the compiler takes no variant stays as it is."""
        (self.folder / "odd.cu").write_text("""struct Odd { int* p; };
__global__ void k(int* out) {
  Odd odd = {0};
  out[threadIdx.x] = odd.p == 0 ? 5 : 6;
}
int main() {
  int* out;
  cudaMallocManaged(&out, 4);
  k<<<1, 1>>>(out);
  return cudaDeviceSynchronize() != cudaSuccess || *out != 5;
}
""")
        self.simtcc("--mutants", "odd.cu", "-o", "odd")
        self.run_("./odd")
        self.assertEqual((self.folder / "odd.mutants").read_text(), "")
        self.assertIn("no mutants", self.simtcc("--test", "./odd", "odd.mutants", code=2))
        (self.folder / "bad.cu").write_text("__global__ void k(int* p) {\n  x = 1;\n}\n")
        self.assertIn("bad.cu:2:3: error:", self.simtcc("--mutants", "-c", "bad.cu", code=1))

    def test_two_at_once(self):
        """Whatever the order, each output is whole, and of one of them."""
        running = [subprocess.Popen([BUILD + "/bin/simtcc", "prog.cu", f"-DN={i}", "-o", "same"], cwd=self.folder, env=self.environment)
                   for i in range(2)]
        self.assertEqual([process.wait() for process in running], [0, 0])
        self.assertEqual(self.run_("./same"), "31\n")
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["prog.cu", "same", "tmp"])

    @unittest.skipUnless(os.path.exists("/dev/full"), "no /dev/full here")
    def test_full_disk(self):
        self.assertIn("No space left on device", self.simtcc("-c", "prog.cu", "-o", "/dev/full", code=3))

    def test_interrupted(self):
        """What was there stays as it was, and nothing of the new is left."""
        (self.folder / "slow.cu").write_text("#include <regex>\n#include <iostream>\n" + _PROGRAM)
        (self.folder / "out.o").write_text("old")
        process = subprocess.Popen([BUILD + "/bin/simtcc", "-c", "slow.cu", "-o", "out.o"], cwd=self.folder, env=self.environment,
                                   stderr=subprocess.DEVNULL)
        until = time.monotonic() + 60
        while not list((self.folder / "tmp").glob("simtcc-*/*")) and time.monotonic() < until:
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(), 128 + signal.SIGTERM)
        self.assertEqual((self.folder / "out.o").read_text(), "old")
        self.assertEqual(list((self.folder / "tmp").iterdir()), [])


@unittest.skipUnless(shutil.which(CMAKE), "no CMake here")
class Projects(Case):
    PREFIX = "simt test "  # CMake's own probes fail in a folder with quotes

    def build(self, name, home, *flags, code=0):
        """Configures, builds and tests one of projects/ in a folder of its own."""
        folder = self.folder / name
        shutil.copytree(PROJECTS / name, folder / "source")
        self.run_(CMAKE, "-G", GENERATOR, "-S", folder / "source", "-B", folder / "build", *flags)
        said = self.run_(CMAKE, "--build", folder / "build", code=code)
        if not code:
            self.run_(Path(CMAKE).with_name("ctest") if os.sep in CMAKE else "ctest", "--test-dir", folder / "build",
                      "--no-tests=error", "--output-on-failure")
        return said

    def toolchain(self, home):
        return f"-DCMAKE_TOOLCHAIN_FILE={home}/lib/cmake/simt/simt.cmake"

    def test_language_cuda(self):
        said = self.build("language_cuda", BUILD, self.toolchain(BUILD))
        self.assertNotIn("note:", said)

    def test_checked_build(self):
        said = self.build("race", BUILD, self.toolchain(BUILD), "-DCMAKE_CUDA_FLAGS=--checked")
        self.assertNotIn("warning", said)

    def test_library_of_gpu_code(self):
        """The other targets are built, and the error names the line of the first use."""
        said = self.build("needs_cublas", BUILD, self.toolchain(BUILD), code=2 if "Makefiles" in GENERATOR else 1)
        self.assertRegex(said, r"product.cu:\d+: error: cublas\w+: <cublas_v2.h>: cuBLAS is a device library")

    def test_moved_installation(self):
        """Both ways into it, from where it was not installed to."""
        self.run_(CMAKE, "--install", BUILD, "--prefix", self.folder / "first")
        home = self.folder / "then here"
        (self.folder / "first").rename(home)
        self.build("find_package", home, f"-Dsimt_ROOT={home}")
        self.build("language_cuda", home, self.toolchain(home))


if __name__ == "__main__":
    unittest.main()
