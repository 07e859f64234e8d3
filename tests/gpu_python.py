#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What only a GPU can show of the days about Python, in about two minutes: for a machine with nvcc, CMake, and a Python that has PyTorch with
Triton, CuPy, JAX and Numba. Nothing is installed, and all that is written goes to build/.

    python3 tests/gpu_python.py                 # all of it
    python3 tests/gpu_python.py --wheel all     # the package gpudays of all days that have an op.py, and not of six
    python3 tests/gpu_python.py dlpack raw 20   # parts of it

  wheel    gpudays built by nvcc: tests/gpudays_test.py on the GPU (values, gradients, opcheck, whole graphs, streams, refusals)
  dlpack   what an operator of day 02 makes, seen by CuPy and JAX without a copy, computed on there, and back in PyTorch
  raw      day 45's text of CUDA C++ through CuPy's RawKernel, on a stream of PyTorch's
  NN       ./days test NN of a Python day on the GPU"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[1]
DAYS = ("02", "20", "31", "45", "71", "72")
WHEEL = "01;05;12;14;42;62"
ENVIRONMENT = {**os.environ, "DAYS_BACKEND": "cuda", "DAYS_PYTHON": sys.executable, "NO_COLOR": "1", "PYTHONDONTWRITEBYTECODE": "1",
               "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}  # or JAX takes most of the GPU's memory from the others


def ran(*words, **more):
    """(whether it ended with 0, what it said)"""
    done = subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False,
                          env={**ENVIRONMENT, **more})
    return done.returncode == 0, done.stdout


def wheel(days):
    """What `pip install .` does, by CMake alone, so that it needs no package that may not be here."""
    build, site = ROOT / "build/gpu-python", ROOT / "build/gpu-python/site"
    shutil.rmtree(site, ignore_errors=True)
    for line in (("cmake", "-S", ".", "-B", build, "-G", "Ninja", "-DDAYS_WHEEL=ON", "-DDAYS_BACKEND=cuda", f"-DDAYS_WHEEL_DAYS={days}",
                  f"-DPython3_EXECUTABLE={sys.executable}"),
                 ("cmake", "--build", build, "--target", "gpudays"), ("cmake", "--install", build, "--prefix", site)):
        good, said = ran(*map(str, line))
        if not good:
            return False, said
    for file in (ROOT / "gpudays").glob("*.py"):
        shutil.copy(file, site / "gpudays")
    return ran(sys.executable, "tests/gpudays_test.py", PYTHONPATH=str(site))


def dlpack():
    sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "day02_vector_add_torch")]
    import cupy
    import jax
    import torch
    from vector_add import operator
    add, stream = operator("gpu_python"), torch.cuda.Stream()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(20_000_000)  # what comes next is not done when the guests see it
        a = torch.arange(1 << 20, dtype=torch.float32, device="cuda")
        c = add(a, a)
        guest = cupy.from_dlpack(c)
        assert guest.data.ptr == c.data_ptr(), "CuPy has made a copy"
        with cupy.cuda.ExternalStream(stream.cuda_stream):
            guest += 1
        assert torch.equal(c, 2 * a + 1), "PyTorch does not see what CuPy has written"
        array = jax.dlpack.from_dlpack(c)
        assert array.unsafe_buffer_pointer() == c.data_ptr(), "JAX has made a copy"
        made = jax.numpy.sqrt(array)
        back = torch.from_dlpack(made)
        assert back.is_cuda and back.data_ptr() == made.unsafe_buffer_pointer(), "PyTorch has made a copy"
        torch.testing.assert_close(back, c.sqrt())
    print(f"CuPy {cupy.__version__} and JAX {jax.__version__} see PyTorch {torch.__version__}'s memory, on a stream of its own, too")


def raw():
    sys.path[:0] = [str(ROOT / "tools")]
    import cupy
    import torch
    from python_days.day import Day
    launch, stream = Day(next(ROOT.glob("day45_*"))).launch("raw"), torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for m, n, k in ((1, 1, 1), (33, 65, 18), (512, 257, 100)):
            torch.cuda._sleep(20_000_000)  # a kernel on another stream would read what has not been written
            a, b = (torch.randn(shape, device="cuda", dtype=torch.float64).float() for shape in ((m, k), (k, n)))
            c = torch.full((m, n), torch.nan, device="cuda")
            launch(a, b, c)
            torch.testing.assert_close(c, (a.double() @ b.double()).float(), rtol=1e-5, atol=2e-5)
    print(f"CuPy {cupy.__version__}'s RawKernel, in the order of PyTorch's stream")


def part(name, days):
    began = time.monotonic()
    if name == "wheel":
        good, said = wheel(days)
    elif name in ("dlpack", "raw"):
        good, said = ran(sys.executable, __file__, "--here", name)
    else:
        good, said = ran(sys.executable, "days", "test", name, "--backend", "cuda")
    return name, good, said, time.monotonic() - began


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=["wheel", "dlpack", "raw", *DAYS], metavar="PART")
    parser.add_argument("--wheel", default=WHEEL, metavar="DAYS", help=f"the days of the package (default: {WHEEL}), or all")
    parser.add_argument("--here", choices=("dlpack", "raw"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.here:
        return {"dlpack": dlpack, "raw": raw}[given.here]()
    unknown = [name for name in given.parts if name not in ("wheel", "dlpack", "raw", *DAYS)]
    if unknown:
        parser.error(f"no part {unknown[0]}: wheel, dlpack, raw, {', '.join(DAYS)}")
    bad = 0
    with ThreadPoolExecutor(len(given.parts)) as pool:
        for done in [pool.submit(part, name, "" if given.wheel == "all" else given.wheel) for name in given.parts]:
            name, good, said, seconds = done.result()
            lines = [line for line in said.strip().splitlines() if line.strip()] or ["it says nothing"]
            bad += not good
            told = [line for line in lines if re.match(r"Ran \d+ tests|OK|\d+ passed", line)] or lines[-1:]
            print(f"{name:8} {'ok  ' if good else 'FAIL'} {seconds:5.0f} s  {' '.join(told)}")
            if not good:
                print("\n".join("    " + line for line in lines[-60:]))
            elif "skipped" in said and name in DAYS:
                print("\n".join(f"         {line.strip()}" for line in lines if re.search(r"[1-9]\d* skipped", line) or "is not installed" in line))
            sys.stdout.flush()
    print("all is well" if not bad else f"{bad} of {len(given.parts)} parts failed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
