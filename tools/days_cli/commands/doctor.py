# SPDX-License-Identifier: MIT
"""days doctor: tries what the other commands need; one line a finding, each with its fix."""
from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from days_cli import arguments, builder, cmake_tools, console, nvcc_code, packages, paths, profiles, python_setup, run_build, settings, toolchain
from days_cli import gpu as gpus
from days_cli.errors import ENVIRONMENT, DaysError

USAGE = ""
SUMMARY = "tries what the others need; gives each fix"
HELP = """./days doctor     what works here, what does not, and what mends it

It asks the driver, compiles and runs a kernel on each backend, and tries the
profiler. Exit code 0 when ./days run would work, else 3."""

_PROBE = "tools/days_cli/probe.cu"
_PARAMETERS = Path("/proc/driver/nvidia/params")
_LEAST_SPACE = 1 << 30
_TOOLKITS = "https://developer.nvidia.com/cuda-downloads"
_COUNTERS_FOR_ALL = "https://developer.nvidia.com/ERR_NVGPUCTRPERM"


@dataclass(frozen=True)
class Finding:
    name: str
    status: str  # ok, skip (not needed here), warn, miss or FAIL
    text: str
    fix: str = ""  # a command or an address


def run(args):
    given = arguments.parse("doctor", args)
    if given.get("--help"):
        console.say(HELP)
        return 0
    counts = {}
    works = False
    for finding in examine():
        if isinstance(finding, bool):
            works = finding
            continue
        counts[finding.status] = counts.get(finding.status, 0) + 1
        _show(finding)
    _show_sum(counts, works)
    return 0 if works else ENVIRONMENT


def _show(finding):
    console.clear_progress()
    lines = console.wrap(finding.text, " " * 17, "")
    if len(lines[0]) > console.WIDTH - 17:
        lines = console.wrap(finding.text, " " * 17)
        lines[0] = lines[0].strip()
    lines[1:] = [line.rstrip() for line in lines[1:]]
    console.say(f"{finding.name:<10} {console.status(finding.status, 4)}  {console.paint_commands(lines[0])}")
    for line in lines[1:]:
        console.say(console.paint_commands(line))
    if finding.fix:
        console.say(" " * 17 + console.paint(finding.fix, "cyan"))


def _show_sum(counts, works):
    names = (("ok", "ok", "ok"), ("skip", "not needed", "not needed"), ("warn", "warning", "warnings"),
             ("miss", "missing", "missing"), ("FAIL", "failed", "failed"))
    text = ", ".join(f"{counts[status]} {one if counts[status] == 1 else many}" for status, one, many in names
                     if status in counts)
    end = "./days run needs nothing more." if works else "./days run does not work yet."
    for line in console.wrap(f"{text}. {end}"):
        console.say(console.paint_commands(line))


def examine():
    """Yields the findings, and once a bool: would ./days run work?"""
    yield Finding("python", "ok", platform.python_version())
    probe = gpus.detect()
    yield _gpu(probe)
    compiler = toolchain.nvcc()
    cuda = list(_cuda(probe, compiler))
    yield from cuda
    cuda_works = any(finding.name == "nvcc" and finding.status == "ok" for finding in cuda) and probe.gpu is not None
    simt = _simt(needed=not (probe.gpu and compiler))
    yield simt
    yield cuda_works or (simt.status == "ok" and not (probe.gpu and compiler))
    for tool in ("cmake", "ninja"):
        yield _tool(tool)
    for package in ("gtest", "benchmark"):
        yield _package(package)
    yield _pictures()
    yield _triton()
    if probe.gpu:
        yield _pytorch()
    yield from _libraries(probe, compiler)
    yield _nvdisasm()
    yield _profiler(probe, cuda_works)
    yield _disk()
    yield _my_work()


def _gpu(probe):
    gpu = probe.gpu
    if gpu is None:
        if probe.problem:
            return Finding("GPU", "warn", f"{probe.problem}; kernels run on this CPU", "nvidia-smi")
        return Finding("GPU", "skip", "none here: kernels run on this CPU")
    parts = [gpu.name, f"sm_{gpu.sm}"]
    if gpu.memory:
        parts.append(f"{gpu.memory / 2**30:.0f} GiB")
    driver = f"driver {probe.driver}" if probe.driver else "driver"
    parts.append(driver + (f" (CUDA {toolchain.dotted(probe.cuda)})" if probe.cuda else ""))
    if gpu.count > 1:
        parts[0] = f"{gpu.count} x {gpu.name}"
    oldest = settings.load()["cuda"]["oldest_architecture"]
    if gpu.sm < oldest:
        return Finding("GPU", "FAIL", f"{gpu.name} is sm_{gpu.sm}; the course needs sm_{oldest} (Turing) or later",
                       "./days run 1 --backend simt")
    return Finding("GPU", "ok", ", ".join(parts))


def _cuda(probe, compiler):
    """The rows about nvcc and the compiler that it calls."""
    if not probe.gpu:
        text = f"{toolchain.dotted(compiler.version)}; only compiles, for want of a GPU" if compiler else "needs a GPU"
        yield Finding("nvcc", "skip", text)
        return
    newest = f" up to {toolchain.dotted(probe.cuda)}" if probe.cuda else ""
    if not compiler:
        yield Finding("nvcc", "miss", f"no CUDA toolkit: kernels run on this CPU. Install one{newest}:", _TOOLKITS)
        return
    try:
        toolchain.check_cuda(probe, compiler, "./days run 1 --backend simt")
        host, problem = toolchain.nvcc_host()
    except DaysError as error:
        yield Finding("nvcc", "FAIL", error.message, error.hint)
        return
    version = toolchain.dotted(compiler.version)
    ran = _try("cuda")
    real = toolchain.architecture_flags(probe.gpu, compiler)[1]
    code = f"real sm_{probe.gpu.sm} code" if real else "PTX that the driver compiles"
    if ran:
        yield Finding("nvcc", "FAIL", f"{version}, but a small kernel does not run: {ran}", "./days run 1 --backend simt")
    else:
        yield Finding("nvcc", "ok", f"{version}; builds {code} (tried)")
    yield Finding("host c++", "warn" if problem else "ok",
                  f"{problem}; {host} is used instead" if problem else f"{host} fits nvcc {version}")


def _simt(needed):
    try:
        compiler = toolchain.host_compiler()
    except DaysError as error:
        return Finding("simt", "FAIL" if needed else "miss", error.message, error.hint)
    problem = _try("simt")
    if problem:
        return Finding("simt", "FAIL" if needed else "warn", f"{compiler}, but a small kernel does not run: {problem}",
                       "./days run 1 --backend simt" if needed else "")
    cores = builder.cores()
    return Finding("simt", "ok", f"{compiler}, {cores} core{'s' if cores > 1 else ''}: kernels run on this CPU (tried)")


def _try(backend):
    """Builds and runs the small kernel; what went wrong, "" when nothing did."""
    try:
        maker = run_build.Cuda() if backend == "cuda" else run_build.Simt()
        step = maker.program("probe", [_PROBE])
        with builder.lock(paths.RUN_BUILD):
            builder.Build(quiet=True).run([step])
    except DaysError as error:
        return error.message
    try:
        done = subprocess.run([str(step.output)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if done.returncode == 0:
        return ""
    lines = done.stdout.decode(errors="replace").strip().splitlines()
    return lines[0] if lines else f"it ends with {done.returncode}"


def _tool(tool):
    _, version = cmake_tools.find(tool)
    if cmake_tools.good(tool):
        return Finding(tool, "ok", toolchain.dotted(version))
    oldest = toolchain.dotted(cmake_tools.oldest_cmake())
    state = f"{toolchain.dotted(version)} is older than {oldest}, " if version else ""
    return Finding(tool, "miss", f"{state}for ./days test ({cmake_tools.plan(tool)})")


def _package(package):
    version = cmake_tools.find_package(package)
    if version:
        return Finding(package, "ok", version)
    use = "test" if package == "gtest" else "bench"
    return Finding(package, "miss", f"for ./days {use} ({cmake_tools.plan(package)})")


def _pictures():
    pictures, missing = toolchain.find_pictures()
    if pictures:
        moving, lost = toolchain.find_pictures("animations")
        if not moving:
            return Finding("pictures", "miss", f"{pictures.versions}: --image works; no {lost[0]}: day 33 writes PNG frames, but no GIF",
                           packages.command(lost))
        return Finding("pictures", "ok", f"{pictures.versions}, {moving.versions}: --image and GIF work")
    return Finding("pictures", "miss", f"no {' and no '.join(missing)}: days run, but without --image",
                   packages.command(missing))


def _triton():
    """What Python days run with where there is no GPU: the versions of requirements.txt, Colab's where they fit."""
    try:
        found = python_setup.here()
    except DaysError as error:
        return Finding("triton", "warn", error.message, error.hint)
    if found:
        where = "build/python" if found.path.startswith(str(python_setup.FOLDER)) else found.path
        return Finding("triton", "ok", f"{found.about}, in {where}: Python days run")
    why, help_ = python_setup.obstacle()
    this = python_setup.look(sys.executable)
    other = f" This Python has {this.about}." if this and this.triton else ""
    if why:
        return Finding("triton", "skip", f"{why}. All other days run", help_)
    return Finding("triton", "miss", f"for Python days.{other} ./days run 20 installs {python_setup.plan()}")


def _pytorch():
    found, why = python_setup.with_gpu()
    return Finding("pytorch", "ok", f"PyTorch {found.torch}, Triton {found.triton}: Python days run on the GPU") if found else \
        Finding("pytorch", "miss", f"{why}. Python days are interpreted until then")


def _libraries(probe, compiler):
    if not (probe.gpu and compiler):
        yield Finding("libraries", "skip", "cuBLAS and the like need a GPU")
        return
    for key, data in settings.load()["libraries"].items():
        if not data.get("wheels"):
            continue
        library, command = toolchain.find_library(key, compiler)
        if library:
            yield Finding(data["title"], "ok", f"in pip's {library.wheel}" if library.wheel else "in the CUDA toolkit")
        else:
            yield Finding(data["title"], "miss", "its column stays out of the tables", command)


def _nvdisasm():
    """What ./days asm and the gates of some rungs read machine code with; it needs no GPU."""
    found = nvcc_code.disassembler()
    if found:
        return Finding("nvdisasm", "ok", f"{found}: ./days asm shows instructions")
    return Finding("nvdisasm", "miss", "for ./days asm, and for rungs that are told apart by their widest load:", nvcc_code.install("nvidia-cuda-nvdisasm"))


def _profiler(probe, cuda_works):
    if not probe.gpu:
        return Finding("profiler", "skip", "needs a GPU")
    ncu = profiles.find_ncu()
    restricted = _counters_are_for_root()
    if ncu is None:
        refused = "; this driver keeps counters for root" if restricted and not packages.is_root() else ""
        return Finding("profiler", "miss", f"no ncu (Nsight Compute){refused}", "https://developer.nvidia.com/nsight-compute")
    version = re.search(r"Version (\d+\.\d+)", toolchain.output_of([ncu, "--version"]))
    name = f"ncu {version.group(1)}" if version else "ncu"
    if not cuda_works:
        return Finding("profiler", "warn", f"{name}, not tried: no kernel runs on the GPU")
    program = paths.RUN_BUILD / "cuda" / "probe"
    with tempfile.TemporaryDirectory() as folder:  # ncu keeps a lock file in the folder for temporary files
        text = toolchain.output_of([ncu, "--metrics", "sm__cycles_elapsed.max", str(program)],
                                   env=dict(os.environ, TMPDIR=folder))
    if "ERR_NVGPUCTRPERM" in text:
        return Finding("profiler", "warn", f"{name} may not read counters (tried); an administrator can allow it:",
                       _COUNTERS_FOR_ALL)
    if "sm__cycles_elapsed.max" not in text:
        error = re.search(r"==ERROR==\s*(.*)", text)
        return Finding("profiler", "warn", f"{name} fails" + (f": {error.group(1)}" if error else ""))
    return Finding("profiler", "ok", f"{name} may read counters (tried)")


def _counters_are_for_root():
    try:
        return re.search(r"RmProfilingAdminOnly:\s*1", _PARAMETERS.read_text()) is not None
    except OSError:
        return False


def _disk():
    free = shutil.disk_usage(paths.ROOT).free
    text = f"{free / 2**30:.1f} GiB free"
    if not os.access(paths.ROOT, os.W_OK):
        return Finding("disk", "warn", f"{text}, but this clone cannot be written to: clone into a folder of your own")
    if free < _LEAST_SPACE:
        return Finding("disk", "warn", f"{text}; all builds together take about 1 GiB", "rm -r build")
    return Finding("disk", "ok", text)


def _my_work():
    if "COLAB_RELEASE_TAG" in os.environ or "google.colab" in sys.modules:
        return Finding("my work", "warn", "my/ vanishes when Colab disconnects: copy it to Drive")
    return Finding("my work", "ok", "my/ stays on this disk; git ignores it")
