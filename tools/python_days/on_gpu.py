# SPDX-License-Identifier: MIT
"""Rungs on a GPU, through PyTorch: checked, timed by turns with what PyTorch and the day's contestants have, as result files of
docs/results.md's schema. The same files run as in the interpreter; only the tensors are PyTorch's."""
from __future__ import annotations

import copy
import datetime
import json
import os
import statistics
import sys
import time

import numpy as np

from days_cli import console, outputs, result_table, results
from days_cli import gpu as gpus
from days_cli.errors import ENVIRONMENT, WRONG, DaysError
from python_days import cases, plain
from python_days.comparing import compare
from python_days.day import load
from python_days.tensors import POISON, TYPES, Tensor

try:
    import torch
    import triton
except ImportError as error:
    raise DaysError(f"PyTorch reaches the GPU for Triton, and cannot be imported: {error}", "pip install torch", ENVIRONMENT) from error

_LEAST, _MOST, _SECONDS = 7, 56, 0.25  # rounds, and time a contestant, as the days in C++ have them
_SAMPLED = 1 << 22  # elements of an output, from which on a ladder that can check samples does
_BUSY = 2_000_000  # clock ticks: as long Python may take to queue a launch, whoever it is for


def on_device(tensor):
    """PyTorch's tensor of the same elements, strides and alignment, in the GPU's memory."""
    if not isinstance(tensor, Tensor):
        return tensor
    name, numpy_type = TYPES[tensor.kind]
    strides = tensor.stride()
    count = 1 + sum((n - 1) * step for n, step in zip(tensor.shape, strides)) if tensor.numel() else 0
    shift = tensor.data_ptr() % 16 // tensor.element_size()
    memory = np.lib.stride_tricks.as_strided(tensor.array, (count,), (tensor.element_size(),)) if count else np.empty(0, numpy_type)
    plain = torch.from_numpy(np.ascontiguousarray(memory).view(np.int16 if tensor.kind == "bf16" else numpy_type))
    made = torch.empty(count + shift, dtype=plain.dtype, device="cuda")
    made[shift:].copy_(plain)
    return made.view(getattr(torch, name)).as_strided(tensor.shape, strides, shift)


def back(device, like):
    """A Tensor of what the GPU's tensor holds."""
    dense = device.detach().contiguous()
    dense = dense.view(torch.int16) if like.kind == "bf16" else dense
    return Tensor(dense.cpu().numpy().view(TYPES[like.kind][1]), like.kind)


class Problem:
    """A case in the GPU's memory; what a contestant sees: type, shape by name, inputs, outputs."""

    def __init__(self, ladder, kind, shape, inputs=""):
        self.type, self.shape, self.by = kind, dict(zip(ladder.extents, shape)), ladder.by
        self.host_inputs, self.host_outputs = ladder.make(kind, shape, inputs)
        self.before = [copy.deepcopy(tensor) for tensor in self.host_inputs] if any(
            tensor is made for tensor in self.host_inputs for made in self.host_outputs) else self.host_inputs
        known = {}
        self.inputs = [known.setdefault(id(tensor), on_device(tensor)) for tensor in self.host_inputs]
        self.outputs = [known.setdefault(id(tensor), on_device(tensor)) for tensor in self.host_outputs]

    @property
    def arguments(self):
        """What a rung is given."""
        if self.by == "torch":
            return self.inputs
        return [*self.inputs, *(t for t in self.outputs if not any(t is other for other in self.inputs))]

    def prepare(self, fill=POISON):
        """Outputs as before the first launch; those that are no inputs are filled with this byte."""
        for device, host in zip(self.outputs, self.host_outputs):
            device.copy_(on_device(host))
            if fill != POISON and not any(device is other for other in self.inputs):
                device.copy_(torch.full((device.element_size(),), fill, dtype=torch.uint8, device="cuda").view(device.dtype))

    def made(self):
        torch.cuda.synchronize()
        return [back(device, host) for device, host in zip(self.outputs, self.host_outputs)]


def outcome(ladder, launch, case):
    """cases.Outcome of a case on the GPU: results alone."""
    problem = Problem(ladder, case.kind, case.shape, case.inputs)
    refusals = (ValueError, RuntimeError) if ladder.by == "torch" else (ValueError,)
    try:
        _store(problem, launch(*problem.arguments))
        made = problem.made()
    except plain.Unavailable:
        raise
    except refusals as error:
        if case.refused:
            return cases.Outcome("refused", notes=[str(error)])
        return cases.Outcome("fail", notes=[f"the launcher refuses it: {error}"])
    except Exception as error:  # a kernel may do anything
        return cases.Outcome("fail", notes=[f"{type(error).__name__}: {error}"])
    if case.refused:
        return cases.Outcome("fail", notes=[f"the launcher takes {case.refused}, and must refuse it with a ValueError"])
    facts = cases.judged(ladder, problem.before, [], made)
    return cases.Outcome("fail" if facts["wrong"] else "ok", facts)


# ---- a table ----

class _Reference:
    """What is expected of a problem: all of it, or of a large one some thousand places where the ladder can say so."""

    def __init__(self, ladder, problem):
        self._ladder, self.seconds = ladder, 0.0
        large = max(t.numel() for t in problem.host_outputs) > _SAMPLED
        self.sampled = bool(ladder.sample) and large
        began = time.perf_counter()
        if self.sampled:
            random = np.random.default_rng(2)
            self._places = [np.stack([random.integers(0, n, 4096) for n in t.shape]) for t in problem.host_outputs]
            values = [t.values() if isinstance(t, Tensor) else t for t in problem.before]
            self._expected = [np.asarray(one) for one in _as_list(ladder.sample(values, *self._places))]
        else:
            self._expected = ladder.expected(problem.before)
        self.seconds = time.perf_counter() - began

    def complaint(self, made, fill=POISON):
        """("", worst error, False), or what is wrong and whether another fill may tell otherwise."""
        worst, said, doubts = 0.0, [], []
        for number, (tensor, expected) in enumerate(zip(made, self._expected)):
            if self.sampled:
                tensor = Tensor(np.ascontiguousarray(tensor.array[tuple(self._places[number])]), tensor.kind)
            one = compare("out" if len(made) == 1 else f"out{number}", tensor, expected, self._ladder.tolerance, fill)
            doubts += [one["doubt"]] if one["wrong"] else []
            worst = None if worst is None or one["worst"] is None else max(worst, one["worst"])
            said += [f"{first['at']} is {first['got']}, expected {first['expected']}" for first in one["first"][:3]]
        return "\n".join(said), worst, bool(doubts) and all(doubts)

    def judge(self, problem, function, check=None):
        """("", worst error) of what the function makes, or what is wrong; on a second fill of its outputs where the first leaves a doubt. A
        contestant's own check takes the reference's place, and knows no error."""
        for fill in (POISON, 0xFF ^ POISON):
            problem.prepare(fill)
            _store(problem, function())
            if check:
                return check(problem.outputs, problem), None
            said, worst, doubt = self.complaint(problem.made(), fill)
            if not doubt:
                break
        return said, worst


def _as_list(made):
    return list(made) if isinstance(made, (list, tuple)) else [made]


def _table(day, ladder, rungs, kind, shape, sweep, file=None):
    """A table of result files: all rungs, PyTorch's contestants, NumPy."""
    console.progress(f"making {ladder.name} {'x'.join(map(str, shape))} {kind}")
    problem = Problem(ladder, kind, shape)
    read, written = ladder.traffic(problem.host_inputs, problem.host_outputs)
    reference = _Reference(ladder, problem)
    table = {"ladder": ladder.name, "type": kind, "shape": dict(zip(ladder.extents, shape)), "read_bytes": read, "written_bytes": written,
             "verified": "sampled" if reference.sampled else "reference", "rows": []}
    if ladder.flops:
        table["flops"] = ladder.flops(*shape)
    if sweep:
        table["sweep"] = True
    runners, rows = {}, table["rows"]
    entries = [(rung, "variant", lambda rung=rung: _of_launch(day.launch(rung, file if rung == "exercise" else None), problem), None)
               for rung in rungs]
    entries += [(name, "library", lambda make=make: make(torch, problem), getattr(make, "check", None)) for name, make in _contestants(day, ladder)]
    for name, sort, make, check in entries:
        console.progress(f"checking {name}, {results.title(table)}")
        row = {"name": name, "kind": sort}
        rows.append(row)
        if sort == "library":
            row["process"] = "python"
        try:
            problem.prepare()
            function = make()
            said, worst = reference.judge(problem, function, check)
        except ImportError as error:
            row.update(result="missing", reason=f"not installed: {error.name or error}")
            continue
        except plain.Unavailable as error:
            row.update(result="missing", reason=str(error))
            continue
        except (Skip, RuntimeError, ValueError, triton.CompilationError, triton.runtime.OutOfResources) as error:
            skipped = type(error).__name__ == "Skip" or sort == "library" or not ladder.takes_shape(name, kind, shape)
            row.update(result="skip" if skipped else "fail", **{"reason" if skipped else "report": str(error).strip().splitlines()[-1][:200]})
            continue
        if said:
            row.update(result="fail", report=said)
            continue
        row.update(result="ok", worst_error=worst)
        runners[name] = function
    limit = _limit(read + written)
    if not ladder.flops:
        table["limit"] = {"name": "copy", "per_second": limit}
    console.progress(f"timing {len(runners)} contestants, {results.title(table)}")
    for name, seconds in _race(runners).items():
        row = next(row for row in rows if row["name"] == name)
        median = statistics.median(seconds)
        noise = 1.4826 * statistics.median(abs(s - median) for s in seconds) / median
        row.update(seconds=median, noise=noise, runs=len(seconds), bytes_per_second=(read + written) / median)
        if row["kind"] == "variant" and any(one["kind"] == "library" for one in rows):
            row["python_seconds"] = median  # the same process: a library's ratio is of this time
        if ladder.flops:
            row["flops_per_second"] = table["flops"] / median
        else:
            row["of_limit"] = (read + written) / median / limit
    if not reference.sampled and not sweep:
        rows.append({"name": "NumPy", "kind": "cpu", "shape": list(shape), "seconds": reference.seconds})
    table["python"] = {"about": f"torch {torch.__version__}, triton {triton.__version__}"}
    console.clear_progress()
    return table


def _of_launch(launch, problem):
    return lambda: launch(*problem.arguments)


def _store(problem, made):
    """A contestant's results, where it gives them back, into the problem's outputs."""
    for output, result in zip(problem.outputs, _as_list(made) if made is not None else []):
        if tuple(result.shape) != tuple(output.shape) or result.dtype != output.dtype:
            raise ValueError(f"a result of {tuple(result.shape)} {result.dtype}, expected {tuple(output.shape)} {output.dtype}")
        output.copy_(result)


class Skip(Exception):
    """A contestant lacks the shape or the type."""


def _contestants(day, ladder):
    """[(name, make)] of dayNN_name/tests/contestants.py, which has CONTESTANTS = [(ladder, name, make), ...]."""
    path = day.folder / "tests" / "contestants.py"
    if not path.exists():
        return []
    sys.modules["contestants"] = sys.modules[__name__]  # `from contestants import Skip`
    return [(name, make) for of, name, make in load(path).CONTESTANTS if of == ladder.name]


def _race(runners):
    """{name: [seconds]}, by turns; before each launch the cache is written over and the device kept busy. The first round warms up."""
    seconds, spent, flush = {name: [] for name in runners}, 0.0, torch.empty(2 * _l2(), dtype=torch.int8, device="cuda")
    for lap in range(_MOST + 1):
        if lap > _LEAST and spent >= _SECONDS * len(runners):
            break
        for name, body in runners.items():
            once = _timed(body, flush)
            if lap:
                seconds[name].append(once)
                spent += once
    return seconds


def _timed(body, flush):
    flush.zero_()
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    torch.cuda._sleep(_BUSY)
    start.record()
    body()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) / 1e3


def _limit(moved):
    """Bytes a second of this GPU's own copy of as many bytes, its best launch."""
    source = torch.empty(max(1, moved // 2), dtype=torch.int8, device="cuda")
    target, flush = torch.empty_like(source), torch.empty(2 * _l2(), dtype=torch.int8, device="cuda")
    best = min(_timed(lambda: target.copy_(source), flush) for _ in range(20))
    return 2 * source.numel() / best


def _l2():
    return torch.cuda.get_device_properties(0).L2_cache_size


def _machine(day, command, tables):
    properties, probe = torch.cuda.get_device_properties(0), gpus.detect()
    return {"schema": 1, "day": day.folder.name, "command": command, "backend": "cuda",
            "device": {"name": properties.name, "sm": f"sm_{properties.major}{properties.minor}", "multiprocessors": properties.multi_processor_count,
                       "memory_bytes": properties.total_memory, "l2_bytes": properties.L2_cache_size},
            "cuda": torch.version.cuda, "driver": ".".join(map(str, probe.cuda or ())), "driver_version": probe.driver,
            "commit": os.environ.get("DAYS_COMMIT", ""), "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "tables": tables}


# ---- commands ----

def run(day, chosen, given):
    """The first of each ladder's bench shapes, as a table; with --json as a result file."""
    tables = [_table(day, ladder, rungs, kind, shape or ladder.bench[0], False, given.file)
              for ladder, rungs, types, shape in chosen for kind in (types if given.type else types[:1])]
    found = _machine(day, "run", tables)
    if given.json == "-":
        console.say(json.dumps(found, indent=2))
        return _code(found)
    console.say(result_table.render(found))
    if given.json:
        path, remarks = results.save(given.json, found)
        for remark in remarks:
            console.note(remark)
    return _code(found)


def bench(day, chosen, given):
    """All bench shapes, and with --sweep the sweep's; written to --json after each table, so that what was measured is kept."""
    tables = []
    for ladder, rungs, types, shape in chosen:
        for kind, one, sweep in _points(ladder, types, shape, given.sweep):
            tables.append(_table(day, ladder, rungs, kind, one, sweep))
            outputs.put(given.json, json.dumps(_machine(day, "bench", tables), indent=2) + "\n")
    return _code({"tables": tables})


def _points(ladder, types, shape, with_sweep):
    """[(type, shape, whether it is of the sweep)] of a ladder's tables."""
    wanted = [(one, False) for one in ([shape] if shape else ladder.bench)]
    wanted += [(one, True) for one in ladder.sweep] if with_sweep and not shape else []
    return [(kind, one, sweep) for one, sweep in wanted for kind in (types if not sweep else types[:1])]


def listed(day):
    """{key of a table, as dayNN_bench --tables has it: (what _table() takes, the names of its rows)}, in order."""
    found = {}
    for ladder in day.ladders:
        names = [*ladder.rungs, *("+" + name for name, _ in _contestants(day, ladder))]
        for kind, shape, sweep in _points(ladder, ladder.types, None, True):
            key = f"{ladder.name} {kind} {'x'.join(map(str, shape))}" + (" sweep" if sweep else "")
            found[key] = (ladder, list(ladder.rungs), kind, shape, sweep), names
    return found


def measure(day, keys, path, until):
    """Measures the tables of these keys, in their order, as long as there is time; written to the path after each. How many. A sweep's
    point that is a benchmark's shape, too, takes its rows from there."""
    tables, known, longest = [], listed(day), 0.0
    for key in keys:
        began = time.time()
        if key not in known or any(results.key_text(table) == key for table in tables) or began + longest > until:
            continue
        tables.append(_table(day, *known[key][0]))
        if key + " sweep" in known and not tables[-1].get("sweep"):
            tables.append({**copy.deepcopy(tables[-1]), "sweep": True})
            tables[-1]["rows"] = [row for row in tables[-1]["rows"] if row["kind"] != "cpu"]
        outputs.put(path, json.dumps(_machine(day, "bench", tables), indent=2) + "\n")
        torch.cuda.empty_cache()
        longest = max(longest, time.time() - began)
    return len(tables)


def _code(found):
    return WRONG if any(row.get("result") == "fail" for table in found["tables"] for row in table["rows"]) else 0
