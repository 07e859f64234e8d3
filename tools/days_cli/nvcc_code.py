# SPDX-License-Identifier: MIT
"""What nvcc makes of kernel files, as nvdisasm tells it: of a CUDA toolkit or of NVIDIA's wheels, without a GPU."""
from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass

from days_cli import paths, sass, settings, toolchain
from days_cli.builder import lock
from days_cli.errors import ENVIRONMENT, WRONG, DaysError

_FOLDER = paths.BUILD / "asm"
_PACKAGES = ("nvidia-cuda-nvcc", "nvidia-nvvm", "nvidia-cuda-crt", "nvidia-cuda-runtime", "nvidia-cuda-cccl")


@dataclass
class Made:
    """What `asm` shows of a day: {rung: its Kernels}; lines: whether those of the first are shown; by: which compiler, "" for nvcc."""
    title: str
    kernels: dict
    arch: str
    lines: bool
    by: str = ""


def architecture(text):
    match = re.fullmatch(r"(?:sm_|compute_)?(\d{2,3})([af]?)", text)
    if not match:
        raise DaysError(f'--arch is an architecture such as 75, 80 or 90a, not "{text}"', "./days asm --help")
    return match.group(1) + match.group(2)


def number(arch):
    """90 of "90a"."""
    return int(arch.rstrip("af"))


def disassembler():
    """nvdisasm's path, of the toolkit or of pip's wheels; None where there is none."""
    nvcc = toolchain.nvcc()
    return shutil.which("nvdisasm") or (nvcc and shutil.which(str(nvcc.root / "bin" / "nvdisasm"))) or in_wheels("nvdisasm")


def tools(sm, lines):
    """(nvcc's command, nvdisasm's path), of the toolkit or of pip's wheels; DaysError with the command that installs them.
    Without `lines` nvdisasm need not be there."""
    nvcc = toolchain.nvcc()
    compiler, wheels = (nvcc.path if nvcc else None), []
    if not compiler:
        compiler = in_wheels("nvcc")
        wheels += _PACKAGES if not compiler else ()
    found = disassembler()
    if lines and not found:
        wheels.append("nvidia-cuda-nvdisasm")
    if wheels:
        what = " and ".join(name for name, path in (("nvcc", compiler), ("nvdisasm", found or not lines)) if not path)
        raise DaysError(f"asm needs {what}: of a CUDA toolkit, or NVIDIA's wheels (no GPU needed)",
                        install(*wheels), ENVIRONMENT)
    command = [compiler]
    if nvcc:
        if sm not in nvcc.codes:
            raise DaysError(f"nvcc {toolchain.dotted(nvcc.version)} does not build for sm_{sm}: "
                            + ", ".join(map(str, nvcc.codes)), "./days asm --help")
        host, problem = toolchain.nvcc_host()
        command += ["-ccbin", host.path] if problem or os.environ.get("CUDAHOSTCXX") else []
    return command, found


def install(*wheels):
    """The command that installs NVIDIA's wheels."""
    return f"{os.path.basename(sys.executable)} -m pip install --no-deps {' '.join(wheels)}"


def in_wheels(tool):
    for folder in toolchain.site_folders():
        for found in sorted(folder.glob(f"nvidia/*/bin/{tool}"), reverse=True):
            if os.access(found, os.X_OK):
                return str(found)
    return None


def call(command, what):
    try:
        done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              stdin=subprocess.DEVNULL, cwd=paths.ROOT, check=False)
    except OSError as error:
        raise DaysError(f"{command[0]} cannot be started: {error.strerror}", "./days doctor", ENVIRONMENT) from error
    text = done.stdout.decode(errors="replace")
    if done.returncode:
        sys.stderr.write(text)
        sys.stderr.flush()
        raise DaysError(f"{what} failed", code=WRONG)
    return text


def compiled(sources, arch, flags, lines=True):
    """The Kernels of these files, in the order of their names; without `lines` they have no instructions and no launch bounds, and
    nvdisasm is not needed."""
    command, found_disassembler = tools(number(arch), lines)
    kernels = {}
    with lock(paths.RUN_BUILD):
        for source in sources:
            path = source.resolve()
            key = hashlib.sha256("\0".join([str(path), arch, *flags]).encode()).hexdigest()[:12]
            _FOLDER.mkdir(parents=True, exist_ok=True)
            cubin = _FOLDER / f"{path.stem}-{key}.cubin"
            standard = [] if any(flag.startswith("-std=") for flag in flags) else ["-std=" + settings.load()["cxx"]["standard"]]
            said = call([*command, *standard, *settings.load()["cuda"]["flags"], f"-arch=sm_{arch}", "-Xptxas=-v", "-cubin",
                         *flags, path, "-o", cubin], f"nvcc {source}")
            found = sass.read_ptxas(said)
            if lines:
                sass.read_nvdisasm(call([found_disassembler, "-gi", "-c", cubin], f"nvdisasm {cubin}"), found)
                bounds = sass.launch_bounds(call([found_disassembler, cubin], f"nvdisasm {cubin}"))
                for kernel in found.values():
                    kernel.most_threads = bounds.get(kernel.mangled, 0)
            cubin.unlink()
            kernels.update(found)
    names = list(kernels)
    filter_ = shutil.which("c++filt")
    if filter_ and names:
        done = subprocess.run([filter_, *names], stdout=subprocess.PIPE, check=False)
        for name, plain in zip(names, done.stdout.decode(errors="replace").splitlines()):
            kernels[name].name = sass.short_name(plain)
    return sorted(kernels.values(), key=lambda kernel: [int(word) if word.isdecimal() else word
                                                        for word in re.split(r"(\d+)", kernel.name)])


def of_triton(kernel):
    """A kernel as Triton's compiler tells of it."""
    made = sass.Kernel(kernel["name"], kernel["name"], kernel["registers"], kernel["stack"], kernel["stack"], 0, kernel["shared"],
                       most_threads=32 * kernel["warps"])
    made.lines = {(line["file"] and str(paths.ROOT / line["file"]), line["line"]): Counter(line["counts"]) for line in kernel["lines"]}
    return made
