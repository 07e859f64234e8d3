# SPDX-License-Identifier: MIT
"""Which recorded results are of kernels that have changed since, or are missing: ./days bench --stale, the marks in notes."""
from __future__ import annotations

import functools
import re

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
    """Writes into each measured rung what its kernel is made of now."""
    for table in found["tables"]:
        for row in _measured(table):
            row["source"] = kernels(found["day"]).number(_rung(found["day"], table, row))
            row.pop("same", None)


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


def key_text(table):
    """As dayNN_bench --tables writes it."""
    return (f"{table['ladder']} {table['type']} {results.size(table, 'x')}" + (" sweep" if table.get("sweep") else ""))


def _files(gpu, day):
    return sorted(results.committed(gpu, day).parent.glob(f"day{day.number:02d}*.json"))


def fresh_tables(gpu, day):
    """{key: names of the rungs that are measured as they are} of all the files that a day has of a GPU: another CUDA's or
    driver's count, too."""
    fresh = {}
    for path in _files(gpu, day):
        found = results.load(path)
        for table in found["tables"]:
            good = {row["name"] for row in table["rows"] if row["kind"] == "variant"
                    and not (row.get("seconds") and has_changed(found["day"], row, _rung(found["day"], table, row)))}
            fresh.setdefault(key_text(table), set()).update(good)
    return fresh


def need(gpu, day):
    """(order, why) of a day before anything is built: the least comes first. None where nothing is known to be stale; a table
    that is new shows once the benchmark is built."""
    path = results.committed(gpu, day)
    if not path.exists():
        return 0, "never measured"
    found = results.load(path)
    fresh = fresh_tables(gpu, day)
    changed, tables = set(), 0
    for table in found["tables"]:
        stale = [_rung(day.target, table, row) for row in _measured(table) if row["name"] not in fresh[key_text(table)]]
        changed.update(stale)
        tables += bool(stale)
    missing = never_measured(found)
    if missing:
        return 1, f"new: {', '.join(missing)}" + (f"; changed: {', '.join(sorted(changed))}" if changed else "")
    return (2, f"{tables} of {len(found['tables'])} tables have changed kernels: {', '.join(sorted(changed))}") if changed else None


def stale_programs(gpu, day):
    """The programs of a program day that have to be measured: those without results, then those that have changed."""
    programs, fresh, measured, changed = kernels(day.target).programs, fresh_tables(gpu, day), set(), set()
    for path in _files(gpu, day):
        for table in results.load(path)["tables"]:
            measured.add(table["ladder"])
            if any(row["name"] not in fresh[key_text(table)] for row in _measured(table)):
                changed.add(table["ladder"])
    return [name for name in programs if name not in measured] + [name for name in programs if name in changed]


def stale_tables(listed, fresh):
    """The keys of those listed tables that have to be measured, the most needed first: what was never measured, then what
    has changed; the tables of the ladders' own shapes before those of sweeps."""
    wanted = []
    for place, (key, variants) in enumerate(listed):
        if key not in fresh:
            wanted.append((key.endswith(" sweep"), 0, place, key))
        elif not set(variants) <= fresh[key]:
            wanted.append((key.endswith(" sweep"), 1, place, key))
    return [key for *_, key in sorted(wanted)]


def parse_tables(text):
    """[(key, variants)] of dayNN_bench --tables."""
    return [(line.split("\t")[0], line.split("\t")[1:]) for line in text.splitlines() if line]


def merge(old, new):
    """The old file with the new one's tables in the place of its own. A table of another commit than the file's says so."""
    if old is None:
        return new
    tables = {}
    for found in (old, new):
        for table in found["tables"]:
            own = {"commit": table.get("commit", found["commit"]), "date": table.get("date", found["date"])}
            tables[results.key(table)] = {**{k: v for k, v in table.items() if k not in own}, **own}
    for table in tables.values():
        if table["commit"] == new["commit"]:
            del table["commit"], table["date"]
    return {**new, "tables": list(tables.values())}


def seconds(text):
    """9m, 90s, 1h, 90 -> seconds"""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", text)
    if not match or float(match[1]) == 0:
        raise DaysError(f'--for "{text}" is no time', "./days bench --stale --record --for 9m", USAGE)
    return float(match[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[match[2]]
