# SPDX-License-Identifier: MIT
"""What each command does for a day whose ladder is in C++."""
from __future__ import annotations

import os
import re

from days_cli import (arguments, benching, checking, console, counting, exercises, judge, ladder_explain, ladders, metrics, nvcc_code, paths, programs,
                      results, rung_gates, run_build, running, rungs, stages, testing, toolchain)
from days_cli import gpu as gpus
from days_cli.errors import WRONG, DaysError

explain = ladder_explain.explain
solution = checking.named_solution
test = testing.with_cmake
bench = benching.ladders


def run(day, wanted, given):
    """wanted: the backend that is asked for, None for the GPU where there is one."""
    backend, remark = toolchain.choose_backend(wanted, f"./days run {day.number} --backend simt")
    if remark:
        console.note(remark)
    mine = given.get("--with") or running.exercise_of(day, given.rest)
    if mine:
        exercises.resolve(str(day.number), "run")
        if not os.path.isfile(mine):
            raise DaysError(f"--with {mine}: there is no such file", f"cp {day.target}/exercise.cu {mine}")
        mine = exercises.shown(os.path.abspath(mine))
    program = run_build.build_day(day, backend, bool(given.get("--checked")), mine)
    flags = (["--exercise"] if mine else []) + given.rest + (["--list"] if given.get("--list") else [])
    if console.color_mode() != "auto":
        flags += ["--color", console.color_mode()]
    os.environ.setdefault("DAYS_COMMIT", paths.commit())  # for --json
    console.flush()
    flags, file = running.json_once(flags)
    if file != "-" and os.path.isfile(file) and os.path.getsize(file):
        results.check_place(file)
        return running.beside(program, flags, file)
    ended = programs.run_here([program, *flags])
    if mine and not ended.began and ended.code == 0:
        raise DaysError(programs.OTHER_MAIN, f"./days check {day.number}", WRONG)
    if given.get("--checked") and not ended.problem and ended.code == 0 and file != "-" and not given.get("--list"):
        console.say(running.CHECKED)
    return running.code_of(program, ended)


# ---- the exercise ----

def check(what, rung=None):
    if isinstance(what, rungs.Rung):
        return _check_rung(what)
    title = f"{what.label}, {rung}" if rung else checking.started(what, f"a copy of {what.target}/exercise.cu")
    kernel = judge.Kernel(what, rung) if rung else judge.Kernel(what, file=title)
    return checking.judged(what, judge.judge(kernel, lambda header: checking.says(title, header.get('exercise', {}).get('goal', '')),
                                             stages.print_stage), rung)


def judged(day, name, file=""):
    """({goal, starts, solution} of the exercise, the stages of a rung or of a file in the exercise's place)."""
    headers = []
    told = judge.judge(judge.Kernel(day, name, file), headers.append, lambda stage: None)
    return headers[0]["exercise"], told


def _check_rung(rung):
    title = checking.started(rung, f"{rung.before.name}'s kernel under {rung.name}'s name")
    kernel = judge.Kernel(rung.day, rung.name, title, rung)
    for line in console.wrap(f"{title}: {rung.ladder}, from {rung.before.name} to {rung.name}"):
        console.say(line)
    gates = rung_gates.find(rung)
    rung_gates.say(rung, gates)
    gpu = gpus.detect().gpu
    told = stages.run((lambda: judge.correct(kernel)[1], lambda: judge.race_free(kernel), lambda: rung_gates.counters(kernel, rung, gates),
                       lambda: rung_gates.speed(kernel, rung, gates, gpu)), stages.print_stage)
    if gates.by_speed and told[-1].verdict not in ("ok", "FAIL"):
        for line in console.wrap(f"Right and free of races. What {rung.name} brings is judged on a GPU, and counts as solved there."):
            console.say(line)
        console.say("Next: " + console.paint(gates.install or f"./days solution {rung.words}", "cyan"))
        exercises.remember(rung, last="right and race-free; the rest is judged on a GPU")
        return 0
    return checking.judged(rung, told)


def beside(what, mine, rung):
    """The counts of the learner's file beside those of the rung."""
    day, of_rung, shown = exercises.day_of(what), isinstance(what, rungs.Rung), exercises.shown(mine)
    kernel = judge.Kernel(day, rung, shown, what) if of_rung else judge.Kernel(day, file=shown)
    checking.side_by_side(mine, rung, lambda: counting.measure(kernel)[0], counting.measure(judge.Kernel(day, rung))[0],
                          [*metrics.COUNTERS, *metrics.BESIDES] if of_rung else metrics.EXERCISE, not of_rung)


# ---- its machine code ----

def asm(day, given, arch):
    """nvcc_code.Made of a day, or of one of its kernels."""
    for flag in ("--size", "--type", "--stage"):
        if given.get(flag):
            raise DaysError(f"{flag} is for Python days, whose kernels are compiled for their arguments; this one's are in the table",
                            f"./days asm {day.number}")
    sources = _sources(day)
    if len(given.words) == 1:
        found = {}
        for name, source in sources.items():
            console.progress(f"compiling {source.name}")
            found[name] = nvcc_code.compiled([source], arch, ["-I" + str(paths.ROOT)])
        console.clear_progress()
        return nvcc_code.Made(f"Day {day.label}", found, arch, False)
    variant = given.words[1]
    files = {**sources, **ladders.files(day)}  # a file may hold several
    arguments.known_variant("asm", variant, files, day)
    if given.get("--mine"):
        files[variant] = checking.mine_of(day, variant, "asm")
    kernels = nvcc_code.compiled([files[variant]], arch, ["-I" + str(paths.ROOT)])
    return nvcc_code.Made(f"Day {day.label}, {variant}", {variant: kernels}, arch, True)


def _sources(day):
    """{variant: its file}, by the files' names NN_variant.cu, in their order; "exercise" is the learner's file where there is one."""
    files = sorted((paths.ROOT / day.target).glob("[0-9][0-9]_*.cu"))
    sources = {re.sub(r"^\d\d_", "", file.stem): file for file in files}
    if not sources:
        raise DaysError(f"day {day.label} has no files NN_variant.cu", "./days asm --help")
    exercise = paths.ROOT / day.target / "exercise.cu"
    mine = exercises.my_file(day)
    if mine.exists() or exercise.exists():
        sources["exercise"] = mine if mine.exists() else exercise
    return sources
