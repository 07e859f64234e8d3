# SPDX-License-Identifier: MIT
"""A kernel in CUDA C++ that Python holds as a text: `RawKernel(source, name)(grid, block, arguments)`, as CuPy has it. On a GPU it is CuPy's
own, on PyTorch's tensors. Without one the same source is compiled by `./days cc --checked` and runs on NumPy's arrays on this CPU, every access
watched; what is reported becomes an exception."""
from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from days_cli import paths
from python_days.plain import Unavailable

_TYPES = {"float32": "float", "float64": "double", "int32": "int", "int64": "long long", "uint8": "unsigned char"}
_MAIN = r'''
#include <cstdio>
#include <cstdlib>
#include <vector>
template <class T> static T* filled(FILE* in, size_t n) {
  T* device = nullptr;
  std::vector<T> host(n);
  if (cudaMalloc(&device, n * sizeof(T)) != cudaSuccess || fread(host.data(), sizeof(T), n, in) != n) exit(4);
  cudaMemcpy(device, host.data(), n * sizeof(T), cudaMemcpyHostToDevice);
  return device;
}
template <class T> static void given_back(FILE* out, T* device, size_t n) {
  std::vector<T> host(n);
  cudaMemcpy(host.data(), device, n * sizeof(T), cudaMemcpyDeviceToHost);
  fwrite(host.data(), sizeof(T), n, out);
  cudaFree(device);
}
'''


class Report(Exception):
    """What watching the kernel has found."""


class RawKernel:
    def __init__(self, source, name, file=__file__):
        """file: where the source stands, for reports."""
        self.source, self.name, self.file = source, name, file
        self._compiled = None

    def __call__(self, grid, block, arguments):
        if os.environ.get("DAYS_BACKEND") == "cuda":
            return self._on_gpu(grid, block, arguments)
        arrays = [one for one in arguments if isinstance(one, np.ndarray)]
        for array in arrays:
            if not array.flags.c_contiguous:
                raise ValueError(f"{self.name} takes arrays without gaps")
        program = self._program(tuple(grid), tuple(block), arguments)
        with tempfile.TemporaryDirectory() as folder:
            given, made = Path(folder) / "in", Path(folder) / "out"
            given.write_bytes(b"".join(array.tobytes() for array in arrays))
            done = subprocess.run([str(program), str(given), str(made)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False, text=True,
                                  env={**os.environ, "NO_COLOR": "1"})
            if done.returncode or done.stderr:
                raise Report(_first(done.stderr) or f"it ended with {done.returncode}")
            data = made.read_bytes()
        at = 0
        for array in arrays:
            array[...] = np.frombuffer(data, array.dtype, array.size, at).reshape(array.shape)
            at += array.nbytes
        return None

    def _on_gpu(self, grid, block, arguments):
        try:
            import cupy
        except ImportError as error:
            raise Unavailable("CuPy is not installed: pip install cupy-cuda13x") from error
        if self._compiled is None:
            self._compiled = cupy.RawKernel(self.source, self.name)
        import torch
        stream = cupy.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream)
        with stream:
            self._compiled(tuple(grid), tuple(block), tuple(cupy.asarray(one) if hasattr(one, "data_ptr") else one for one in arguments))

    def _program(self, grid, block, arguments):
        """The path of a program that reads the arrays, launches the kernel, and writes them; compiled once for all shapes."""
        kinds = [("*" if isinstance(one, np.ndarray) else "") + _TYPES[str(np.asarray(one).dtype)] for one in arguments]
        read, call, write = [], [], []
        for number, kind in enumerate(kinds):
            if kind[0] == "*":
                read.append(f"auto* a{number} = filled<{kind[1:]}>(in, n{number});")
                write.append(f"given_back(out, a{number}, n{number});")
                call.append(f"a{number}")
            else:
                call.append(f"({kind})n{number}")
        sizes = [one.size if isinstance(one, np.ndarray) else int(one) for one in arguments]
        text = (f'#include <cuda_runtime.h>\n#line 1 "{self.name}.cu"\n{self.source.strip(chr(10))}\n{_MAIN}\n'
                "int main(int, char** v) {\n  FILE *in = fopen(v[1], \"rb\"), *out = fopen(v[2], \"wb\");\n  const char* numbers = getenv(\"RAW_NUMBERS\");\n"
                "  long long n[32] = {};\n  for (auto& one : n) one = strtoll(numbers, const_cast<char**>(&numbers), 10);\n  "
                + "".join(f"const long long n{i} = n[{6 + i}];\n  " for i in range(len(kinds))) + "\n  ".join(read)
                + f"\n  {self.name}<<<dim3(n[0], n[1], n[2]), dim3(n[3], n[4], n[5])>>>({', '.join(call)});\n  if (cudaDeviceSynchronize()) return 5;\n  "
                + "\n  ".join(write) + "\n  fclose(out);\n}\n")
        os.environ["RAW_NUMBERS"] = " ".join(map(str, (*_three(grid), *_three(block), *sizes)))
        folder = paths.BUILD / "python-raw"
        folder.mkdir(parents=True, exist_ok=True)
        program = folder / f"{self.name}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"
        if not program.exists():
            source = program.with_suffix(".cu")
            source.write_text(text, encoding="utf-8")
            made = program.with_name(f"{program.name}.{os.getpid()}")
            done = subprocess.run([sys.executable, str(paths.ROOT / "days"), "cc", "--checked", str(source), "-o", str(made)], check=False, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=paths.ROOT, env={**os.environ, "NO_COLOR": "1"})
            if done.returncode:
                errors = [line for line in done.stdout.splitlines() if "error" in line] or done.stdout.strip().splitlines()
                raise Report("it does not compile: " + re.sub(r"^.*?: (?=error)", "", errors[0]) if errors else "it does not compile")
            os.replace(made, program)
        return program


def _three(numbers):
    return (*numbers, 1, 1)[:3]


def _first(said):
    """The lines of the first report that say most: its title, its place, and what it says there."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return "; ".join(lines[:3])
