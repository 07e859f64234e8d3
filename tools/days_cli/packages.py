# SPDX-License-Identifier: MIT
"""The system's package manager: which one, what it calls things, whether we may use it ourselves."""
from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys

from days_cli.errors import ENVIRONMENT, DaysError
from simt_driver import console  # as days_cli has it, which imports this module

# What each manager calls the things that days can need.
_NAMES = {
    "apt-get": {"compiler": "g++", "cmake": "cmake", "ninja": "ninja-build", "gtest": "libgtest-dev",
                "benchmark": "libbenchmark-dev", "venv": "python3-venv", "ccache": "ccache",
                "libpng": "libpng-dev", "libjpeg": "libjpeg-dev", "giflib": "libgif-dev",
                "json": "nlohmann-json3-dev", "http": "libcpp-httplib-dev"},
    "brew": {"compiler": "gcc", "cmake": "cmake", "ninja": "ninja", "gtest": "googletest",
             "benchmark": "google-benchmark", "ccache": "ccache",
             "libpng": "libpng", "libjpeg": "jpeg-turbo", "giflib": "giflib",
             "json": "nlohmann-json", "http": "cpp-httplib"},
    "dnf": {"compiler": "gcc-c++", "cmake": "cmake", "ninja": "ninja-build", "gtest": "gtest-devel",
            "benchmark": "google-benchmark-devel", "ccache": "ccache",
            "libpng": "libpng-devel", "libjpeg": "libjpeg-turbo-devel", "giflib": "giflib-devel",
            "json": "json-devel", "http": "cpp-httplib-devel"},
    "pacman": {"compiler": "gcc", "cmake": "cmake", "ninja": "ninja", "gtest": "gtest", "benchmark": "benchmark",
               "ccache": "ccache", "libpng": "libpng", "libjpeg": "libjpeg-turbo", "giflib": "giflib",
               "json": "nlohmann-json", "http": "cpp-httplib"},
    "zypper": {"compiler": "gcc-c++", "cmake": "cmake", "ninja": "ninja", "gtest": "gtest",
               "benchmark": "benchmark-devel", "ccache": "ccache",
               "libpng": "libpng16-devel", "libjpeg": "libjpeg8-devel", "giflib": "giflib-devel",
               "json": "nlohmann_json-devel", "http": "cpp-httplib-devel"},
}
_INSTALL = {"apt-get": "apt-get install -y", "brew": "brew install", "dnf": "dnf install -y", "pacman": "pacman -S",
            "zypper": "zypper install -y"}


def manager():
    """apt-get, brew, dnf, pacman, zypper, or "" where none of them is here."""
    return next((name for name in _NAMES if shutil.which(name)), "")


def is_root():
    return hasattr(os, "geteuid") and os.geteuid() == 0


def command(things):
    """The line that a person types to install these things."""
    if sys.platform == "darwin" and things == ["compiler"]:
        return "xcode-select --install"
    name = manager()
    if not name:
        return "install " + ", ".join({"compiler": "g++ 11 or later", "gtest": "GoogleTest", "venv": "python3-venv",
                                       "benchmark": "Google Benchmark"}.get(thing, thing) for thing in things)
    known = [_NAMES[name][thing] for thing in things if thing in _NAMES[name]]
    sudo = "" if name == "brew" or is_root() else "sudo "
    return f"{sudo}{_INSTALL[name]} {' '.join(known)}"


def may_install():
    """apt as root and Homebrew are used without asking, after saying so; for the others the command is printed."""
    return (manager() == "apt-get" and is_root()) or manager() == "brew"


def install(things):
    """Says what it does, does it; DaysError where that fails."""
    line = command(things)
    console.note(f"Installing what is missing: {line}")
    environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive", HOMEBREW_NO_AUTO_UPDATE="1")
    steps = [line.split()]
    if manager() == "apt-get":
        # --no-install-recommends: a library must not pull in documentation tools
        steps = [["apt-get", "update", "-qq"], [*line.split(), "-qq", "--no-install-recommends"]]
    for step in steps:
        done = subprocess.run(step, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                              env=environment, check=False)
        if done.returncode:
            text = done.stdout.decode(errors="replace")
            raise DaysError(f"{step[0]} failed{why(text)}", line, ENVIRONMENT)


def offered_version(thing):
    """The version that apt-get would install, (3, 22); None elsewhere or where it does not say."""
    if manager() != "apt-get":
        return None
    done = subprocess.run(["apt-cache", "policy", _NAMES["apt-get"][thing]], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=False)
    match = re.search(r"Candidate: (?:\d+:)?(\d+)\.(\d+)", done.stdout.decode(errors="replace"))
    return (int(match.group(1)), int(match.group(2))) if match else None


def why(output):
    """A short reason out of a tool's output: no network, or the last line that speaks of an error."""
    if re.search(r"resolv|Network is unreachable|ConnectionError|connection (failed|refused|timed out)|timed out|"
                 r"Failed to establish|Cannot initiate|No matching distribution|SSL connect|Could not connect",
                 output, re.IGNORECASE):
        return ": no network"
    lines = [line.strip() for line in output.splitlines() if re.match(r"\s*(E:|error|fatal)", line, re.IGNORECASE)]
    return ": " + re.sub(r"^(E:|error:?)\s*", "", lines[-1], flags=re.IGNORECASE)[:90] if lines else ""
