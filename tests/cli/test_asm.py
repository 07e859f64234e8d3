# SPDX-License-Identifier: MIT
"""./days asm and days_cli/sass.py: on texts that ptxas and nvdisasm printed, with tools that stand in for them, and with the real
ones where they are."""
import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest
from collections import Counter
from pathlib import Path
from unittest import mock

import support
from days_cli import nvcc_code, paths, sass, toolchain
from days_cli.errors import DaysError

ROOT = Path(__file__).resolve().parents[2]

MANGLED = "_ZN5day1416registers_kernelIfLi512EEEvPKfPfii"
PTXAS = f"""ptxas info    : (C7511) Potential Performance Loss: wgmma.mma_async instructions are serialized due to insufficient register resources for the wgmma pipeline in the function '{MANGLED}'
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '{MANGLED}' for 'sm_90a'
ptxas info    : Function properties for {MANGLED}
    16 bytes stack frame, 24 bytes spill stores, 20 bytes spill loads
ptxas info    : Used 64 registers, used 1 barriers, 128 bytes smem
ptxas info    : Compiling entry function 'plain' for 'sm_90a'
ptxas info    : Function properties for plain
    96 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 12 registers, used 0 barriers
"""
SASS = f"""\t.target\tsm_90a
//--------------------- .text.{MANGLED} --------------------------
\t.section\t.text.{MANGLED},"ax",@progbits
.text.{MANGLED}:
\t//## File "ROOT/k.cu", line 3
        /*0000*/                   LDC R1, c[0x0][0x28] ;
\t//## File "ROOT/row.cuh", line 29 inlined at "ROOT/k.cu", line 4
\t//## File "ROOT/k.cu", line 4
        /*0010*/              @!P0 LDG.E.128.CONSTANT R4, desc[UR4][R2.64] ;
        /*0020*/                   LDG.E.U16 R8, desc[UR4][R2.64] ;
        /*0030*/                   MUFU.EX2 R7, R7 ;
\t//## File "ROOT/k.cu", line 5
        /*0040*/                   STS [R9], R4 ;
        /*0050*/                   STL.64 [R1], R4 ;
        /*0060*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;
        /*0068*/              @!PT LDS RZ, [RZ] ;
.L_x_1:
        /*0070*/                   BRA `(.L_x_1);
        /*0080*/                   NOP;
.text.plain:
        /*0000*/                   EXIT ;
"""
ELF = f"""\t.section\t.nv.info.{MANGLED},"",@"SHT_CUDA_INFO"
\t//----- nvinfo : EIATTR_MAX_THREADS
\t.align\t\t4
.L_311:
        /*00fc*/ \t.byte\t0x04, 0x05
        /*00fe*/ \t.short\t(.L_313 - .L_312)
.L_312:
        /*0100*/ \t.word\t0x00000200
        /*0104*/ \t.word\t0x00000001
        /*0108*/ \t.word\t0x00000001
\t//----- nvinfo : EIATTR_CRS_STACK_SIZE
        /*0110*/ \t.word\t0x00000000
\t.section\t.nv.info.plain,"",@"SHT_CUDA_INFO"
"""


class Reading(unittest.TestCase):
    def test_ptxas(self):
        kernels = sass.read_ptxas(PTXAS)
        first, plain = kernels[MANGLED], kernels["plain"]
        self.assertEqual((first.registers, first.stack, first.spill_stores, first.spill_loads, first.shared, first.barriers),
                         (64, 16, 24, 20, 128, 1))
        self.assertEqual((plain.registers, plain.spill_stores, plain.shared, plain.barriers), (12, 0, 0, 0))
        self.assertEqual((first.serialized, plain.serialized), ("insufficient register resources for the wgmma pipeline", ""))

    def test_lines_go_to_the_callers_of_helpers(self):
        kernel = sass.read_nvdisasm(SASS, sass.read_ptxas(PTXAS))[MANGLED]
        self.assertEqual(kernel.lines["ROOT/k.cu", 4], Counter({"LDG.128": 1, "LDG.16": 1, "MUFU.EX2": 1}))
        self.assertEqual(kernel.lines["ROOT/k.cu", 5], Counter({"STS.32": 1, "STL.64": 1, "BAR": 1, "BRA": 1}))
        self.assertEqual(sum(kernel.instructions.values()), 8)  # NOPs that fill up are none
        self.assertEqual(sass.grouped(kernel.instructions),
                         Counter({"global": 2, "MUFU": 1, "shared": 1, "spilled": 1, "wait": 1, "other": 2}))
        self.assertEqual(sass.notable(kernel.lines["ROOT/k.cu", 4]), "1 LDG.128, 1 LDG.16, 1 MUFU.EX2")

    def test_fetches_of_textures_are_a_group(self):
        self.assertEqual(sass.grouped(Counter({"TLD": 2, "TEX": 1, "LDG.32": 3})), Counter({"texture": 3, "global": 3}))
        self.assertEqual(sass.notable(Counter({"TLD": 2, "IADD3": 1})), "2 TLD")

    def test_loads_that_no_barrier_of_a_loop_waits_for(self):
        def loop(*body):
            return "\n".join([".L_x_0:", *(f"        /*0010*/                   {line} ;" for line in body), "        /*0020*/  @P1 BRA `(.L_x_0) ;"])
        load, barrier, read = "LDG.E.128 R12, desc[UR10][R2.64]", "BAR.SYNC.DEFER_BLOCKING 0x0", "FADD R0, R15, R1"
        self.assertEqual(sass.loads_before_barrier(loop(load, barrier, "STS [R3], R0", barrier, read)), 1)
        self.assertEqual(sass.loads_before_barrier(loop(load, load.replace("R12", "R16"), barrier, read)), 2)
        self.assertEqual(sass.loads_before_barrier(loop(load, barrier, read, barrier)), 0)  # the first barrier is about another thing
        self.assertEqual(sass.loads_before_barrier(loop(barrier, load, read)), 0)
        self.assertEqual(sass.loads_before_barrier(loop(load, read)), 0)
        self.assertEqual(sass.loads_before_barrier(loop(load.replace("E.128", "E.U16"), read, barrier)), 1)  # R12 alone
        self.assertEqual(sass.loads_before_barrier(loop(load, barrier).replace(".L_x_0:", ".L_x_9:")), 0)  # no loop

    def test_launch_bounds(self):
        self.assertEqual(sass.launch_bounds(ELF), {MANGLED: 512})

    def test_kinds(self):
        for instruction, kind in (("LDSM.16.MT88.4 R4, [R2]", "LDSM.x4"), ("LDSM.16.M88 R4, [R2]", "LDSM.x1"),
                                  ("LDGSTS.E.BYPASS.LTC128B.128 [R1], desc", "LDGSTS.128"), ("HMMA.16816.F32.BF16 R4, R5", "HMMA.16816"),
                                  ("HGMMA.64x256x16.F32.BF16 R24, gdesc[UR8]", "HGMMA.64x256x16"), ("STG.E R2", "STG.32"),
                                  ("IMAD.MOV.U32 R1, RZ", "IMAD.MOV"), ("IMAD.WIDE.U32 R4, R22", "IMAD"), ("TLD.LZ.SCR R0, R2", "TLD"), ("UTMALDG.2D [UR8]", "UTMALDG")):
            self.assertEqual(sass.kind(instruction), kind)

    def test_names(self):
        self.assertEqual(sass.short_name("void day14::(anonymous namespace)::registers_kernel<__nv_bfloat16, 4, (bool)1>"
                                         "(__nv_bfloat16 const*, int)"), "registers_kernel<bf16, 4, 1>")
        self.assertEqual(sass.short_name("add(float const*, float*)"), "add")

    def test_blocks_of_a_multiprocessor(self):
        # cudaOccupancyMaxActiveBlocksPerMultiprocessor says the same of these.
        self.assertEqual(sass.blocks(90, 256, 32, 0), (8, "threads"))
        self.assertEqual(sass.blocks(90, 512, 64, 128), (2, "registers"))
        self.assertEqual(sass.blocks(90, 32, 16, 0), (32, "blocks"))
        self.assertEqual(sass.blocks(90, 128, 40, 34056), (6, "shared"))
        self.assertEqual(sass.blocks(75, 256, 32, 0), (4, "threads"))
        self.assertEqual(sass.blocks(75, 1024, 64, 0), (1, "threads"))
        self.assertEqual(sass.blocks(80, 96, 168, 0), (4, "registers"))  # 12 warps of 168 registers: three a scheduler
        self.assertEqual(sass.blocks(90, 1024, 255, 0)[0], 0)
        self.assertEqual(sass.blocks(33, 32, 16, 0), (0, ""))


# Without the environment that may have a real nvdisasm.
_ELSEWHERE = {name: value for name, value in os.environ.items() if name not in ("VIRTUAL_ENV", "CONDA_PREFIX")}


def _script(path, text):
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


class Command(unittest.TestCase):
    """With an nvcc and an nvdisasm that print the texts above."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.bin = Path(self.folder.name) / "bin"
        self.bin.mkdir()
        self.source = Path(self.folder.name) / "k.cu"
        self.source.write_text("//\n//\n__global__ void k() {\n  load(x);\n  store(y);\n}\n")
        texts = {name: text.replace("ROOT", self.folder.name) for name, text in (("ptxas", PTXAS), ("sass", SASS), ("elf", ELF))}
        for name, text in texts.items():
            (self.bin / name).write_text(text)
        _script(self.bin / "nvcc", f"""#!/bin/sh
case "$*" in
  *--version*) echo "Cuda compilation tools, release 13.0, V13.0.88" ;;
  *--list-gpu-code*) echo sm_75; echo sm_90 ;;
  *--dryrun*) echo "#$ TOP={self.folder.name}" ;;
  *broken*) echo "k.cu(3): error: no such thing"; exit 2 ;;
  *) cat {self.bin}/ptxas; for o; do last=$o; done; : >"$last" ;;
esac
""")
        _script(self.bin / "nvdisasm", f"""#!/bin/sh
case "$*" in *-gi*) cat {self.bin}/sass ;; *) cat {self.bin}/elf ;; esac
""")

    def days(self, *arguments, tools=True):
        path = f"{self.bin}:{os.environ['PATH']}" if tools else "/usr/bin:/bin"
        environment = dict(_ELSEWHERE, PATH=path, NO_COLOR="1", CUDACXX=str(self.bin / "nvcc") if tools else "")
        return subprocess.run([sys.executable, "-B", str(ROOT / "days"), "asm", *arguments], cwd=ROOT, env=environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)

    def test_a_file(self):
        done = self.days("--file", str(self.source))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("sm_90a, nvcc 13.0", done.stdout)
        self.assertRegex(done.stdout, r"registers_kernel<float, 512> +512 +64 +44 B +128 B  32/64: registers")
        self.assertRegex(done.stdout, r"plain +\? +12 +none")
        self.assertIn("plain: 96 B of local memory a thread\nwithout a spill", done.stdout)
        self.assertTrue(all(len(line) <= 80 for line in done.stdout.splitlines()), done.stdout)
        done = self.days("--file", str(self.source), "--kernel", "registers")
        self.assertRegex(done.stdout, r"4 +3  load\(x\); +1 LDG.128, 1 LDG.16, 1 MUFU.EX2")
        done = self.days("--file", str(self.source), "--threads", "64", "--json")
        rows = {row["name"]: row for row in json.loads(done.stdout)["variants"][0]["kernels"]}
        self.assertEqual(rows["plain"]["blocks_per_multiprocessor"], 32)
        self.assertEqual(rows["registers_kernel<float, 512>"]["instructions"]["LDG.128"], 1)

    def test_what_is_refused(self):
        for arguments, code, words in (
                ((), 2, "asm of which day?"), (("99",), 2, "no day"), (("1", "--arch", "x"), 2, "--arch is an architecture"),
                (("1", "--threads", "0"), 2, "--threads is a number"), (("--file", "gone.cu"), 2, "there is no file"),
                (("--file", "README.md"), 2, "is neither C++"),
                (("1", "no_such"), 2, 'has no variant "no_such"'), (("1", "-DX"), 2, "goes with --file"),
                (("--file", str(self.source), "--kernel", "zzz"), 2, "no kernel has"),
                (("--file", str(self.source), "--arch", "50"), 2, "does not build for sm_50"),
                (("1", "--json", str(self.source)), 2, "over a file that is no JSON"),
                (("1", "no_such"), 2, "./days asm 1"),
                (("--file", str(self.source), "-DX=broken"), 1, "nvcc")):
            with self.subTest(arguments):
                done = self.days(*arguments)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertIn(words, done.stderr)
                self.assertNotIn("Traceback", done.stderr)

    def test_without_the_tools_it_says_what_to_install(self):
        with mock.patch.dict(os.environ, _ELSEWHERE, clear=True):
            if nvcc_code.disassembler():
                self.skipTest("an nvdisasm is here")
        (self.bin / "nvdisasm").unlink()
        done = self.days("--file", str(self.source))
        self.assertEqual(done.returncode, 3)
        self.assertIn("pip install --no-deps nvidia-cuda-nvdisasm", done.stderr)


@unittest.skipUnless(toolchain.nvcc() and shutil.which("nvdisasm"), "needs nvcc and nvdisasm")
class Real(unittest.TestCase):
    def test_a_kernel_of_the_course(self):
        done = subprocess.run([sys.executable, "-B", "days", "asm", "1", "float4", "--json"], cwd=ROOT, stdout=subprocess.PIPE, check=True)
        kernel = json.loads(done.stdout)["variants"][0]["kernels"][0]
        self.assertGreater(kernel["instructions"]["LDG.128"], 0)
        self.assertEqual(kernel["spill_store_bytes"], 0)
        self.assertTrue(any(line["file"] == "day01_vector_add/05_float4.cu" and "LDG.128" in line["instructions"]
                            for line in kernel["lines"]))


class Mine(support.Case):
    def test_the_learners_file_of_a_rung(self):
        self.replace(paths, "MY", self.folder / "my")
        code, _, err = self.days("asm", "13", "padded", "--mine")
        self.assertEqual((code, err.splitlines()[-1]), (2, "Next: ./days check 13 padded"))
        code, _, err = self.days("asm", "13", "--mine")
        self.assertEqual((code, err.splitlines()[-1]), (2, "Next: ./days asm 13 exercise --mine"))
        paths.MY.mkdir()
        mine = paths.MY / "day13_padded.cu"
        mine.write_text("// mine")
        with mock.patch.object(nvcc_code, "compiled", side_effect=DaysError("seen")) as compiled:
            self.days("asm", "13", "padded", "--mine")
        self.assertEqual(compiled.call_args[0][0], [mine])


if __name__ == "__main__":
    unittest.main()
