# SPDX-License-Identifier: MIT
"""The steps that make a day's executable (or any .cu program) in build/run/<backend>, for builder.Build."""
from __future__ import annotations

import os
from pathlib import Path

from days_cli import gpu as gpus
from days_cli import paths, settings, toolchain
from days_cli.builder import DEPS, OUT, TARGET, Build, Step, lock

_DEPS = ["-MD", "-MF", DEPS, "-MT", TARGET]


def _warnings(warnings, host, prefix=""):
    """g++ 12 and 13 see overlapping copies in std::string where there are none (GCC bug 105651); clang wants more braces
    around simt's vector types than CUDA's need. cmake/BuildSettings.cmake has the same two."""
    return warnings + [prefix + ("-Wno-restrict" if host.kind == "g++" else "-Wno-missing-braces")]


class Simt:
    """Kernels on this CPU: .cu files go through simtcc, all are linked with the runtime."""

    def __init__(self, checked=False):
        self.folder = paths.RUN_BUILD / ("simt-checked" if checked else "simt")
        self._data = settings.load()
        self._checked = self._data["simt"]["checked"] if checked else []
        self._compiler = toolchain.host_compiler()
        self._cxx = self._compiler.path
        self._warnings = _warnings(self._data["cxx"]["warnings"], self._compiler)
        self._standard = "-std=" + self._data["cxx"]["standard"]
        # One for checked and plain builds: it is the same.
        self._simtcc = self._translator(paths.RUN_BUILD / "simt")

    def _object(self, source, command, after=(), folder=None):
        output = (folder or self.folder) / "obj" / (source + ".o")
        return Step(output, [*command, *_DEPS, "-c", source, "-o", OUT], [Path(source)], source, list(after), source)

    def _translator(self, folder):
        include = paths.ROOT / self._data["simt"]["include"]
        command = [self._cxx, self._standard, *self._data["simt"]["translator_flags"],
                   f'-DSIMT_INCLUDE_DIR="{include}"']
        objects = [self._object(source, command, folder=folder)
                   for source in settings.expand(self._data["simt"]["translator"])]
        return Step(folder / "simtcc", [self._cxx, *(str(step.output) for step in objects), "-o", OUT], [], "simtcc",
                    objects)

    def _plain(self):
        simt = self._data["simt"]
        return [self._cxx, self._standard, *self._data["cxx"]["flags"], *self._warnings,
                *("-D" + define for define in simt["defines"]), "-isystem", simt["include"], "-I."]

    def object(self, source):
        if not source.endswith(".cu"):
            return self._object(source, self._plain())
        command = [str(self._simtcc.output), *self._checked, self._cxx, self._standard, *self._data["cxx"]["flags"],
                   *self._warnings, "-I."]
        return self._object(source, command, [self._simtcc])

    def _runtime(self):
        simt = self._data["simt"]
        command = [*self._plain(), "-I" + simt["runtime_include"]]
        return [self._object(source, command) for source in settings.expand(simt["runtime"])]

    def program(self, name, sources):
        objects = [self.object(source) for source in sources] + self._runtime()
        # libbacktrace comes with GCC and gives reports their lines; elsewhere the runtime does without.
        backtrace = toolchain.output_of([self._cxx, "-print-file-name=libbacktrace.a"]).strip()
        libraries = [backtrace] if Path(backtrace).is_absolute() else []
        return Step(self.folder / name, [self._cxx, *(str(step.output) for step in objects), *libraries,
                                         *self._data["cxx"]["link"], "-ldl", "-o", OUT], [], name, objects)


class Cuda:
    """nvcc, for exactly the GPU that is here."""

    def __init__(self):
        self.folder = paths.RUN_BUILD / "cuda"
        self._data = settings.load()
        self._nvcc = toolchain.nvcc()
        host, problem = toolchain.nvcc_host()
        self._warnings = _warnings(self._data["cuda"]["warnings"], host, "-Xcompiler=")
        self._command = [self._nvcc.path, "-std=" + self._data["cxx"]["standard"],
                         *toolchain.architecture_flags(gpus.detect().gpu, self._nvcc)[0],
                         *(["-ccbin", host.path] if problem or os.environ.get("CUDAHOSTCXX") else [])]

    def object(self, source, includes=()):
        command = [*self._command, *self._data["cuda"]["flags"], *self._warnings, *includes, "-I."]
        return Step(self.folder / "obj" / (source + ".o"), [*command, *_DEPS, "-c", source, "-o", OUT], [Path(source)],
                    source, [], source)

    def program(self, name, sources, baselines=()):
        objects = [self.object(source) for source in sources]
        libraries = []
        for source in baselines:
            library, _ = toolchain.find_library(Path(source).stem, self._nvcc)
            if library is None:
                continue  # the table says "not built"
            objects.append(self.object(source, ["-isystem", library.include] if library.include else []))
            if library.binary:
                libraries += [library.binary, "-Xlinker", "-rpath," + str(Path(library.binary).parent)]
        return Step(self.folder / name, [*self._command, *(str(step.output) for step in objects), *libraries, "-o", OUT],
                    [], name, objects)


def build_day(day, backend, checked=False):
    """The path of the day's executable, brought up to date."""
    sources = settings.expand([f"{day.target}/*.cu", f"{day.target}/*.cpp", "common/*.cu", "common/*.cpp"])
    if backend == "cuda":
        step = Cuda().program(day.target, sources, settings.expand(f"{day.target}/baselines/*.cu"))
    else:
        step = Simt(checked).program(day.target, sources)
    with lock(paths.RUN_BUILD):
        Build().run([step])
    return step.output
