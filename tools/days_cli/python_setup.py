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
from days_cli.errors import ENVIRONMENT, WRONG, DaysError

REQUIREMENTS = paths.ROOT / "tools" / "python_days" / "requirements.txt"
FOLDER = paths.BUILD / "python"
_MARK = "installed.json"  # written last: an environment without it is half-installed
_MACHINES = ("x86_64", "aarch64")
_LOOK = """
import importlib.util, json, sys
from importlib import metadata
def version(name):
    try:
        return metadata.version(name) if importlib.util.find_spec(name.replace("-", "_")) or name == "numba-cuda" else ""
    except metadata.PackageNotFoundError:
        return ""
print(json.dumps([sys.version_info[:2], {name: version(name) for name in sys.argv[1:]}]))
"""
_TITLES = {"numpy": "NumPy", "triton": "Triton", "torch": "PyTorch", "numba": "Numba"}
BASE = "base"


@dataclass(frozen=True)
class Found:
    """A Python and the versions that it has, "" for what it lacks."""
    path: str
    python: tuple
    versions: dict

    @property
    def torch(self):
        return self.versions.get("torch", "")

    @property
    def triton(self):
        return self.versions.get("triton", "")

    def fits(self, extras=()):
        """Whether Python days run with it in the interpreter: NumPy below 2.4, the pinned Triton of any patch, and the extras."""
        numpy = self.versions.get("numpy", "")
        return (bool(numpy) and _parts(numpy) < (2, 4) and _parts(self.triton)[:2] == _parts(wanted()["triton"])[:2]
                and not self.lacks(extras))

    def lacks(self, extras):
        """The packages of the extras that it has not got."""
        return [name for extra in extras for name in groups()[extra].packages if not self.versions.get(name)]

    @property
    def about(self):
        return ", ".join(f"{title} {self.versions[name]}" for name, title in _TITLES.items() if self.versions.get(name))


@dataclass(frozen=True)
class Group:
    """A part of requirements.txt: its lines for pip, the packages' names, what it takes."""
    lines: tuple
    packages: tuple
    download: int  # MB
    disk: int


def _parts(version):
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])


@functools.lru_cache(maxsize=None)
def groups():
    """{"base": Group, "torch": Group, ...} of requirements.txt."""
    text, found = REQUIREMENTS.read_text(encoding="utf-8"), {}
    parts = re.split(r"^# (base|extra \w+): (\d+) MB to download, (\d+) MB on disk\n", text, flags=re.MULTILINE)
    for name, download, disk, lines in zip(parts[1::4], parts[2::4], parts[3::4], parts[4::4]):
        lines = [line for line in lines.splitlines() if line and not line.startswith("#")]
        names = [re.match(r"[\w-]+", line)[0] for line in lines if not line.startswith("--")]
        found[name.replace("extra ", "")] = Group(tuple(lines), tuple(dict.fromkeys(names)), int(download), int(disk))
    return found


@functools.lru_cache(maxsize=None)
def wanted():
    """{"triton": "3.6.0", "python": "3.10 3.14", ...} of requirements.txt."""
    text = REQUIREMENTS.read_text(encoding="utf-8")
    return {**dict(re.findall(r"^# (python) (.*)$", text, re.MULTILINE)), **dict(re.findall(r"^([\w-]+)==([\d.]+)", text, re.MULTILINE))}


@functools.lru_cache(maxsize=None)
def look(path):
    """What a Python has; None where it cannot be run."""
    names = [name for group in groups().values() for name in group.packages]
    try:
        done = subprocess.run([path, "-c", _LOOK, *names], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
                              check=False, timeout=60)
        python, versions = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
    return Found(path, tuple(python), versions)


def extras_of(day):
    """What a day's front matter needs beside NumPy and Triton; DaysError for a word that is none of requirements.txt."""
    extras = [str(word) for word in day.front_matter().get("needs", [])]
    unknown = [word for word in extras if word not in groups() or word == BASE]
    if unknown:
        known = ", ".join(name for name in groups() if name != BASE)
        raise DaysError(f"{day.target}/README.md: needs is of {known}, not {unknown[0]}", code=WRONG)
    return tuple(extras)


def own(extras=()):
    """The environment's Python where it is installed whole, and from today's requirements; else None."""
    if not {BASE, *extras} <= _installed():
        return None
    found = look(str(FOLDER / "bin" / "python3"))
    return found if found and found.fits(extras) else None


def _installed():
    """The groups that the environment has, as they are today; none where an installation was not through."""
    try:
        mark = json.loads((FOLDER / _MARK).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return set()
    return {name for name in groups() if mark.get(name) == _digest(name)}


def _digest(name):
    return hashlib.sha256("\n".join(groups()[name].lines).encode()).hexdigest()[:16]


def named(extras=()):
    """What DAYS_PYTHON names, or None where it names nothing; DaysError where that does not do."""
    path = os.environ.get("DAYS_PYTHON")
    if not path:
        return None
    found = look(path)
    if not found:
        raise DaysError(f"DAYS_PYTHON={path} is no Python that runs", "unset DAYS_PYTHON", ENVIRONMENT)
    if not found.fits():
        raise DaysError(f"DAYS_PYTHON={path} has {found.about or 'neither NumPy nor Triton'}; Python days need Triton "
                        f"{'.'.join(map(str, _parts(wanted()['triton'])[:2]))} and NumPy below 2.4", "unset DAYS_PYTHON", ENVIRONMENT)
    if found.lacks(extras):
        raise DaysError(f"DAYS_PYTHON={path} lacks {', '.join(found.lacks(extras))}, which this day needs",
                        f"{path} -m pip install " + " ".join(found.lacks(extras)), ENVIRONMENT)
    return found


def here(extras=()):
    """The Python that would be used, or None where nothing is installed yet. Installs nothing."""
    found = named(extras)
    if found:
        return found
    this = look(sys.executable)
    return this if this and this.fits(extras) else own(extras)


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


def plan(names=(BASE,)):
    """What an installation brings, in words."""
    download, disk = (sum(getattr(groups()[name], member) for name in names) for member in ("download", "disk"))
    what = [f"{_TITLES.get(name, name)} {wanted()[name]}" if name != "numpy" else "NumPy"
            for group in names for name in groups()[group].packages if name in _TITLES]
    return (f"{' and '.join(what)}, about {download} MB to download and {disk} MB in {os.path.relpath(FOLDER, paths.ROOT)}")


def ensure(extras=()):
    """The Python to use; installs the environment, or what it lacks, saying so. DaysError where that is not possible."""
    found = here(extras)
    if found:
        return found
    why, help_ = obstacle()
    if why:
        raise DaysError(why, help_, ENVIRONMENT)
    with builder.lock(paths.BUILD / "python-lock"):
        return own(extras) or _install(extras)


def _install(extras):
    whole = own() is not None
    there = _installed() if whole else set()
    missing = [name for name in (BASE, *extras) if name not in there]
    free = shutil.disk_usage(paths.BUILD).free
    if free < 1.2e6 * sum(groups()[name].disk for name in missing):
        raise DaysError(f"this needs {plan(missing)}, and {free / 1e6:.0f} MB are free", "df -h .", ENVIRONMENT)
    half = ", in place of one that is not whole" if FOLDER.exists() and not whole else ""
    console.note(f"Python days need {plan(missing)}. Installing that now{half}; rm -r build/python takes it away again.")
    lines = [word for name in missing for line in groups()[name].lines for word in (line.split() if line.startswith("--") else [line])]
    by_hand = "python3 -m pip install " + " ".join(f"'{word}'" if ";" in word else word for word in lines)
    console.progress("installing")
    if not whole:
        cmake_tools.make_environment(FOLDER, _python(), by_hand)
    (FOLDER / _MARK).unlink(missing_ok=True)  # until pip is through it is half-installed
    cmake_tools.pip_install(FOLDER / "bin" / "python3", lines, " and ".join(name for group in missing for name in groups()[group].packages), by_hand)
    console.clear_progress()
    look.cache_clear()
    found = look(str(FOLDER / "bin" / "python3"))
    if not found or not found.fits(extras):
        raise DaysError(f"pip said that all is well, and build/python has {found.about if found else 'no Python that runs'}",
                        "rm -r build/python && ./days doctor", ENVIRONMENT)
    outputs.put(FOLDER / _MARK, json.dumps({name: _digest(name) for name in sorted({*there, *missing})}) + "\n")
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
