# SPDX-License-Identifier: MIT
"""Which NVIDIA GPU is here, asked of the driver itself (libcuda), else of nvidia-smi."""
from __future__ import annotations

import ctypes
import functools
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Optional, Tuple

_LIBRARIES = ("libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1")
_SMI = ("nvidia-smi", "/usr/lib/wsl/lib/nvidia-smi")
_DRIVER_VERSION = Path("/proc/driver/nvidia/version")
_MAJOR, _MINOR = 75, 76  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_*
_CU_INIT = {
    100: "the driver sees no device",
    802: "the NVSwitch fabric manager does not run",
    803: "driver and its library differ: reboot",
    804: "the installed CUDA compatibility package does not fit this GPU",
}


@dataclass(frozen=True)
class Gpu:
    name: str
    capability: Tuple[int, int]  # (9, 0)
    memory: int  # bytes
    count: int = 1

    @property
    def sm(self):
        """As nvcc writes it: 90."""
        return self.capability[0] * 10 + self.capability[1]


@dataclass(frozen=True)
class Probe:
    gpu: Optional[Gpu] = None
    driver: str = ""  # 580.82.07
    cuda: Optional[Tuple[int, int]] = None  # newest CUDA that the driver knows, (13, 0)
    problem: str = ""  # why there is none although something of NVIDIA's is installed


@functools.lru_cache(maxsize=None)
def detect():
    """The first GPU that CUDA programs will see (CUDA_VISIBLE_DEVICES counts), probed once a process."""
    return probe(_LIBRARIES, _SMI)


def probe(libraries, smis):
    by_driver = None
    for library in libraries:
        by_driver = _ask_libcuda(library)
        if by_driver:
            break
    if by_driver and (by_driver.gpu or by_driver.cuda):
        return by_driver
    by_smi = _ask_smi(smis)
    if by_smi.gpu and os.environ.get("CUDA_VISIBLE_DEVICES", "all") in ("", "-1"):
        return Probe(None, by_smi.driver, by_smi.cuda, "CUDA_VISIBLE_DEVICES hides every GPU")
    return by_smi if by_smi.gpu or not by_driver else by_driver


def _ask_libcuda(library):
    """None where there is no such library."""
    try:
        cuda = ctypes.CDLL(library)
        version = ctypes.c_int()
        known = cuda.cuDriverGetVersion(ctypes.byref(version)) == 0 and version.value > 0
    except (OSError, AttributeError):
        return None
    cuda_version = (version.value // 1000, version.value % 1000 // 10) if known else None
    code = cuda.cuInit(0)
    if code == 34:  # CUDA_ERROR_STUB_LIBRARY: the toolkit's libcuda, which is there for linking only
        return None
    count = ctypes.c_int()
    if code == 0:
        code = cuda.cuDeviceGetCount(ctypes.byref(count))
    if code != 0 or count.value == 0:
        return Probe(None, _driver_version(), cuda_version, _CU_INIT.get(code or 100, f"cuInit fails with {code}"))
    device = ctypes.c_int()
    name = ctypes.create_string_buffer(256)
    major, minor, memory = ctypes.c_int(), ctypes.c_int(), ctypes.c_size_t()
    cuda.cuDeviceGet(ctypes.byref(device), 0)
    cuda.cuDeviceGetName(name, len(name), device)
    cuda.cuDeviceGetAttribute(ctypes.byref(major), _MAJOR, device)
    cuda.cuDeviceGetAttribute(ctypes.byref(minor), _MINOR, device)
    cuda.cuDeviceTotalMem_v2(ctypes.byref(memory), device)
    gpu = Gpu(name.value.decode(errors="replace"), (major.value, minor.value), memory.value, count.value)
    return Probe(gpu, _driver_version(), cuda_version)


def _driver_version():
    try:
        match = re.search(r"NVRM version:.*?\s(\d+\.\d+(?:\.\d+)?)\s", _DRIVER_VERSION.read_text())
    except OSError:
        match = None
    return match.group(1) if match else ""


def _ask_smi(smis):
    smi = next((found for found in map(shutil.which, smis) if found), None)
    if not smi:
        return Probe()
    listed, text = _output([smi, "--query-gpu=name,compute_cap,memory.total,driver_version",
                            "--format=csv,noheader,nounits"])
    rows = [[field.strip() for field in line.split(",")] for line in text.splitlines() if line.count(",") == 3]
    if not listed or not rows:
        lines = text.strip().splitlines()
        return Probe(problem=f"nvidia-smi says: {lines[0][:60]}" if lines else "nvidia-smi fails")
    name, capability, memory, driver = rows[0]
    version = re.search(r"CUDA Version:\s*(\d+)\.(\d+)", _output([smi])[1])
    cuda = (int(version.group(1)), int(version.group(2))) if version else None
    numbers = re.fullmatch(r"(\d+)\.(\d+)", capability)
    if not numbers:
        return Probe(None, driver, cuda, f"{name}: nvidia-smi does not know its compute capability")
    size = int(float(memory)) * 2**20 if re.fullmatch(r"[\d.]+", memory) else 0
    return Probe(Gpu(name, (int(numbers.group(1)), int(numbers.group(2))), size, len(rows)), driver, cuda)


def _output(command):
    """(ended well, its output); never waits long, since a dying driver can hang nvidia-smi."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=20, check=False,
                              stdin=subprocess.DEVNULL)
        return done.returncode == 0, done.stdout.decode(errors="replace")
    except (OSError, subprocess.TimeoutExpired) as error:
        return False, str(error)
