# SPDX-License-Identifier: MIT
"""The compilers and CUDA libraries on this machine, and whether they fit together."""
from __future__ import annotations

import functools
import os
import re
import shutil
import site
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from typing import Optional, Tuple

from days_cli import gpu as gpus
from days_cli import packages, settings
from days_cli.errors import ENVIRONMENT, DaysError
from simt_driver import console  # as days_cli has it, which imports this module
from simt_driver.host_compiler import candidates, ccache_place, dotted, host_compiler, identify, oldest, output_of  # noqa: F401

_PREFIXES = ("/usr", "/usr/local", "/opt/homebrew")  # where system libraries are, pkg-config or not


@dataclass(frozen=True)
class Nvcc:
    path: str
    version: Tuple[int, int]
    root: Path  # of the toolkit
    codes: Tuple[int, ...]  # real architectures that it can build: 75, 80, ...

    def host_limit(self, kind):
        """The newest major version of g++ or clang that this nvcc takes, as its own header says; None if it does not."""
        for folder in (self.root / "include", *self.root.glob("targets/*/include")):
            try:
                text = (folder / "crt" / "host_config.h").read_text(errors="replace")
            except OSError:
                continue
            if kind == "g++":
                match = re.search(r"#if __GNUC__ > (\d+)", text)
                return int(match.group(1)) if match else None
            match = re.search(r"#if \(__clang_major__ >= (\d+)\)", text)
            return int(match.group(1)) - 1 if match else None
        return None


@functools.lru_cache(maxsize=None)
def nvcc():
    """The CUDA compiler: $CUDACXX, on the PATH, else where toolkits are usually installed. None where there is none."""
    places = [os.environ.get("CUDACXX", ""), "nvcc"]
    places += [os.path.join(os.environ[name], "bin", "nvcc") for name in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(name)]
    places += ["/usr/local/cuda/bin/nvcc", *sorted(map(str, Path("/usr/local").glob("cuda-*/bin/nvcc")), reverse=True),
               "/opt/cuda/bin/nvcc"]
    for place in filter(None, places):
        path = shutil.which(place)
        match = re.search(r"release (\d+)\.(\d+)", output_of([path, "--version"])) if path else None
        if match:
            # The toolkit's folder is nvcc's own word: what is on the PATH may be a wrapper script.
            top = re.search(r"^#\$ TOP=(.*)$", output_of([path, "--dryrun", "-c", "x.cu"]), re.MULTILINE)
            root = Path(top.group(1).strip()) if top else Path(path).resolve().parent.parent
            codes = sorted({int(code) for code in re.findall(r"sm_(\d+)\b", output_of([path, "--list-gpu-code"]))})
            return Nvcc(path, (int(match.group(1)), int(match.group(2))), root, tuple(codes))
    return None


@functools.lru_cache(maxsize=None)
def nvcc_host():
    """(the compiler that nvcc should call, why it cannot be the default one, or "")."""
    compiler = nvcc()
    given = os.environ.get("NVCC_CCBIN") or os.environ.get("CUDAHOSTCXX")
    default = identify(given or "g++")
    if default is None:
        raise DaysError("nvcc needs a host compiler, and there is no g++", packages.command(["compiler"]), ENVIRONMENT)
    limit = compiler.host_limit(default.kind)
    too_new = limit is not None and default.version[0] > limit
    if not too_new and default.good:
        return default, ""
    problem = (f"nvcc {dotted(compiler.version)} takes {default.kind} up to {limit}, this is {default}" if too_new
               else f"{default} is too old: the course needs {oldest()}")
    for name in () if given else candidates():
        other = identify(name)
        takes = compiler.host_limit(other.kind) if other else None
        if other and other.good and (takes is None or other.version[0] <= takes):
            return other, problem
    raise DaysError(problem, _install_host(limit) if too_new else packages.command(["compiler"]), ENVIRONMENT)


def _install_host(limit):
    line = packages.command(["compiler"])
    return re.sub(r"(g\+\+|gcc)$", rf"\g<1>-{limit}", line) if packages.manager() == "apt-get" else line


def architecture_flags(gpu, compiler):
    """nvcc's flags for exactly this GPU, and whether they are real machine code (else PTX, for the driver to compile)."""
    data = settings.load()["cuda"]
    features = data.get("feature_architectures", {}).get(str(gpu.sm))
    if gpu.sm in compiler.codes:
        name = features or str(gpu.sm)
        return [f"--generate-code=arch=compute_{name},code=sm_{name}"], True
    same_family = [code for code in compiler.codes if code // 10 == gpu.sm // 10 and code < gpu.sm]
    if same_family:  # machine code runs on later cards of its own major version
        return [f"--generate-code=arch=compute_{same_family[-1]},code=sm_{same_family[-1]}"], True
    older = [code for code in compiler.codes if code < gpu.sm]
    return ([f"--generate-code=arch=compute_{older[-1]},code=compute_{older[-1]}"], False) if older else ([], False)


def check_cuda(probe, compiler, again):
    """DaysError where kernels built here could not run on the GPU. again: the command that works without it."""
    data = settings.load()["cuda"]
    gpu = probe.gpu
    oldest_sm, oldest = data["oldest_architecture"], tuple(int(part) for part in data["oldest_toolkit"].split("."))
    if gpu.sm < oldest_sm:
        raise DaysError(f"{gpu.name} is sm_{gpu.sm}; the course needs sm_{oldest_sm} (Turing) or later", again, ENVIRONMENT)
    if compiler.version < oldest:
        raise DaysError(f"nvcc {dotted(compiler.version)} is too old: the course needs CUDA {data['oldest_toolkit']}", again,
                        ENVIRONMENT)
    if not architecture_flags(gpu, compiler)[0]:
        raise DaysError(f"nvcc {dotted(compiler.version)} no longer builds for sm_{gpu.sm} ({gpu.name})", again, ENVIRONMENT)
    real = architecture_flags(gpu, compiler)[1]
    if probe.cuda and probe.cuda[0] < compiler.version[0]:
        raise DaysError(f"the driver ({dotted(probe.cuda)}) is older than nvcc ({dotted(compiler.version)}): "
                        f"update the driver or use CUDA {probe.cuda[0]}", again, ENVIRONMENT)
    if probe.cuda and probe.cuda < compiler.version and not real:
        raise DaysError(f"sm_{gpu.sm} needs PTX here, and the driver ({dotted(probe.cuda)}) is too old for that of nvcc "
                        f"{dotted(compiler.version)}", again, ENVIRONMENT)


def choose_backend(wanted, again):
    """("cuda" or "simt", remark): the GPU where there is one and nvcc, unless told otherwise.

    again: the command that does the same on the CPU, for errors.
    """
    if wanted == "simt":
        return "simt", ""
    probe = gpus.detect()
    if not probe.gpu:
        if wanted == "cuda":
            raise DaysError("no NVIDIA GPU here" + (f": {probe.problem}" if probe.problem else ""), again, ENVIRONMENT)
        remark = f"An NVIDIA driver is here but no GPU ({probe.problem}): kernels run on this CPU."
        return "simt", remark if probe.problem else ""
    compiler = nvcc()
    if not compiler:
        if wanted == "cuda":
            raise DaysError(f"{probe.gpu.name} is here but no nvcc: install the CUDA toolkit", "./days doctor", ENVIRONMENT)
        return "simt", f"{probe.gpu.name} is here but no nvcc: kernels run on this CPU. See ./days doctor"
    check_cuda(probe, compiler, again)
    return "cuda", ""


@dataclass(frozen=True)
class Library:
    """A CUDA library as baselines use it."""
    title: str
    include: Optional[str]  # to add to the search path; None where nvcc finds the header itself
    binaries: Tuple[str, ...]  # the files to link
    wheel: str = ""  # pip's name for it


def site_folders():
    """Folders in which pip may have put NVIDIA's wheels."""
    folders = []
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        if os.environ.get(variable):
            folders += sorted(Path(os.environ[variable]).glob("lib/python3*/site-packages"))
    folders += [Path(folder) for folder in (*site.getsitepackages(), site.getusersitepackages())]
    python = shutil.which("python3")
    if python and os.path.realpath(python) != os.path.realpath(sys.executable):
        folders += [Path(line) for line in output_of([python, "-c", "import sysconfig; print(sysconfig.get_paths()"
                                                                    "['purelib'])"]).splitlines() if line]
    folders.append(Path(sysconfig.get_paths()["purelib"]))
    return list(dict.fromkeys(folder for folder in folders if (folder / "nvidia").is_dir()))


def find_library(key, compiler):
    """(Library or None, the pip command that would give it or "")."""
    data = settings.load()["libraries"].get(key)
    if data is None:
        raise DaysError(f'cmake/build.json has no library "{key}", which a file in baselines/ is named after', code=1)
    soname = data.get("soname")
    for include in (compiler.root / "include", *compiler.root.glob("targets/*/include")):
        for header in (include / data["header"], include / "cccl" / data["header"]):
            if header.is_file():
                binaries = _shared(soname, (include.parent / "lib64", include.parent / "lib"))
                if binaries is not None:
                    return Library(data["title"], None, binaries), ""
    wheel = data.get("wheels", {}).get(str(compiler.version[0]))
    if not wheel:
        return None, ""
    for folder in site_folders():
        base = folder / wheel["folder"]
        if (base / "include" / data["header"]).is_file():
            binaries = _shared(soname, (base / "lib",))
            if binaries is not None:
                return Library(data["title"], str(base / "include"), binaries, wheel["package"]), ""
    return None, f"pip install '{wheel['package']}=={dotted(compiler.version)}.*'"


def _shared(sonames, folders):
    """The files of these shared libraries, all from one folder; () where none is needed, None where one is missing."""
    sonames = [sonames] if isinstance(sonames, str) else sonames or []
    for folder in folders:
        files = [_newest(folder, soname) for soname in sonames]
        if all(files):
            return tuple(files)
    return None


def _newest(folder, soname):
    exact = folder / f"lib{soname}.so"
    if exact.exists():
        return str(exact)
    versioned = sorted(path for path in folder.glob(f"lib{soname}.so.*") if re.search(r"\.so\.\d+$", path.name))
    return str(versioned[-1]) if versioned else None


@dataclass(frozen=True)
class Pictures:
    """How common/image, or common/animation, is compiled and linked."""
    compile: Tuple[str, ...]
    link: Tuple[str, ...]
    versions: str  # "libpng 1.6.39, libjpeg 2.1.5", as far as pkg-config tells


def find_pictures(key="pictures"):
    """(Pictures or None, names of the libraries that are missing) of build.json's "pictures" or "animations". pkg-config knows
    best; else the usual folders."""
    flags, links, versions, missing = [], [], [], []
    for library in settings.load()[key]["libraries"]:
        asked = ["pkg-config", "--cflags", "--libs", library["pkg_config"]]
        done = subprocess.run(asked, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, universal_newlines=True,
                              check=False) if shutil.which("pkg-config") else None
        if done and done.returncode == 0:
            words = done.stdout.split()
            links += [word for word in words if word.startswith(("-l", "-L"))]
            flags += [part for word in words if word.startswith("-I") for part in ("-isystem", word[2:])]
            version = output_of(["pkg-config", "--modversion", library["pkg_config"]]).strip()
            versions.append(f"{library['name']} {version}")
            continue
        root = next((Path(root) for root in _PREFIXES if (Path(root) / "include" / library["header"]).is_file()), None)
        if root is None:
            missing.append(library["name"])
            continue
        if str(root) not in _PREFIXES[:2]:  # where compilers look by themselves
            flags += ["-isystem", f"{root}/include"]
            links.append(f"-L{root}/lib")
        links.append("-l" + library["link"])
        versions.append(library["name"])
    if missing:
        return None, missing
    return Pictures(tuple(flags), tuple(dict.fromkeys(links)), ", ".join(versions)), []


def json_flags():
    """How sources that include nlohmann's JSON find it; installed where that may be done without asking, else DaysError says how."""
    header = settings.load()["json"]["header"]
    found = lambda: next((root for root in _PREFIXES if (Path(root) / "include" / header).is_file()), None)  # noqa: E731
    root = found()
    if root is None and packages.may_install():
        packages.install(["json"])
        root = found()
    if root is None:
        raise DaysError("models' files are JSON, and nlohmann's header is not here", packages.command(["json"]), ENVIRONMENT)
    return [] if root in _PREFIXES[:2] else ["-isystem", f"{root}/include"]


def http_flags():
    """(what serve/http.cpp is compiled with, what its program is linked with): nothing where cpp-httplib is missing; it is installed where that
    may be done without asking."""
    found = _find_http()
    if found is None and packages.may_install():
        try:
            packages.install(["http"])
        except DaysError as error:  # all but the server does without
            console.note(f"cpp-httplib is missing: {error.message}")
        found = _find_http()
    return found or ([], [])


def _find_http():
    http = settings.load()["http"]
    define = "-D" + http["define"]
    asked = ["pkg-config", "--cflags", "--libs", http["pkg_config"]]
    done = subprocess.run(asked, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, universal_newlines=True,
                          check=False) if shutil.which("pkg-config") else None
    if done and done.returncode == 0:
        words = done.stdout.split()
        flags = [part for word in words for part in (("-isystem", word[2:]) if word.startswith("-I") else (word,)) if word.startswith(("-D", "-I"))]
        return [define, *flags], [word for word in words if word.startswith(("-l", "-L"))]
    root = next((root for root in _PREFIXES if (Path(root) / "include" / http["header"]).is_file()), None)
    if root is None:
        return None
    library = next(iter(sorted(Path(root).glob(f"lib*/**/lib{http['link']}.*"))), None)
    flags = [] if root in _PREFIXES[:2] else ["-isystem", f"{root}/include"]
    if library is None:  # a header alone
        return [define, *flags], []
    return [define, *flags, *("-D" + name for name in http["compiled_with"])], [f"-L{library.parent}", "-l" + http["link"]]
