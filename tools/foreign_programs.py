#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes docs/foreign-programs.md from docs/results/foreign-programs.json; --check only says whether it is right."""
import collections
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "docs" / "results" / "foreign-programs.json"
PAGE = ROOT / "docs" / "foreign-programs.md"

_TEXT = """<!-- Written by tools/foreign_programs.py from docs/results/foreign-programs.json -->
# Other people's programs on the CPU

How far does `./days cc` ([how kernels run on a CPU](simt.md)) carry code that was not written for it? {total} stand-alone
CUDA programs of {repositories} public repositories were compiled and run without a GPU: {builds} compile and **{passes} pass
({percent})**. Of the others {wrong} are wrong themselves (races, reads past an end, memory freed twice): of those that are
right, {right} pass.

*Passes* means: the program ends with exit code 0 in time ({limit} seconds of processor time on {cores} cores) and its own
check, where it has one, is content: a comparison with its CPU reference, or a test that it prints. Large sizes were reduced,
by the program's arguments or in a copy of its source; the *Note* says where. Nothing else was changed. Left out are
{left_out} programs that need a device library (cuBLAS, cuFFT, cuRAND, Thrust, CUB, NVRTC, ...), graphics, MPI or several
GPUs, load GPU machine code while they run, or are wrong on purpose.

Measured on {date} with {compiler}, course at commits {commit}.

| Repository | Commit | Programs | Compile | Pass |
|---|---|---:|---:|---:|
{summary}

## What does not pass, and why

| Repository | Program | Compiles | Why it does not pass |
|---|---|---|---|
{failures}

## What `--checked` finds in them

{checked_programs} of the programs that pass were built with `./days cc --checked` and run again, up to {checked_limit} seconds of
processor time each: {checked_ended} came to their end, the others ran out of time without a report. A report that is not the
program's own mistake would be ours; {checked_false}. These are theirs:

| Repository | Program | Report | What it is |
|---|---|---|---|
{findings}

## Run again

{again}

## All programs

| Repository | Program | Compiles | Passes | Note |
|---|---|---|---|---|
{programs}

## Left out

| Repository | Program | Why |
|---|---|---|
{excluded}
"""


def _row(*cells):
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"


def _says(flag):
    return "yes" if flag else "no"


def _link(data, program):
    repository = data["repositories"][program["repository"]]
    return f"[{program['file']}](https://github.com/{repository['name']}/blob/{repository['commit']}/{program['path']})"


def _again(run):
    return (f"On {run['date']}, at commits {run['commit']}, {run['programs']} of these programs, unchanged, were compiled and run "
            f"once more, plain for up to {run['plain_limit_s']} and checked for up to {run['checked_limit_s']} seconds of processor time "
            f"({run['wall_limit_s']} by the clock, on a busy machine): {run['plain_ended']} and {run['checked_ended']} came to their end, "
            f"the others ran out of time. {run['new_reports'] or 'No'} reports were new: those that came are listed above. "
            f"The CMake projects of [simt's README](../simt/README.md#in-a-cmake-project) ({', '.join(run['projects'])}) "
            "were configured, built and run, plain and checked, and gave no report.")


def page(data):
    """The text of the page."""
    programs = data["programs"]
    count = collections.Counter()
    for program in programs:
        for what in ("all", "builds", "passes"):
            count[program["repository"], what] += 1 if what == "all" else program[what]
    passes = sum(program["passes"] for program in programs)
    percent = f"{100 * passes / len(programs):.0f}%"
    wrong = sum(not program["passes"] and "in the program" in program["reason"] for program in programs)
    checked = data["checked"]
    by_file = {(program["repository"], program["file"]): program for program in programs}
    return _TEXT.format(
        total=len(programs), repositories=len({program["repository"] for program in programs}), passes=passes, percent=percent,
        builds=sum(program["builds"] for program in programs), limit=data["limit_s"], cores=data["cores"],
        left_out=len(data["left_out"]), date=data["date"], compiler=data["compiler"], commit=data["commit"],
        wrong=wrong, right=f"{100 * passes / (len(programs) - wrong):.0f}%",
        checked_programs=checked["programs"], checked_limit=checked["limit_s"], checked_ended=checked["ended"],
        checked_false=checked["false_positives"],
        again=_again(data["again"]),
        findings="\n".join(_row(entry["repository"], _link(data, by_file[entry["repository"], entry["file"]]),
                                f"`{entry['report']}`", entry["what"])
                           for entry in checked["reports"]),
        summary="\n".join(_row(f"[{entry['name']}](https://github.com/{entry['name']})", f"`{entry['commit'][:10]}`",
                               *(count[key, what] for what in ("all", "builds", "passes")))
                          for key, entry in sorted(data["repositories"].items()) if count[key, "all"]),
        failures="\n".join(_row(program["repository"], _link(data, program), _says(program["builds"]), program["reason"])
                           for program in programs if not program["passes"]),
        programs="\n".join(_row(program["repository"], _link(data, program), _says(program["builds"]),
                                _says(program["passes"]), program.get("note", ""))
                           for program in programs),
        excluded="\n".join(_row(entry["repository"], entry["file"], entry["reason"]) for entry in data["left_out"]))


def main(arguments):
    if arguments not in ([], ["--check"]):
        print("usage: tools/foreign_programs.py [--check]", file=sys.stderr)
        return 2
    new = page(json.loads(DATA.read_text(encoding="utf-8")))
    old = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    if new == old:
        return 0
    if arguments:
        print("error: docs/foreign-programs.md is out of date\nNext: tools/foreign_programs.py", file=sys.stderr)
        return 1
    PAGE.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
