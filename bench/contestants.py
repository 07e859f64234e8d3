#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Contestants from Python beside a day's rungs: PyTorch eager and compiled, Triton's libraries, in one process, on one stream,
by one timer and one check.

    python3 bench/contestants.py 13                      checks each on small shapes; times nothing
    python3 bench/contestants.py 13 --results FILE       races them on the shapes of that file, which `./days bench` wrote, and
                                                         adds them to its tables
    python3 bench/contestants.py --serve N               does so for many days, as it is told on standard input: PyTorch is imported
                                                         once. A line of JSON each, answered in another on descriptor N: serve()

dayNN_name/tests/contestants.py names them: CONTESTANTS = [(ladder, name, make), ...]. make(torch, problem) returns the function
to time, which takes nothing and returns the result's tensors in the order of the ladder's outputs, or None where it wrote
them itself; it raises ImportError where what it needs is not installed, Skip(reason) where it lacks the shape or the type.
Where a right result is not the only one, as with random masks, `make.check = check` takes the reference's place: check(made, problem)
gets the outputs' tensors and says what is wrong with them, "" where nothing is.
SHAPES = {ladder: [shape, ...]} are those to check on, where sizes around a tile do not fit the ladder.

Of a program day a ladder is a program that has tables of `work`. make(torch, table) returns the function to time, make.check(function,
table) says what is wrong with it, and SHAPES has pairs of a shape and of how many units of work to check on.

Without a GPU PyTorch's CPU versions are checked on the CPU backend's memory; a time needs a GPU.
"""
import argparse
import contextlib
import importlib.util
import json
import math
import os
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "bench")]  # days' files share what stands in bench/
from days_cli import catalog, console, gpu, library, paths, racing, results, run_build  # noqa: E402
from days_cli.errors import ENVIRONMENT, WRONG, DaysError  # noqa: E402

_DTYPES = {"fp32": "float32", "fp64": "float64", "fp16": "float16", "bf16": "bfloat16", "fp8_e4m3": "float8_e4m3fn",
           "fp8_e5m2": "float8_e5m2", "int8": "int8", "uint8": "uint8", "int16": "int16", "int32": "int32", "uint32": "uint32",
           "int64": "int64", "uint4": "uint8"}
# As __cuda_array_interface__ spells them; bfloat16 and fp8 have no name there.
_STRINGS = {"fp32": "<f4", "fp64": "<f8", "fp16": "<f2", "bf16": "<i2", "fp8_e4m3": "|u1", "fp8_e5m2": "|u1", "int8": "|i1",
            "uint8": "|u1", "int16": "<i2", "int32": "<i4", "uint32": "<u4", "int64": "<i8", "uint4": "|u1"}
_SLOW = 0.1  # seconds: a rung of more takes no part, its time of the other process says enough


class Skip(Exception):
    """This contestant lacks the shape or the type."""


class Problem:
    """What a contestant sees: the shape by name, and the ladder's buffers as tensors."""

    def __init__(self, extents, contest, tensors):
        self.type, self.shape = contest.type, dict(zip(extents, contest.shape))
        self.inputs = [tensor for tensor, buffer in zip(tensors, contest.buffers) if buffer.role != "output"]
        self.outputs = [tensor for tensor, buffer in zip(tensors, contest.buffers) if buffer.role != "input"]


class Host:
    """PyTorch on the CPU: buffers are copied out, results copied back."""

    timed = False

    def __init__(self, torch):
        self.torch = torch

    def tensors(self, contest):
        return [self.torch.frombuffer(bytearray(buffer.read()), dtype=_dtype(self.torch, buffer)).view(_dims(buffer))
                for buffer in contest.buffers]

    def finish(self, contest, problem):
        for buffer, tensor in zip(contest.outputs, problem.outputs):
            flat = tensor.contiguous().view(-1).view(self.torch.uint8)
            buffer.write(bytes(flat.tolist()))


class Cuda:
    """PyTorch on the GPU: its tensors are the ladder's own buffers."""

    timed = True

    def __init__(self, torch):
        self.torch = torch

    def tensors(self, contest):
        made = []
        for buffer in contest.buffers:
            dtype = _dtype(self.torch, buffer)
            view = type("View", (), {"__cuda_array_interface__": {
                "shape": tuple(_dims(buffer)), "typestr": _STRINGS[buffer.type], "data": (buffer.pointer, False), "version": 3}})()
            tensor = self.torch.as_tensor(view, device="cuda")
            made.append(tensor.view(dtype) if buffer.type == "bf16" or buffer.type.startswith("fp8") else tensor)
        return made

    def finish(self, contest, problem):
        self.torch.cuda.synchronize()


def _dims(buffer):
    """The extents of its tensor: numbers of 4 bits, which PyTorch has not got, are the bytes that hold two each."""
    return [(math.prod(buffer.dims) + 1) // 2] if buffer.type == "uint4" else buffer.dims


def _dtype(torch, buffer):
    if buffer.type not in _DTYPES:
        raise Skip(f"PyTorch has no {buffer.type}")
    return getattr(torch, _DTYPES[buffer.type])


def load(day):
    """([(ladder, name, make)], shapes to check on) of a day, empty where it has no file."""
    path = day.folder / "tests" / "contestants.py"
    if not path.exists():
        return [], {}
    spec = importlib.util.spec_from_file_location(f"day{day.number:02d}_contestants", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["contestants"] = sys.modules[__name__]  # `from contestants import Skip` is this module's
    spec.loader.exec_module(module)
    return module.CONTESTANTS, getattr(module, "SHAPES", {})


def prepared(side, contest, extents, make):
    """(function, problem) of a contestant; raises Skip with the reason where there is none."""
    try:
        problem = Problem(extents, contest, side.tensors(contest))
        return make(side.torch, problem), problem
    except ImportError as error:
        raise Skip(f"not installed: {error.name or error}") from error


def checked(side, contest, function, problem, check=None):
    """The contest's verdict on what the function makes, on two fills of its outputs where one leaves a doubt; with a check its own."""
    verdict = _checked_once(side, contest, function, problem, 0xA5, check)
    return _checked_once(side, contest, function, problem, 0x5A, check) if verdict.get("again") else verdict


def _checked_once(side, contest, function, problem, fill, check):
    contest.prepare()
    problem_outputs = problem.outputs
    if not side.timed:  # its copies are of before prepare()
        for buffer, tensor in zip(contest.outputs, problem_outputs):
            flat = tensor.view(-1).view(side.torch.uint8)
            if buffer.role == "output":
                flat.fill_(fill)
            else:  # changed in place
                flat.copy_(side.torch.frombuffer(bytearray(buffer.read()), dtype=side.torch.uint8))
    made = function()
    if made is not None:
        made = made if isinstance(made, (tuple, list)) else [made]
        if len(made) != len(problem_outputs):
            return {"ok": False, "worst": None, "lines": [f"{len(made)} results, expected {len(problem_outputs)}"]}
        for tensor, result in zip(problem_outputs, made):
            if tuple(result.shape) != tuple(tensor.shape) or result.dtype != tensor.dtype:
                return {"ok": False, "worst": None, "lines": [
                    f"a result of {tuple(result.shape)} {result.dtype}, expected {tuple(tensor.shape)} {tensor.dtype}"]}
            tensor.copy_(result)
    side.finish(contest, problem)
    if check:
        said = check(problem_outputs, problem)
        return {"ok": not said, "worst": None, "lines": said.splitlines()}
    return contest.verify()


def table_rows(loaded, side, extents, table, entries):
    """Adds the contestants' rows to a result table; False where one of them is wrong."""
    side.torch.compiler.reset()  # else torch.compile, at a second shape, makes a slower kernel that takes any
    stream = side.torch.cuda.Stream() if side.timed else None
    handle = stream.cuda_stream if stream else None
    good, runners, new = True, {}, {}
    with loaded.contest(table["ladder"], table["type"], list(table["shape"].values())) as contest:
        for name, make in entries:
            console.progress(f"checking {name}, {results.title(table)}")
            row = new[name] = {"name": name, "kind": "library", "process": "python"}
            try:
                with side.torch.cuda.stream(stream) if stream else contextlib.nullcontext():
                    function, problem = prepared(side, contest, extents, make)
                    report = checked(side, contest, function, problem, getattr(make, "check", None))
            except Skip as skip:
                row.update(result="missing" if str(skip).startswith("not installed") else "skip", reason=str(skip))
                continue
            except RuntimeError as error:  # PyTorch's word for what it does not support
                said = (str(error).splitlines() or [type(error).__name__])[0].partition(" GPU 0 has a total capacity")[0]
                row.update(result="skip", reason=said[:200])
                continue
            if report["ok"]:
                row.update(result="ok", worst_error=report["worst"])
                runners[name] = function
            else:
                row.update(result="fail", report="\n".join(report["lines"]))
                good = False
        ours = [row["name"] for row in table["rows"] if row["kind"] != "cpu" and row["result"] == "ok"
                and row.get("seconds", 0) < _SLOW]
        if side.timed and runners:
            console.progress(f"timing {len(runners) + len(ours)} contestants, {results.title(table)}")
            _time(loaded, side, contest, table, runners, ours, new, stream, handle)
    first_cpu = next((i for i, row in enumerate(table["rows"]) if row["kind"] == "cpu"), len(table["rows"]))
    table["rows"] = ([row for row in table["rows"][:first_cpu] if row["name"] not in new] + list(new.values())
                     + table["rows"][first_cpu:])
    table["python"] = {"about": about(side.torch)}
    return good


def _time(loaded, side, contest, table, runners, ours, new, stream, handle):
    """A rung's scratch memory is made when it is prepared, so only those without any can take turns: which those are shows
    when they are launched after another was prepared."""
    contest.prepare()
    runners = dict(runners)
    for name in ours:
        try:
            contest.launch(name, handle)
        except library.Refused:
            continue  # needs a workspace of its own: its time of the other process stands alone
        runners[name] = lambda name=name: contest.launch(name, handle)
    with side.torch.cuda.stream(stream):
        seconds = racing.by_turns(runners, lambda body: loaded.timed(body, handle))
    for row in table["rows"]:
        if row["name"] in ours and row["name"] in seconds:
            row["python_seconds"] = racing.summary(seconds[row["name"]])[0]
    for name, row in new.items():
        if name in seconds:
            racing.record(row, seconds[name], table)


def about(torch):
    versions = [f"torch {torch.__version__}"]
    for name in ("triton", "liger_kernel"):
        module = sys.modules.get(name)
        if module is not None and getattr(module, "__version__", ""):
            versions.append(f"{name} {module.__version__}")
    return ", ".join(versions)


def import_torch():
    try:
        import torch  # pylint: disable=import-outside-toplevel
    except ImportError as error:
        raise DaysError("PyTorch is not installed in this Python, and its contestants need it", "pip install torch",
                        ENVIRONMENT) from error
    return torch


def choose_side(timed):
    """(side, backend): the GPU where PyTorch has it; a race needs it."""
    torch = import_torch()
    if gpu.detect().gpu and torch.cuda.is_available():
        return Cuda(torch), "cuda"
    if timed:
        why = "this PyTorch is built without CUDA" if torch.version.cuda is None else "PyTorch sees no GPU"
        raise DaysError(f"{why}: nothing of it can be timed", "python3 -c 'import torch; print(torch.cuda.is_available())'",
                        ENVIRONMENT)
    return Host(torch), "simt"


def small_tables(described, entries, shapes):
    """Empty tables of what to check on; without shapes of the day's, around a tile, neither square nor whole."""
    tables = []
    for ladder in described["ladders"]:
        if any(name == ladder["ladder"] for name, _, _ in entries):
            extents = ladder["extents"]
            for shape in shapes.get(ladder["ladder"]) or [[size + 5 * i for i in range(len(extents))] for size in (1, 33, 68)]:
                tables += [{"ladder": ladder["ladder"], "type": kind, "shape": dict(zip(extents, shape)), "rows": []}
                           for kind in ladder["types"]]
    return tables


def run(args):
    day = catalog.resolve(args.day, "bench")
    entries, shapes = load(day)
    if not entries:
        raise DaysError(f"day {day.label} has no contestants in Python", f"./days bench {day.number}")
    side, backend = choose_side(bool(args.results))
    if day.kind.has_programs:
        return run_programs(side, entries, shapes, args.results)
    loaded = library.Library(args.library or run_build.build_library(day, backend))
    described, extents = _described(day, loaded, entries)
    if args.results:
        return 0 if race_file(loaded, side, extents, entries, args.results)[0] else WRONG
    good = True
    for table in small_tables(described, entries, shapes):
        good = table_rows(loaded, side, extents[table["ladder"]], table, _of_ladder(entries, table)) and good
        console.clear_progress()
        _say(table)
    return 0 if good else WRONG


def run_programs(side, entries, shapes, path):
    """The contestants of a program day, one after the other: a training step takes what memory there is."""
    found = results.load(path) if path else {"tables": [
        {"ladder": ladder, "type": "", "shape": shape, "work": {"units": units}, "rows": []}
        for ladder, some in shapes.items() for shape, units in some]}
    good = True
    for table in found["tables"]:
        entries_here = _of_ladder(entries, table) if table.get("work") else []
        new = []
        for name, make in entries_here:
            console.progress(f"{'timing' if path else 'checking'} {name}, {results.title(table)}")
            new.append(_program_row(side, table, name, make, bool(path)))
        console.clear_progress()
        good = good and all(row["result"] != "fail" for row in new)
        table["rows"] = [row for row in table["rows"] if row["name"] not in {one["name"] for one in new}] + new
        if new:
            table["python"] = {"about": about(side.torch)}
        if not path:
            _say(table)
    if path:
        results.write(path, found)
    return 0 if good else WRONG


def _program_row(side, table, name, make, timed):
    row = {"name": name, "kind": "library", "process": "python"}
    side.torch.compiler.reset()
    try:
        function = make(side.torch, table)
        said = make.check(function, table)
        seconds = racing.by_turns({name: function}, _step_clock(side.torch))[name] if timed and not said else None
    except Skip as skip:
        return dict(row, result="skip", reason=str(skip))
    except ImportError as error:
        return dict(row, result="missing", reason=f"not installed: {error.name or error}")
    except RuntimeError as error:  # PyTorch's word for what it does not support, and for memory that is too small
        return dict(row, result="skip", reason=(str(error).splitlines() or [type(error).__name__])[0][:200])
    if said:
        return dict(row, result="fail", report=said)
    row["result"] = "ok"
    if seconds:
        racing.record(row, seconds, table)
    return row


def _step_clock(torch):
    """From when the device may begin until it has ended, as programs time themselves: what the host needs to queue a step is in it."""
    def timed(body):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda.synchronize()
        begin.record()
        body()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) / 1e3
    return timed


def _described(day, loaded, entries):
    described = loaded.description()
    extents = {ladder["ladder"]: ladder["extents"] for ladder in described["ladders"]}
    unknown = {name for name, _, _ in entries} - set(extents)
    if unknown:
        raise DaysError(f"day {day.label} has no ladder {', '.join(sorted(unknown))}", code=WRONG)
    return described, extents


def _of_ladder(entries, table):
    return [(name, make) for ladder, name, make in entries if ladder == table["ladder"]]


def race_file(loaded, side, extents, entries, path, until=float("inf")):
    """(whether all results are right, how many tables were raced) of a file of results, which is written after each of them: whoever
    stops a long race keeps what it has measured. A sweep's point that is another table, too, takes its rows from there."""
    found, good, raced, longest = results.load(path), True, 0, 0.0
    tables = {results.key(table): table for table in found["tables"]}
    for table in found["tables"]:
        mine = _of_ladder(entries, table)
        twin = tables.get(results.key(table)[:3] + (not table.get("sweep"),))
        began = time.time()
        if mine and table.get("sweep") and twin and twin.get("python"):
            take_rows(table, twin)
        elif mine and began + longest <= until:
            good = table_rows(loaded, side, extents[table["ladder"]], table, mine) and good
            console.clear_progress()
            longest = max(longest, time.time() - began)
        else:
            continue
        raced += 1
        results.write(path, found)
    return good, raced


def take_rows(table, twin):
    """A sweep's point gets what was raced on the same shape."""
    seconds = {row["name"]: row["python_seconds"] for row in twin["rows"] if row.get("python_seconds")}
    for row in table["rows"]:
        if row["name"] in seconds:
            row["python_seconds"] = seconds[row["name"]]
    new = [dict(row) for row in twin["rows"] if row.get("process") == "python"]
    table["rows"] = [row for row in table["rows"] if row["name"] not in {one["name"] for one in new}] + new
    table["python"] = dict(twin["python"])


# ---- many days ----

class _Server:
    """Answers requests; what it keeps from one to the next are PyTorch and the days' libraries."""

    def __init__(self):
        self._libraries, self._python_days = {}, {}
        self._side = choose_side(True)[0]

    def _library(self, path):
        if path not in self._libraries:
            self._libraries[path] = library.Library(path)
        return self._libraries[path]

    def _python_day(self, number):
        if number not in self._python_days:
            from python_days.day import Day  # pylint: disable=import-outside-toplevel
            self._python_days[number] = Day(catalog.resolve(str(number), "bench").folder)
        return self._python_days[number]

    def race(self, day, results, library, until):  # pylint: disable=redefined-outer-name
        """The contestants of a day in C++ on the tables of a file."""
        one = catalog.resolve(str(day), "bench")
        entries, loaded = load(one)[0], self._library(library)
        good, raced = race_file(loaded, self._side, _described(one, loaded, entries)[1], entries, results, until)
        return {"code": 0 if good else WRONG, "done": raced}

    def compile(self, day, library, tables, until):  # pylint: disable=redefined-outer-name
        """Calls each contestant that compiles once on these tables, so that what it makes is in its cache. Others use the GPU meanwhile: no
        large part of its memory is taken."""
        one = catalog.resolve(str(day), "bench")
        entries, loaded, done = [entry for entry in load(one)[0] if "compile" in entry[1]], self._library(library), 0
        extents = _described(one, loaded, entries)[1]
        self._side.torch.cuda.set_per_process_memory_fraction(0.1)
        for table in tables:
            if time.time() > until or not _of_ladder(entries, table):
                continue
            self._side.torch.compiler.reset()
            with contextlib.suppress(RuntimeError, DaysError), \
                    loaded.contest(table["ladder"], table["type"], table["shape"]) as contest:
                for _, make in _of_ladder(entries, table):
                    with contextlib.suppress(Exception):  # the race will tell it
                        prepared(self._side, contest, extents[table["ladder"]], make)[0]()
                        self._side.torch.cuda.synchronize()
                        done += 1
        return {"code": 0, "done": done}

    def tables(self, day):
        """The tables of a Python day: [[key, names of rows], ...]."""
        from python_days import on_gpu  # pylint: disable=import-outside-toplevel
        return {"code": 0, "tables": [[key, names] for key, (_, names) in on_gpu.listed(self._python_day(day)).items()]}

    def measure(self, day, keys, results, until):  # pylint: disable=redefined-outer-name
        """These tables of a Python day."""
        from python_days import on_gpu  # pylint: disable=import-outside-toplevel
        return {"code": 0, "done": on_gpu.measure(self._python_day(day), keys, results, until)}


def serve(descriptor):
    """Requests are {"do": "race", "compile", "tables" or "measure", and that method's arguments}; an answer has "code", or "error" with
    what went wrong: after that this process ends, since a device's error stays."""
    os.environ.setdefault("TRITON_CACHE_DIR", str(paths.BUILD / "python-cache"))
    with open(descriptor, "w", encoding="utf-8") as answers:
        def answer(data):
            answers.write(json.dumps(data) + "\n")
            answers.flush()
        try:
            server = _Server()
            answer({"code": 0})
            for line in sys.stdin:
                request = json.loads(line)
                answer(getattr(server, request.pop("do"))(**request))
                if server._side.torch.cuda.is_available():
                    server._side.torch.cuda.empty_cache()
        except Exception as error:  # pylint: disable=broad-except
            answer({"error": (str(error).splitlines() or [type(error).__name__])[0]})
            raise
    return 0


def _say(table):
    for row in table["rows"]:
        print(f"{row['name']:20} {results.title(table):36} "
              + {"ok": "ok", "fail": "FAIL"}.get(row["result"], row["result"] + "  " + row.get("reason", "")))
        for line in row.get("report", "").splitlines():
            print("  " + line)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("day", nargs="?")
    parser.add_argument("--serve", type=int, metavar="N")
    parser.add_argument("--results", help="a file that ./days bench wrote")
    parser.add_argument("--library", help="the day's shared library, instead of building it")
    try:
        args = parser.parse_args()
        if args.serve is None and args.day is None:
            parser.error("which day?")
        return run(args) if args.serve is None else serve(args.serve)
    except DaysError as error:
        console.print_error(error)
        return error.code


if __name__ == "__main__":
    sys.exit(main())
