# SPDX-License-Identifier: MIT
"""What Numba's compiler makes of the two kernels, without a GPU: how often each kind of PTX's instructions occurs. Its compiler is not part of
what the day installs; 200 MB more have it, in an environment of your own:

    pip install 'numba-cuda[cu13]'
    python3 day45_numba_cuda/ptx.py"""
import importlib.util
import os
import re
import sys
from collections import Counter
from pathlib import Path

sys.dont_write_bytecode = True
os.environ.pop("NUMBA_ENABLE_CUDASIM", None)  # which would take the compiler's place
os.environ["DAYS_BACKEND"] = "cuda"
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))
from numba import cuda, float32  # noqa: E402

SHOWN = ("ld.global", "ld.shared", "bar.sync", "fma.rn.f32", "mul.f32", "add.f64")


def main():
    print(f"{'':8}" + "".join(f"{name:>12}" for name in SHOWN))
    for file, name in (("01_numba.py", "numba"), ("02_tiled.py", "tiled")):
        spec = importlib.util.spec_from_file_location(name, Path(__file__).parent / file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        try:
            text, _ = cuda.compile_ptx(getattr(module, f"{name}_kernel").py_func, (float32[:, ::1],) * 3, cc=(9, 0))
        except Exception as error:  # whatever of the compiler is missing
            print(f"numba cannot compile here: {str(error).strip().splitlines()[0]}", file=sys.stderr)
            return 3
        found = Counter(re.findall(r"^\s+(?:@%p\d+\s+)?([a-z][\w.]*)", text, re.MULTILINE))
        print(f"{name:8}" + "".join(f"{sum(n for kind, n in found.items() if kind.startswith(one)):>12}" for one in SHOWN))
    return 0


if __name__ == "__main__":
    sys.exit(main())
