# SPDX-License-Identifier: MIT
"""The GPU that a launcher makes its grid for: PyTorch's where the tensors lie on one, else an assumed device, an H200 unless DAYS_DEVICE names
another. Members have PyTorch's names, so that a launcher reads both alike; ./days says above its tables which device was assumed."""
from __future__ import annotations

import functools
import hashlib
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from days_cli import counting, paths, sass
from days_cli.errors import USAGE, DaysError


@dataclass(frozen=True)
class Properties:
    """As many of torch.cuda.get_device_properties' members as launchers need; max_blocks_per_multi_processor is none of them."""
    name: str
    major: int
    minor: int
    multi_processor_count: int
    L2_cache_size: int
    warp_size: int = 32

    @property
    def regs_per_multiprocessor(self):
        return sass.REGISTERS_A_MULTIPROCESSOR

    @property
    def max_threads_per_multi_processor(self):
        return sass.most_warps(10 * self.major + self.minor) * self.warp_size

    @property
    def shared_memory_per_multiprocessor(self):
        return sass.shared_memory(10 * self.major + self.minor)


_ASSUMED = {"h200": Properties("H200", 9, 0, 132, 60 << 20), "h100": Properties("H100", 9, 0, 132, 50 << 20),
            "a100": Properties("A100", 8, 0, 108, 40 << 20), "l4": Properties("L4", 8, 9, 58, 48 << 20), "t4": Properties("T4", 7, 5, 40, 4 << 20)}
_asked = []  # assumed devices that a launcher has asked about


def properties(tensor):
    """Of the GPU that a tensor lies on, or of the assumed device."""
    if getattr(tensor, "is_cuda", False):
        return _of_torch(tensor.device)
    found = assumed()
    if found not in _asked:
        _asked.append(found)
    return found


def assumed():
    """The device that stands for a GPU here."""
    name = os.environ.get("DAYS_DEVICE", "h200").lower()
    if name not in _ASSUMED:
        raise DaysError(f'DAYS_DEVICE is "{name}", and the devices that can be assumed are {", ".join(_ASSUMED)}', "unset DAYS_DEVICE", USAGE)
    return _ASSUMED[name]


def told():
    """"an H200", the assumed device where a launcher has asked about one since this was last called, else ""."""
    found = f"{'an' if _asked[0].name[0] in 'AHL' else 'a'} {_asked[0].name}" if _asked else ""
    _asked.clear()
    return found


@functools.lru_cache(maxsize=None)
def _of_torch(device):
    """Asked once a device, since the question takes microseconds, as a launch does."""
    import torch
    return torch.cuda.get_device_properties(device)


def residents(found, registers, shared, warps):
    """Programs that a multiprocessor of a device holds at the same time, of a kernel with so many registers a thread, bytes of shared memory
    and warps a program; 0 where none fits. ValueError for an architecture that the course does not know."""
    sm = 10 * found.major + found.minor
    count, why = sass.blocks(sm, found.warp_size * warps, registers, shared)
    if not why:
        raise ValueError(f"the course does not know what a multiprocessor of sm_{sm} has: {found.name}")
    return count


def taken(kernel, *arguments, num_warps=4, **constants):
    """(registers a thread, bytes of shared memory a program) of a kernel with these arguments, which is compiled and not launched. In the
    interpreter another process compiles it, for the assumed device, and what it finds is kept in build/."""
    if os.environ.get("TRITON_INTERPRET") == "1":
        return _elsewhere(kernel, arguments, num_warps, constants)
    first = next(one for one in arguments if hasattr(one, "data_ptr"))
    key = (kernel, str(getattr(first, "device", "")), num_warps, tuple(constants.items()), tuple(str(getattr(one, "dtype", type(one))) for one in arguments))
    if key not in _taken:  # asked once, since the question takes as long as a launch
        made = kernel.warmup(*arguments, grid=(1,), num_warps=num_warps, **constants)
        _taken[key] = _resources(made, getattr(first, "is_cuda", False))
    return _taken[key]


_taken = {}


def _resources(made, loaded):
    """Of a binary: the driver tells once it is loaded, and where there is no driver NVIDIA's tool reads them."""
    if loaded:
        made._init_handles()
        return made.n_regs, made.metadata.shared
    from python_days import compiled
    return compiled.resources(made)[0], made.metadata.shared


def _elsewhere(kernel, arguments, num_warps, constants):
    file, found = kernel.fn.__code__.co_filename, properties(arguments[0])
    asked = {"file": file, "name": kernel.fn.__name__, "sm": 10 * found.major + found.minor, "warps": num_warps, "constants": constants, "path": sys.path,
             "arguments": [{"kind": one.kind, "aligned": one.data_ptr() % 16 == 0} if hasattr(one, "data_ptr") else one for one in arguments]}
    kept = paths.BUILD / "python-taken.json"
    key = hashlib.sha256(json.dumps([asked, Path(file).read_text(encoding="utf-8")]).encode()).hexdigest()
    known = counting.remembered(kept)
    if key not in known:
        environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
        text = "import json, sys; given = json.load(sys.stdin); sys.path[:] = given['path']; from python_days import compiled; compiled.answer(given)"
        done = subprocess.run([sys.executable, "-B", "-c", text], input=json.dumps(asked), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env=environment, check=False)
        if done.returncode:
            raise RuntimeError((done.stderr.strip().splitlines() or ["the compiler's process failed"])[-1])
        known = {**counting.remembered(kept), key: json.loads(done.stdout)}
        counting.remember(kept, known)
    return tuple(known[key])
