# SPDX-License-Identifier: MIT
"""The Python that runs Python days: one with NumPy and Triton. It is, in this order, the one that DAYS_PYTHON names, the one that
runs ./days where it has them, or that of an environment of the project's own in build/python, which is made once, after it was
said what comes, how large it is, and where to. Versions and sizes are in tools/python_days/requirements.txt."""
from __future__ import annotations

import functools
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass

from days_cli import builder, cmake_tools, console, outputs, paths
from days_cli.errors import ENVIRONMENT, DaysError

REQUIREMENTS = paths.ROOT / "tools" / "python_days" / "requirements.txt"
FOLDER = paths.BUILD / "python"
_MARK = "installed.json"  # written last: an environment without it is half-installed
_MACHINES = ("x86_64", "aarch64")
_LOOK = """
import importlib.util, json, sys
from importlib import metadata
def version(name):
    try:
        return metadata.version(name) if importlib.util.find_spec(name) else ""
    except metadata.PackageNotFoundError:
        return ""
print(json.dumps({"python": sys.version_info[:2], "numpy": version("numpy"), "triton": version("triton"), "torch": version("torch")}))
"""


@dataclass(frozen=True)
class Found:
    """A Python and the versions that it has, "" for what it lacks."""
    path: str
    python: tuple
    numpy: str
    triton: str
    torch: str

    @property
    def fits(self):
        """Whether Python days run with it in the interpreter: the pinned Triton, of any patch."""
        return bool(self.numpy) and _two(self.triton) == _two(wanted()["triton"]) and _parts(self.numpy) < (2, 4)

    @property
    def about(self):
        return ", ".join(f"{title} {version}" for title, version in (("NumPy", self.numpy), ("Triton", self.triton),
                                                                    ("PyTorch", self.torch)) if version)


def _parts(version):
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])


def _two(version):
    return _parts(version)[:2]


@functools.lru_cache(maxsize=None)
def wanted():
    """{"triton": "3.6.0", "download": "205 MB", "disk": "740 MB", "python": "3.10 3.14"} of requirements.txt."""
    text = REQUIREMENTS.read_text(encoding="utf-8")
    return {**dict(re.findall(r"^# (download|disk|python) (.*)$", text, re.MULTILINE)),
            **dict(re.findall(r"^(\w+)==([\d.]+)", text, re.MULTILINE))}


@functools.lru_cache(maxsize=None)
def look(path):
    """What a Python has; None where it cannot be run."""
    try:
        done = subprocess.run([path, "-c", _LOOK], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
                              check=False, timeout=60)
        said = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
    return Found(path, tuple(said["python"]), said["numpy"], said["triton"], said["torch"])


def own():
    """The environment's Python where it is installed whole, and from today's requirements; else None."""
    try:
        mark = json.loads((FOLDER / _MARK).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if mark.get("requirements") != _digest():
        return None
    found = look(str(FOLDER / "bin" / "python3"))
    return found if found and found.fits else None


def _digest():
    return hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()[:16]


def named():
    """What DAYS_PYTHON names, or None where it names nothing; DaysError where that does not do."""
    path = os.environ.get("DAYS_PYTHON")
    if not path:
        return None
    found = look(path)
    if not found:
        raise DaysError(f"DAYS_PYTHON={path} is no Python that runs", "unset DAYS_PYTHON", ENVIRONMENT)
    if not found.fits:
        raise DaysError(f"DAYS_PYTHON={path} has {found.about or 'neither NumPy nor Triton'}; Python days need Triton "
                        f"{'.'.join(map(str, _two(wanted()['triton'])))} and NumPy below 2.4", "unset DAYS_PYTHON", ENVIRONMENT)
    return found


def here():
    """The Python that would be used, or None where nothing is installed yet. Installs nothing."""
    found = named()
    if found:
        return found
    this = look(sys.executable)
    return this if this and this.fits else own()


def obstacle():
    """(why nothing can be installed on this machine, "" where it can; what helps)."""
    if sys.platform == "darwin":
        return "Triton has no package for macOS: its kernels run on Linux alone, also without a GPU. A Colab notebook, a container or " \
               "another machine does", "docs/notebooks"
    if not sys.platform.startswith("linux") or platform.machine() not in _MACHINES:
        return f"Triton has packages for Linux on {' and '.join(_MACHINES)}, and this is {platform.system()} on {platform.machine()}", ""
    if platform.libc_ver()[0] != "glibc":
        return "Triton's packages need glibc, which this Linux has not got", ""
    if not _python():
        least, most = wanted()["python"].split()
        return f"Triton {wanted()['triton']} needs Python {least} to {most}, and this is {platform.python_version()}", \
            "DAYS_PYTHON=/path/to/python3 ./days doctor"
    return "", ""


def _python():
    """The path of a Python that the pinned versions have packages for: the one that runs, or another on the PATH."""
    least, most = (_parts(version) for version in wanted()["python"].split())
    if least <= sys.version_info[:2] <= most:
        return sys.executable
    names = [f"python{least[0]}.{minor}" for minor in range(most[1], least[1] - 1, -1)]
    return next((path for path in map(shutil.which, names) if path), None)


def plan():
    """What an installation brings, in words."""
    return (f"NumPy and Triton {wanted()['triton']}, {wanted()['download']} to download and {wanted()['disk']} in "
            f"{os.path.relpath(FOLDER, paths.ROOT)}")


def ensure():
    """The Python to use; installs the environment where there is none, saying so. DaysError where that is not possible."""
    found = here()
    if found:
        return found
    why, help_ = obstacle()
    if why:
        raise DaysError(why, help_, ENVIRONMENT)
    with builder.lock(paths.BUILD / "python-lock"):
        return own() or _install()


def _install():
    free = shutil.disk_usage(paths.BUILD).free
    needed = int(wanted()["disk"].split()[0]) * 1_000_000
    if free < 1.2 * needed:
        raise DaysError(f"Python days need {plan()}, and {free / 1e6:.0f} MB are free", "df -h .", ENVIRONMENT)
    half = ", in place of one that is not whole" if FOLDER.exists() else ""
    console.note(f"Python days need {plan()}. Installing that now{half}; rm -r build/python takes it away again.")
    by_hand = f"python3 -m pip install -r {os.path.relpath(REQUIREMENTS, paths.ROOT)}"
    console.progress("installing NumPy and Triton")
    cmake_tools.make_environment(FOLDER, _python(), by_hand)
    cmake_tools.pip_install(FOLDER / "bin" / "python3", ["-r", str(REQUIREMENTS)], "NumPy and Triton", by_hand)
    console.clear_progress()
    look.cache_clear()
    found = look(str(FOLDER / "bin" / "python3"))
    if not found or not found.fits:
        raise DaysError(f"pip said that all is well, and build/python has {found.about if found else 'no Python that runs'}",
                        "rm -r build/python && ./days doctor", ENVIRONMENT)
    outputs.put(FOLDER / _MARK, json.dumps({"requirements": _digest()}) + "\n")
    return found


# ---- with a GPU ----

@functools.lru_cache(maxsize=None)
def with_gpu():
    """(a Python whose PyTorch sees the GPU and has a Triton, "") or (None, why not)."""
    path = os.environ.get("DAYS_PYTHON") or sys.executable
    found = look(path)
    if not found or not found.torch:
        return None, f"{path} has no PyTorch, which Triton needs to reach a GPU: pip install torch"
    if not found.triton:
        return None, f"{path} has PyTorch {found.torch} and no Triton: pip install triton"
    done = subprocess.run([path, "-c", "import sys, torch; sys.exit(not torch.cuda.is_available())"], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, check=False)
    return (found, "") if done.returncode == 0 else (None, f"the PyTorch {found.torch} of {path} sees no GPU")
