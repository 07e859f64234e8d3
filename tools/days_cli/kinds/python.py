# SPDX-License-Identifier: MIT
"""What each command does for a day whose rungs are Python files."""
from __future__ import annotations

import os

from days_cli import (benching, checking, clocks, cmake_tools, console, exercises, ladders, nvcc_code, paths, python_day, python_explain, python_judge, python_ladders,
                      python_setup, results, running, rungs, stages, testing)
from days_cli.errors import ENVIRONMENT, WRONG, DaysError

explain = python_explain.explain
solution = checking.named_solution


def run(day, wanted, given):
    """A Python day: its rungs on the GPU, or in Triton's interpreter."""
    where, remark = ("simt", "") if given.get("--list") else python_day.backend(wanted, f"./days run {day.number} --backend simt")
    if remark:
        console.note(remark)
    flags, file = running.json_once(given.rest)
    mine = given.get("--with") or running.exercise_of(day, flags)
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


def test(day, given):
    """A Python day: one program, and neither CMake nor a compiler."""
    for flag in ("--preset", "--checked"):
        if given.get(flag):
            raise DaysError(f"{flag} is of CMake's builds, and nothing of a Python day is built: every access is watched always",
                            f"./days test {day.number}")
    where, remark = python_day.backend(given.get("--backend"), f"./days test {day.number} --backend simt")
    if remark:
        console.note(remark)
    if given.get("--all"):
        os.environ["DAYS_TEST_ALL"] = "1"
    folder = paths.BUILD / "python-tests"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"day{day.number:02d}_test.json"
    file.unlink(missing_ok=True)
    line, environment = python_day.command(day, ["test"], where)
    console.progress(f"testing day {day.label}")
    said = []
    code = cmake_tools.stream(line, said.append, {**environment, "GTEST_OUTPUT": f"json:{folder}/", "NO_COLOR": "1"})
    console.clear_progress()
    program = testing.with_cases(testing.Program(f"day{day.number:02d}_test", code != 0, False, "\n".join(said)), file)
    runs = "Triton's interpreter" if any(ladder["by"] == "triton" for ladder in python_ladders.ladders(day)) else ""
    return 0 if testing.report("cuda" if where == "cuda" else runs, [program]) and code == 0 else WRONG


def bench(days, given, raw):
    """On a GPU alone: of one day that is asked for, where there is none, that is an error."""
    worst = 0
    for day in days:
        if given.words or python_day.backend("simt" if given.get("--backend") == "simt" or raw else None)[0] == "cuda":
            worst = max(worst, _bench(day, given, raw))
        else:
            console.note(f"Day {day.label} is a Python day: it is timed on a GPU alone, by ./days bench {day.number}")
    return worst


def _bench(day, given, raw):
    """A Python day: its program times rungs and contestants in one process, on a GPU alone."""
    if raw or given.get("--preset"):
        raise DaysError(f"day {day.label} is a Python day: neither CMake nor Google Benchmark has a part in it", f"./days bench {day.number}")
    where, remark = python_day.backend(given.get("--backend"), f"./days run {day.number}")
    if where != "cuda":
        raise DaysError(remark or f"./days bench times the rungs of day {day.label} on a GPU, and there is none here",
                        f"./days run {day.number}", ENVIRONMENT)
    file = paths.BUILD / "bench" / f"day{day.number:02d}.json"
    found, sampled, code = _measure(day, given, file)
    return benching.keep(day, given, found, sampled, code, file)


def _measure(day, given, file):
    """(results, clocks, exit code) of a run of a Python day's benchmark."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.unlink(missing_ok=True)
    os.environ.setdefault("DAYS_COMMIT", paths.commit())
    flags = [word for flag in ("--size", "--variant", "--type") if given.get(flag) for word in (flag, given.get(flag))]
    with clocks.Clocks() as sampled:
        code = python_day.run_here(day, ["bench", "--json", str(file), *flags, *(["--sweep"] if given.get("--sweep") else [])], "cuda")
    if not file.exists():
        raise DaysError(f"the benchmark of day {day.label} measured nothing", f"./days run {day.number}", code or WRONG)
    return results.load(file), sampled, code


def check(what, name=None):
    """The exercise of a Python day, one of its rungs as an exercise, or a shipped rung by the exercise's gates."""
    day = exercises.day_of(what)
    _as_gates_have_it()
    if isinstance(what, rungs.Rung):
        title = checking.started(what, f"{what.before.name} under {what.name}'s name")
        for line in console.wrap(f"{title}: {what.ladder}, from {what.before.name} to {what.name}"):
            console.say(line)
        gates, says = python_judge.asked_of(what)
        why = f"no counter tells {what.name} from {what.before.name}"
        for text in says or [f"Asked: right, and faster than {what.before.name}; {why}."]:
            for line in console.wrap(text, "       ", ""):
                console.say(line)
        kernel = python_judge.Kernel(day, what.name, title)
    else:
        if name:
            python_day.known(day, name, "check")
        title = f"{day.label}, {name}" if name else checking.started(day, f"a copy of {day.target}/exercise.py")
        checking.says(title, (ladders.exercise(day) or [''])[0])
        gates, why = python_ladders.gates_of(day), ""
        kernel = python_judge.Kernel(day, name) if name else python_judge.Kernel(day, file=title)
    return checking.judged(what, python_judge.run_stages(kernel, gates, stages.print_stage, why), name)


def _as_gates_have_it():
    """Bounds on programs are of the device that is assumed where nobody asks for another."""
    os.environ.pop("DAYS_DEVICE", None)


def judged(day, name, file=""):
    """({goal, starts, solution} of the exercise, the stages of a rung or of a file in the exercise's place)."""
    _as_gates_have_it()
    return dict(zip(("goal", "starts", "solution"), ladders.exercise(day))), python_judge.run_stages(
        python_judge.Kernel(day, name, file), python_ladders.gates_of(day), lambda stage: None)


def beside(what, mine, rung):
    """The counts of the learner's file beside those of the rung."""
    day, name = exercises.day_of(what), rung if isinstance(what, rungs.Rung) else python_day.EXERCISE
    theirs = python_judge.measure(python_judge.Kernel(day, rung))
    checking.side_by_side(mine, rung, lambda: python_judge.measure(python_judge.Kernel(day, name, exercises.shown(mine))), theirs, theirs.metrics)


def asm(day, given, arch):
    """nvcc_code.Made of what Triton's compiler makes of rungs in Python, for the arguments that their launchers give."""
    names = [given.words[1]] if len(given.words) > 1 else list(ladders.files(day))
    python_day.known(day, names[0], "asm")
    names = [name for name in names if python_ladders.of_variant(day, name)["by"] == "triton"]
    if not names:
        raise DaysError(f"day {day.label} has no kernel that Triton compiles there; ./days asm --file shows a CUDA program's code",
                        "./days asm --help")
    lines = len(given.words) > 1
    words = ["compile", "--variant", ",".join(names), "--arch", str(nvcc_code.number(arch)), *(["--lines"] if lines else []),
             *(python_day.mine_flags(day, names[0]) or (["--file", str(checking.mine_of(day, names[0], "asm"))] if given.get("--mine") else [])),
             *(word for name in ("--size", "--type") if given.get(name) for word in (name, given.get(name)))]
    if given.get("--stage"):
        words += ["--stage", given.get("--stage")]
    found = {}
    for made in python_day.asked(day, words, "compiling with Triton"):
        if "refused" in made:
            raise DaysError(f"Triton does not compile {made['rung']} for sm_{made['sm']}: {made['refused']}", code=WRONG)
        if given.get("--stage"):
            console.write("".join(kernel["text"].rstrip("\n") + "\n" for kernel in made["kernels"]))
            continue
        found.setdefault(made["rung"], []).extend(nvcc_code.of_triton(kernel) for kernel in made["kernels"])
    if given.get("--stage"):
        return None
    by = f"Triton {python_setup.ensure().triton}"
    title = f"Day {day.label}, {names[0]}" if lines else f"Day {day.label}"
    return nvcc_code.Made(title, found, str(nvcc_code.number(arch)), lines, by)
