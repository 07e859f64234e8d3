# SPDX-License-Identifier: MIT
"""days run: builds a day's executable without CMake and becomes it."""
from __future__ import annotations

import os
import subprocess
import sys

from days_cli import arguments, catalog, console, exercises, paths, result_table, results, run_build, toolchain
from days_cli.errors import ENVIRONMENT, WRONG, DaysError

USAGE = "DAY [flags]"
SUMMARY = "builds a day and runs its ladder of kernels"
HELP = """./days run DAY [flags]     builds what is needed, then runs the day's ladder

  --backend cuda|simt      where kernels run (default: the GPU if any)
  --checked                simt that watches every access of a kernel; slower
  --size 4096x33           the problem's own order of extents
  --variant a,b            these rungs alone
  --type fp32|fp16|bf16    this element type
  --with FILE.cu           your kernel too: it takes the place of exercise.cu
  --list                   the rungs and what each needs; runs nothing
  --json FILE              results as JSON, - for standard output; a file of
                           another GPU, CUDA or driver is kept
  --recorded GPU           runs nothing: shows what was measured on that GPU
  --color auto|always|never
  -- flags                 all after -- goes to the day's program as it is

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
    backend, remark = toolchain.choose_backend(wanted, f"./days run {day.number} --backend simt")
    if remark:
        console.note(remark)
    mine = given.get("--with")
    if mine:
        exercises.resolve(given.words[0], "run")
        if not os.path.isfile(mine):
            raise DaysError(f"--with {mine}: there is no such file", f"cp {day.target}/exercise.cu {mine}")
        mine = exercises.shown(os.path.abspath(mine))
    program = run_build.build_day(day, backend, bool(given.get("--checked")), mine)
    flags = (["--exercise"] if mine else []) + given.rest + (["--list"] if given.get("--list") else [])
    if console.color_mode() != "auto":
        flags += ["--color", console.color_mode()]
    os.environ.setdefault("DAYS_COMMIT", paths.commit())  # for --json
    sys.stdout.flush()
    sys.stderr.flush()
    file = flags[flags.index("--json") + 1] if "--json" in flags else ""
    if file != "-" and os.path.isfile(file) and os.path.getsize(file):
        results.check_place(file)
        return _beside(program, flags, file)
    try:
        os.execv(program, [str(program), *flags])
    except OSError as error:
        raise DaysError(f"{os.path.relpath(program)} cannot be started: {error.strerror}", "./days doctor",
                        ENVIRONMENT) from error


def _beside(program, flags, file):
    """Runs with results in a file of their own first, so that one of another machine is not lost under them."""
    fresh = paths.BUILD / "run" / f"{os.path.basename(program)}.json"
    fresh.unlink(missing_ok=True)
    at = flags.index("--json") + 1
    code = subprocess.run([str(program), *flags[:at], str(fresh), *flags[at + 1:]], check=False).returncode
    if code < 0:
        raise DaysError(f"{os.path.relpath(program)} was ended by signal {-code}", code=WRONG)
    if fresh.exists():
        path, remarks = results.save(file, results.load(fresh))
        for remark in remarks:
            console.note(remark)
        console.note(f"results: {results.shown(path)}")
    return code


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
    found = results.load(results.committed(gpu, day))
    chosen = _chosen(day, found, given.rest)
    console.say(result_table.render(chosen, recorded=True))
    return 0


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
