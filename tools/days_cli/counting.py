# SPDX-License-Identifier: MIT
"""Counts what kernels do: runs a traced program, keeps what is the day's own, and makes the figures of it that gates and tables ask
about. What was counted once is remembered."""
from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

from days_cli import console, outputs, programs, traces
from days_cli.errors import WRONG, DaysError
from days_cli.stages import PROGRAM_SECONDS


def trace(command, results=None, seconds=None, environment=None):
    """Runs a traced program: (its trace, its results, what it wrote to standard output, its exit code). DaysError where it
    fails, or takes longer than that many seconds."""
    name = os.path.basename(str(command[0]))
    with tempfile.TemporaryDirectory(prefix="days-explain-") as folder:
        path = Path(folder) / "trace.json"
        if results:
            command = [*command, "--json", str(Path(folder) / "results.json")]
        ended = programs.run(command, {"SIMT_TRACE": str(path), "NO_COLOR": "1", **(environment or {})}, seconds=seconds)
        failed = ended.problem or ended.code
        if failed and (results or not path.exists()):
            console.tell(ended.stdout + ended.stderr, "")
            if ended.problem:
                raise programs.Died(name, ended)
            raise DaysError(f"{name} ended with {ended.code}", code=ended.code if ended.code in (1, 2, 3) else WRONG)
        console.tell(ended.stderr, "")
        if results and not (Path(folder) / "results.json").exists():
            raise DaysError(programs.OTHER_MAIN, code=WRONG)
        if not path.exists():
            raise DaysError(f"{name} left no trace", code=WRONG)
        table = traces.load(Path(folder) / "results.json") if results else None
        return traces.load(path), table, ended.stdout, ended.code if ended.code >= 0 else WRONG


def of_day(counted, day, file=""):
    """The launches that are the rung's: of the day's own kernels, the learner's in `file` and those that days share in common/
    (a sum's second stage), not of the harness', which make the inputs."""
    def own(path):
        return path == file or (path.startswith((day.target + "/", "common/")) and not path.startswith("common/harness"))

    kernels = [kernel for kernel in counted["kernels"] if own(kernel["file"])]
    return dict(counted, kernels=kernels or [k for k in counted["kernels"] if not k["file"].startswith("common/harness")])


def count(program, day, variant, flags=(), seconds=None, own="", environment=None):
    """(trace of the day's own kernels, the run's results) of a variant; without flags on the shape that it has on the CPU. own:
    the learner's file, whose kernels are the day's."""
    counted, table, _, _ = trace([program, "--variant", variant, *flags], results=True, seconds=seconds, environment=environment)
    return of_day(counted, day, own), table


def measure(kernel, flags=(), steady=False):
    """({a metric's key: what the kernel has}, its launches, the extents of the shape), on the shape that ./days run shows on a CPU, or
    on the one that flags name. steady: one block after the other, so that what waits for another block reads as often on every run."""
    program = kernel.program(traced=True)
    counted, table = count(program, kernel.day, kernel.variant, [*kernel.flags, *flags], seconds=PROGRAM_SECONDS, own=kernel.file,
                           environment={"SIMT_THREADS": "1"} if steady else None)
    launches, table = traces.launches(counted), table["tables"][0]
    row = next(row for row in table["rows"] if row["name"] == kernel.variant)
    values = {**traces.figures(launches, table["read_bytes"]), "launches": row.get("launches", 0),
              "workspace": row.get("workspace_written_bytes", 0),
              "loads_first": max((launch.loads_first for launch in launches), default=0),
              "blocks": min((launch.busy for launch in launches), default=0)}
    return values, launches, list(table["shape"].values())


# ---- what is known ----

def remembered(path):
    """{key: counts} of a file; {} where it is not there, or is damaged."""
    try:
        known = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}


def remember(path, known):
    """Keeps them, where that can be: else the next command counts again."""
    try:
        outputs.put(path, json.dumps(known, indent=1) + "\n")
    except (OSError, DaysError):
        pass
