# SPDX-License-Identifier: MIT
"""The build and the tests of ./days gpu: each test begins when its program is there. And what sanitizers say of a few cases."""
from __future__ import annotations

import functools
import hashlib
import json
import os
import queue
import re
import shutil
import subprocess
import threading
import time
from dataclasses import dataclass, field

from days_cli import catalog, cmake_tools, console, gpu_state, paths, processes, program_day, toolchain
from days_cli.errors import ENVIRONMENT, DaysError

TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
_FOUND = 86  # compute-sanitizer's exit code where it found something
_CASES = 24  # of a day, for each sanitizer
_ELEMENTS = 1 << 16  # at most, of a shape that a sanitizer watches
_SANITIZER_SECONDS = 60
_LINKED = re.compile(r"Linking \w+ (?:executable|shared library) bin/(\S+)")
LOOK = 0.05  # seconds between looks at what runs


def ran(command, seconds, log=None, environment=None, cwd=None):
    """(exit code, seconds) of a command, whose output goes to a file; None for the code where its time was up."""
    began = time.monotonic()
    with open(log or os.devnull, "wb") as out:
        process = processes.start([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                                  env={**os.environ, "NO_COLOR": "1", **(environment or {})}, cwd=cwd or paths.ROOT)
        try:
            process.wait(max(0.1, seconds))
            return process.returncode, time.monotonic() - began
        except subprocess.TimeoutExpired:
            return None, time.monotonic() - began
        finally:
            processes.kill(process)


def last_words(log, count=1):
    """What a log says last."""
    try:
        lines = [line.strip() for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
    except OSError:
        return ""
    return "; ".join(lines[-count:])[:300]


# ---- what a test is made of ----

@functools.lru_cache(maxsize=None)
def _digest(path, _stamp):
    return hashlib.sha256(path.read_bytes()).digest()


def source_of(*patterns):
    """Twelve digits of the contents of all that a test is made of: common/ and these files."""
    found = sorted({path for pattern in ("common/**/*", "cmake/*", "CMakeLists.txt", "tests/*.cpp", "tests/*.cu", "tests/*.h", *patterns)
                    for path in paths.ROOT.glob(pattern)
                    if path.is_file() and path.suffix in (".h", ".cuh", ".cpp", ".cu", ".py", ".txt", ".cmake", ".json", ".png", ".jpg")})
    digest = hashlib.sha256()
    for path in found:
        digest.update(path.relative_to(paths.ROOT).as_posix().encode() + b"\0" + _digest(path, path.stat().st_mtime_ns))
    return digest.hexdigest()[:12]


def source_of_test(labels):
    day = next((label for label in labels if re.fullmatch(r"day\d\d", label)), None)
    if not day:
        return source_of(*(_MODEL if "model" in labels else []))
    more = ["tools/python_days/*"] if _in_python(day) else []
    if any(f"day{one.number:02d}" == day and catalog.LIBRARIES.keys() & set(one.front_matter().get("uses", [])) for one in catalog.here()):
        more += _MODEL
    return source_of(f"{day}_*/**/*", *more)


# The libraries of kernels above the days, their tests, and the days of whose blocks model/'s kernels are made.
_MODEL = (*(f"{folder}/**/*" for name in catalog.LIBRARY_FOLDERS for folder in (name, f"tests/{name}")), "day39_*/*", "day66_*/*", "day67_*/*")


def _in_python(day):
    return any(one.kind.in_python for one in catalog.here() if f"day{one.number:02d}" == day)


# ---- the build ----

def deps():
    """Where .deps/ of the clone has GoogleTest, CMake is to look there first: for machines without a network."""
    for folder in (paths.ROOT / ".deps", paths.ROOT / ".deps" / "usr"):
        if any(path for pattern in ("lib*/cmake/GTest", "lib/*/cmake/GTest") for path in folder.glob(pattern)):
            known = os.environ.get("CMAKE_PREFIX_PATH", "")
            if str(folder) not in known.split(os.pathsep):
                os.environ["CMAKE_PREFIX_PATH"] = os.pathsep.join([str(folder), *([known] if known else [])])


def require_tools():
    """DaysError where what the build needs is not here: nothing is installed in time that is paid for."""
    deps()
    lacking = cmake_tools.missing(["cmake", "ninja", "gtest", "benchmark"])
    if lacking:
        names = {"cmake": "CMake", "ninja": "Ninja", "gtest": "GoogleTest", "benchmark": "Google Benchmark"}
        raise DaysError(f"{', '.join(names[one] for one in lacking)} not found: install that, put it into .deps/ (lib, include), or name its "
                        "folder in CMAKE_PREFIX_PATH", "./days doctor", ENVIRONMENT)


@dataclass
class Test:
    name: str
    target: str  # to build; "" for a script
    command: list
    labels: tuple
    cost: float = 0
    timeout: float = 1800
    skip: int = -1  # the exit code of a test that was skipped
    environment: dict = field(default_factory=dict)
    cwd: str = ""
    serial: bool = False
    jobs: int = 1  # of all that there are, which it takes
    source: str = ""


def listed(preset):
    """The tests of the days and of common/, as ctest has them; those that need no GPU, of ./days and of objects, are not among them."""
    text = toolchain.output_of([cmake_tools.find("ctest")[0], "--preset", preset, "--show-only=json-v1"], cwd=paths.ROOT)
    try:
        data = json.loads(text[text.index("{"):])["tests"]
    except ValueError as error:
        raise DaysError(f"ctest cannot list the tests of {preset}", f"ctest --preset {preset} -N", ENVIRONMENT) from error
    programs, found = paths.BUILD / preset / "bin", []
    for one in data:
        members = {member["name"]: member["value"] for member in one.get("properties", [])}
        labels = tuple(members.get("LABELS", []))
        if "python" in labels or "bench" in labels or one["name"].endswith("_duplicate_symbols"):
            continue
        command, target = one.get("command", []), one["name"].partition(":")[0]
        if not command and target == one["name"]:  # what is not built yet has no command
            command = [str(programs / target)]
        if command and not command[0].startswith(str(programs)):
            target = ""
        skip = members.get("SKIP_RETURN_CODE", -1)
        found.append(Test(one["name"], target, command, labels, float(members.get("COST", 0)), float(members.get("TIMEOUT", 1800)),
                          int(skip), dict(pair.split("=", 1) for pair in members.get("ENVIRONMENT", [])), members.get("WORKING_DIRECTORY", ""),
                          bool(members.get("RUN_SERIAL", False)), int(members.get("PROCESSORS", 1))))
    sources = {}
    for test in found:
        if test.labels not in sources:
            sources[test.labels] = source_of_test(test.labels)
        test.source = sources[test.labels]
    return found


def jobs(preset):
    """How many tests run at once: what CMakePresets.json says of ctest, else eight."""
    for one in json.loads((paths.ROOT / "CMakePresets.json").read_text(encoding="utf-8")).get("testPresets", []):
        if one["name"] == preset and one.get("execution", {}).get("jobs"):
            return one["execution"]["jobs"]
    return min(8, os.cpu_count() or 1)


class Build:
    """Ninja, one list of targets after the other; what is linked is told as it comes."""

    def __init__(self, preset, log):
        self._lists, self._closed = [], False
        self._lines, self.linked, self.failed, self._process = queue.SimpleQueue(), set(), [], None
        self.running = True
        self._ninja, self._programs = [cmake_tools.find("ninja")[0], "-C", str(paths.BUILD / preset)], paths.BUILD / preset / "bin"
        self._out = open(log, "wb")

    def add(self, targets):
        """Builds these after those before."""
        if targets:
            self._lists.append(targets)
            there = [target for target in targets if (self._programs / target).exists()]
            if there:  # those that are as their sources are need not wait for the rest
                told = self._would(there)
                self.linked |= set(there) - set(_LINKED.findall(told)) if "FAILED" not in told else set()
            if not self._process:
                self._next()

    def close(self):
        """Nothing more comes."""
        self._closed = True
        if not self._process and not self._lists:
            self._next()

    def _would(self, targets):
        """What Ninja would do for these."""
        return subprocess.run([*self._ninja, "-n", *targets], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                              encoding="utf-8", errors="replace", env=cmake_tools.environment()).stdout

    def is_made(self, target):
        """Whether a target is there as its sources are."""
        return target in self.linked or "no work to do" in self._would([target])

    def _next(self):
        self._process = None
        if not self._lists:
            if self._closed:
                self.running = False
                self._out.close()
            return
        self._process = processes.start([*self._ninja, "-k", "0", *self._lists.pop(0)], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=cmake_tools.environment(), cwd=paths.ROOT)

        def read(process=self._process):
            with process.stdout:
                for line in process.stdout:
                    self._lines.put(line)
            self._lines.put(None)
        threading.Thread(target=read, daemon=True).start()

    def look(self):
        """Takes in what Ninja has said since."""
        while self.running:
            try:
                line = self._lines.get_nowait()
            except queue.Empty:
                return
            if line is None:
                self._process.wait()
                self._next()
                continue
            self._out.write(line)
            text = line.decode(errors="replace")
            step = re.match(r"\[(\d+/\d+)\] (.*)", text)
            if step:
                console.progress(f"building {step[1]}")
            self.linked.update(_LINKED.findall(text))
            failed = re.match(r"FAILED:(?: \[code=\d+\])? (\S+)", text)
            if failed:
                self.failed.append(failed[1].rpartition("/")[2])

    def end(self):
        if self.running:
            if self._process:
                processes.end([self._process])
            self.running = False
            self._out.close()


def targets(days, benchmarks, with_libraries, programs):
    """Benchmarks, the libraries that Python's contestants race, what program days time, and the days' own programs, which ncu looks at."""
    found = []
    for day in days:
        name = f"day{day.number:02d}"
        if (day.folder / "ladder.cpp").exists():
            found += [f"{name}_bench"] * benchmarks + [day.target] * programs
            if with_libraries and (day.folder / "tests" / "contestants.py").exists():
                found.append(f"lib{name}")
        elif day.kind.has_programs and benchmarks and program_day.measured(day):
            found += [f"{name}_{program}" for program in program_day.sources(day)]
    return found


class Tests:
    """Runs tests as their programs come."""

    def __init__(self, state, tests, until, count, first=()):
        self._state, self._until, self._count = state, until, count
        self._folder = gpu_state.folder() / "logs"
        self._folder.mkdir(parents=True, exist_ok=True)
        if tests:  # what is no test any more is forgotten
            names = {test.name for test in tests}
            state.data["tests"] = {name: test for name, test in state.data["tests"].items() if name in names}
        self.known = [test for test in tests if (state.done("tests", test.name, test.source) or {}).get("result") in ("passed", "skipped")]
        known = {test.name for test in self.known}
        # What failed before comes first, then what takes longest.
        self.waiting = sorted((test for test in tests if test.name not in known), key=lambda test: (
            not any(f"day{number:02d}" in test.labels for number in first),
            (self._state.data["tests"].get(test.name) or {}).get("result") != "failed",
            -(self._state.data["tests"].get(test.name) or {}).get("seconds", test.cost or 1)))
        self._running, self.passed, self.failed, self.skipped, self.seconds = [], [], [], [], 0.0

    def look(self, ready):
        """Takes in those that have ended, and starts what is ready: ready(test)."""
        for entry in list(self._running):
            test, process, began, out = entry
            late = time.monotonic() - began > test.timeout
            if process.poll() is None and not late:
                continue
            processes.kill(process)
            out.close()
            self._running.remove(entry)
            self._ended(test, process.returncode, time.monotonic() - began, late)
        alone = any(test.serial for test, *_ in self._running)
        for test in list(self.waiting):
            taken = sum(one.jobs for one, *_ in self._running)
            if taken >= self._count or alone or time.time() > self._until:
                return
            if self._running and taken + test.jobs > self._count:
                continue
            if not ready(test) or not test.command or (test.serial and self._running):
                continue
            self.waiting.remove(test)
            self._start(test)
            alone = test.serial

    def _start(self, test):
        file = test.name.replace("/", "_").replace(":", "_")
        out = open(self._folder / f"{file}.log", "wb")
        environment = {**os.environ, "NO_COLOR": "1", **test.environment, "GTEST_COLOR": "no"}
        try:
            process = processes.start(test.command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, env=environment,
                                      cwd=test.cwd or paths.ROOT)
        except OSError as error:
            out.write(f"{test.command[0]}: {error.strerror}\n".encode())
            out.close()
            self._ended(test, 127, 0, False)
            return
        self._running.append((test, process, time.monotonic(), out))

    def _ended(self, test, code, seconds, late):
        log = self._folder / f"{test.name.replace('/', '_').replace(':', '_')}.log"
        result = "skipped" if code == test.skip else "passed" if code == 0 and not late else "failed"
        why = {} if result != "failed" else {"why": f"not through after {test.timeout:g} seconds" if late else
                                             processes.name_of(code) if code < 0 else f"exit code {code}: {last_words(log)[:160]}"}
        self._state.keep("tests", test.name, test.source, result, seconds, **why)
        {"passed": self.passed, "failed": self.failed, "skipped": self.skipped}[result].append(test)
        self.seconds += seconds
        if result == "failed":
            console.say(f"{test.name}: FAIL, {seconds:.0f} s. build/gpu/logs/{log.name}")
        else:
            log.unlink(missing_ok=True)

    @property
    def idle(self):
        return not self._running

    def end(self):
        """Stops what runs: it waits for the next call."""
        for test, process, _, out in self._running:
            processes.kill(process)
            out.close()
            (self._folder / f"{test.name.replace('/', '_').replace(':', '_')}.log").unlink(missing_ok=True)
            self.waiting.append(test)
        self._running = []


# ---- sanitizers ----

def cases_of(program, seed):
    """A few of a day's tests of rungs, on small shapes: other ones for each seed."""
    suite, found = "", {}
    for line in toolchain.output_of([str(program), "--gtest_list_tests"]).splitlines():
        if not line.startswith(" "):
            suite = line.split("#")[0].strip()
            continue
        name, _, kind = (part.strip() for part in line.partition("#"))
        if kind == "GetParam() = library":  # not ours to look into
            continue
        match = re.fullmatch(r"(\w+)/(\w+?)_(\d+(?:x\d+)*)", name)
        if not match or match[1].startswith("CPU") or match[1] == "must_reject":
            continue
        size = 1
        for extent in match[3].split("x"):
            size *= int(extent)
        if 1 < size <= _ELEMENTS:
            found.setdefault((suite, match[1]), []).append(suite + name)
    def order(name):
        return hashlib.sha256(f"{seed}{name}".encode()).digest()
    groups = sorted((sorted(names, key=order) for names in found.values()), key=lambda names: order(names[0]))
    return [names[turn] for turn in range(max(map(len, groups), default=0)) for names in groups if turn < len(names)][:_CASES]


class Sanitizers:
    """Each of a few days, which the commit chooses, with each tool; what was done of the same sources is not done again."""

    def __init__(self, state, days, commit, preset, until, first=()):
        self._state, self._until, self._commit = state, until, commit
        self._programs = paths.BUILD / preset / "bin"
        ladder_days = [day for day in days if (day.folder / "ladder.cpp").exists()]
        ladder_days.sort(key=lambda day: (day.number not in first, hashlib.sha256(f"{commit}{day.target}".encode()).digest()))
        self._runs = [(day, tool) for day in ladder_days for tool in TOOLS]
        self.clean, self.found, self.problem, self.waiting = 0, [], "", 0

    def run(self):
        sanitizer = shutil.which("compute-sanitizer") or shutil.which("/usr/local/cuda/bin/compute-sanitizer")
        if not sanitizer:
            self.problem = "there is no compute-sanitizer here: it comes with the CUDA toolkit"
            self.waiting = len(self._runs)
            return
        sources = {}
        for number, (day, tool) in enumerate(self._runs):
            source = sources.setdefault(day.target, source_of(f"{day.target}/**/*"))
            name = f"{day.number:02d} {tool}"
            if self._state.done("sanitizers", name, source):
                continue
            if time.time() > self._until - 5 or self.problem:
                self.waiting = sum(not self._state.done("sanitizers", f"{one.number:02d} {which}", sources.setdefault(
                    one.target, source_of(f"{one.target}/**/*"))) for one, which in self._runs[number:])
                return
            self._one(sanitizer, day, tool, name, source)

    def _one(self, sanitizer, day, tool, name, source):
        program = self._programs / f"day{day.number:02d}_test"
        if not program.exists():
            return
        cases = cases_of(program, self._commit)
        if not cases:
            self._state.keep("sanitizers", name, source, "none", 0)
            return
        log = gpu_state.folder() / "logs" / f"day{day.number:02d}_{tool}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        more = ["--report-api-errors", "no"] if tool == "memcheck" else []
        console.progress(f"{tool} of day {day.label}")
        room = min(_SANITIZER_SECONDS, self._until - time.time())
        code, seconds = ran([sanitizer, "--tool", tool, "--error-exitcode", str(_FOUND), "--print-limit", "10", *more, program,
                             "--gtest_filter=" + ":".join(cases)], room, log, {"DAYS_TEST_MEMORY": "own"})  # each buffer's end is nobody's
        console.clear_progress()
        if code is None:
            if room >= _SANITIZER_SECONDS:
                self._state.keep("sanitizers", name, source, "late", seconds, cases=len(cases))
            log.unlink(missing_ok=True)
            return
        text = log.read_text(encoding="utf-8", errors="replace")
        if code == 0 and re.search(r"ERROR SUMMARY: 0 errors|RACECHECK SUMMARY: 0 hazards", text):
            self._state.keep("sanitizers", name, source, "clean", seconds, cases=len(cases))
            self.clean += 1
            log.unlink(missing_ok=True)
        elif code == _FOUND or re.search(r"(ERROR SUMMARY: [1-9]|RACECHECK SUMMARY: [1-9])", text):
            self._state.keep("sanitizers", name, source, "found", seconds, cases=len(cases))
            self.found.append(name)
            console.say(f"{tool} of day {day.label}: found something. build/gpu/logs/{log.name}")
        else:
            said = re.search(r"=========\s+(?:Internal Sanitizer Error|Error): (.*)", text)
            self.problem = f"compute-sanitizer does not work here: {(said[1] if said else last_words(log))[:120]}"
