# SPDX-License-Identifier: MIT
"""The executables of a program day: found by name, built, run one after the other."""
from __future__ import annotations

import re
import tempfile
from pathlib import Path

from days_cli import arguments, console, exercises, gpu, paths, programs, results, run_build, weights
from days_cli.errors import ENVIRONMENT, DaysError

EXERCISE = "exercise"


def sources(day):
    """{name: path below the root} of the day's programs, in order: 03_overlapped.cu is "overlapped"."""
    return {path.stem[3:]: path.relative_to(paths.ROOT).as_posix() for path in sorted(day.folder.glob("[0-9][0-9]_*.cu"))}


def files(_):
    """{}: programs are no rungs."""
    return {}


def exercise(_):
    """None: what the front matter says of it, program_judge.exercise_of() reads."""


def measured(day):
    """Whether a day's programs time anything: those that show mistakes do not."""
    return any(".row(" in path.read_text(encoding="utf-8", errors="replace") for pattern in ("*.cu", "*.cuh", "*.h") for path in day.folder.glob(pattern))


def source_of(day, name):
    """"exercise" is the learner's file where there is one, else the skeleton."""
    if name == EXERCISE:
        mine = exercises.my_file(day)
        return exercises.shown(mine if mine.exists() else exercises.skeleton(day))
    return sources(day)[name]


def chosen(day, words, command):
    """The names that --variant a,b gives, all without; DaysError for one that is none."""
    known = list(sources(day))
    if not words:
        return known
    names = words.split(",")
    for name in names:
        if not (name == EXERCISE and exercises.skeleton(day).is_file()):
            arguments.known_variant(command, name, known, day, "program", "" if command == "explain" else "--variant")
    return names


def build(day, names, backend, checked=False):
    """{name: path of its executable}"""
    wanted = {name: source_of(day, name) for name in names}
    built = run_build.build_programs(day, list(wanted.values()), backend, checked)
    return {name: built[source] for name, source in wanted.items()}


def says_ok(output):
    """Whether a program's last line says that it came to its end and found all right, or what it lacks."""
    lines = output.strip().splitlines()
    return bool(lines) and lines[-1].startswith(("ok: ", "skip: "))


# ---- run ----

def run(day, backend, names, flags, checked=False):
    """Builds and runs the programs in order, what they print as it comes; the worst exit code."""
    weights.ensure(day, names, flags)
    built, worst = build(day, names, backend, checked), 0
    for name in names:
        if name != names[0]:
            console.say()
        if len(names) > 1:
            console.say(console.paint(f"{name}", "bold") + f"  {source_of(day, name)}")
        worst = max(worst, _call(built[name], flags))
    if backend == "simt":
        console.say("\nNo GPU: results are checked, nothing is timed. What may overlap: " +
                    console.paint(f"./days explain {day.number}", "cyan"))
    return worst


def _call(program, flags):
    """The exit code, once the program has come to its end; programs.Died where it has not."""
    console.flush()
    ended = programs.run_here([program, *flags])
    if ended.problem:
        raise programs.Died(program, ended)
    return ended.code


def _call_within(program, flags, seconds):
    """The same, its output kept back; a program that is not through in time has measured nothing."""
    ended = programs.run([program, *flags], seconds=seconds)
    if ended.stopped:
        return 0
    if ended.problem:
        raise programs.Died(program, ended)
    return ended.code


def print_list(day):
    """The programs and what each does, by its own words."""
    for name, source in sources(day).items():
        console.say(f"  {name:<14} {does(paths.ROOT / source)}")
    return 0


def does(path):
    """What a program says of itself: the second string of its days::About."""
    found = re.search(r'\bAbout\b[^{"]*\{\s*"[^"]*",\s*"([^"]*)"', path.read_text(encoding="utf-8"))
    return found[1] if found else ""


# ---- bench ----

def measure(day, names, flags, preset=None, seconds=None):
    """(results of all programs as one file of docs/results.md's schema, exit code). On a GPU alone. preset: the CMake build that has
    them already; seconds: a program that takes longer is stopped."""
    folder = paths.BUILD / (preset or "") / "bin"
    there = {name: folder / f"day{day.number:02d}_{name}" for name in names if preset and (folder / f"day{day.number:02d}_{name}").exists()}
    built, found, worst = {**build(day, [name for name in names if name not in there], "cuda"), **there}, None, 0
    for name in names:
        with tempfile.TemporaryDirectory(prefix="days-bench-") as folder:
            path = Path(folder) / "results.json"
            if name != names[0]:
                console.say()
            console.say(console.paint(name, "bold"))
            worst = max(worst, _call(built[name], [*flags, "--json", str(path)]) if seconds is None
                        else _call_within(built[name], [*flags, "--json", str(path)], seconds))
            if not path.exists():
                continue
            part = results.load(path)
        if found is None:
            found = dict(part, day=day.target)
        else:
            found["tables"] += part["tables"]
    return found, worst


def require_gpu(day, command):
    if not gpu.detect().gpu:
        raise DaysError(f"./days {command} times the programs of day {day.label} on a GPU, and there is none here",
                        f"./days run {day.number}", ENVIRONMENT)
