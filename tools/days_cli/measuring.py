# SPDX-License-Identifier: MIT
"""Measures what is stale of many days on a GPU, in rounds: the headline table of every day beside its libraries and Python's
contestants, then the first tables of other ladders, all others, sweeps, and at last what runs on the CPU alone. Each table is saved
as soon as it is measured; nothing runs beside it."""
from __future__ import annotations

import contextlib
import functools
import importlib.util
import json
import os
import queue
import re
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from days_cli import clocks, console, gpu, paths, processes, program_day, results, run_build, stale, toolchain
from days_cli.errors import WRONG, DaysError

CACHES = {"TORCHINDUCTOR_CACHE_DIR": "torch-cache", "TRITON_CACHE_DIR": "python-cache"}  # in build/
_ALL = tuple(range(len(stale.ROUNDS)))
_LEAST = 1  # seconds under which no table is begun
_START = 120  # seconds that PyTorch's import may take
_STUCK = 180  # seconds in which a table is measured, or its program is stopped: others wait


def caches():
    """The environment in which torch.compile and Triton keep what they make in build/."""
    return {name: os.environ.get(name, str(paths.BUILD / folder)) for name, folder in CACHES.items()}


def limits_file():
    """Where the sustained limits of this GPU, driver and boot are kept; None where a boot has no name."""
    probe = gpu.detect()
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()[:8]
    except OSError:
        return None
    if not probe.gpu:
        return None
    (paths.BUILD / "bench").mkdir(parents=True, exist_ok=True)
    return paths.BUILD / "bench" / f"limits-{results.slug(probe.gpu.name)}-{probe.driver or 'driver'}-{boot}.txt"


def limits_flag():
    file = limits_file()
    return [f"--limits={file}"] if file else []


def torch_sees_gpu():
    """Whether this Python has a PyTorch that sees the GPU; asked once."""
    return _torch_sees_gpu(sys.executable)


@functools.lru_cache(maxsize=None)
def _torch_sees_gpu(python):
    return subprocess.run([python, "-c", "import sys, torch; sys.exit(not torch.cuda.is_available())"], check=False,
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


@functools.lru_cache(maxsize=None)
def _contestants_module():
    spec = importlib.util.spec_from_file_location("days_contestants", paths.ROOT / "bench" / "contestants.py")
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def contestants(day):
    """{ladder: names of Python's contestants} of a day in C++; {} of another, whose own program races them, and of a program day, whose
    contestants follow its programs (raced)."""
    if not day.kind.links or not (day.folder / "tests" / "contestants.py").exists():
        return {}
    found = {}
    try:
        for ladder, name, _ in _contestants_module().load(day)[0]:
            found.setdefault(ladder, []).append(name)
    except ImportError as error:
        console.note(f"{day.target}/tests/contestants.py: {error}")
    return found


def raced(day, found, code):
    """(What a program day's programs measured with the rows of its contestants in Python, the worse exit code.) Without a PyTorch that sees
    the GPU, and where nothing was measured right, they are left out."""
    if not found or code or not (day.folder / "tests" / "contestants.py").exists():
        return found, code
    if not torch_sees_gpu():
        console.note(f"PyTorch's contestants are left out: {sys.executable} has no torch that sees the GPU. pip install torch")
        return found, code
    with tempfile.TemporaryDirectory(prefix="days-race-") as folder:
        path = Path(folder) / "results.json"
        results.write(path, found)
        code = subprocess.run([sys.executable, "-B", str(paths.ROOT / "bench" / "contestants.py"), str(day.number), "--results", str(path)],
                              check=False).returncode
        if code > WRONG:
            console.note("PyTorch's contestants are left out: the message above says why")
            code = 0
        return results.load(path), code


def merge_part(day, part):
    """Puts what a benchmark has written until now into the recorded file of the machine that measured it."""
    new = results.load(part)
    if new["backend"] != "cuda":
        raise DaysError(f"{results.shown(part)} is of no GPU", f"./days bench {day.number}")
    if new["tables"]:
        merge(day, new)


def merge(day, new, how=stale.merge):
    stale.stamp(new)
    target, _ = results.place(results.committed(results.slug(new["device"]["name"]), day), new)
    old = results.load(target) if target.exists() else None
    if old or how is stale.merge:
        results.write(target, how(old, new))


def part_of(day):
    return paths.BUILD / "bench" / f"day{day.number:02d}.stale.json"


class Python:
    """bench/contestants.py --serve: one process for many days, begun when it is first asked."""

    def __init__(self, command=None):
        self._command = command or [sys.executable, "-B", str(paths.ROOT / "bench" / "contestants.py"), "--serve"]
        self._process, self._answers, self.deaths = None, None, 0

    def _start(self, until):
        log = paths.BUILD / "bench" / "python.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        out, descriptor = os.pipe()
        try:
            with open(log, "ab") as said:
                self._process = processes.start([*self._command, str(descriptor)], stdin=subprocess.PIPE, stdout=said, stderr=said, pass_fds=[descriptor],
                                                env={"TORCHINDUCTOR_COMPILE_THREADS": "1", **os.environ, **caches(), "DAYS_BACKEND": "cuda",
                                                     "NO_COLOR": "1"}, cwd=paths.ROOT)
        finally:
            os.close(descriptor)
        self._answers = queue.Queue()

        def read(answers=self._answers):
            with open(out, encoding="utf-8") as lines:
                for line in lines:
                    answers.put(line)
            answers.put(None)
        threading.Thread(target=read, daemon=True).start()
        return self._answer(min(until, time.time() + _START), lambda: None)

    def _answer(self, until, each):
        """The next answer, {"error": why} where none comes in time; `each` is called now and then until it does."""
        while True:
            with contextlib.suppress(queue.Empty):
                line = self._answers.get(timeout=0.2)
                if line is not None:
                    return json.loads(line)
                self.close()
                self.deaths += 1
                return {"error": "Python's side ended: build/bench/python.log says why"}
            each()
            if time.time() > until:
                self.close()
                return {"error": "its time was up", "late": True}

    def ask(self, until, each=lambda: None, **request):
        """What it answers; {"error": why} where it failed, and then the next request starts a fresh one."""
        if not self._process:
            started = self._start(until)
            if "error" in started:
                self.close()
                return started
        try:
            self._process.stdin.write((json.dumps({**request, **({"until": until} if request["do"] != "tables" else {})}) + "\n").encode())
            self._process.stdin.flush()
        except OSError:
            self.close()
            return {"error": "Python's side has ended"}
        found = self._answer(until + 1, each)
        if "error" in found:
            self.close()
        return found

    def close(self):
        if self._process:
            with contextlib.suppress(OSError):
                self._process.stdin.close()
            processes.kill(self._process)
            self._process = None


class Session:
    """What is stale of these days, until a time: run() measures it. saved() is called after each table that is saved."""

    def __init__(self, days, preset, until=float("inf"), saved=lambda: None, first=(), built=None):
        self.until, self._saved, self._preset, self._built = until, saved, preset, built or self._build
        found = gpu.detect().gpu
        self.gpu = results.slug(found.name) if found else (results.recorded() or ["gpu"])[0]
        self._listed, self.failed, self.python = {}, {}, Python()
        self.measured, self.worst = 0, 0
        self._needs = {day.target: stale.need(self.gpu, day, contestants(day)) for day in days}
        # Days of which nothing is known to be stale come last: a table may be new, which their benchmark says.
        self.days = sorted(days, key=lambda day: (day.number not in first, (self._needs[day.target] or (4, ""))[0], day.number))

    def left(self):
        return self.until - time.time()

    def _over(self):
        return self.left() < _LEAST

    def _build(self, day):
        """The day's benchmark, and its library where Python races; what ./days gpu has built by then."""
        from days_cli import builder, cmake_tools
        library = [f"libday{day.number:02d}"] if contestants(day) and self._preset == "cuda" and torch_sees_gpu() else []
        with builder.lock(paths.BUILD / self._preset):
            cmake_tools.build(self._preset, [f"day{day.number:02d}_bench", *library])

    def _program(self, day):
        return paths.BUILD / self._preset / "bin" / f"day{day.number:02d}_bench"

    def _library(self, day):
        return paths.BUILD / self._preset / "bin" / f"libday{day.number:02d}.so"

    def listed(self, day):
        """[(key, names)] of a day's tables; [] where they cannot be told: then self.failed says why."""
        if day.target in self._listed:
            return self._listed[day.target]
        found = getattr(self, day.kind.session[0])(day)
        if found is not None:
            self._listed[day.target] = found
        return found or []

    def of_benchmark(self, day):
        """The tables that the day's benchmark has, once it is built; None where it cannot be: why is told."""
        try:
            self._built(day)
        except DaysError as error:
            self._fail(day, error.message)
            return None
        return stale.parse_tables(toolchain.output_of([str(self._program(day)), "--tables"]))

    def of_programs(self, day):
        """Of a program day each program is one."""
        return [(name, [name]) for name in stale.kernels(day.target).programs]

    def of_python(self, day):
        """The tables that the day's own program has, on a GPU; None where it does not say."""
        if not torch_sees_gpu():
            return []
        answer = self.python.ask(min(self.until, time.time() + _START), do="tables", day=day.number)
        if "error" not in answer:
            return [(key, names) for key, names in answer["tables"]]
        if not answer.get("late"):
            self._fail(day, answer["error"])
        return None

    def _fail(self, day, why):
        self.worst = max(self.worst, WRONG)
        if self.failed.get(day.target) != why:
            console.note(f"Day {day.label}: {why}")
        self.failed[day.target] = why

    def wanted(self, day):
        """{round: [keys that have to be measured]}, and the same of those that Python's contestants alone lack."""
        if day.kind.has_programs:
            return {0: stale.stale_programs(self.gpu, day)}, {}
        listed = self.listed(day)
        order, keys, lost = stale.rounds(listed), {}, {}
        for key in stale.stale_tables(listed, stale.fresh_tables(self.gpu, day)):
            keys.setdefault(order[key], []).append(key)
        missing = contestants(day) if torch_sees_gpu() else {}
        if missing:
            chosen = {key for some in keys.values() for key in some}
            for path in stale.files_of(self.gpu, day):
                for table in results.load(path)["tables"]:
                    key = results.key_text(table)
                    if key in order and key not in chosen and stale.unraced(table, missing):
                        lost.setdefault(order[key], []).append(key)
        return keys, lost

    def run(self, rounds=_ALL):
        """Measures these rounds; how many days wait for what is left of them."""
        self._keep_what_was_left()
        for one in rounds:
            for day in self.days:
                if self._over():
                    return self.waiting(rounds)
                self._round(day, one)
        return self.waiting(rounds)

    def close(self):
        self.python.close()

    def waiting(self, rounds=_ALL):
        """How many days have something to measure in these rounds, as far as that is known."""
        count = 0
        for day in self.days:
            if day.target in self._listed or day.kind.has_programs:
                keys, lost = self.wanted(day)
                count += any(one in keys and keys[one] or one in lost for one in rounds)
            else:
                count += self._needs[day.target] is not None or day.target in self.failed
        return count

    def _keep_what_was_left(self):
        """By an earlier run, whatever ended it."""
        for day in self.days:
            part = part_of(day)
            if part.exists():
                with contextlib.suppress(DaysError):
                    merge_part(day, part)
                part.unlink()

    def _round(self, day, one):
        keys, lost = (found.get(one, []) for found in self.wanted(day))
        if not keys and not lost or self._over():
            return
        began, before = time.time(), self.measured
        done = getattr(self, day.kind.session[1])(day, keys) if keys else 0
        if lost and not self._over():
            self._race_recorded(day, lost)
        what = "programs" if day.kind.has_programs else "tables"
        text = f"{done} of {len(keys)} {what} measured" if keys else ""
        if lost:
            text += ("; " if text else "") + f"{self.measured - before - done} of {len(lost)} raced in Python"
        console.say(f"Day {day.label}, {stale.ROUNDS[one]}: {text}, {time.time() - began:.0f} s")

    def _watch(self, day, part):
        """A function that merges the part whenever it has been written anew."""
        seen = [None]

        def look():
            with contextlib.suppress(FileNotFoundError):
                stamp = part.stat().st_mtime_ns
                if stamp != seen[0]:
                    seen[0] = stamp
                    merge_part(day, part)
                    self._saved()
        return look

    def _run_bench(self, day, keys, part, *flags, each=lambda: None):
        """The exit code of the day's benchmark on these tables; negative for a signal, None where it had to be ended."""
        part.parent.mkdir(parents=True, exist_ok=True)
        only = part.with_suffix(".only")
        only.write_text("".join(key + "\n" for key in keys), encoding="utf-8")
        command = [str(self._program(day)), "--quiet", "--sweep", *limits_flag(), *flags, "--json", str(part), f"--only={only}"]
        if self.until != float("inf"):
            command.append(f"--for={max(1, self.left()):.1f}")
        process = processes.start(command)
        late, moved, stamp = False, time.time(), None
        try:
            while process.poll() is None:
                time.sleep(0.1)
                each()
                now, written = time.time(), part.stat().st_mtime_ns if part.exists() else None
                if written != stamp:
                    stamp, moved = written, now
                if now > min(self.until, moved + _STUCK):
                    late = True
                    if now < self.until:
                        self._fail(day, f"its benchmark was stopped: no table in {_STUCK} s")
                    break
        finally:
            if process.poll() is None:
                processes.end([process])
            each()
            only.unlink(missing_ok=True)
        return None if late else process.returncode

    def measure_tables(self, day, keys):
        """How many tables of a day in C++ are saved."""
        part = part_of(day)
        with clocks.Clocks() as sampled:
            code = self._run_bench(day, keys, part, "--no-cpu", each=self._watch(day, part))
        if code is not None and code < 0:
            self._fail(day, f"day{day.number:02d}_bench was ended by {processes.name_of(code)}; what it had measured is kept")
            code = WRONG
        self.worst = max(self.worst, code or 0)
        if not part.exists():
            if code:
                self._fail(day, f"its benchmark ended with exit code {code} and measured nothing")
            return 0
        if not self._over():
            self._race(day, part)
        found = results.load(part)
        if sampled.summary():
            found["clocks"] = sampled.summary()
            results.write(part, found)
        merge_part(day, part)
        part.unlink()
        done = sum(results.key_text(table) in keys for table in found["tables"])
        self.measured += done
        self._saved()
        return done

    def _race(self, day, part):
        """Python's contestants on the tables of the file; False where there is no race."""
        if not contestants(day) or not torch_sees_gpu():
            return False
        library = self._library(day)
        if not library.exists():
            library = run_build.build_library(day, "cuda")
        until = min(self.until, time.time() + _STUCK * max(1, len(results.load(part)["tables"])))
        answer = self.python.ask(until, self._watch(day, part), do="race", day=day.number, results=str(part), library=str(library))
        if "error" in answer and not (answer.get("late") and until == self.until):
            self._fail(day, f"PyTorch's contestants: {answer['error']}")
        self.worst = max(self.worst, answer.get("code", 0))
        return "error" not in answer

    def _race_recorded(self, day, keys):
        """Python's contestants on tables that are recorded without them."""
        for path in stale.files_of(self.gpu, day):
            found = results.load(path)
            found["tables"] = [table for table in found["tables"] if results.key_text(table) in keys
                               and stale.unraced(table, contestants(day))]
            if not found["tables"]:
                continue
            here = gpu.detect()
            others = here.driver and found.get("driver_version") and found["driver_version"] != here.driver
            if here.gpu and (found["device"]["name"] != here.gpu.name or others):
                continue  # a time of this machine would stand among those of another
            part = part_of(day)
            part.parent.mkdir(parents=True, exist_ok=True)
            # The file's own commit and date stay those of its tables.
            for table in found["tables"]:
                table.setdefault("commit", found["commit"])
                table.setdefault("date", found["date"])
            results.write(part, found)
            self._race(day, part)
            raced = results.load(part)
            part.unlink()
            raced["tables"] = [table for table in raced["tables"] if not stale.unraced(table, contestants(day))]
            if raced["tables"]:
                old = results.load(path)
                new = {results.key(table): table for table in raced["tables"]}
                old["tables"] = [{**table, **{k: v for k, v in new[results.key(table)].items() if k in ("rows", "python")}}
                                 if results.key(table) in new else table for table in old["tables"]]
                results.write(path, old)
                self.measured += len(raced["tables"])
                self._saved()

    def measure_python_day(self, day, keys):
        part = part_of(day)
        with clocks.Clocks() as sampled:
            until = min(self.until, time.time() + _STUCK * len(keys))
            answer = self.python.ask(until, self._watch(day, part), do="measure", day=day.number, keys=keys, results=str(part))
        if "error" in answer and not (answer.get("late") and until == self.until):
            self._fail(day, answer["error"])
        if not part.exists():
            return 0
        found = results.load(part)
        if sampled.summary():
            found["clocks"] = sampled.summary()
        merge(day, found)
        part.unlink()
        done = sum(results.key_text(table) in keys for table in found["tables"])
        self.measured += done
        self._saved()
        return done

    def measure_programs(self, day, names):
        """How many programs are saved. Each is saved as soon as it has ended."""
        done = 0
        for name in names:
            if self._over():
                break
            with clocks.Clocks() as sampled:
                found, code = raced(day, *program_day.measure(day, [name], [], self._preset,
                                                              self.left() if self.until != float("inf") else None))
            self.worst = max(self.worst, code)
            if not found:
                continue
            if sampled.summary():
                found["clocks"] = sampled.summary()
            merge(day, found)
            self._saved()
            done += 1
        self.measured += done
        return done

    def measure_cpu(self):
        """The CPU's rows of recorded tables that are missing, of another reference or of another processor; (how many tables have them now,
        how many days wait)."""
        waiting = all_done = 0
        for day in self.days:
            if not day.kind.links:
                continue
            keys = stale.stale_cpu(self.gpu, day)
            if not keys:
                continue
            if self._over() or not self.listed(day):
                waiting += 1
                continue
            known = {key for key, _ in self.listed(day)}
            keys = [key for key in keys if key in known]
            part, began = part_of(day).with_suffix(".cpu"), time.time()
            part.unlink(missing_ok=True)
            code = self._run_bench(day, keys, part, "--cpu-only") if keys else 0
            done = 0
            if part.exists():
                found = results.load(part)
                part.unlink()
                done = len(found["tables"])
                merge(day, found, stale.merge_cpu)
                self._saved()
            elif code:
                self._fail(day, f"its benchmark ended with exit code {code} and timed nothing on the CPU")
            waiting, all_done = waiting + (done < len(keys)), all_done + done
            if keys:
                console.say(f"Day {day.label}, rows of the CPU: {done} of {len(keys)} tables, {time.time() - began:.0f} s")
        return all_done, waiting


def warm(days, library_of, until, count):
    """Fills the caches of torch.compile and Triton for the headline tables that are stale, with so many processes; days: [(day,
    [tables])]. (Threads that see to it, the queue of what they have not begun)."""
    jobs = queue.Queue()
    for job in days:
        jobs.put(job)

    def work():
        python = Python()
        try:
            while time.time() < until:
                try:
                    day, tables = jobs.get_nowait()
                except queue.Empty:
                    return
                python.ask(until, do="compile", day=day.number, library=str(library_of(day)), tables=tables)
        finally:
            python.close()
    threads = [threading.Thread(target=work, daemon=True) for _ in range(min(count, jobs.qsize()))]
    for thread in threads:
        thread.start()
    return threads, jobs


def table_of(key):
    """{"ladder", "type", "shape"} of a key."""
    ladder, kind, size = re.fullmatch(r"(\S+) (\S+) (\S+?)(?: sweep)?", key).groups()
    return {"ladder": ladder, "type": kind, "shape": [int(n) for n in size.split("x")]}
