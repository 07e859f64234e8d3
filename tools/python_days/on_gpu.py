# SPDX-License-Identifier: MIT
"""Rungs on a GPU, through PyTorch: checked, timed by turns with what PyTorch and the day's contestants have, as result files of
docs/results.md's schema. The same files run as in the interpreter; only the tensors are PyTorch's."""
from __future__ import annotations

import copy
import datetime
import json
import os
import sys
import time

from days_cli import console, outputs, racing, result_table, results
from days_cli import gpu as gpus
from days_cli.errors import ENVIRONMENT, WRONG, DaysError
from python_days import adapters, cases, plain
from python_days.comparing import Reference
from python_days.day import load
from python_days.tensors import POISON

try:
    import torch
    import triton
except ImportError as error:
    raise DaysError(f"PyTorch reaches the GPU for Triton, and cannot be imported: {error}", "pip install torch", ENVIRONMENT) from error


# ---- a table ----

def _judge(reference, problem, function, check=None):
    """("", worst error) of what the function makes, or what is wrong; on a second fill of its outputs where the first leaves a doubt. A
    contestant's own check takes the reference's place, and knows no error."""
    for fill in (POISON, 0xFF ^ POISON):
        problem.prepare(fill)
        made = function()
        if made is not None:
            problem.store(made)
        if check:
            return check(problem.outputs, problem), None
        facts = reference.facts(problem.outputs_now(), fill)
        if not facts["doubt"]:
            break
    return "\n".join(f"{first['at']} is {first['got']}, expected {first['expected']}" for first in facts["first"][:3]), facts["worst"]


def _table(day, ladder, rungs, kind, shape, sweep, file=None):
    """A table of result files: all rungs, PyTorch's contestants, NumPy."""
    console.progress(f"making {ladder.name} {'x'.join(map(str, shape))} {kind}")
    problem = adapters.OnGpu(ladder, None).problem(kind, shape)
    read, written = ladder.traffic(problem.host_inputs, problem.host_outputs)
    began = time.perf_counter()
    reference = Reference(ladder, problem, may_sample=True)
    reference_seconds = time.perf_counter() - began
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
            said, worst = _judge(reference, problem, function, check)
        except ImportError as error:
            row.update(result="missing", reason=f"not installed: {error.name or error}")
            continue
        except plain.Unavailable as error:
            row.update(result="missing", reason=str(error))
            continue
        except Exception as error:  # a rung or a contestant may do anything
            known = type(error).__name__ == "Skip" or isinstance(error, (RuntimeError, TypeError, ValueError, triton.CompilationError, triton.runtime.OutOfResources))
            if known and (sort == "library" or not ladder.takes_shape(name, kind, shape)):
                row.update(result="skip", reason=(cases.sentence(error, -1) or type(error).__name__)[:200])
            else:
                row.update(result="fail", report=cases.told(error)[:200])
            continue
        if said:
            row.update(result="fail", report=said)
            continue
        row.update(result="ok", worst_error=worst)
        runners[name] = function
    timed = racing.torch_clock(torch)
    if not ladder.flops:
        table["limit"] = {"name": "copy", "per_second": _limit(read + written, timed)}
    console.progress(f"timing {len(runners)} contestants, {results.title(table)}")
    for name, seconds in racing.by_turns(runners, timed).items():
        row = next(row for row in rows if row["name"] == name)
        racing.record(row, seconds, table)
        if row["kind"] == "variant" and any(one["kind"] == "library" for one in rows):
            row["python_seconds"] = row["seconds"]  # the same process: a library's ratio is of this time
    if not reference.sampled and not sweep:
        rows.append({"name": "NumPy", "kind": "cpu", "shape": list(shape), "seconds": reference_seconds})
    table["python"] = {"about": f"torch {torch.__version__}, triton {triton.__version__}"}
    console.clear_progress()
    return table


def _of_launch(launch, problem):
    return lambda: launch(*problem.arguments)


class Skip(Exception):
    """A contestant lacks the shape or the type."""


def _contestants(day, ladder):
    """[(name, make)] of dayNN_name/tests/contestants.py, which has CONTESTANTS = [(ladder, name, make), ...]."""
    path = day.folder / "tests" / "contestants.py"
    if not path.exists():
        return []
    sys.modules["contestants"] = sys.modules[__name__]  # `from contestants import Skip`
    return [(name, make) for of, name, make in load(path).CONTESTANTS if of == ladder.name]


def _limit(moved, timed):
    """Bytes a second of this GPU's own copy of as many bytes, its best launch."""
    source = torch.empty(max(1, moved // 2), dtype=torch.int8, device="cuda")
    target = torch.empty_like(source)
    return 2 * source.numel() / min(timed(lambda: target.copy_(source)) for _ in range(20))


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
