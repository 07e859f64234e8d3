# SPDX-License-Identifier: MIT
"""What a day can be, each kind an object; a note's front matter says `kind:`. What a command does for a day stands in the kind's own
module beside this one, one function a command; CONTRIBUTING.md, "A fifth kind", has the list."""
from __future__ import annotations

import importlib
from dataclasses import dataclass, field

from days_cli.errors import USAGE, DaysError

DEFAULT = "ladder"
_LIKE = {"watch": "check"}  # commands that do what another does


@dataclass(frozen=True, eq=False)
class Kind:
    """contents: what lies in the folder of a day, as patterns; suffix: of kernels and of the learner's file; reads: the module that reads
    what the day's ladders are; written: what `new` says of a day that it has begun; not_yet: {command: what it would do, where it cannot
    yet}, in which @ stands for the day's folder."""
    name: str
    title: str
    contents: tuple
    suffix: str = ".cu"
    blank: str = "// your code"  # where the exercise leaves something to do
    reads: str = "cpp_ladders"
    has_rungs: bool = True  # kernels of this day compete: each of them is an exercise
    has_programs: bool = False  # executables of its own, which are timed one by one; else tables are
    in_python: bool = False  # run by another Python than ./days is
    session: tuple = ("of_benchmark", "measure_tables")  # of measuring.Session: what lists a day's tables, what measures some
    links: bool = False  # its ladders are in C++: they have a benchmark of CMake's, a library, and kernels that other days can use
    written: str = "The day builds, and its tests fail until its rungs are written"
    not_yet: dict = field(default_factory=dict)

    def __str__(self):
        return self.name

    @property
    def does(self):
        """The module with a function for each command."""
        return importlib.import_module(f"{__name__}.{self.name}")

    @property
    def reader(self):
        """The light module with files, exercise and measured, and where there are rungs, rungs, start_text and own_text."""
        return importlib.import_module(f"days_cli.{self.reads}")


KINDS = {kind.name: kind for kind in (
    # kernels that compete on one problem
    Kind("ladder", "a ladder", ("README.md", "ladder.cpp", "[0-9][0-9]_*.cu"), links=True),
    # executables of their own, which check their own results
    Kind("program", "a program day", ("README.md", "[0-9][0-9]_*.cu"), reads="program_day", has_rungs=False, has_programs=True,
         session=("of_programs", "measure_programs"),
         written="The day builds, and its tests fail until its kernel is written"),
    # a ladder whose rungs are Python files
    Kind("python", "a Python day", ("README.md", "ladder.py", "[0-9][0-9]_*.py"), suffix=".py", blank="# your code",
         reads="python_ladders", session=("of_python", "measure_python_day"), in_python=True, written="The day runs, and its tests fail until its rungs are written"),
    # a program that runs on several GPUs or hosts
    Kind("distributed", "a distributed day", ("README.md", "[0-9][0-9]_*.cu"), has_rungs=False, not_yet={
        "run": "start @'s program on each GPU of this machine, by torchrun, mpirun or Slurm",
        "test": "run @'s program on one process and on several, and compare their results",
        "bench": "time @'s program on 1, 2, 4 and 8 GPUs",
        "check": "judge your copy of @/exercise.cu on several processes",
        "explain": "show what each process computes and sends, over time",
        "solution": "show the program that solves @/exercise.cu beside your file"}))}


def parse(day, word):
    """The Kind that a day's front matter names; DaysError for a word that is none."""
    if word not in KINDS:
        raise DaysError(f'{day.target}/README.md: kind is {", ".join(list(KINDS)[:-1])} or {list(KINDS)[-1]}, not '
                        f'"{word}"', code=USAGE)
    return KINDS[word]


def refusal(day, command):
    """Why a command cannot serve a day of this kind, in a sentence; "" where it can."""
    would = day.kind.not_yet.get(_LIKE.get(command, command))
    if not would:
        return ""
    return (f"day {day.label} is {day.kind.title}: ./days {command} would {would.replace('@', day.target)}. The course has "
            "no runner for that yet")


def require(day, command):
    """DaysError where the command cannot serve the day."""
    reason = refusal(day, command)
    if reason:
        raise DaysError(reason, "./days list", USAGE)


def lacks(day):
    """The patterns of the kind's contents that match nothing in the day's folder."""
    return [pattern for pattern in day.kind.contents if not any(day.folder.glob(pattern))]
