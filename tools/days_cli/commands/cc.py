# SPDX-License-Identifier: MIT
"""days cc: simt's driver, with translator and runtime built here at first use."""
from __future__ import annotations

from functools import cached_property

from days_cli import console, paths, run_build, settings
from days_cli.builder import Build, lock
from days_cli.errors import DaysError
from simt_driver import driver

USAGE = "FILE.cu [flags]"
SUMMARY = "compiles any CUDA program for this CPU"


class _Clone:
    """simt as it lies in this clone."""
    toolkit = None  # ./days cc is no program that a build system could take for nvcc: simt's own simtcc is

    def __init__(self):
        self.cache = paths.RUN_BUILD / "cc"
        self.include = str(paths.ROOT / settings.load()["simt"]["include"])
        self.inputs = ()

    @cached_property
    def _simt(self):
        return run_build.Simt()

    @cached_property
    def _library_step(self):
        return self._simt.static_library()

    @property
    def cxx(self):
        return self._simt.cxx

    @property
    def translator(self):
        return self._simt.translator.output

    @property
    def library(self):
        return self._library_step.output

    @property
    def after(self):
        return [self._simt.translator, self._library_step]

    def libraries(self):
        return self._simt.libraries()

    def prepare(self):
        """Translator and library, once for all programs."""
        if not self.library.exists():
            console.note("Building the CPU backend, once: about a minute.")
        with lock(paths.RUN_BUILD):
            Build().run(self.after)


def run(args):
    triton = next((word for word in args if word.endswith(".py")), None)
    if triton:
        raise DaysError(f"cc compiles CUDA C++, and {triton} is Python. A Triton file is looked at as it is", f"./days check --file {triton}")
    return driver.run(args, _Clone())
