# SPDX-License-Identifier: MIT
"""What a Python day has in C++ and CUDA C++, as a shared library for ctypes and for PyTorch: by nvcc where the day runs on a GPU, else for
this CPU, by the same steps that build the course's own programs."""
from __future__ import annotations

import os
from pathlib import Path

from days_cli import console, run_build


def library(folder, sources, torch=None):
    """The path of a shared library of these files of a day's folder, brought up to date. torch: the module, for files that are written
    against its stable ABI."""
    backend = "cuda" if os.environ.get("DAYS_BACKEND") == "cuda" else "simt"
    includes, link = [], []
    if torch is not None:
        home = Path(torch.__file__).parent
        includes = ["-isystem", str(home / "include"), "-DTORCH_TARGET_VERSION=0x020a000000000000"]
        link = [f"-L{home / 'lib'}", "-ltorch_cpu", "-lc10"]
    console.clear_progress()
    path = run_build.build_shared(f"lib{folder}.so", [f"{folder}/{source}" for source in sources], backend, includes, link)
    return str(path)
