# SPDX-License-Identifier: MIT
"""days check: builds the learner's kernel and tells how far it is: correct, race-free, counters, speed."""
from __future__ import annotations

from days_cli import (arguments, console, exercises, following, judge, ladders, own_triton, program_day, program_judge, python_day, python_judge,
                      python_ladders, rung_gates, rungs, stages)
from days_cli import gpu as gpus
from days_cli.errors import DaysError

USAGE = "DAY [RUNG]"
SUMMARY = "is my kernel right, race-free, fast?"
HELP = """./days check DAY        judges my/dayNN.cu, made from the day's exercise.cu
./days check DAY RUNG   judges my/dayNN_RUNG.cu, which begins as the rung before:
                        right, and without what this rung brings

  --rung NAME           judges a shipped rung instead, by the gates of exercise.cu
  --file mine.py        a Triton file of your own: masks, races and promises of
                        what its main() or launch() starts, on its own tensors

Stages, up to the first that fails: 1 correct on hostile shapes; 2 race-free in
three thread orders; 3 counters; 4 speed, where there is a GPU. The first three
run on this CPU. A case of over two minutes is stopped, and fails:
DAYS_CHECK_SECONDS=300 gives each so many. Exit code: 0 all passed, 1 one
failed. What a rung asks: docs/rungs.md"""


def run(args):
    given = arguments.parse("check", args, {"--rung": None, "--file": None}, (), 2)
    if given.get("--help"):
        console.say(HELP)
        return 0
    if given.get("--file") is not None:
        return _check_file(given)
    if not given.words:
        raise DaysError("check which day?", "./days check 1")
    if len(given.words) > 1 and given.get("--rung"):
        raise DaysError("--rung judges a shipped rung by the gates of exercise.cu; without it your own file of a rung is judged",
                        f"./days check {given.words[0]} {given.words[1]}")
    return check(exercises.resolve(given.words[0], "check", *given.words[1:]), given.get("--rung"))


def _check_file(given):
    name = given.get("--file")
    if given.words or given.get("--rung"):
        raise DaysError(f"check --file takes a file alone, not {(given.words or [given.get('--rung')])[0]}", f"./days check --file {name}")
    if not own_triton.is_one(name):
        raise DaysError(f"check --file takes a Triton file, mine.py, and {name} is none. A CUDA program is watched as it runs",
                        f"./days cc --checked {name} -o mine && ./mine" if name.endswith(".cu") else "./days check --help")
    return own_triton.check(name)


def check(what, rung=None):
    """what: a day, or one of its Rungs."""
    if exercises.day_of(what).kind == "python":
        return _check_python(what, rung)
    if isinstance(what, rungs.Rung):
        return _check_rung(what)
    if what.kind == "program":
        return _check_program(what, rung)
    if rung:
        kernel, title = judge.Kernel(what, rung), f"{what.label}, {rung}"
    else:
        title = _started(what, f"a copy of {what.target}/exercise.cu")
        kernel = judge.Kernel(what, file=title)
    told = judge.judge(kernel, lambda header: console.say(f"{title}: {_goal(header)}"), stages.print_stage)
    passed = told[-1].verdict != "FAIL"
    if not rung:
        _conclude(what, told, passed)
    return 0 if passed else 1


def _started(what, origin):
    """The learner's file, as it is typed; made where there is none."""
    title = exercises.shown(exercises.my_file(what))
    if exercises.start(what):
        for line in console.wrap(f"{title} is new: {origin}, yours to edit."):
            console.say(line)
    elif exercises.other_version(what):
        console.note(f"note: {title} was begun from another version of day {exercises.day_of(what).number}, whose files have "
                     f"changed since. Should it not compile, or be asked for what it cannot do: ./days reset "
                     f"{exercises.words(what)} keeps it in {exercises.shown(exercises.my_file(what).parent)}/old and begins afresh.")
    return title


def _check_rung(rung):
    title = _started(rung, f"{rung.before.name}'s kernel under {rung.name}'s name")
    kernel = judge.Kernel(rung.day, rung.name, title, rung)
    for line in console.wrap(f"{title}: {rung.ladder}, from {rung.before.name} to {rung.name}"):
        console.say(line)
    gates = rung_gates.find(rung)
    rung_gates.say(rung, gates)
    gpu = gpus.detect().gpu
    told = stages.run((lambda: judge.correct(kernel)[1], lambda: judge.race_free(kernel),
                               lambda: rung_gates.counters(kernel, rung, gates),
                               lambda: rung_gates.speed(kernel, rung, gates, gpu)), stages.print_stage)
    passed = told[-1].verdict != "FAIL"
    if passed and gates.by_speed and told[-1].verdict != "ok":
        for line in console.wrap(f"Right and free of races. What {rung.name} brings is judged on a GPU, and counts as solved there."):
            console.say(line)
        console.say("Next: " + console.paint(gates.install or f"./days solution {rung.words}", "cyan"))
        exercises.remember(rung, last="right and race-free; the rest is judged on a GPU")
        return 0
    _conclude(rung, told, passed)
    return 0 if passed else 1


def _check_program(day, name):
    exercise = program_judge.exercise_of(day)
    if name:
        program_day.chosen(day, name, "check")
        title, source = f"{day.label}, {name}", program_day.source_of(day, name)
    else:
        title = source = _started(day, f"a copy of {day.target}/exercise.cu")
    console.say(f"{title}: {exercise.goal}")
    told = program_judge.run_stages(program_judge.Judged(day, source), exercise.gates, stages.print_stage)
    passed = told[-1].verdict != "FAIL"
    if not name:
        _conclude(day, told, passed)
    return 0 if passed else 1


def _check_python(what, name):
    """The exercise of a Python day, one of its rungs as an exercise, or a shipped rung by the exercise's gates."""
    day = exercises.day_of(what)
    if isinstance(what, rungs.Rung):
        title = _started(what, f"{what.before.name} under {what.name}'s name")
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
        title = f"{day.label}, {name}" if name else _started(day, f"a copy of {day.target}/exercise.py")
        console.say(f"{title}: {(ladders.exercise(day) or [''])[0]}")
        gates, why = python_ladders.gates_of(day), ""
        kernel = python_judge.Kernel(day, name) if name else python_judge.Kernel(day, file=title)
    told = python_judge.run_stages(kernel, gates, stages.print_stage, why)
    passed = told[-1].verdict != "FAIL"
    if not name:
        _conclude(what, told, passed)
    return 0 if passed else 1


def _goal(header):
    return header.get("exercise", {}).get("goal", "")


def _conclude(what, told, passed):
    """What follows from the verdict; then it is remembered, where that can be."""
    last = told[-1]
    if passed:
        console.say("Solved. Next: " + console.paint(_after(what), "cyan") + ", or see ours: " +
                    console.paint(f"./days solution {exercises.words(what)}", "cyan"))
        exercises.remember(what, last="solved", solved=exercises.now())
        return
    hints, seen = len(exercises.hints(what)), exercises.progress(what).get("hints", 0)
    if hints:
        console.say("Next: " + console.paint(f"./days hint {exercises.words(what)}", "cyan") + f"   ({seen} of {hints} seen)")
    exercises.remember(what, last=f"{stages.STAGES.index(last.name) + 1} {last.name}: {last.about}")


def _after(what):
    """The command that goes on, which `next` says as well."""
    return following.going(just_solved=what).command
