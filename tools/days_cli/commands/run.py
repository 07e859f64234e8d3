# SPDX-License-Identifier: MIT
"""days run: builds a day's executable without CMake and runs it."""
from __future__ import annotations

import os
import signal

from days_cli import (arguments, catalog, console, exercises, ladders, paths, profiles, program_day, programs, python_day, result_table,
                      results, run_build, stale, toolchain)
from days_cli.errors import WRONG, DaysError

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

CHECKED = "Checked: every access of each kernel was watched, and none was wrong."

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
    if day.kind == "program" and given.get("--list"):
        return program_day.print_list(day)
    if day.kind == "python":
        return _python(day, wanted, given)
    backend, remark = toolchain.choose_backend(wanted, f"./days run {day.number} --backend simt")
    if remark:
        console.note(remark)
    if day.kind == "program":
        return _programs(day, backend, given)
    mine = given.get("--with") or _exercise_of(day, given.rest)
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
    console.flush()
    flags, file = _json_once(flags)
    if file != "-" and os.path.isfile(file) and os.path.getsize(file):
        results.check_place(file)
        return _beside(program, flags, file)
    ended = programs.run_here([program, *flags])
    if mine and not ended.began and ended.code == 0:
        raise DaysError(programs.OTHER_MAIN, f"./days check {day.number}", WRONG)
    if given.get("--checked") and not ended.problem and ended.code == 0 and file != "-" and not given.get("--list"):
        console.say(CHECKED)
    return _code(program, ended)


def _exercise_of(day, flags):
    """The learner's file where --variant names the exercise and there is one: what explain and check mean by that word."""
    named = [flag.partition("=")[2] if "=" in flag else after for flag, after in zip(flags, [*flags[1:], ""])
             if flag.partition("=")[0] == "--variant"]
    mine = exercises.my_file(day)
    return str(mine) if any("exercise" in names.split(",") for names in named) and mine.is_file() else None


def _python(day, wanted, given):
    """A Python day: its rungs on the GPU, or in Triton's interpreter."""
    where, remark = ("simt", "") if given.get("--list") else python_day.backend(wanted, f"./days run {day.number} --backend simt")
    if remark:
        console.note(remark)
    flags, file = _json_once(given.rest)
    mine = given.get("--with") or _exercise_of(day, flags)
    if mine:
        if not os.path.isfile(mine):
            raise DaysError(f"--with {mine}: there is no such file", f"cp {day.target}/exercise.py {mine}")
        flags += ["--file", os.path.abspath(mine)]
        if "--variant" not in flags:
            flags += ["--variant", ",".join([*ladders.files(day), python_day.EXERCISE])]
    if file not in ("", "-") and os.path.isfile(file) and os.path.getsize(file):
        results.check_place(file)
    if console.color_mode() == "never":
        os.environ["NO_COLOR"] = "1"
    os.environ.setdefault("DAYS_COMMIT", paths.commit())
    return python_day.run_here(day, ["run", *flags, *(["--list"] if given.get("--list") else [])], where)


def _code(program, ended):
    """The exit code; DaysError where the program did not come to its end."""
    if ended.code == -signal.SIGPIPE:
        return 128 + signal.SIGPIPE  # whoever reads has read enough
    if ended.problem:
        raise programs.Died(program, ended)
    return ended.code


def _json_once(flags):
    """(the flags with one --json at most, its file or ""): the last one counts, however it is written."""
    flags = [part for flag in flags for part in (flag.split("=", 1) if flag.startswith("--json=") else [flag])]
    places = [i for i, flag in enumerate(flags[:-1]) if flag == "--json"]
    for place in reversed(places[:-1]):
        del flags[place:place + 2]
    return flags, flags[flags.index("--json") + 1] if places else ""


def _programs(day, backend, given):
    """A program day: each program in order. What run's other flags ask for means nothing to a program."""
    flags, names, rest = [], "", list(given.rest)
    while rest:
        flag = rest.pop(0)
        if flag == "--variant":
            names = rest.pop(0)
        else:
            flags.append(flag)
    wanted = program_day.chosen(day, names, "run")
    for flag, why in (("--type", "its programs have one type each"), ("--json", "that is for one of its programs")):
        if any(word.partition("=")[0] == flag for word in flags) and (flag == "--type" or len(wanted) > 1):
            raise DaysError(f"day {day.label} is a program day, and {flag} has no place here: {why}",
                            f"./days run {day.number} --list")
    if given.get("--with"):
        raise DaysError(f"day {day.label} is a program day: none of its programs takes another's kernel",
                        f"./days check {day.number}")
    checked = bool(given.get("--checked"))
    code = program_day.run(day, backend, wanted, flags, checked)
    if checked and code == 0 and "--json" not in [flag.partition("=")[0] for flag in flags]:
        console.say(CHECKED)
    return code


def _beside(program, flags, file):
    """Runs with results in a file of their own first, so that one of another machine is not lost under them."""
    fresh = paths.BUILD / "run" / f"{os.path.basename(program)}.json"
    fresh.unlink(missing_ok=True)
    at = flags.index("--json") + 1
    code = _code(program, programs.run_here([program, *flags[:at], fresh, *flags[at + 1:]]))
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
