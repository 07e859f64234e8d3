# SPDX-License-Identifier: MIT
"""days gpu: makes the best of a GPU that is there for half an hour: builds, tests, measures what is stale, and goes on next time."""
from __future__ import annotations

import contextlib
import json
import os
import queue
import shutil
import signal
import sys
import threading
import time
from pathlib import Path

from days_cli import (arguments, builder, catalog, cmake_tools, console, gpu_state, gpu_tests, measuring, outputs, paths, results,
                      run_build, stale)
from days_cli import gpu as gpus
from days_cli.errors import ENVIRONMENT, WRONG, DaysError
from days_cli.gpu_tests import last_words, ran

USAGE = "[--for 9m]"
SUMMARY = "all that waits for a GPU, in its time"
HELP = """./days gpu [flags]         builds, tests and measures what waits for a GPU

  --for 9m                ends in time; called again it goes on
  --only tests|bench|counters|profile
  --days 56,57            these days first
  --from FILE             goes on from the archive of an earlier call
  --take FILE             puts an archive's results into docs/results; needs no
                          GPU
  --status                what is done and what waits; needs no GPU
  --preset NAME           this CMake preset; cpu tests on this CPU
  --jobs N                tests at once
  --color auto|always|never

In this order: builds for this card alone, each test starts when its program
is there; the headline table of every day beside its libraries; other tables;
sanitizers of a few days, which the commit chooses; ncu's counters and
profiles; the CPU's rows; sweeps. What is done, and of what it was done, is in
build/gpu/state.json, and with all results in build/gpu/results.tar.gz, which
is written anew after each step and is all that another machine needs:
  ./days gpu --take results.tar.gz
Nothing is installed: GoogleTest may lie in .deps/ or CMAKE_PREFIX_PATH."""

_VALUED = {"--for": None, "--only": ("tests", "bench", "counters", "profile"), "--days": None, "--from": None, "--take": None,
           "--preset": None, "--jobs": None}
_MARK = "DAYS_GPU_CALL"  # in the environment of all that a call starts: what one that was killed left behind is found by it
_NAMES = ("build", "tests", "compile cache", *stale.ROUNDS[:3], "sanitizers", "counters", "profile", "CPU rows", stale.ROUNDS[3])
# Of the time that is left when a step begins, where others wait behind it.
_SHARE = {stale.ROUNDS[2]: 0.5, "sanitizers": 0.3, "counters": 0.5, "profile": 0.6, "CPU rows": 0.5}
_ONLY = {"tests": ("build", "tests"), "bench": ("build", "compile cache", *stale.ROUNDS, "CPU rows"), "counters": ("build", "counters"),
         "profile": ("build", "profile")}


class _Late(BaseException):
    """Time is up."""


def run(args):
    given = arguments.parse("gpu", args, _VALUED, ("--status",), 0)
    if given.get("--help"):
        console.say(HELP)
        return 0
    if given.get("--take"):
        return _take(given.get("--take"))
    seconds = stale.seconds(given.get("--for"), "./days gpu --for 9m") if given.get("--for") else None
    first = _first(given.get("--days"))
    count = given.get("--jobs")
    if count and not (count.isdecimal() and int(count)):
        raise DaysError(f"--jobs takes a number, not {count}", "./days gpu --jobs 4")
    if given.get("--status"):
        return _show(gpu_state.State())
    began = _process_began()
    preset = cmake_tools.preset_for(given.get("--preset"), "cuda")
    gpu = gpus.detect().gpu
    if preset == "cuda" and not gpu:
        problem = gpus.detect().problem
        raise DaysError("there is no NVIDIA GPU here" + (f": {problem}" if problem else "") + ". What waits for one: ./days gpu --status",
                        "./days gpu --preset cpu --only tests", ENVIRONMENT)
    if given.get("--from"):
        gpu_state.opened(given.get("--from"))  # said before anything else
    gpu_state.folder().mkdir(parents=True, exist_ok=True)
    with builder.lock(gpu_state.folder()):
        return _Call(given, preset, results.slug(gpu.name) if gpu else "cpu", began, seconds, first, int(count or 0), " ".join(args)).run()


def _process_began():
    """When this process did, where the system tells: Python's own start counts, too."""
    try:
        ticks = int(Path("/proc/self/stat").read_text(encoding="ascii").rpartition(")")[2].split()[19])
        up = float(Path("/proc/uptime").read_text(encoding="ascii").split()[0])
        return time.time() - max(0, min(60, up - ticks / os.sysconf("SC_CLK_TCK")))
    except (OSError, ValueError, IndexError):
        return time.time()


def _first(words):
    numbers = []
    for word in (words or "").replace(",", " ").split():
        numbers.append(catalog.resolve(word, "bench").number)
    return tuple(numbers)


def _take(path):
    state, said = gpu_state.take(path)
    for line in said:
        for part in console.wrap(line, "    ", ""):
            console.say(part)
    if not said:
        console.say(f"{results.shown(path)} holds no result that is not here")
    failed = [name for name, test in state["tests"].items() if test["result"] == "failed"]
    passed = sum(test["result"] == "passed" for test in state["tests"].values())
    console.say(f"{state['gpu']}: {passed} tests passed, {len(failed)} failed" + (f": {', '.join(failed)}" if failed else ""))
    found = [name for name, one in state["sanitizers"].items() if one["result"] == "found"]
    if found:
        console.say(f"Sanitizers found something: {', '.join(found)}")
    if said:
        console.say("Next: ./days report")
    return 0


def _end_leftovers():
    """Ends what a call that was killed has left running: it would disturb all that is timed now."""
    mark = f"{_MARK}={gpu_state.folder()}".encode()
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError):
            if int(entry.name) != os.getpid() and mark in (entry / "environ").read_bytes().split(b"\0"):
                os.kill(int(entry.name), signal.SIGKILL)


class _Call:
    def __init__(self, given, preset, gpu, began, seconds, first, count, words):
        self._given, self._preset, self._gpu, self._first, self._count = given, preset, gpu, first, count
        self._began, self._words = began, words
        # Room at the end for the archive and the table.
        self._end = began + seconds if seconds else float("inf")
        self._until = began + seconds - min(8, max(2, 0.04 * seconds), 0.5 * seconds) if seconds else float("inf")
        self._steps, self._ended, self._failures = [], False, 0
        self._commit = os.environ.get("DAYS_COMMIT") or paths.commit() or gpu_tests.source_of("day*/**/*")
        os.environ["DAYS_COMMIT"] = self._commit
        self._packed, self._session, self._state, self._guard, self._unwarmed = 0.0, None, None, None, None
        self._days = [day for day in catalog.here() if day.kind.reader.measured(day)]

    # ---- time ----

    def _left(self):
        return self._until - time.time()

    def _alarm(self):
        def late(*_):
            raise _Late
        if self._end == float("inf") or threading.current_thread() is not threading.main_thread():
            return
        signal.signal(signal.SIGALRM, late)
        signal.setitimer(signal.ITIMER_REAL, max(0.01, self._left()))
        self._guard = threading.Timer(max(0.1, self._end - time.time() - 0.3), self._give_up)
        self._guard.daemon = True
        self._guard.start()

    def _give_up(self):
        """Even the archive took too long, or something does not let go: the one before stands."""
        if self._ended:
            return
        _end_leftovers()
        os.write(2, b"error: time is up, and the last step did not let go; the archive is of the step before\n")
        os._exit(WRONG)

    # ---- the call ----

    def run(self):
        _end_leftovers()
        os.environ[_MARK] = str(gpu_state.folder())
        os.environ.update(measuring.caches())
        wanted = _ONLY.get(self._given.get("--only"), _NAMES)
        if self._preset != "cuda":
            wanted = [name for name in wanted if name in ("build", "tests")]
        try:
            if self._given.get("--from"):
                for line in self._taken():
                    console.note(line)
            if gpu_state.archive_file().exists():  # what it holds may be gone from docs/results, where a machine gets its files anew
                gpu_state.take(gpu_state.archive_file())
            self._state = gpu_state.State()
            self._state.begin(self._gpu, self._commit, self._words)
            self._alarm()
            console.note(f"{self._gpu}, commit {self._commit[:12]}" + (f", until {self._end - self._began:.0f} s have passed" if self._given.get("--for") else ""))
            self._work(wanted)
        except _Late:
            pass
        except BaseException:  # Ctrl-C and SIGTERM, too
            self._close(wanted)
            raise
        return max(self._close(wanted), WRONG if self._failures else 0)

    def _close(self, wanted):
        """Ends all that was started, writes the archive and says what is done; 1 where a test fails."""
        if threading.current_thread() is threading.main_thread():
            signal.setitimer(signal.ITIMER_REAL, 0)
        console.clear_progress()
        if self._session:
            self._session.close()
        while self._unwarmed and not self._unwarmed.empty():  # or the next would begin when the one before is ended
            with contextlib.suppress(queue.Empty):
                self._unwarmed.get_nowait()
        _end_leftovers()
        code = 0
        if self._state and self._state.data["calls"]:
            self._state.call["seconds"] = round(time.time() - self._began, 1)
            self._pack()
            code = _show(self._state, wanted)
        self._ended = True
        if self._guard:
            self._guard.cancel()
        return code

    def _taken(self):
        state, said = gpu_state.take(self._given.get("--from"))
        here = gpu_state.State().data["calls"]
        if here and here[-1]["date"] >= max((call["date"] for call in state["calls"]), default=""):
            return [*said, "what is known here is newer than the archive's state, and stays"]
        outputs.put(gpu_state.folder() / "state.json", json.dumps(state, indent=1) + "\n")
        return said

    def _work(self, wanted):
        if "build" in wanted:
            self._build_and_test(wanted)
        steps = {"sanitizers": self._sanitizers, "counters": self._counters, "profile": self._profile, "CPU rows": self._cpu_rows}
        rest = [name for name in wanted if name not in ("build", "tests", "compile cache")]
        if self._given.get("--only") == "bench":
            rest.sort(key=lambda name: _NAMES.index(name))
        for name in rest:
            share = _SHARE.get(name, 1) if len(rest) > 1 and name != rest[-1] else 1
            if self._left() < 2:
                return
            with self._step(name) as step:
                until = time.time() + share * self._left() if self._until != float("inf") else self._until
                if name in stale.ROUNDS:
                    self._tables(stale.ROUNDS.index(name), until, step)
                else:
                    steps[name](until, step)

    @contextlib.contextmanager
    def _step(self, name):
        step = {"name": name, "done": "", "waits": "", "seconds": 0.0}
        self._state.call["steps"].append(step)
        began = time.time()
        try:
            yield step
        except OSError as error:
            self._failures += 1
            step["waits"] = f"{error.filename or 'a file'}: {error.strerror}"
            console.note(f"{name}: {step['waits']}")
        except DaysError as error:
            self._failures += 1
            step["waits"] = error.message
            console.note(f"{name}: {error.message}")
        finally:
            step["seconds"] = round(time.time() - began, 1)
            self._pack()

    def _pack(self):
        try:
            self._state.pack()
            self._packed = time.time()
        except OSError as error:
            self._failures += 1
            console.note(f"build/gpu/results.tar.gz could not be written ({error.strerror}): the one before stands")

    def _saved(self):
        """A table more: the archive has it within some seconds."""
        if time.time() - self._packed > 20:
            self._pack()

    # ---- build and tests ----

    def _build_and_test(self, wanted):
        with self._step("build") as step:
            gpu_tests.require_tools()
            began = time.time()
            with builder.lock(paths.BUILD / self._preset):
                cmake_tools.configure(self._preset, f"-DPython3_EXECUTABLE={sys.executable}")
                tests = gpu_tests.listed(self._preset) if "tests" in wanted else []
                runner = gpu_tests.Tests(self._state, tests, self._until, self._count or gpu_tests.jobs(self._preset), self._first)
                names = list(dict.fromkeys(test.target for test in sorted(runner.waiting, key=lambda test: -test.cost) if test.target))
                build = gpu_tests.Build(self._preset, gpu_state.folder() / "build.log")
                with self._testing(runner, wanted):
                    try:
                        build.add(names)
                        racing = False
                        if self._preset == "cuda" and set(wanted) - {"build", "tests"}:
                            racing = "compile cache" in wanted and measuring.torch_sees_gpu()  # imports PyTorch, while Ninja works
                            measured = {"sanitizers", "CPU rows", *stale.ROUNDS} & set(wanted)
                            build.add(gpu_tests.targets(catalog.here(), bool(measured), racing, bool({"counters", "profile"} & set(wanted))))
                        build.close()
                        self._both(build, runner, racing, step, began)
                    finally:
                        if build.running:
                            step["waits"], step["seconds"] = "the build", round(time.time() - began, 1)
                        build.end()

    @contextlib.contextmanager
    def _testing(self, runner, wanted):
        """The step of the tests, which runs beside that of the build."""
        step = {"name": "tests", "done": "", "waits": "", "seconds": 0.0}
        if "tests" in wanted:
            self._state.call["steps"].append(step)
        began = time.time()
        try:
            yield step
        finally:
            runner.end()
            step["seconds"] = round(time.time() - began, 1)
            step["done"] = f"{len(runner.passed)} passed, {len(runner.failed)} failed, {len(runner.skipped)} skipped" + (
                f", {len(runner.known)} passed before" if runner.known else "") + f"; {runner.seconds:.0f} s of tests"
            step["waits"] = f"{len(runner.waiting)} tests" if runner.waiting else ""
            self._failures += len(runner.failed)

    def _both(self, build, runner, racing, step, began):
        """Build and tests until both are through; then the caches are full, too."""
        threads, last = None, time.time()
        while True:
            build.look()
            if not build.running and threads is None:
                step["seconds"] = round(time.time() - began, 1)
                step["done"] = f"{len(build.linked)} programs linked" if build.linked else "nothing to do"
                if build.failed:
                    self._failures += 1
                    step["waits"] = f"{len(set(build.failed))} do not build: {', '.join(sorted(set(build.failed)))[:200]}; build/gpu/build.log"
                lists = {test.name: test for test in gpu_tests.listed(self._preset)} if runner.waiting else {}
                for test in list(runner.waiting):  # what is built now has its command
                    test.command = lists[test.name].command if test.name in lists else test.command
                    if test.target and not build.is_made(test.target):
                        runner.waiting.remove(test)
                        self._state.keep("tests", test.name, test.source, "failed", 0, why="it does not build")
                        runner.failed.append(test)
                threads = self._warm() if racing else []
                self._pack()
            runner.look(lambda test: not test.target or test.target in build.linked and ":" not in test.name or not build.running)
            if not build.running and runner.idle and not runner.waiting:
                break
            if time.time() - last > 20:
                last = time.time()
                step["seconds"] = step["seconds"] if not build.running else round(last - began, 1)
                self._pack()
            if not build.running:
                console.progress(f"{len(runner.passed)} tests passed, {len(runner.waiting)} wait")
            time.sleep(gpu_tests.LOOK)
        self._join(threads)

    def _warm(self):
        """Fills torch.compile's and Triton's caches for the headlines that are to be raced, beside the tests."""
        jobs = []
        session = self._bench(self._until)
        for day in session.days:
            if not measuring.contestants(day) or not session.listed(day):
                continue
            keys, lost = session.wanted(day)
            wanted = [*keys.get(0, []), *lost.get(0, [])]
            if wanted and (paths.BUILD / self._preset / "bin" / f"libday{day.number:02d}.so").exists():
                jobs.append((day, [measuring.table_of(key) for key in wanted]))
        self._warming = {"name": "compile cache", "done": f"the headlines of {len(jobs)} days", "waits": "", "seconds": 0.0}
        self._warm_began = time.time()
        count = max(1, min(8, (os.cpu_count() or 2) // 2, gpus.detect().gpu.memory >> 34))
        threads, self._unwarmed = measuring.warm(jobs, lambda day: paths.BUILD / self._preset / "bin" / f"libday{day.number:02d}.so",
                                                 min(self._until, time.time() + 120), count)
        return threads

    def _join(self, threads):
        for thread in threads or []:
            while thread.is_alive():
                thread.join(0.2)
        if threads:
            self._warming["seconds"] = round(time.time() - self._warm_began, 1)
            self._state.call["steps"].append(self._warming)

    # ---- what is measured ----

    def _bench(self, until):
        if not self._session:
            self._session = measuring.Session(self._days, self._preset, until, self._saved, self._first, self._is_built)
        self._session.until = until
        return self._session

    def _is_built(self, day):
        if not (paths.BUILD / self._preset / "bin" / f"day{day.number:02d}_bench").exists():
            raise DaysError("its benchmark is not built: build/gpu/build.log")

    def _tables(self, number, until, step):
        session = self._bench(until)
        before = session.measured
        waiting = session.run((number,))
        step["done"] = f"{session.measured - before} tables"
        step["waits"] = f"{waiting} days" if waiting else ""
        self._failures += bool(session.worst)
        session.worst = 0

    def _cpu_rows(self, until, step):
        done, waiting = self._bench(until).measure_cpu()
        step["done"] = f"{done} tables"
        step["waits"] = f"{waiting} days" if waiting else ""

    def _sanitizers(self, until, step):
        runs = gpu_tests.Sanitizers(self._state, catalog.here(), self._commit, self._preset, until, self._first)
        try:
            runs.run()
        finally:
            step["done"] = f"{runs.clean} clean, {len(runs.found)} found something" + (f": {', '.join(runs.found)}" if runs.found else "")
            step["waits"] = runs.problem or (f"{runs.waiting} of days and tools" if runs.waiting else "")
            self._failures += len(runs.found)

    def _counters(self, until, step):
        if not shutil.which("ncu"):
            step["waits"] = "there is no ncu here: it comes with the CUDA toolkit"
            return
        self._tool([sys.executable, paths.ROOT / "tools" / "ncu_counters.py", "stale", self._gpu], until, step, "counters")

    def _profile(self, until, step):
        if not shutil.which("ncu"):
            step["waits"] = "there is no ncu here: it comes with the CUDA toolkit"
            return
        self._tool([sys.executable, paths.ROOT / "days", "profile", "--stale", "--record", "--for"], until, step, "profile", "s")

    def _tool(self, words, until, step, name, unit=""):
        """A command that takes its seconds last, saves as it goes, and says last what it has done."""
        log = gpu_state.folder() / "logs" / f"{name}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        run_build.take_built(paths.BUILD / self._preset / "bin", [day for day in self._days if (day.folder / "ladder.cpp").exists()])
        seconds = max(1, until - time.time()) if until != float("inf") else 86400
        code, _ = ran([*words, f"{max(1, int(seconds - 2))}{unit}"], seconds, log)
        step["done"] = last_words(log)[:120]
        if code is None:
            step["waits"] = "its time was up"
        elif code:
            self._failures += 1
            step["waits"] = f"exit code {code}: build/gpu/logs/{log.name}"


def _show(state, wanted=_NAMES):
    """The table of the latest call, then what waits in all; 1 where a test fails or a sanitizer found something."""
    data = state.data
    if data["calls"]:
        call = data["calls"][-1]
        console.say(f"\n{data['gpu']}, commit {call['commit'][:12]}, {call['date']}")
        console.say(f"{'step':<15}{'seconds':>8}  done")
        for step in call["steps"]:
            for number, line in enumerate(console.wrap(step["done"] or "-", "", "") or ["-"]):
                console.say(f"{step['name'] if not number else '':<15}{step['seconds'] if not number else '':>8}  {line}"[:80])
            if step["waits"]:
                for line in console.wrap("waits: " + step["waits"], " " * 25, " " * 25):
                    console.say(line)
        missing = [name for name in wanted if name not in [step["name"] for step in call["steps"]] and name != "compile cache"]
        if missing:
            for line in console.wrap("not begun: " + ", ".join(missing), "    ", ""):
                console.say(line)
    failed = [f"{name}: {test.get('why', '')}" for name, test in sorted(data["tests"].items()) if test["result"] == "failed"]
    found = [name for name, one in sorted(data["sanitizers"].items()) if one["result"] == "found"]
    counts = {result: sum(test["result"] == result for test in data["tests"].values()) for result in ("passed", "failed", "skipped")}
    console.say(f"\nIn all: {', '.join(f'{count} tests {result}' for result, count in counts.items())}; "
                f"{sum(one['result'] == 'clean' for one in data['sanitizers'].values())} sanitizer runs clean")
    for line in failed:
        for part in console.wrap(line, "    ", "  "):
            console.say(part)
    if found:
        for part in console.wrap("sanitizers found something: " + ", ".join(found), "    ", "  "):
            console.say(part)
    if gpu_state.archive_file().exists():
        console.say(f"Results: build/gpu/results.tar.gz, {gpu_state.archive_file().stat().st_size / 1024:.0f} KiB. Elsewhere:")
        console.say("  ./days gpu --take results.tar.gz")
    return WRONG if failed or found else 0
