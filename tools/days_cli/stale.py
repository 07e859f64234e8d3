# SPDX-License-Identifier: MIT
"""Which recorded results are of kernels that have changed since, or are missing: ./days bench --stale, the marks in notes."""
from __future__ import annotations

import functools
import os
import platform
import re
from pathlib import Path

from days_cli import kernel_sources, paths, results
from days_cli.errors import USAGE, DaysError

MARK = " †"


@functools.lru_cache(maxsize=None)
def kernels(day):
    """The kernel_sources.Day of the day in this folder, as the clone has it."""
    return kernel_sources.Day(kernel_sources.Tree.of_folder(paths.ROOT), day)


def _measured(table):
    return [row for row in table["rows"] if row["kind"] == "variant" and row.get("seconds")]


def _rung(day, table, row):
    """What was measured: a rung, or a program, which is the ladder of its tables."""
    return table["ladder"] if kernels(day).programs else row["name"]


def stamp(found):
    """Writes into each measured rung what its kernel is made of now, and into the CPU's rows what they are of and where."""
    for table in found["tables"]:
        for row in table["rows"]:
            if row["kind"] == "cpu" and "cpu" not in row:
                row["source"], row["cpu"] = kernels(found["day"]).reference(), cpu()
        for row in _measured(table):
            row["source"] = kernels(found["day"]).number(_rung(found["day"], table, row))
            row.pop("same", None)


@functools.lru_cache(maxsize=None)
def cpu():
    """This machine's processor and how many of its cores are ours: on another the CPU's versions take another time."""
    try:
        found = re.search(r"^model name\s*:\s*(.*)$", Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.MULTILINE)
    except OSError:
        found = None
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{' '.join(found[1].split()) if found else platform.machine()}, {count} threads"


def stale_cpu(gpu, day):
    """The keys of recorded tables whose rows of the CPU are missing, of another reference or of another processor; the first of a
    ladder come first."""
    seen, wanted = set(), []
    for path in files_of(gpu, day):
        for table in results.load(path)["tables"]:
            if table.get("sweep") or not table["rows"]:
                continue
            rows = [row for row in table["rows"] if row["kind"] == "cpu"]
            if not rows or any((row.get("source"), row.get("cpu")) != (kernels(day.target).reference(), cpu()) for row in rows):
                wanted.append((table["ladder"] in seen, key_text(table)))
            seen.add(table["ladder"])
    return [key for _, key in sorted(wanted, key=lambda entry: entry[0])]


def has_changed(day, row, rung):
    """Is the kernel of this rung, which the row has measured, another by now, or unknown? tools/same_code.py says what is the
    same."""
    return kernels(day).number(rung) not in (row.get("source"), row.get("same"))


def mark(found):
    """Gives measured rungs whose kernels have changed since a member "changed"; for what is shown, not for what is written."""
    for table in found["tables"]:
        for row in _measured(table):
            if has_changed(found["day"], row, _rung(found["day"], table, row)):
                row["changed"] = True
    return found


def name(row):
    return row["name"] + (MARK if row.get("changed") else "")


def any_changed(tables):
    return any(row.get("changed") for table in tables for row in table["rows"])


def remark(day):
    return f"†: its kernel has changed since it was measured. `./days bench {int(day[3:5])} --stale --record` measures it again."


def never_measured(found):
    """The day's rungs, or programs, of which the file has no row at all."""
    day = kernels(found["day"])
    if day.programs:
        there = {table["ladder"] for table in found["tables"] if table["rows"]}
        return [program for program in day.programs if program not in there]
    there = {day.variant(row["name"]) for table in found["tables"] for row in table["rows"]}
    return [variant for variant in day.launchers if variant not in there]


key_text = results.key_text


def files_of(gpu, day):
    return sorted(results.committed(gpu, day).parent.glob(f"day{day.number:02d}*.json"))


def fresh_tables(gpu, day):
    """{key: names of the rungs that are measured as they are, and of the libraries, each after a +} of all the files that a day has
    of a GPU: another CUDA's or driver's count, too. A library that was not built is none; one of Python's that is missing says so."""
    fresh = {}
    for path in files_of(gpu, day):
        found = results.load(path)
        for table in found["tables"]:
            good = {row["name"] for row in table["rows"] if row["kind"] == "variant"
                    and not (row.get("seconds") and has_changed(found["day"], row, _rung(found["day"], table, row)))}
            good |= {"+" + row["name"] for row in table["rows"] if row["kind"] == "library"
                     and (row["result"] != "missing" or row.get("process") == "python")}
            fresh.setdefault(key_text(table), set()).update(good)
    return fresh


def need(gpu, day, contestants=None):
    """(order, why) of a day before anything is built: the least comes first. None where nothing is known to be stale; a table
    that is new shows once the benchmark is built. contestants: {ladder: names} of those from Python."""
    path = results.committed(gpu, day)
    if not path.exists():
        return 0, "never measured"
    found = results.load(path)
    fresh = fresh_tables(gpu, day)
    changed, tables = set(), 0
    lost = sum(bool(unraced(table, contestants or {})) for table in found["tables"])
    for table in found["tables"]:
        stale = [_rung(day.target, table, row) for row in _measured(table) if row["name"] not in fresh[key_text(table)]]
        changed.update(stale)
        tables += bool(stale)
    missing = never_measured(found)
    if missing:
        return 1, f"new: {', '.join(missing)}" + (f"; changed: {', '.join(sorted(changed))}" if changed else "")
    words = [f"{tables} of {len(found['tables'])} tables have changed kernels: {', '.join(sorted(changed))}"] * bool(changed)
    words += [f"{lost} of {len(found['tables'])} tables lack contestants from Python"] * bool(lost)
    return (2 if changed else 3, "; ".join(words)) if words else None


def unraced(table, contestants):
    """The names of Python's contestants that a recorded table has no row of."""
    return set(contestants.get(table["ladder"], ())) - {row["name"] for row in table["rows"] if row.get("process") == "python"}


def stale_programs(gpu, day):
    """The programs of a program day that have to be measured: those without results, then those that have changed."""
    programs, fresh, measured, changed = kernels(day.target).programs, fresh_tables(gpu, day), set(), set()
    for path in files_of(gpu, day):
        for table in results.load(path)["tables"]:
            measured.add(table["ladder"])
            if any(row["name"] not in fresh[key_text(table)] for row in _measured(table)):
                changed.add(table["ladder"])
    return [name for name in programs if name not in measured] + [name for name in programs if name in changed]


ROUNDS = ("headlines", "first tables", "other tables", "sweeps")


def rounds(listed):
    """{key: the round in which it is measured} of a day's tables in their order: its first table, those of its other ladders, all
    others, sweeps."""
    seen, found = set(), {}
    for key, _ in listed:
        ladder = key.split(" ")[0]
        found[key] = 3 if key.endswith(" sweep") else 2 if ladder in seen else 1 if seen else 0
        seen.add(ladder)
    return found


def stale_tables(listed, fresh):
    """The keys of those listed tables that have to be measured, the most needed first: round by round, in each what was never
    measured before what has changed or lacks a library."""
    wanted, order = [], rounds(listed)
    for place, (key, names) in enumerate(listed):
        if key not in fresh:
            wanted.append((order[key], 0, place, key))
        elif not set(names) <= fresh[key]:
            wanted.append((order[key], 1, place, key))
    return [key for *_, key in sorted(wanted)]


def parse_tables(text):
    """[(key, names of its variants, and of its libraries after a +)] of dayNN_bench --tables."""
    return [(line.split("\t")[0], line.split("\t")[1:]) for line in text.splitlines() if line]


def merge(old, new):
    """The old file with the new one's tables in the place of its own, and the CPU's rows of those that come without. A table of another
    commit than the file's says so."""
    if old is None:
        return new
    tables = {}
    for found in (old, new):
        for table in found["tables"]:
            own = {"commit": table.get("commit", found["commit"]), "date": table.get("date", found["date"])}
            before = tables.get(results.key(table))
            tables[results.key(table)] = {**{k: v for k, v in table.items() if k not in own}, **own}
            if before and not any(row["kind"] == "cpu" for row in table["rows"]):
                kept = [row for row in before["rows"] if row["kind"] == "cpu"]
                tables[results.key(table)]["rows"] = [*table["rows"], *kept]
    for table in tables.values():
        if table["commit"] == new["commit"]:
            del table["commit"], table["date"]
    return {**new, "tables": list(tables.values())}


def merge_cpu(old, new):
    """The old file with the CPU's rows of the new one's tables."""
    rows = {results.key(table): [row for row in table["rows"] if row["kind"] == "cpu"] for table in new["tables"]}
    tables = [{**table, "rows": [row for row in table["rows"] if row["kind"] != "cpu"] + rows[results.key(table)]}
              if results.key(table) in rows else table for table in old["tables"]]
    return {**old, "tables": tables}


def seconds(text, hint="./days bench --stale --record --for 9m"):
    """9m, 90s, 1h, 90 -> seconds"""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", text)
    if not match or float(match[1]) == 0:
        raise DaysError(f'--for "{text}" is no time', hint, USAGE)
    return float(match[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[match[2]]
