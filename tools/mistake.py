#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Shows what ./days check says to a learner who made a mistake: an edit of the day's solution, checked as an exercise.

    tools/mistake.py DAY NAME

dayNN_*/mistakes.txt has the edits, as its tests/mutants.txt has them:

    no_guard: threads beyond the matrix compute and write, too
    - if (row >= m || col >= n) return;
    + if (row >= m) return;

where the text after "- " occurs exactly once in the solution's file (several - lines are one text, and so are several + lines;
none deletes it). Notes show the output between their <!-- output: ... --> markers. Exit code: 0 the check failed, as it must;
1 it passed; 2 there is no such edit, or it does not fit.
"""
import os
import re
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
from days_cli import console, cpp_ladders, exercises, ladders, rungs  # noqa: E402
from days_cli.errors import DaysError  # noqa: E402


def edits(path):
    """{name: (what is wrong, old text, new text)} of a mistakes.txt; ValueError where it cannot be read so."""
    found, name = {}, None
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        header = re.fullmatch(r"(\w+): (.+)", line)
        if line.startswith(("- ", "+ ")) and name:
            found[name][1 if line[0] == "-" else 2].append(line[2:])
        elif header and header[1] not in found:
            name = header[1]
            found[name] = (header[2], [], [])
        elif line.strip() and not line.startswith("#"):
            raise ValueError(f"{path.name}:{number} is neither NAME: REASON with a new name nor an edited line: {line}")
    return {name: (reason, "\n".join(old), "\n".join(new)) for name, (reason, old, new) in found.items()}


def alone(day, text, solution):
    """(the file's text, the solution, its launcher) without the launchers of other rungs that stand in the same file."""
    found = rungs.of_day(day)
    others = [other.launcher for other in found.values() if other.file == found[solution].file and other.name != solution]
    return cpp_ladders.without(text, others), solution, found[solution].launcher


def as_exercise(text, solution, launcher, template=False):
    """A rung's file as the learner's: its launcher is exercise."""
    text = re.sub(rf"\b{launcher}\b", "exercise", text)
    if not template:  # a rung of several types is one; the exercise may be a function, of the first of them
        text = re.sub(r"^INSTANTIATE_LAUNCHER\(exercise, (\w+), (\w+).*$",
                      r"void exercise(const \1<\2>& p, cudaStream_t stream) { exercise<\2>(p, stream); }", text, flags=re.MULTILINE)
    return re.sub(rf"\b{solution}_kernel\b", "exercise_kernel", text).replace(f'"{solution}"', '"exercise"')


def made(day, name):
    """The learner's file with the mistake of this name; ValueError where there is none."""
    path = day.folder / "mistakes.txt"
    if not path.is_file():
        raise ValueError(f"day {day.label} has no mistakes.txt")
    known = edits(path)
    if name not in known:
        raise ValueError(f'{day.target}/mistakes.txt has no "{name}"; it has {", ".join(known)}')
    _, old, new = known[name]
    _, _, solution = ladders.exercise(day)
    file = ladders.files(day)[solution]
    text = file.read_text(encoding="utf-8")
    if not old or text.count(old) != 1:
        raise ValueError(f"{name}: in {file.name} this occurs {text.count(old) if old else 0} times, not once:\n{old}")
    if day.kind.in_python:
        return text.replace(old, new)
    template = "INSTANTIATE_LAUNCHER(exercise" in exercises.skeleton(day).read_text(encoding="utf-8")
    return as_exercise(*alone(day, text.replace(old, new), solution), template)


def main(words):
    if len(words) != 2:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    try:
        day = exercises.resolve(words[0], "check")
        text = made(day, words[1])
    except (DaysError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    folder = f"build/mistakes/{day.number:02d}_{words[1]}"
    (ROOT / folder).mkdir(parents=True, exist_ok=True)
    (ROOT / folder / exercises.my_file(day).name).write_text(text, encoding="utf-8")
    # One worker: which block fails first is the same on every run.
    environment = {**os.environ, "DAYS_MY": folder, "SIMT_THREADS": "1"}
    done = subprocess.run([ROOT / "days", "check", str(day.number)], cwd=ROOT, env=environment, text=True, check=False,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    goal, first, judged = done.stdout.replace(folder + "/", "my/").partition("\n1 correct")
    said = "\n".join(console.wrap(" ".join(goal.split()))) + first + judged if first else goal  # it was wrapped with a longer path
    if done.returncode == 0:
        print(f"error: {words[1]} passes the check:\n{said}", file=sys.stderr)
    elif done.returncode == 1:
        print(said, end="")
    else:
        print(f"error: the check of {words[1]} ended with {done.returncode}:\n{said}", file=sys.stderr)
    return {1: 0, 0: 1}.get(done.returncode, 2)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
