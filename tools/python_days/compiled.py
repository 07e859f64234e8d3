# SPDX-License-Identifier: MIT
"""What Triton's compiler makes of a rung, without a GPU: the launcher runs as it is, each launch is compiled and none is run. To be
used in a process of its own, in which triton was imported without its interpreter."""
from __future__ import annotations

import contextlib
import hashlib
import io
import json
import math
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import triton
from triton._C.libtriton import ir, nvidia, passes
from triton.backends.compiler import GPUTarget
from triton.runtime.autotuner import Autotuner
from triton.runtime.driver import driver
from triton.runtime.jit import JITCallable, JITFunction, get_jit_fn_file_line

from days_cli import sass
from python_days import lanes
from python_days.day import load, shown
from python_days.ladder import Maker
from python_days.tensors import Tensor

ARCHITECTURES = (75, 80, 90)
_CACHE_KEY = JITCallable.cache_key


def _with_file(function):
    """A binary's lines name the file that it was compiled from, and Triton would take it for the same text in another file."""
    return hashlib.sha256(f"{_CACHE_KEY.fget(function)} {function.fn.__code__.co_filename}".encode()).hexdigest()


JITCallable.cache_key = property(_with_file)
_TOOLS = Path(triton.__file__).parent / "backends" / "nvidia" / "bin"


@dataclass
class Kernel:
    """What became of one launch. lines: {(file, line): Counter of instructions, as sass.kind names them}."""
    name: str
    warps: int
    stages: int
    shared: int  # bytes a block
    registers: int = 0
    stack: int = 0  # bytes a thread: what did not fit into registers
    lines: dict = field(default_factory=dict)
    text: str = ""
    stored: int = 0  # elements that a thread stores, each store of the code once
    conversions: int = 0  # layouts that change through shared memory
    loads_before_barrier: int = 0
    accesses: list = field(default_factory=list)  # as lanes.of_kernel tells them

    @property
    def instructions(self):
        return sum(self.lines.values(), Counter())


class Refused(Exception):
    """The compiler's reason, in its own words, and where: "file:line" or ""."""

    def __init__(self, reason, where=""):
        super().__init__(reason)
        self.where = where


class _NoGpu:
    """Stands where Triton asks for the device."""

    def get_active_torch_device(self):
        import torch
        return torch.device("cuda", 0)

    def __init__(self, sm):
        self._sm = sm

    def get_current_device(self):
        return self._sm

    def get_current_stream(self, device):
        return 0

    def get_current_target(self):
        return GPUTarget("cuda", self._sm, 32)


class _Seen:
    """What launchers have asked for: kernels by their launches, without those that a tuner tried; every binary once; searches of tuners."""

    def __init__(self):
        self.launches, self.binaries, self.started, self.searches = [], {}, [], 0


@contextlib.contextmanager
def _compiling(sm):
    """Launches are compiled here for one architecture, and none is run. Refused where Triton says no. What would be timed to find the best
    configuration is only compiled, for the newest architecture, and the first is taken: no times, so none may be kept where a GPU would
    find them. A tuner begins without what it found before."""
    seen, trying, tuners = _Seen(), [], []
    run, search, bench, cached = JITFunction.run, Autotuner.run, Autotuner.do_bench, Autotuner.check_disk_cache

    def only_compiled(self, *given, grid, warmup, **named):
        seen.started.append(self)
        kernel = run(self, *given, grid=grid, warmup=True, **named)
        seen.binaries[id(kernel)] = kernel
        if not trying and not warmup:
            seen.launches.append((self.fn.__name__, kernel))
        return kernel

    def searched(self, *given, **named):
        if not any(self is other for other in tuners):
            tuners.append(self)
            self.cache.clear()
        before = len(self.cache)
        made = search(self, *given, **named)
        seen.searches += len(self.cache) - before
        return made

    def tried(call, quantiles):
        if sm == ARCHITECTURES[-1]:  # without tensor cores a large tile takes minutes
            trying.append(True)
            try:
                call()
            finally:
                trying.pop()
        return [0.0, 0.0, 0.0]
    driver.set_active(_NoGpu(sm))
    JITFunction.run, Autotuner.run = only_compiled, searched
    Autotuner.do_bench = property(lambda self: tried)
    Autotuner.check_disk_cache = lambda self, key, configs, measure: (measure(), False)[1]
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            yield seen
    except Exception as error:  # whatever the compiler's stages throw, it is the kernel's reader who has to know
        raise Refused(*_reason(error, said.getvalue(), seen.started[-1] if seen.started else None)) from error
    finally:
        JITFunction.run, Autotuner.run, Autotuner.do_bench, Autotuner.check_disk_cache = run, search, bench, cached


def compiled(launch, arguments, sm, lines=False, listed=True, stage="", once=False, dealt=False):
    """The Kernels that a launcher starts with these arguments, for one architecture; Refused where Triton says no. listed: False where
    only that is of interest. stage: with the text of this stage of the compiler, ttir, ttgir, llir or ptx. once: what is started again in
    the same way is one Kernel."""
    with _compiling(sm) as seen:
        launch(*arguments)
    made = list({id(one[1]): one for one in seen.launches}.values()) if once else seen.launches
    found = [_kernel(name, kernel, lines) for name, kernel in made] if listed else []
    for kernel, (_, whole) in zip(found, made):
        kernel.text = whole.asm[stage] if stage else ""
        kernel.accesses = lanes.of_kernel(whole.asm["ttgir"], whole.asm["llir"]) if dealt else []
    return found


def family(launch, calls, sm):
    """{"compiled": binaries, "searches": of tuners} that a process makes which launches with each of these arguments, in their order."""
    with _compiling(sm) as seen:
        for arguments in calls:
            launch(*arguments)
    return {"compiled": len(seen.binaries), "searches": seen.searches}


def _reason(error, said, kernel):
    """(sentence, "file:line" or "") of a compiler's error, which quotes the source and then says what is wrong."""
    chain = [error]
    while chain[-1].__cause__ is not None:
        chain.append(chain[-1].__cause__)
    text = str(chain[-1]) or type(chain[-1]).__name__
    line, place = getattr(getattr(error, "node", None), "lineno", None), ""
    if line and kernel is not None and getattr(error, "src", None) == kernel.src:
        file, first = get_jit_fn_file_line(kernel)
        place = f"{shown(file)}:{first + line - 1}"
    stated = [line.strip() for line in text.splitlines() if line.strip() and not set(line.strip()) <= {"^"}]
    reason = stated[-1] if stated else type(error).__name__
    more = re.search(r"^.*\berror: (.*)$", said, re.MULTILINE)
    if more and more[1] not in reason:
        reason += f": {more[1]}"
    return reason[:300], place


def resources(kernel):
    """(registers, bytes of stack) a thread of a binary."""
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(kernel.asm["cubin"])
        file.flush()
        found = dict(re.findall(r"(REG|STACK):(\d+)", _said("cuobjdump", "--dump-resource-usage", file.name)))
    return int(found.get("REG", 0)), int(found.get("STACK", 0))


def answer(asked):
    """Writes as JSON what device.taken() asks another process for: [registers a thread, bytes of shared memory] of a file's kernel."""
    kernel = getattr(load(asked["file"]), asked["name"])
    given = []
    for one in asked["arguments"]:
        tensor = Tensor.of(np.zeros(1), one["kind"]) if isinstance(one, dict) else one
        given.append(Maker(one["kind"]).shifted(tensor) if isinstance(one, dict) and not one["aligned"] else tensor)
    with _compiling(asked["sm"]):
        made = kernel.warmup(*given, grid=(1,), num_warps=asked["warps"], **asked["constants"])
    json.dump([resources(made)[0], made.metadata.shared], sys.stdout)


def _kernel(name, kernel, lines):
    found = Kernel(name, kernel.metadata.num_warps, kernel.metadata.num_stages, kernel.metadata.shared)
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(kernel.asm["cubin"])
        file.flush()
        listing = _said("nvdisasm", "-gi" if lines else "-g", "-c", file.name)
    found.registers, found.stack = resources(kernel)
    parsed = {kernel.metadata.name: sass.Kernel(kernel.metadata.name, name)}
    sass.read_nvdisasm(listing, parsed)
    found.lines, found.loads_before_barrier = parsed[kernel.metadata.name].lines, sass.loads_before_barrier(listing)
    layouts = kernel.asm["ttgir"]
    found.stored, found.conversions = _stored(layouts, 32 * found.warps), _conversions(layouts, kernel.metadata)
    return found


def _stored(layouts, threads):
    """Elements that a thread stores to global memory, each store of the code once: a scalar is one thread's."""
    shapes = [found[1] for found in re.finditer(r"^\s*tt\.store .*?:\s*tensor<((?:\d+x)*)!tt\.ptr", layouts, re.MULTILINE)]
    return sum(max(1, math.prod(map(int, shape.split("x")[:-1])) // threads) for shape in shapes)


def _conversions(layouts, made):
    """The changes of layout for which the compiler's next stage wants shared memory; the others stay within a thread or a warp."""
    if "ttg.convert_layout" not in layouts:
        return 0
    context, module = lanes.parsed(layouts)
    stages = ir.pass_manager(context)
    passes.convert.add_scf_to_cf(stages)
    nvidia.passes.ttgpuir.add_allocate_shared_memory_nv(stages, made.target.arch, made.ptx_version or 80)
    stages.run(module, "conversions")
    return sum("ttg.convert_layout" in line and "allocation.offset" in line for line in str(module).splitlines())


def _said(tool, *words):
    environment = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
    done = subprocess.run([str(_TOOLS / tool), *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False, env=environment)
    return done.stdout.decode(errors="replace")


def load_bits(kernels):
    """The width of the widest load from global memory, in bits; 0 where there is none that has a width."""
    return max((int(kind.split(".")[1]) for kernel in kernels for kind in kernel.instructions
                if kind.split(".")[0] in ("LDG", "LDGSTS")), default=0)
