#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What doctor finds on machines that the fakes make up: GPUs, drivers, toolkits, host compilers, profilers."""
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

import support
from days_cli import cmake_tools, gpu, packages, paths, toolchain
from days_cli.commands import doctor


class Doctor(support.Case):
    """A machine with a Tesla T4, CUDA 13.0 and g++ 12; each test breaks something."""

    def setUp(self):
        super().setUp()
        self.replace(gpu, "_LIBRARIES", ())
        self.replace(gpu, "_SMI", ("nvidia-smi",))
        self.replace(paths, "RUN_BUILD", self.folder / "build")
        self.replace(toolchain, "site_folders", list)
        self.replace(doctor, "_PARAMETERS", self.folder / "params")
        self.toolkit = self.folder / "cuda"
        support.toolkit(self.toolkit)
        self.tool("nvidia-smi", support.smi())
        self.tool("nvcc", support.nvcc(self.toolkit))
        self.tool("g++", 'echo "g++ (Debian 12.2.0-14) 12.2.0"')
        self.tool("ncu", 'case "$*" in *--version*) echo "Version 2025.1.0";; *) echo "sm__cycles_elapsed.max 12";; esac')
        self.replace(doctor, "_simt", lambda needed: doctor.Finding("simt", "ok", f"needed: {needed}"))

    def examine(self):
        """(findings by name, would run work?, exit code)"""
        support.forget()
        all_ = list(doctor.examine())
        findings = {finding.name: finding for finding in all_ if not isinstance(finding, bool)}
        code, out, _ = self.days("doctor")
        for finding in findings.values():
            self.assertIn(finding.name, out)
            self.assertIn(finding.status, out)
        return findings, code

    def expect(self, name, status, text, fix="", code=0):
        findings, got = self.examine()
        finding = findings[name]
        self.assertEqual((finding.status, finding.text, finding.fix), (status, text, fix))
        self.assertEqual(got, code)

    def test_all_is_well(self):
        self.expect("GPU", "ok", "Tesla T4, sm_75, 15 GiB, driver 580.82.07 (CUDA 13.0)")
        self.expect("nvcc", "ok", "13.0; builds real sm_75 code (tried)")
        self.expect("host c++", "ok", "g++ 12.2 fits nvcc 13.0")
        self.expect("profiler", "ok", "ncu 2025.1 may read counters (tried)")
        self.assertIn("./days run needs nothing more.", self.days("doctor")[1])

    def test_driver_older_than_the_toolkit(self):
        self.tool("nvidia-smi", support.smi(driver="550.54.15", cuda="12.4"))
        self.expect("nvcc", "FAIL", "the driver (12.4) is older than nvcc (13.0): update the driver or use CUDA 12",
                    "./days run 1 --backend simt", 3)
        self.assertIn("./days run does not work yet.", " ".join(self.days("doctor")[1].split()))
        code, _, err = self.days("run", "5")
        self.assertEqual(code, 3)
        self.assertEqual(err, "error: the driver (12.4) is older than nvcc (13.0): update the driver or use\nCUDA 12\n"
                              "Next: ./days run 5 --backend simt\n")

    def test_driver_a_little_older(self):
        self.tool("nvidia-smi", support.smi(cuda="12.4"))
        self.tool("nvcc", support.nvcc(self.toolkit, "12.8"))
        self.expect("nvcc", "ok", "12.8; builds real sm_75 code (tried)")

    def test_ptx_too_new(self):
        self.tool("nvidia-smi", support.smi("New GPU", "13.0", cuda="12.4"))
        self.tool("nvcc", support.nvcc(self.toolkit, "12.8"))
        self.expect("nvcc", "FAIL", "sm_130 needs PTX here, and the driver (12.4) is too old for that of nvcc 12.8",
                    "./days run 1 --backend simt", 3)

    def test_newer_gpu_gets_ptx(self):
        self.tool("nvidia-smi", support.smi("New GPU", "13.0"))
        self.expect("nvcc", "ok", "13.0; builds PTX that the driver compiles (tried)")

    def test_gpu_too_old(self):
        self.tool("nvidia-smi", support.smi("Tesla P100", "6.0"))
        self.expect("GPU", "FAIL", "Tesla P100 is sm_60; the course needs sm_75 (Turing) or later",
                    "./days run 1 --backend simt", 3)
        self.assertEqual(self.days("run", "1")[0], 3)

    def test_toolkit_that_dropped_the_gpu(self):
        self.tool("nvcc", support.nvcc(self.toolkit, codes="80 90 100"))
        self.expect("nvcc", "FAIL", "nvcc 13.0 no longer builds for sm_75 (Tesla T4)", "./days run 1 --backend simt", 3)

    def test_toolkit_too_old(self):
        self.tool("nvcc", support.nvcc(self.toolkit, "11.8"))
        self.expect("nvcc", "FAIL", "nvcc 11.8 is too old: the course needs CUDA 12.4", "./days run 1 --backend simt", 3)

    def test_kernel_does_not_run(self):
        self.tool("nvcc", support.nvcc(self.toolkit, program="echo no kernel image is available; exit 1"))
        self.expect("nvcc", "FAIL", "13.0, but a small kernel does not run: no kernel image is available",
                    "./days run 1 --backend simt", 3)

    def test_host_compiler_too_new(self):
        self.tool("g++", 'echo "g++ (GCC) 16.1.0"')
        for name in ("c++", "clang++", *(f"g++-{v}" for v in range(11, 21)), *(f"clang++-{v}" for v in range(14, 26))):
            self.tool(name, "exit 1")
        self.replace(packages, "manager", lambda: "apt-get")
        self.replace(packages, "is_root", lambda: False)
        self.expect("nvcc", "FAIL", "nvcc 13.0 takes g++ up to 15, this is g++ 16.1", "sudo apt-get install -y g++-15", 3)
        self.tool("g++-14", 'echo "g++-14 (GCC) 14.2.0"')
        self.expect("host c++", "warn", "nvcc 13.0 takes g++ up to 15, this is g++ 16.1; g++ 14.2 is used instead")

    def test_no_toolkit(self):
        (self.bin / "nvcc").unlink()
        self.replace(toolchain, "nvcc", lambda: None)
        self.expect("nvcc", "miss", "no CUDA toolkit: kernels run on this CPU. Install one up to 13.0:",
                    "https://developer.nvidia.com/cuda-downloads")
        self.expect("simt", "ok", "needed: True")

    def test_no_gpu(self):
        (self.bin / "nvidia-smi").unlink()
        self.replace(gpu, "_SMI", ())
        self.expect("GPU", "skip", "none here: kernels run on this CPU")
        self.expect("profiler", "skip", "needs a GPU")

    def test_driver_without_a_gpu(self):
        self.tool("nvidia-smi", "echo 'NVIDIA-SMI has failed because it could not communicate with the driver'; exit 9")
        findings, code = self.examine()
        self.assertEqual((findings["GPU"].status, findings["GPU"].fix, code), ("warn", "nvidia-smi", 0))
        self.assertTrue(findings["GPU"].text.startswith("nvidia-smi says: NVIDIA-SMI has failed because"))

    def test_hidden_gpu(self):
        self.environment(CUDA_VISIBLE_DEVICES="")
        self.expect("GPU", "warn", "CUDA_VISIBLE_DEVICES hides every GPU; kernels run on this CPU", "nvidia-smi")

    def test_nothing_works(self):
        (self.bin / "nvidia-smi").unlink()
        self.replace(gpu, "_SMI", ())
        self.replace(doctor, "_simt", lambda needed: doctor.Finding("simt", "FAIL", "no C++ compiler found", "get one"))
        self.expect("simt", "FAIL", "no C++ compiler found", "get one", 3)

    def test_profiler_refused(self):
        self.tool("ncu", 'case "$*" in *--version*) echo "Version 2025.1.0";; *) echo "==ERROR== ERR_NVGPUCTRPERM";; esac')
        self.expect("profiler", "warn", "ncu 2025.1 may not read counters (tried); an administrator can allow it:",
                    "https://developer.nvidia.com/ERR_NVGPUCTRPERM")

    def test_nvdisasm(self):
        self.expect("nvdisasm", "miss", "for ./days asm, and for rungs that are told apart by their widest load:",
                    f"{Path(sys.executable).name} -m pip install --no-deps nvidia-cuda-nvdisasm")
        found = self.tool("nvdisasm", "exit 0")
        self.expect("nvdisasm", "ok", f"{found}: ./days asm shows instructions")

    def test_profiler_missing(self):
        (self.bin / "ncu").unlink()
        (self.folder / "params").write_text("RmProfilingAdminOnly: 1\n")
        self.replace(packages, "is_root", lambda: False)
        self.environment(PATH=str(self.bin) + ":/bin")
        self.expect("profiler", "miss", "no ncu (Nsight Compute); this driver keeps counters for root",
                    "https://developer.nvidia.com/nsight-compute")

    def test_libraries(self):
        self.expect("cuBLAS", "miss", "its column stays out of the tables", "pip install 'nvidia-cublas==13.0.*'")
        base = self.folder / "site" / "nvidia" / "cu13"
        for name in ("include/cublas_v2.h", "lib/libcublas.so.13"):
            (base / name).parent.mkdir(parents=True, exist_ok=True)
            (base / name).write_text("")
        self.replace(toolchain, "site_folders", lambda: [self.folder / "site"])
        self.expect("cuBLAS", "ok", "in pip's nvidia-cublas")
        (self.toolkit / "include" / "cublas_v2.h").write_text("")
        self.expect("cuBLAS", "ok", "in pip's nvidia-cublas")  # a header without its library is no use
        (self.toolkit / "lib64").mkdir()
        (self.toolkit / "lib64" / "libcublas.so").write_text("")
        self.expect("cuBLAS", "ok", "in the CUDA toolkit")

    def test_packages(self):
        self.replace(cmake_tools, "find_package", lambda thing: "")
        self.replace(packages, "manager", lambda: "apt-get")
        self.replace(packages, "is_root", lambda: True)
        self.expect("gtest", "miss", "for ./days test (it will apt-get install -y libgtest-dev)")
        self.replace(packages, "is_root", lambda: False)
        self.expect("benchmark", "miss",
                    "for ./days bench (it will be downloaded and built; or sudo apt-get install -y libbenchmark-dev)")

    def test_old_cmake(self):
        self.tool("cmake", "echo cmake version 3.22.1")
        self.replace(packages, "may_install", lambda: False)
        self.replace(paths, "VENV", self.folder / "venv")
        self.expect("cmake", "miss", "3.22 is older than 3.24, for ./days test (it will pip install cmake in build/venv)")

    def test_colab(self):
        self.environment(COLAB_RELEASE_TAG="release")
        self.expect("my work", "warn", "my/ vanishes when Colab disconnects: copy it to Drive")

    def test_disk(self):
        self.replace(paths, "ROOT", self.folder)
        self.assertEqual(doctor._disk().status, "ok")
        self.replace(doctor, "_LEAST_SPACE", 1 << 60)
        self.assertEqual((doctor._disk().status, doctor._disk().fix), ("warn", "rm -r build"))


class Smi(support.Case):
    """What nvidia-smi can say, where libcuda cannot be asked."""

    def probe(self, script):
        return gpu.probe((), (str(self.tool("nvidia-smi", script)),))

    def test_several(self):
        found = self.probe("""case "$*" in *query*) printf 'NVIDIA H200, 9.0, 143771, 580.1\\nNVIDIA H200, 9.0, 143771, 580.1\\n' ;;
        *) echo 'CUDA Version: 13.1 ' ;; esac""")
        self.assertEqual((found.gpu.count, found.gpu.sm, found.cuda), (2, 90, (13, 1)))

    def test_unknown_memory(self):
        self.assertEqual(self.probe("echo 'GB10, 12.1, [N/A], 580.1'").gpu.memory, 0)

    def test_old_smi(self):
        found = self.probe("echo 'Field \"compute_cap\" is not a valid field to query.'; exit 2")
        self.assertIsNone(found.gpu)
        self.assertIn("compute_cap", found.problem)

    def test_silent_failure(self):
        self.assertEqual(self.probe("exit 9").problem, "nvidia-smi fails")

    def test_nothing(self):
        self.assertEqual(gpu.probe(("libnonesuch.so.1",), ("no-such-smi",)), gpu.Probe())


@unittest.skipUnless(shutil.which("g++"), "needs g++ to make a libcuda")
class Driver(support.Case):
    """What libcuda can say."""

    def probe(self, init=0, count=1, version=12080):
        source, library = self.folder / "cuda.cpp", self.folder / f"libcuda{init}-{count}-{version}.so"
        source.write_text(f"""#include <cstddef>
#include <cstring>
extern "C" {{
int cuDriverGetVersion(int* v) {{ *v = {version}; return 0; }}
int cuInit(unsigned) {{ return {init}; }}
int cuDeviceGetCount(int* n) {{ *n = {count}; return 0; }}
int cuDeviceGet(int* d, int i) {{ *d = 7 + i; return 0; }}
int cuDeviceGetName(char* name, int size, int d) {{ std::strncpy(name, d == 7 ? "NVIDIA A100" : "?", size); return 0; }}
int cuDeviceGetAttribute(int* value, int which, int d) {{ *value = d != 7 ? -1 : which == 75 ? 8 : which == 76 ? 0 : -1; return 0; }}
int cuDeviceTotalMem_v2(size_t* bytes, int) {{ *bytes = 42949672960; return 0; }}
}}
""")
        subprocess.run(["g++", "-shared", "-fPIC", str(source), "-o", str(library)], check=True)
        return gpu.probe(("libnonesuch.so.1", str(library)), ())

    def test_answers(self):
        found = self.probe(count=2)
        self.assertEqual(found.gpu, gpu.Gpu("NVIDIA A100", (8, 0), 40 << 30, 2))
        self.assertEqual((found.cuda, found.problem), ((12, 8), ""))

    def test_no_device(self):
        for found in (self.probe(init=100), self.probe(count=0)):
            self.assertEqual((found.gpu, found.cuda, found.problem), (None, (12, 8), "the driver sees no device"))
        self.assertEqual(self.probe(init=803).problem, "driver and its library differ: reboot")
        self.assertEqual(self.probe(init=999).problem, "cuInit fails with 999")

    def test_stub(self):
        self.assertEqual(self.probe(init=34, version=0), gpu.Probe())  # the toolkit's libcuda.so, for linking only


class Compilers(support.Case):
    def test_kinds(self):
        for text, kind, version in (
                ("g++ (Debian 12.2.0-14+deb12u1) 12.2.0", "g++", (12, 2)),
                ("g++-11 (Ubuntu 11.4.0-1ubuntu1~22.04) 11.4.0", "g++", (11, 4)),
                ("x86_64-linux-gnu-g++ (GCC) 15.1.1 20250425", "g++", (15, 1)),
                ("Debian clang version 14.0.6", "clang", (14, 0)),
                ("Ubuntu clang version 18.1.3 (1ubuntu1)", "clang", (18, 1)),
                ("Apple clang version 15.0.0 (clang-1500.3.9.4)", "Apple clang", (15, 0))):
            self.tool("some-c++", f"echo '{text}'")
            compiler = toolchain.identify("some-c++")
            self.assertEqual((compiler.kind, compiler.version), (kind, version), text)
        self.tool("some-c++", "echo hello")
        self.assertIsNone(toolchain.identify("some-c++"))
        self.assertIsNone(toolchain.identify("no-such-compiler"))

    def test_a_newer_one_beside_an_old_default(self):
        self.only_fakes("sh")
        self.tool("g++", "echo 'g++ (Ubuntu 9.4.0) 9.4.0'")
        self.tool("g++-12", "echo 'g++-12 (Ubuntu 12.1.0) 12.1.0'")
        self.assertEqual(str(toolchain.host_compiler()), "g++ 12.1")


if __name__ == "__main__":
    unittest.main()
