# SPDX-License-Identifier: MIT
"""Result files, docs/results.md's schema: read, named by the machine that they are of, written without losing another's."""
from __future__ import annotations

import json
import os
import re
from pathlib import Path

from days_cli import outputs, paths
from days_cli.errors import DaysError

SCHEMA = 1
_COMMITTED = paths.ROOT / "docs" / "results"


def load(path):
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise DaysError(f"{shown(path)}: {error.strerror}", "./days bench --help") from error
    except ValueError as error:
        raise DaysError(f"{shown(path)} is no JSON: {error}", "./days bench --help") from error
    if not isinstance(found, dict) or found.get("schema") != SCHEMA:
        raise DaysError(f"{shown(path)} is no result file of schema {SCHEMA}", "docs/results.md describes it")
    return found


def shown(path):
    """Relative to where the learner stands, if that is shorter."""
    return min(os.path.relpath(path), str(path), key=len)


def write(path, results):
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    outputs.put(path, json.dumps(results, indent=2, ensure_ascii=False) + "\n")


def slug(device):
    """The folder of a device's results: NVIDIA H200 -> h200, Tesla T4 -> t4, NVIDIA GeForce RTX 4090 -> rtx-4090, and without
    the memory that NVIDIA H100 80GB HBM3 has in its name: h100."""
    words = re.sub(r"[^a-z0-9]+", " ", re.sub(r" \d+gb hbm\w+$", "", device.lower())).split()
    return "-".join(word for word in words if word not in ("nvidia", "tesla", "geforce", "graphics", "device")) or "gpu"


def committed(gpu, day):
    """Where the results of a day on a GPU are, or will be."""
    return _COMMITTED / gpu / f"day{day.number:02d}.json"


def recorded(number=None):
    """The GPUs that have results, of the day of this number or of any."""
    pattern = f"day{number:02d}.json" if number else "day[0-9][0-9].json"
    return sorted({path.parent.name for path in _COMMITTED.glob(f"*/{pattern}")})


def markers(gpu=r"[\w-]+"):
    """Where a note holds the results of a GPU, or of any: what begins the block, what is in it, what ends it; `gpu` by name."""
    return re.compile(rf"(<!-- results:(?P<gpu>{gpu}) -->\n)(.*?)(<!-- /results:(?P=gpu) -->)", re.DOTALL)


def shown_in(note):
    """The GPU whose results a note shows, which its markers name; None where it has none. Another GPU's stand on a page."""
    found = markers().search(note)
    return found["gpu"] if found else None


def machine(results):
    """What a figure depends on beside the code: GPU, CUDA, driver."""
    return {"GPU": results["device"]["name"], "CUDA": results["cuda"],
            "driver": results.get("driver_version") or results["driver"]}


def differences(old, new):
    """["CUDA 13.0, now 13.1", ...]; drivers are compared by what both files say."""
    then, now = machine(old), machine(new)
    if "driver_version" not in old or "driver_version" not in new:
        then["driver"], now["driver"] = old["driver"], new["driver"]
    return [f"{what} {then[what]}, now {now[what]}" for what in then if then[what] != now[what]]


def check_place(path):
    """DaysError where the file that is there is no result file, which nothing may replace: said before hours of work."""
    if Path(path).exists() and Path(path).stat().st_size:
        load(path)


def place(path, results):
    """(path to write, remark): another name where the file that is there is of another GPU, CUDA or driver."""
    path = Path(path)
    if not path.exists() or path.stat().st_size == 0:
        return path, ""
    old = load(path)
    changed = differences(old, results)
    if not changed:
        return path, ""
    here = machine(results)
    tail = f"cuda{here['CUDA']}-driver{here['driver']}"
    if old["device"]["name"] != results["device"]["name"]:
        tail = slug(results["device"]["name"]) + "-" + tail
    stem = path.stem
    other = path.with_name(f"{stem}-{tail}{path.suffix}")
    return other, f"{shown(path)} is of {'; '.join(changed)}. It is kept: see {shown(other)}"


def lost(old, new):
    """The tables of the old file that the new one has not."""
    here = {key(table) for table in new["tables"]}
    return [title(table) for table in old["tables"] if key(table) not in here]


def save(path, results):
    """Writes by place()'s rule; (path, remarks)."""
    target, remark = place(path, results)
    remarks = [remark] if remark else []
    if target.exists() and target.stat().st_size:
        gone = lost(load(target), results)
        if gone:
            remarks.append(f"{shown(target)} is replaced; these of its tables are no more: {'; '.join(gone)}")
    write(target, results)
    return target, remarks


def name(table):
    """The ladder's, with what tells a program's tables apart."""
    return f"{table['ladder']} {table['part']}" if table.get("part") else table["ladder"]


def key(table):
    return name(table), table["type"], tuple(table["shape"].items()), bool(table.get("sweep"))


def key_text(table):
    """As dayNN_bench --tables writes it."""
    return f"{name(table)} {table['type']} {size(table, 'x')}" + (" sweep" if table.get("sweep") else "")


def size(table, between=" x "):
    return between.join(map(str, table["shape"].values()))


def title(table):
    return f"{name(table)} {size(table)} {table['type']}"


def library(table):
    """The fastest library's row, None where none was timed."""
    timed = [row for row in table["rows"] if row["kind"] == "library" and row.get("seconds")]
    return min(timed, key=lambda row: row["seconds"], default=None)


def best(table):
    timed = [row for row in table["rows"] if row["kind"] == "variant" and row.get("seconds")]
    return min(timed, key=lambda row: row["seconds"], default=None)


def main_tables(found):
    """One of each ladder, which stands for it: the first of those on which most rungs ran."""
    chosen = {}
    for table in found["tables"]:
        ran = sum(row["kind"] == "variant" and row["result"] == "ok" for row in table["rows"])
        if not table.get("sweep") and ran > chosen.get(name(table), (-1,))[0]:
            chosen[name(table)] = ran, table
    return [table for _, table in chosen.values()]


def sweeps(found):
    """The tables of each size sweep: of a ladder and a type."""
    groups = {}
    for table in found["tables"]:
        if table.get("sweep"):
            groups.setdefault((table["ladder"], table["type"]), []).append(table)
    return list(groups.values())


def over_library(row, against):
    """How many times as fast as the library a row is. A contestant of Python's is compared within its own process, where
    our rungs were timed too ("python_seconds")."""
    if against.get("process") == "python" and row.get("process") != "python":
        return against["seconds"] / row["python_seconds"] if row.get("python_seconds") else None
    if row.get("process") == "python" and against.get("process") != "python":
        return against["python_seconds"] / row["seconds"] if against.get("python_seconds") else None
    return against["seconds"] / row["seconds"]


def in_flops(table):
    return table.get("flops", 0) > 0


def unit(table):
    """Of a table's speeds; a program may have one of its own, and then counts units a second as they are."""
    return f"{table['work']['unit']}s/s" if table.get("work") else "TFLOP/s" if in_flops(table) else "GB/s"


def scaled(table, per_second):
    return per_second if table.get("work") else per_second / (1e12 if in_flops(table) else 1e9)


def rate(table, row):
    """In unit(table); None where the row has no time, or is a CPU's on another shape without a rate of its own."""
    if not row.get("seconds"):
        return None
    own = row.get("units_per_second" if table.get("work") else "flops_per_second" if in_flops(table) else "bytes_per_second")
    if own is None and row["kind"] == "cpu" and row["shape"] == list(table["shape"].values()):
        own = (table.get("flops") or table["read_bytes"] + table["written_bytes"]) / row["seconds"]
    return scaled(table, own) if own else None
