# SPDX-License-Identifier: MIT
"""What `run` needs for a day of any kind: which kernel is the learner's, where results go, how a program has ended."""
from __future__ import annotations

import os
import signal

from days_cli import console, exercises, paths, programs, results

CHECKED = "Checked: every access of each kernel was watched, and none was wrong."


def exercise_of(day, flags):
    """The learner's file where --variant names the exercise and there is one: what explain and check mean by that word."""
    named = [flag.partition("=")[2] if "=" in flag else after for flag, after in zip(flags, [*flags[1:], ""])
             if flag.partition("=")[0] == "--variant"]
    mine = exercises.my_file(day)
    return str(mine) if any("exercise" in names.split(",") for names in named) and mine.is_file() else None


def code_of(program, ended):
    """The exit code; DaysError where the program did not come to its end."""
    if ended.code == -signal.SIGPIPE:
        return 128 + signal.SIGPIPE  # whoever reads has read enough
    if ended.problem:
        raise programs.Died(program, ended)
    return ended.code


def json_once(flags):
    """(the flags with one --json at most, its file or ""): the last one counts, however it is written."""
    flags = [part for flag in flags for part in (flag.split("=", 1) if flag.startswith("--json=") else [flag])]
    places = [i for i, flag in enumerate(flags[:-1]) if flag == "--json"]
    for place in reversed(places[:-1]):
        del flags[place:place + 2]
    return flags, flags[flags.index("--json") + 1] if places else ""


def beside(program, flags, file):
    """Runs with results in a file of their own first, so that one of another machine is not lost under them."""
    fresh = paths.BUILD / "run" / f"{os.path.basename(program)}.json"
    fresh.unlink(missing_ok=True)
    at = flags.index("--json") + 1
    code = code_of(program, programs.run_here([program, *flags[:at], fresh, *flags[at + 1:]]))
    if fresh.exists():
        path, remarks = results.save(file, results.load(fresh))
        for remark in remarks:
            console.note(remark)
        console.note(f"results: {results.shown(path)}")
    return code
