# SPDX-License-Identifier: MIT
"""A vector type's load and store stay one access each in checked builds, with every compiler found."""

import re
import shutil
import subprocess
import unittest
from pathlib import Path

SIMT = Path(__file__).resolve().parents[1]
HEADER = """
#include <cuda_bf16.h>
#include <cuda_fp16.h>
"""
FUNCTIONS = """
extern "C" {
float load_T(const T* p) { T v = *p; return float(v.x) + float(v.y) * 2; }
void copy_T(T* to, const T* from) { *to = *from; }
void change_T(T* to, const T* from) { T v = *from; v.x = v.x + v.y; *to = v; }
}
"""
TYPES = {"float4": 16, "int4": 16, "uint4": 16, "double2": 16, "longlong2": 16, "float2": 8, "int2": 8,
         "short4": 8, "uchar4": 4, "short2": 4, "char2": 2, "__half2": 4, "__nv_bfloat162": 4}
EXPECTED = {"load": ["read"], "copy": ["read", "write"], "change": ["read", "write"]}


def accesses(assembly):
    """The instrumented accesses of each function, sorted: {"load_float4": ["read16"], ...}"""
    found, function = {}, None
    for line in assembly.splitlines():
        label = re.match(r"_?((?:load|copy|change)_\w+):", line)
        if label:
            function = label.group(1)
            found[function] = []
        elif ".cfi_endproc" in line:
            function = None
        call = re.search(r"__tsan_(?:unaligned_)?((?:read|write)(?:\d+|_range))", line)
        if call and function:
            found[function].append(call.group(1))
    return {name: sorted(calls) for name, calls in found.items()}


class VectorAccess(unittest.TestCase):
    def test_one_access_each(self):
        source = HEADER + "".join(re.sub(r"\bT\b|(?<=_)T\b", name, FUNCTIONS) for name in TYPES)
        expected = {f"{function}_{name}": [f"{access}{size}" for access in names]
                    for function, names in EXPECTED.items() for name, size in TYPES.items()}
        compilers = [c for c in ("g++", "clang++", "clang++-14") if shutil.which(c)]
        self.assertTrue(compilers, "no compiler")
        for compiler in compilers:
            with self.subTest(compiler=compiler):
                command = [compiler, "-std=c++20", "-O2", "-fno-strict-aliasing", "-fsanitize=thread", "-S",
                           "-x", "c++", "-", "-o", "-", "-isystem", str(SIMT / "include")]
                result = subprocess.run(command, input=source, capture_output=True, text=True)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertEqual(accesses(result.stdout), expected)


if __name__ == "__main__":
    unittest.main()
