# SPDX-License-Identifier: MIT
"""What `test` and `bench` need beyond a compiler: a CMake that is new enough, Ninja, GoogleTest, Google Benchmark.

Found, else installed with apt (as root) or Homebrew; CMake and Ninja else with pip in build/venv.
"""
from __future__ import annotations

import contextlib
import functools
import json
import os
import queue
import re
import shlex
import shutil
import subprocess
import sys
import threading
from pathlib import Path

from days_cli import compiler_messages, console, packages, paths, processes, toolchain
from days_cli.errors import ENVIRONMENT, WRONG, DaysError

_TITLES = {"cmake": "CMake", "ninja": "Ninja", "gtest": "GoogleTest", "benchmark": "Google Benchmark"}
_CONFIG = {"gtest": "GTest", "benchmark": "benchmark"}
# Where the compilers' names stand for ccache: Debian and its kind, Fedora, Homebrew on either processor.
_CCACHE = ("/usr/lib/ccache", "/usr/lib64/ccache", "/opt/homebrew/opt/ccache/libexec", "/usr/local/opt/ccache/libexec")


@functools.lru_cache(maxsize=None)
def oldest_cmake():
    """As CMakeLists.txt says it."""
    text = (paths.ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    match = re.search(r"cmake_minimum_required\(VERSION (\d+)\.(\d+)", text)
    return int(match.group(1)), int(match.group(2))


def environment():
    """os.environ with build/venv's programs first, where it has some, and ccache before the compilers, where it is
    installed: the plain and the checked build compile the same host code, which is most of what they compile."""
    result = dict(os.environ)
    places = [folder for folder in (str(paths.VENV / "bin"), *_CCACHE) if Path(folder).is_dir()]
    result["PATH"] = os.pathsep.join([*places, result.get("PATH", "")])
    if places[-1:] and places[-1] in _CCACHE:
        result.setdefault("CCACHE_NOHASHDIR", "1")  # or the build folder's name would keep the two apart
        for name, value in toolchain.ccache_place(shutil.which("ccache") or "").items():
            result.setdefault(name, value)
        result.setdefault("CCACHE_DEPEND", "1")  # what a file includes the compiler says: no need to preprocess it first
        with contextlib.suppress(DaysError):  # and g++ is not c++ to it: CMake takes the compiler that ./days takes
            result.setdefault("CXX", Path(toolchain.host_compiler().path).name)
    return result


def find(tool):
    """(path, version) of cmake or ninja; (None, ()) where there is none."""
    path = shutil.which(tool, path=environment().get("PATH"))
    match = re.search(r"(\d+)\.(\d+)", toolchain.output_of([path, "--version"])) if path else None
    return (path, (int(match.group(1)), int(match.group(2)))) if match else (None, ())


def find_package(thing):
    """The version of the installed gtest or benchmark as CMake will see it, "" where there is none."""
    name = _CONFIG[thing]
    prefixes = [prefix for variable in ("CMAKE_PREFIX_PATH", "CONDA_PREFIX")
                for prefix in os.environ.get(variable, "").split(os.pathsep) if prefix]
    for prefix in [*prefixes, "/usr/local", "/usr", "/opt/homebrew", "/opt/local"]:
        for pattern in ("lib*/cmake", "lib/*/cmake", "share/cmake"):
            for version in Path(prefix).glob(f"{pattern}/{name}*/{name}ConfigVersion.cmake"):
                match = re.search(r'PACKAGE_VERSION "([\d.]+)"', version.read_text(errors="replace"))
                return match.group(1) if match else "installed"
    return ""


def good(tool):
    return find(tool)[1] >= (oldest_cmake() if tool == "cmake" else (1, 0))


def missing(things):
    """Which of cmake, ninja, gtest, benchmark are not here, or too old."""
    return [thing for thing in things if not (good(thing) if thing in ("cmake", "ninja") else find_package(thing))]


def by_system(thing):
    """Would the system's package manager give a version that is new enough, without asking?"""
    if not packages.may_install():
        return False
    return thing != "cmake" or (packages.offered_version("cmake") or oldest_cmake()) >= oldest_cmake()


def plan(thing):
    """How ensure() would get a missing thing, in words for doctor."""
    if by_system(thing):
        return f"it will {packages.command([thing])}"
    if thing in ("cmake", "ninja"):
        return f"it will pip install {thing} in build/venv"
    return "it will be downloaded and built; or " + packages.command([thing])


def check_folder():
    """DaysError where CMake cannot build for the clone's name alone: it mixes these characters up with its own syntax."""
    odd = sorted(set(str(paths.ROOT)) & set('"\\;*?[]{}\n'))
    if odd:
        raise DaysError(f"CMake cannot work in {paths.ROOT}: it takes no {' or '.join(odd)} in a folder's name. run, check and "
                        "cc do without CMake", f"mv {shlex.quote(str(paths.ROOT))} ~/days", ENVIRONMENT)


def ensure(things):
    """Gets what is missing, saying so; DaysError with the command where that is not possible."""
    check_folder()
    lacking = missing([thing for thing in things if thing != "ccache"])
    system = [thing for thing in lacking if by_system(thing)]
    if system:
        # ccache saves time and nothing more: it comes with the others, and is no reason to install something
        extra = ["ccache"] if "ccache" in things and not shutil.which("ccache") else []
        packages.install(system + extra)
    by_pip = [tool for tool in ("cmake", "ninja") if tool in things and not good(tool)]
    if by_pip:
        _pip_install(by_pip)
    for thing in missing([thing for thing in things if thing in _CONFIG]):
        console.note(f"{_TITLES[thing]} is not installed: CMake downloads it. Or: {packages.command([thing])}")


def _pip_install(tools):
    wanted = [f"cmake>={toolchain.dotted(oldest_cmake())},<4" if tool == "cmake" else tool for tool in tools]
    old = find("cmake")[1]
    why = f" (this one is {toolchain.dotted(old)})" if "cmake" in tools and old else ""
    console.note(f"Installing {' and '.join(_TITLES[tool] for tool in tools)} with pip in build/venv{why}")
    by_hand = f"python3 -m pip install --user {' '.join(repr(item) for item in wanted)}"
    python = paths.VENV / "bin" / "python3"
    if not _works(python):
        make_environment(paths.VENV, sys.executable, by_hand)
    pip_install(python, wanted, " and ".join(tools), by_hand)


def make_environment(folder, python, by_hand):
    """A virtual environment of this Python's in the folder, in place of what was there; DaysError where that cannot be. by_hand: the
    line that does without."""
    words = [python, "-m", "venv", "--clear", str(folder)]
    created, output = run(words)
    if not created and packages.manager() == "apt-get" and "ensurepip" in output:
        if not packages.may_install():
            raise DaysError("this Python cannot make environments", packages.command(["venv"]), ENVIRONMENT)
        packages.install(["venv"])
        created, output = run(words)
    if not created:
        raise DaysError(f"no environment for pip in {os.path.relpath(folder, paths.ROOT)}{packages.why(output)}", by_hand, ENVIRONMENT)


def pip_install(python, wanted, what, by_hand):
    done, output = run([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *wanted])
    if not done:
        raise DaysError(f"pip cannot install {what}{packages.why(output)}", by_hand, ENVIRONMENT)


def _works(python):
    return python.exists() and run([str(python), "-m", "pip", "--version"])[0]


def run(command):
    # pip gives up after 15 seconds of silence, and a registry may be silent for longer before it sends hundreds of megabytes.
    environment = {"PIP_DEFAULT_TIMEOUT": "90", **os.environ}
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                              env=environment, check=False)
    except OSError as error:
        return False, str(error)
    return done.returncode == 0, done.stdout.decode(errors="replace")


def stream(command, each_line, extra_environment=None):
    """Runs a command in the root, hands over its output line by line; its exit code. Ends it when interrupted."""
    return stream_all([(command, extra_environment)], each_line)[0]


def stream_all(commands, each_line):
    """The same for several (command, extra environment) at once; their exit codes."""
    lines, running = queue.SimpleQueue(), []

    def read(process):
        with process.stdout:
            for line in process.stdout:
                lines.put(line)
        lines.put(None)

    try:
        for command, extra in commands:
            running.append(processes.start(command, cwd=paths.ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                           stdin=subprocess.DEVNULL, env=dict(environment(), **(extra or {}))))
            threading.Thread(target=read, args=(running[-1],), daemon=True).start()
        open_ones = len(running)
        while open_ones:
            line = lines.get()
            if line is None:
                open_ones -= 1
            else:
                each_line(line.decode(errors="replace").rstrip("\n"))
        return [process.wait() for process in running]
    except BaseException:
        processes.end(running)
        raise


def configure(preset, *flags):
    """cmake --preset; a build folder that was made for a clone elsewhere is made afresh. Where it has been done for the CPU,
    Ninja knows whether anything of it is to be done again, and spares seconds."""
    console.progress(f"configuring {preset}")
    command = [find("cmake")[0], "--preset", preset, *flags]
    folder = paths.BUILD / preset
    cache, made, presets = (folder / "CMakeCache.txt", folder / "build.ninja", paths.ROOT / "CMakePresets.json")
    if cache.exists():
        home = re.search(r"^CMAKE_HOME_DIRECTORY:INTERNAL=(.*)$", cache.read_text(errors="replace"), re.MULTILINE)
        if not home or Path(home.group(1)) != paths.ROOT:
            command.append("--fresh")
        elif (preset.startswith("cpu") and made.exists() and made.stat().st_mtime > presets.stat().st_mtime
              and stream([find("ninja")[0], "-C", str(folder), "build.ninja"], lambda line: None) == 0):
            console.clear_progress()
            return
    lines = []
    code = stream(command, lines.append)
    console.clear_progress()
    if code:
        raise DaysError(f"cmake --preset {preset} fails: {_cmake_error(lines)}",
                        f"cmake --preset {preset}", ENVIRONMENT)


def _cmake_error(lines):
    """The first error's own sentence."""
    for i, line in enumerate(lines):
        if line.startswith("CMake Error"):
            text = []
            rest = line.partition(": ")[2] if not line.endswith(":") else ""
            for following in ([rest] if rest else []) + lines[i + 1:]:
                if text and not following.strip():
                    break
                if following.strip():
                    text.append(following.strip())
            return " ".join(text)
    return lines[-1] if lines else "it says nothing"


def build(preset, targets=()):
    """cmake --build --preset; shows progress on a terminal, and what compilers say."""
    command = [find("cmake")[0], "--build", "--preset", preset]
    if targets:
        command += ["--target", *targets]
    shown = []

    def line_comes(line):
        step = re.match(r"\[(\d+/\d+)\] (.*)", line)
        if step:
            console.progress(f"building {step.group(1)}  {_short(step.group(2))}")
        elif line.strip() and not line.startswith("ninja: no work"):
            shown.append(line)

    code = stream(command, line_comes)
    console.clear_progress()
    if shown:
        console.tell("\n".join(shown))
    if code:
        failed = next((line for line in shown if line.startswith("FAILED:")), "")
        source = re.search(r"dir/([^ ]*?)\.o(?:bj)?(?: |$)", failed)
        again = f"cmake --build --preset {preset}"
        lack = compiler_messages.lacking("\n".join(shown))
        if lack:
            what = source.group(1).lstrip("_/") if source else preset
            raise DaysError(f"too little {lack} to build {what}",
                            f"{again} -j 1" if lack == "memory" else compiler_messages.relief(lack, again), ENVIRONMENT)
        raise DaysError(f"{source.group(1).lstrip('_/')} does not compile" if source else f"the build of {preset} fails",
                        again, WRONG)


def _short(text):
    """Ninja's description without its folders: Building CXX object .../02_x.cu.o -> 02_x.cu"""
    match = re.match(r"(?:Building|Linking) .* (\S+)$", text)
    return re.sub(r"\.o(bj)?$", "", match.group(1).rpartition("/")[2]) if match else text


def known_presets():
    """The names in CMakePresets.json that can be built."""
    data = json.loads((paths.ROOT / "CMakePresets.json").read_text(encoding="utf-8"))
    return [preset["name"] for preset in data["buildPresets"]]


def preset_for(given, backend):
    """The preset that was asked for, else the one of the backend."""
    if given and given not in known_presets():
        raise DaysError(f'no preset "{given}". There are {", ".join(known_presets())}', "./days test --preset cpu")
    return given or ("cuda" if backend == "cuda" else "cpu")
