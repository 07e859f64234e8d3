# SPDX-License-Identifier: MIT
"""The C++ compiler that simt works with: found, asked who it is, refused where it is too old."""
from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from typing import Tuple

from simt_driver import caller
from simt_driver.errors import ENVIRONMENT, CommandError

OLDEST = {"g++": 11, "clang": 14, "Apple clang": 15}


def output_of(command, **options):
    """Standard output and error of a command as text, "" where it cannot be started or hangs."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                              timeout=60, check=False, **options)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode(errors="replace")


def dotted(version):
    return ".".join(str(part) for part in version)


@dataclass(frozen=True)
class Compiler:
    path: str
    kind: str  # g++, clang or Apple clang
    version: Tuple[int, ...]

    @property
    def good(self):
        return self.version[0] >= OLDEST[self.kind]

    def __str__(self):
        return f"{self.kind} {dotted(self.version[:2])}"


def identify(path):
    """The Compiler behind a path, None where it is none."""
    found = shutil.which(path)
    text = output_of([found, "--version"]) if found else ""
    match = re.search(r"(Apple clang|clang) version (\d+)\.(\d+)", text)
    if match:
        return Compiler(found, match.group(1), (int(match.group(2)), int(match.group(3))))
    match = re.match(r"\S*(?:g\+\+|gcc|c\+\+)\S*.*\) (\d+)\.(\d+)", text)
    return Compiler(found, "g++", (int(match.group(1)), int(match.group(2)))) if match else None


def candidates():
    yield from ("g++", "c++", "clang++")
    yield from (f"g++-{version}" for version in range(20, 10, -1))
    yield from (f"clang++-{version}" for version in range(25, 13, -1))


@functools.lru_cache(maxsize=None)
def ccache_place(ccache):
    """What the environment must say for this ccache to keep its files in a folder of our own: {} where it has a folder of its own
    that it may write, which it has not without a home, and fails then."""
    if "CCACHE_DIR" in os.environ or not ccache:
        return {}
    folder = output_of([ccache, "--get-config", "cache_dir"]).strip()
    good = os.path.isabs(folder)  # else it is what ccache complains of
    try:
        if good:
            os.makedirs(folder, exist_ok=True)
            good = os.access(folder, os.W_OK)
    except OSError:
        good = False
    return {} if good else {"CCACHE_DIR": str(caller.ccache_folder())}


@functools.lru_cache(maxsize=None)
def host_compiler():
    """The C++ compiler for the CPU backend: $CXX, else the first that is new enough; CommandError where there is none. One that
    is ccache under a compiler's name gets a place for its files."""
    compiler = _host_compiler()
    real = os.path.realpath(compiler.path)
    if os.path.basename(real) == "ccache":
        os.environ.update(ccache_place(real))
    return compiler


def _host_compiler():
    wanted = os.environ.get("CXX", "").strip()
    if wanted:
        compiler = identify(wanted)
        if compiler is None:
            raise CommandError(f"CXX={wanted} is no g++ or clang++ that can be started", "unset CXX", ENVIRONMENT)
        if not compiler.good:
            raise CommandError(f"CXX={wanted} is {compiler}; simt needs {oldest()}", "unset CXX", ENVIRONMENT)
        return compiler
    old = None
    for name in candidates():
        compiler = identify(name)
        if compiler and compiler.good:
            return compiler
        old = old or compiler
    problem = f"{old} is too old: simt needs {oldest()}" if old else "no C++ compiler found"
    raise CommandError(problem, caller.install_compiler(), ENVIRONMENT)


def oldest():
    return f"g++ {OLDEST['g++']} or clang {OLDEST['clang']}"
