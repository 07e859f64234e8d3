#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes one Jupyter notebook a day, for Colab or any other Jupyter: docs/notebooks/dayNN.ipynb, from the day's note and
exercise.

    tools/notebooks.py             write
    tools/notebooks.py --check     exit 1 where a notebook is not what it should be
    tools/notebooks.py --run 5     runs a day's notebook here, every cell, and fails where a cell does (needs nbclient and
                                   ipykernel); nothing is kept
"""
import ast
import contextlib
import json
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

from days_cli import catalog, exercises, kinds, ladders, program_judge, python_ladders, rungs  # noqa: E402

FOLDER = ROOT / "docs" / "notebooks"

CLONE = '''#@title Get the course { display-mode: "form" }
REPOSITORY = ""  #@param {type:"string"}
import os
if not os.path.exists("days"):
    if not os.path.exists("course/days"):
        if not REPOSITORY:
            raise SystemExit("Set REPOSITORY to the address that you clone the course from.")
        get_ipython().system(f"git clone --quiet {REPOSITORY} course")
    %cd course
os.makedirs("my", exist_ok=True)
!./days doctor'''

KEEP = '''# my/ vanishes when Colab disconnects. This keeps a copy in your Drive; elsewhere it does nothing.
try:
    from google.colab import drive
    drive.mount("/content/drive")
    !mkdir -p /content/drive/MyDrive/days && cp -ru my /content/drive/MyDrive/days/
except ImportError:
    print("not on Colab: my/ stays where it is")'''


def starting_rung(day):
    """What the exercise starts from, as ladder.cpp's .exercise names it, or a program day's front matter."""
    if day.kind == "program":
        return program_judge.exercise_of(day).starts
    return ladders.exercise(day)[1]


def _by_triton(day):
    """Whether the day's rungs are kernels of Triton's."""
    return day.kind == "python" and any(ladder["by"] == "triton" for ladder in python_ladders.ladders(day))


def cells(day):
    """("markdown" or "code", text) in order."""
    number, front = day.number, day.front_matter()
    yield "markdown", (f"# Day {number:02}: {front.get('title', day.name)}\n\n"
                       f"The tutorial is [`{day.target}/README.md`](../../{day.target}/README.md): read it beside this. "
                       "On Colab choose Runtime > Change runtime type > T4 GPU; without a GPU all cells work too, "
                       + ("Triton then interprets the kernels." if _by_triton(day) else "the kernels then run on the CPU."))
    yield "code", CLONE
    program = day.kind == "program"
    yield "markdown", f"Every {'program' if program else 'rung'} of the day, checked and, on a GPU, timed:"
    yield "code", f"!./days run {number}"
    if front.get("animations"):
        yield "markdown", "What the day animates. The first line installs what writes GIFs, where that may be done without asking:"
        yield "code", ("!apt-get install -yq libgif-dev libpng-dev libjpeg-dev > /dev/null 2>&1 || true\n"
                       "from IPython.display import Image, display\n"
                       f"for pattern in {tuple(front['animations'])}:\n"
                       f"    !./days run {number} -- --pattern {{pattern}} --frames 60 --out build/{{pattern}}.gif\n"
                       '    display(Image(filename=f"build/{pattern}.gif", format="gif"))')
    yield from program_cells(day)
    if exercises.skeleton(day).is_file():
        python, file = day.kind == "python", exercises.my_file(day).name
        start = starting_rung(day)
        yield "code", KEEP
        yield "markdown", (f"What the streams of `{start}` let run side by side:" if program else
                           f"What each line of `{start}` moves, and what the compiler makes of it:" if _by_triton(day) else
                           f"What is counted of `{start}`:" if python else
                           f"What the first kernel asks of the memory, counted request by request (`{start}`):")
        yield "code", f"!./days explain {number} {start}" if python else (
                       f"!./days explain {number} {start}\n"
                       "from glob import glob\nfrom IPython.display import SVG, display\n"
                       f'for picture in sorted(glob("build/explain/{number:02}_{start}*.svg")):\n    display(SVG(picture))')
        yield "markdown", "## Yours\n\nEdit the " + ("program" if program else "kernel") + " and run the cell: it saves your file. Then check it."
        yield "code", f"%%writefile my/{file}\n" + exercises.skeleton(day).read_text(encoding="utf-8").rstrip("\n")
        yield "code", f"!./days check {number}"
        yield "markdown", "Stuck? Run this for a hint, and again for the next of three:"
        yield "code", f"!./days hint {number}"
        yield "markdown", "Our " + ("program" if program else "kernel") + ", as a difference from yours. Try first."
        yield "code", f"# !./days solution {number} --yes"
        step = next((rung for rung in rungs.of_day(day).values() if rung.before), None) if kinds.has_rungs(day) else None
        if step:
            yield "markdown", (f"## Every rung\n\nEach rung of the day is an exercise. This makes `my/{exercises.my_file(step).name}`, which "
                               f"begins as `{step.before.name}`, right and without what `{step.name}` brings, and says what it must "
                               "reach. Edit it (on Colab in the folder on the left), and run this again.")
            yield "code", f"!./days check {number} {step.name}"
        yield "code", "!./days next"


PYTHON = '''# The Python that ./days takes for this day: it has what the day needs.
import sys
sys.path.insert(0, "tools")
from days_cli import catalog, python_setup
found = python_setup.with_gpu()[0] or python_setup.ensure(python_setup.extras_of(catalog.resolve("{number}", "run")))
PYTHON = getattr(found, "path", found)
print(PYTHON)'''


def program_cells(day):
    """The programs of a Python day, each to edit and to run with the times of this machine."""
    programs = sorted((day.folder / "programs").glob("*.py")) if day.kind == "python" else []
    if not programs:
        return
    yield "markdown", ("## Measured on this machine\n\nEach cell writes a program to `my/`, and the one after it runs that, with times: on the GPU where "
                       "there is one, else on this CPU. Change sizes and functions, and run both again. Where several programs share the machine, times say little.")
    yield "code", PYTHON.replace("{number}", str(day.number))
    for program in programs:
        text = program.read_text(encoding="utf-8")
        yield "markdown", f"**{program.stem}.** " + ast.get_docstring(ast.parse(text)).partition("\n\n")[0]
        yield "code", f"%%writefile my/measure_{program.name}\n" + text.rstrip("\n")
        yield "code", f"!{{PYTHON}} -W ignore my/measure_{program.name} --times 2> build/measure.log || (tail -n 20 build/measure.log; false)"


def notebook(day):
    made = []
    for index, (kind, text) in enumerate(cells(day)):
        cell = {"cell_type": kind, "id": f"day{day.number:02}-{index:02}", "metadata": {},
                "source": text.splitlines(keepends=True)}
        if kind == "code":
            cell.update(execution_count=None, outputs=[])
        made.append(cell)
    return json.dumps({"cells": made,
                       "metadata": {"accelerator": "GPU", "colab": {"gpuType": "T4", "provenance": []},
                                    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
                                    "language_info": {"name": "python"}},
                       "nbformat": 4, "nbformat_minor": 5}, indent=1, ensure_ascii=False) + "\n"


def write(check):
    wanted = {FOLDER / f"day{day.number:02}.ipynb": notebook(day) for day in catalog.here()
              if not kinds.refusal(day, "run")}
    stale = [path for path, text in wanted.items() if not path.is_file() or path.read_text(encoding="utf-8") != text]
    extra = [path for path in sorted(FOLDER.glob("*.ipynb")) if path not in wanted]
    for path in stale + extra:
        name = path.relative_to(ROOT)
        if check:
            print(f"{name} is stale: tools/notebooks.py")
        elif path in extra:
            path.unlink()
            print(f"removed {name}")
        else:
            FOLDER.mkdir(parents=True, exist_ok=True)
            path.write_text(wanted[path], encoding="utf-8")
            print(f"wrote {name}")
    return 1 if check and (stale or extra) else 0


# What the shell said is no exception to Jupyter: a `!` command that fails must fail the run here.
STRICT = """
import builtins
def _strict(command, _system=get_ipython().system):
    _system(command)
    code = get_ipython().user_ns.get("_exit_code", 0)
    if code not in _allowed(command):
        raise RuntimeError(f"{command} ended with {code}")
def _allowed(command):
    return (0, 1) if "days check" in command else (0,)  # the skeleton fails stage 1
get_ipython().system = _strict
"""


@contextlib.contextmanager
def set_aside(folder):
    """The learner's files are out of the way meanwhile; what comes in their place goes."""
    kept = folder.with_name(folder.name + ".kept")
    if folder.exists():
        folder.rename(kept)
    try:
        yield
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if kept.exists():
            kept.rename(folder)


def run(word):
    import nbclient
    import nbformat
    day = catalog.resolve(word, "run")
    made = nbformat.reads(notebook(day), as_version=4)
    made.cells.insert(0, nbformat.v4.new_code_cell(STRICT))
    with set_aside(ROOT / "my"):
        nbclient.NotebookClient(made, timeout=600, kernel_name="python3",
                                resources={"metadata": {"path": str(ROOT)}}).execute()
    for cell in made.cells[1:]:
        if cell.cell_type == "code" and not cell.source.startswith("#") and not cell.outputs and "!" in cell.source:
            print(f"a cell said nothing:\n{cell.source}")
            return 1
    print(f"day {day.label}: {sum(cell.cell_type == 'code' for cell in made.cells) - 1} cells ran")
    return 0


def main(arguments):
    if arguments in ([], ["--check"]):
        return write(bool(arguments))
    if len(arguments) == 2 and arguments[0] == "--run":
        return run(arguments[1])
    print(__doc__.strip(), file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
