# SPDX-License-Identifier: MIT
"""days run: builds a day's executable without CMake and runs it."""
from __future__ import annotations

from days_cli import arguments, catalog, console, profiles, result_table, results, stale
from days_cli.errors import DaysError

USAGE = "DAY [flags]"
SUMMARY = "builds a day and runs its ladder of kernels"
HELP = """./days run DAY [flags]     builds what is needed, then runs the day's ladder

  --backend cuda|simt      where kernels run (default: the GPU if any)
  --checked                simt that watches every access of a kernel; slower
  --size 4096x33           the problem's own order of extents
  --variant a,b            these rungs alone; exercise: yours, of ./days check
  --type fp32|fp16|bf16    this element type
  --with FILE.cu           your kernel too: it takes the place of exercise.cu
  --list                   the rungs and what each needs; runs nothing
  --json FILE              results as JSON, - for standard output; a file of
                           another GPU, CUDA or driver is kept
  --recorded GPU           runs nothing: shows what was measured on that GPU
  --color auto|always|never
  -- flags                 all after -- goes to the day's program as it is

A Python day runs with NumPy and Triton: in an environment of the project's own,
build/python, unless this Python has them. Without a GPU Triton interprets.

Needs Python and a compiler, no CMake. The program of the day is
build/run/BACKEND/dayNN_name; its own --help has what this day alone can do:
./days run DAY -- --help"""

_PASSED_ON = ("--size", "--variant", "--type", "--json")


def run(args):
    given = arguments.parse("run", args, {"--backend": ("cuda", "simt"), "--with": None, "--recorded": None},
                            ("--checked", "--list"), 1, _PASSED_ON)
    if given.get("--help"):
        console.say(HELP)
        return 0
    if not given.words:
        raise DaysError("run which day?", "./days run 1")
    day = catalog.resolve(given.words[0], "run")
    if given.get("--recorded"):
        return _recorded(day, given)
    wanted = given.get("--backend")
    if given.get("--checked"):
        if wanted == "cuda":
            raise DaysError("--checked watches kernels on the CPU: it goes with --backend simt",
                            f"./days run {day.number} --checked")
        wanted = "simt"
    return day.kind.does.run(day, wanted, given)


def _recorded(day, given):
    """The committed table of a GPU: needs neither it nor a compiler."""
    gpu, there = given.get("--recorded").lower(), results.recorded(day.number)
    if gpu not in there:
        others = [name for name in results.recorded() if name not in there]
        raise DaysError(f'no results of day {day.label} on "{given.get("--recorded")}" are recorded. There are: '
                        + (", ".join(there) or "none") + (f"; of other days: {', '.join(others)}" if others else ""),
                        f"./days run {day.number}" + (f" --recorded {there[0]}" if there else ""))
    for flag in ("--backend", "--with", "--checked", "--list"):
        if given.get(flag):
            raise DaysError(f"--recorded runs nothing: {flag} has no place there",
                            f"./days run {day.number} --recorded {gpu}")
    found = stale.mark(results.load(results.committed(gpu, day)))
    chosen = _chosen(day, found, given.rest)
    console.say(result_table.render(chosen, recorded=True))
    _profiled(day, gpu, chosen)
    return 0


def _profiled(day, gpu, found):
    """What warps of the shown rungs wait for, where a profile is there."""
    shown = {row["name"] for table in found["tables"] for row in table["rows"]}
    rows = {name: row for name, row in profiles.shown(day, gpu).items() if name in shown}
    if not rows:
        return
    some = next(iter(rows.values()))
    console.say(f"\nWhere the time of warps goes, by ncu, {some['size'].replace('x', ' x ')} {some['type']} (./days profile {day.number}):")
    for name, row in rows.items():
        for line in console.wrap(profiles.line(row), " " * 14, f"{name + (stale.MARK if row['changed'] else ''):<13} "):
            console.say(line)


def _chosen(day, found, rest):
    """Of the tables those that --size, --type and --variant name."""
    flags = dict(zip(rest[::2], rest[1::2]))
    unknown = next((flag for flag in rest[::2] if flag not in _PASSED_ON), None)
    if unknown or len(rest) % 2:
        raise DaysError(f"--recorded shows a file: {unknown or rest[-1]} has no place there", "./days run --help")
    if "--json" in flags:
        raise DaysError("--recorded shows a file that is JSON already", f"{results.shown(results.committed('GPU', day))}")
    tables = []
    for table in found["tables"]:
        if flags.get("--size") not in (None, results.size(table, "x")):
            continue
        if "--type" in flags and not {"all", table["type"]} & set(flags["--type"].split(",")):
            continue
        names = flags["--variant"].split(",") if "--variant" in flags else None
        rows = [row for row in table["rows"] if names is None or row["name"] in names]
        if any(row["kind"] != "cpu" for row in rows):
            tables.append(dict(table, rows=rows))
    if not tables:
        there = "; ".join(dict.fromkeys(results.title(table) for table in found["tables"]))
        raise DaysError(f"nothing recorded is {' '.join(rest)}. There are: {there}", f"./days run {day.number} --recorded "
                        + results.slug(found["device"]["name"]))
    return dict(found, tables=tables)
