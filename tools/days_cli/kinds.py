# SPDX-License-Identifier: MIT
"""What a day can be, and what each command means for it. A note's front matter says `kind:`; CONTRIBUTING.md describes all.

    ladder       kernels that compete on one problem
    program      executables of their own, which check their own results
    python       a ladder whose rungs are Python files
    distributed  a program that runs on several GPUs or hosts
"""
from __future__ import annotations

from days_cli.errors import USAGE, DaysError

DEFAULT = "ladder"

# What lies in the folder of a day, as patterns; tests/cli/test_catalog.py looks.
CONTENTS = {
    "ladder": ("README.md", "ladder.cpp", "[0-9][0-9]_*.cu"),
    "program": ("README.md", "[0-9][0-9]_*.cu"),
    "python": ("README.md", "ladder.py", "[0-9][0-9]_*.py"),
    "distributed": ("README.md", "[0-9][0-9]_*.cu"),
}

_TITLES = {"ladder": "a ladder", "program": "a program day", "python": "a Python day", "distributed": "a distributed day"}

# What a command would do where it cannot yet. What is not named here it does; @ stands for the day's folder.
_NOT_YET = {
    "distributed": {
        "run": "start @'s program on each GPU of this machine, by torchrun, mpirun or Slurm",
        "test": "run @'s program on one process and on several, and compare their results",
        "bench": "time @'s program on 1, 2, 4 and 8 GPUs",
        "check": "judge your copy of @/exercise.cu on several processes",
        "explain": "show what each process computes and sends, over time",
        "solution": "show the program that solves @/exercise.cu beside your file",
    },
}
_LIKE = {"watch": "check"}


def has_rungs(day):
    """Whether kernels of this day compete: each of them is an exercise."""
    return day.kind in ("ladder", "python")


def title(kind):
    return _TITLES[kind]


def parse(day, word):
    """The kind that a day's front matter names; DaysError for a word that is none."""
    if word not in CONTENTS:
        raise DaysError(f'{day.target}/README.md: kind is {", ".join(list(CONTENTS)[:-1])} or {list(CONTENTS)[-1]}, not '
                        f'"{word}"', code=USAGE)
    return word


def refusal(day, command):
    """Why a command cannot serve a day of this kind, in a sentence; "" where it can."""
    would = _NOT_YET.get(day.kind, {}).get(_LIKE.get(command, command))
    if not would:
        return ""
    return (f"day {day.label} is {title(day.kind)}: ./days {command} would {would.replace('@', day.target)}. The course has "
            "no runner for that yet")


def require(day, command):
    """DaysError where the command cannot serve the day."""
    reason = refusal(day, command)
    if reason:
        raise DaysError(reason, "./days list", USAGE)


def lacks(day):
    """The patterns of the kind's contents that match nothing in the day's folder."""
    return [pattern for pattern in CONTENTS[day.kind] if not any(day.folder.glob(pattern))]
