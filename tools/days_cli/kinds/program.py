# SPDX-License-Identifier: MIT
"""What each command does for a day of executables of its own."""
from __future__ import annotations

import os

from days_cli import benching, checking, clocks, console, measuring, paths, program_day, program_explain, program_judge, running, stages, timeline, toolchain
from days_cli import gpu as gpus
from days_cli.errors import WRONG, DaysError
from days_cli.kinds import ladder

asm, test = ladder.asm, ladder.test


def run(day, wanted, given):
    if given.get("--list"):
        return program_day.print_list(day)
    backend, remark = toolchain.choose_backend(wanted, f"./days run {day.number} --backend simt")
    if remark:
        console.note(remark)
    return _run(day, backend, given)


def _run(day, backend, given):
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
        console.say(running.CHECKED)
    return code


def bench(days, given, raw):
    """Programs time themselves, on a GPU alone: of one day that is asked for, where there is none, that is an error."""
    worst = 0
    for day in days:
        if given.words or gpus.detect().gpu and given.get("--backend") != "simt" and not raw:
            worst = max(worst, _bench(day, given, raw))
        else:
            console.note(f"Day {day.label} is a program day: it is timed on a GPU alone, by ./days bench {day.number}")
    return worst


def _bench(day, given, raw):
    """A program day: its programs time themselves."""
    for flag in ("--sweep", "--type", "--preset"):
        if given.get(flag):
            raise DaysError(f"day {day.label} is a program day: {flag} means nothing to its programs", f"./days bench {day.number}")
    if raw:
        raise DaysError(f"day {day.label} is a program day: Google Benchmark does not time it", f"./days bench {day.number}")
    if given.get("--backend") == "simt":
        raise DaysError(f"the programs of day {day.label} time nothing on a CPU", f"./days run {day.number} --backend simt")
    program_day.require_gpu(day, "bench")
    os.environ.setdefault("DAYS_COMMIT", paths.commit())
    flags = ["--size", given.get("--size")] if given.get("--size") else []
    with clocks.Clocks() as sampled:
        found, code = measuring.raced(day, *program_day.measure(day, program_day.chosen(day, given.get("--variant"), "bench"), flags))
    return benching.keep(day, given, found, sampled, code) if found else code or WRONG


def explain(day, given):
    return program_explain.explain(day, given.words[1] if len(given.words) > 1 else "", given)


def check(day, name=None):
    exercise = program_judge.exercise_of(day)
    if name:
        program_day.chosen(day, name, "check")
        title, source = f"{day.label}, {name}", program_day.source_of(day, name)
    else:
        title = source = checking.started(day, f"a copy of {day.target}/exercise.cu")
    checking.says(title, exercise.goal)
    return checking.judged(day, program_judge.run_stages(program_judge.Judged(day, source, exercise.sizes), exercise.gates, stages.print_stage), name)


def judged(day, name, _=""):
    """({goal, starts, solution, gates} of the exercise, the stages of a program); "exercise" is the skeleton."""
    source = f"{day.target}/exercise.cu" if name == program_day.EXERCISE else program_day.source_of(day, name)
    exercise = program_judge.exercise_of(day)
    return vars(exercise), program_judge.run_stages(program_judge.Judged(day, source, exercise.sizes), exercise.gates, lambda stage: None)


def solution(day):
    """(name, .cu file) of the program that the front matter names."""
    name = program_judge.exercise_of(day).solution
    return name, paths.ROOT / program_day.source_of(day, name)


def beside(day, _, solution_):
    """What the streams of both programs allow; of one that is wrong, nothing."""
    for title, name in (("yours", program_day.EXERCISE), (solution_, solution_)):
        console.say(console.paint(title, "bold"))
        try:
            timeline.say(program_explain.of_program(program_day.build(day, [name], "simt")[name]))
        except DaysError as error:
            console.note(f"{title} has no timeline: {error.message}")
        console.say("")
