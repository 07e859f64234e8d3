# SPDX-License-Identifier: MIT
"""What `check` says of an exercise whatever it is of: whose file is judged, what follows from the verdict, and what is remembered."""
from __future__ import annotations

from days_cli import console, exercises, following, ladders, stages
from days_cli.errors import DaysError


def says(title, goal):
    """What the learner's file has to do."""
    for line in console.wrap(f"{title}: {goal}"):
        console.say(line)


def started(what, origin):
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


def judged(what, told, name=None):
    """The exit code of these stages. Where no shipped rung `name` was judged, what follows is said and remembered."""
    passed = told[-1].verdict != "FAIL"
    if not name:
        conclude(what, told, passed)
    return 0 if passed else 1


def conclude(what, told, passed):
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


def side_by_side(mine, rung, yours, theirs, metrics, every=False):
    """Two columns of counts. yours: a function, for the learner's kernel may give none, where it does not compile or is wrong: then that
    is said. every: also the rows of which neither has anything."""
    try:
        yours = yours()
    except DaysError as error:
        console.note(f"{exercises.shown(mine)} has no counts: {error.message}")
        yours = None
    across, width = max(len(metric.label) for metric in metrics) + 2, max(11, len(rung))
    console.say(f"{'':{across}}{'yours':>11}  {rung:>{width}}")
    for metric in metrics:
        if every or theirs[metric.key] or yours and yours[metric.key]:
            left = metric.form.format(yours[metric.key]) if yours else "-"
            console.say(f"{metric.label:{across}}{left:>11}  {metric.form.format(theirs[metric.key]):>{width}}")
    console.say("")


def named_solution(day):
    """(name, file) of the rung that the ladder names as the solution."""
    _, _, name = ladders.exercise(day) or ("", "", "")
    file = ladders.files(day).get(name)
    if not file:
        raise DaysError(f"{day.target}/ladder{day.kind.suffix.replace('cu', 'cpp')} names no rung of its own as the solution", code=1)
    return name, file


def mine_of(day, variant, command):
    """The learner's file of the exercise or of a rung; DaysError where there is none yet."""
    what = exercises.resolve(str(day.number), command, variant)
    mine = exercises.my_file(what)
    if not mine.is_file():
        raise DaysError(f"there is no {exercises.shown(mine)} yet", f"./days check {exercises.words(what)}")
    return mine
