#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes one Jupyter notebook a day, for Colab or any other Jupyter: docs/notebooks/dayNN.ipynb, from the day's note and
exercise.

    tools/notebooks.py             write
    tools/notebooks.py --origin    the same for a fork: first git's remote "origin" is written to docs/notebooks/repository.txt, the one place
                                   that says what Colab clones, and where its links and badges lead
    tools/notebooks.py --check     exit 1 where a notebook is not what it should be
    tools/notebooks.py --run 5     runs a day's notebook here, every cell, and fails where a cell does (needs nbclient and
                                   ipykernel); nothing is kept
"""
import ast
import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

from days_cli import catalog, exercises, kinds, ladders, program_judge, python_ladders, rungs  # noqa: E402

FOLDER = ROOT / "docs" / "notebooks"

ADDRESS = FOLDER / "repository.txt"  # what is cloned; empty where that is not known. The one place that a fork changes

CLONE = '''#@title Get the course { display-mode: "form" }
REPOSITORY = "ADDRESS"  #@param {type:"string"}
import pathlib, sys
places = [pathlib.Path("course").resolve(), pathlib.Path.cwd(), *pathlib.Path.cwd().parents]
course = next((place for place in places if (place / "tools" / "notebook_here.py").is_file()), None)
if not course:
    REPOSITORY = REPOSITORY or input("Address to clone the course from: ")
    get_ipython().system(f"git clone --quiet {REPOSITORY} course")
    course = pathlib.Path("course").resolve()
%cd {course}
sys.path.insert(0, "tools")
from notebook_here import keep_in_drive, picture
keep_in_drive()  # on Colab: my/, where your files stand, is then a folder of your Drive, with what it has from last time'''


def repository():
    try:
        return ADDRESS.read_text(encoding="utf-8").strip()
    except OSError:
        return ""


def origin():
    """Where this clone comes from, as an address that needs no key; "" where git knows none."""
    done = subprocess.run(["git", "-C", str(ROOT), "remote", "get-url", "origin"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    return as_address(done.stdout.strip()) if done.returncode == 0 else ""


def as_address(url):
    ssh = re.fullmatch(r"(?:ssh://)?git@([\w.-]+)[:/](.+)", url)
    url = f"https://{ssh[1]}/{ssh[2]}" if ssh else url
    return re.sub(r"\.git$", "", url) if url.startswith("https://") else ""


def badge(day, address):
    """The badge that opens the day's notebook on Colab, where the address is one of GitHub's."""
    name = re.fullmatch(r"https://github\.com/([\w.-]+/[\w.-]+)", address)
    return (f"[![Open in Colab](https://colab.research.google.com/assets/colab-badge.svg)](https://colab.research.google.com/github/{name[1]}/blob/main/"
            f"docs/notebooks/day{day.number:02}.ipynb)") if name else ""


def starting_rung(day):
    """What the exercise starts from, as ladder.cpp's .exercise names it, or a program day's front matter."""
    if day.kind.has_programs:
        return program_judge.exercise_of(day).starts
    return ladders.exercise(day)[1]


def _by_triton(day):
    """Whether the day's rungs are kernels of Triton's."""
    return day.kind.in_python and any(ladder["by"] == "triton" for ladder in python_ladders.ladders(day))


_PICTURE = re.compile(r"^!\[([^\]]*)\]\(([^)]+)\)\n", re.MULTILINE)
_OUTPUT = re.compile(r"^<!-- output: (.*?) -->\n(.*?)^<!-- /output -->\n", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(\]\()((?!https?:|#)[^)\s]+)(\))")


def sections(day, address):
    """The note as [[("markdown" or "code", text), ...], ...]: a list for each section, pictures and the day's own run as cells."""
    text = (day.folder / "README.md").read_text(encoding="utf-8")
    text = re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.DOTALL)
    text = re.sub(r"^# .*\n", "", text, count=1, flags=re.MULTILINE)
    fence, parts, part = False, [], []
    for line in text.splitlines(keepends=True):
        fence ^= line.startswith("```")
        if re.match(r"###? ", line) and not fence:
            parts.append("".join(part))
            part = []
        part.append(line)
    return [found for found in (_section(day, one, address) for one in [*parts, "".join(part)]) if found]


def _section(day, text, address):
    """A live run and the pictures between folds become cells; what is folded stays text."""
    found, plain = [], []

    def flush():
        markdown = _markdown(day, "".join(plain), address)
        if markdown:
            found.append(("markdown", markdown))
        plain.clear()
    for number, piece in enumerate(re.split(r"(^<details>.*?^</details>\n)", text, flags=re.MULTILINE | re.DOTALL)):
        at = 0
        for match in [] if number % 2 else sorted([*_PICTURE.finditer(piece), *_OUTPUT.finditer(piece)], key=lambda one: one.start()):
            picture = match.re is _PICTURE
            if not picture and match[1] != f"./days run {day.number}":
                continue
            plain.append(piece[at:match.start()])
            flush()
            found.append(("code", f'#@title {" ".join(match[1].split())} {{ display-mode: "form" }}\npicture("{_path(day, match[2])}")' if picture else f"!{match[1]}"))
            at = match.end()
        plain.append(piece[at:])
    flush()
    return found


def _path(day, link):
    return os.path.normpath(f"{day.target}/{link}")


def _markdown(day, text, address):
    """As a notebook in docs/notebooks shows it, and Colab: links lead to the repository where its address is known."""
    text = re.sub(r"<!--.*?-->\n?", "", text, flags=re.DOTALL)

    def link(match):
        path, mark, anchor = _path(day, match[2]).partition("#")
        if address:
            kind = "raw/main" if path.endswith((".svg", ".png", ".gif")) else "blob/main"
            return f"{match[1]}{address}/{kind}/{path}{mark}{anchor}{match[3]}"
        return f"{match[1]}../../{path}{mark}{anchor}{match[3]}"
    parts = re.split(r"(^```.*?^```\n)", text, flags=re.MULTILINE | re.DOTALL)
    text = "".join(part if number % 2 else _LINK.sub(link, part) for number, part in enumerate(parts))
    parts = re.split(r"(^```.*?^```\n|^(?: {4}[^\n]*\n)+|`[^`\n]+`)", text, flags=re.MULTILINE | re.DOTALL)
    return "".join(part if number % 2 else part.replace("$", "\\$") for number, part in enumerate(parts)).strip("\n")  # no formulas


def cells(day, address=None):
    """("markdown" or "code", text) in order: the note, section by section, with its commands to run and the exercise where it stands."""
    number, front = day.number, day.front_matter()
    address = repository() if address is None else address
    yield "markdown", (f"# Day {number:02}: {front.get('title', day.name)}\n\n{badge(day, address)}\n\nRun the cells in order. On Colab choose Runtime > "
                       "Change runtime type > T4 GPU; without a GPU all cells work too, " +
                       ("Triton then interprets the kernels." if _by_triton(day) else "the kernels then run on the CPU.")).replace("\n\n\n\n", "\n\n")
    yield "code", CLONE.replace("ADDRESS", address)
    note = sections(day, address)
    if not any(kind == "code" and text == f"!./days run {number}" for part in note for kind, text in part):
        yield "code", f"!./days run {number}"
    done = not exercises.skeleton(day).is_file()
    for part in note:
        yield from part
        if not done and any("Hint 1" in text for _, text in part):
            yield from exercise_cells(day)
            done = True
    if not done:
        yield from exercise_cells(day)
    if front.get("animations"):
        yield "markdown", "What the day animates. The first line installs what writes GIFs, where that may be done without asking:"
        yield "code", ("!apt-get install -yq libgif-dev libpng-dev libjpeg-dev > /dev/null 2>&1 || true\n"
                       "from IPython.display import Image, display\n"
                       f"for pattern in {tuple(front['animations'])}:\n"
                       f"    !./days run {number} -- --pattern {{pattern}} --frames 60 --out build/{{pattern}}.gif\n"
                       '    display(Image(filename=f"build/{pattern}.gif", format="gif"))')
    yield from program_cells(day)
    step = next((rung for rung in rungs.of_day(day).values() if rung.before), None) if day.kind.has_rungs else None
    if step and exercises.skeleton(day).is_file():
        yield "markdown", (f"## Every rung\n\nEach rung of the day is an exercise. Without its `#` this makes `my/{exercises.my_file(step).name}`, which "
                           f"begins as `{step.before.name}`, right and without what `{step.name}` brings, and says what it must "
                           "reach. Edit it (on Colab in the folder on the left), and run this again.")
        yield "code", f"# !./days check {number} {step.name}"
    yield "code", "!./days next"


def exercise_cells(day):
    """To write, check, and be helped; then what its start costs."""
    number, program = day.number, day.kind.has_programs
    python, start = day.kind.in_python, starting_rung(day)
    yield "markdown", ("## Yours\n\nEdit the " + ("program" if program else "kernel") + " and run the cell: it saves your file. Then check it. "
                       "As long as the cell is as it came, a file of yours from before stays.")
    yield "code", f"%%exercise my/{exercises.my_file(day).name}\n" + exercises.skeleton(day).read_text(encoding="utf-8").rstrip("\n")
    yield "code", f"!./days check {number}"
    yield "markdown", "Stuck? Run this for a hint, and again for the next of three:"
    yield "code", f"!./days hint {number}"
    yield "markdown", "Our " + ("program" if program else "kernel") + ", as a difference from yours. Try first."
    yield "code", f"# !./days solution {number} --yes"
    yield "markdown", (f"What the streams of `{start}` let run side by side:" if program else
                       f"What each line of `{start}` moves, and what the compiler makes of it:" if _by_triton(day) else
                       f"What is counted of `{start}`:" if python else
                       f"What the exercise's start asks of the memory, counted request by request (`{start}`):")
    yield "code", f"!./days explain {number} {start}" if python else (
        f"!./days explain {number} {start}\n"
        f'from glob import glob\nfor file in sorted(glob("build/explain/{number:02}_{start}*.svg")):\n    picture(file)')


PYTHON = '''# The Python that ./days takes for this day: it has what the day needs.
import sys
sys.path.insert(0, "tools")
from days_cli import catalog, python_setup
found = python_setup.with_gpu()[0] or python_setup.ensure(python_setup.extras_of(catalog.resolve("{number}", "run")))
PYTHON = getattr(found, "path", found)
print(PYTHON)'''


def program_cells(day):
    """The programs of a Python day, each to edit and to run with the times of this machine."""
    programs = sorted((day.folder / "programs").glob("*.py")) if day.kind.in_python else []
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


def notebook(day, address=None):
    made = []
    for index, (kind, text) in enumerate(cells(day, address)):
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
                                resources={"metadata": {"path": str(FOLDER)}}).execute()
    for cell in made.cells[1:]:
        if cell.cell_type == "code" and not cell.source.startswith("#") and not cell.outputs and "!" in cell.source:
            print(f"a cell said nothing:\n{cell.source}")
            return 1
    print(f"day {day.label}: {sum(cell.cell_type == 'code' for cell in made.cells) - 1} cells ran")
    return 0


def main(arguments):
    if arguments in ([], ["--check"]):
        return write(bool(arguments))
    if arguments == ["--origin"]:
        address = origin()
        if not address:
            print("error: git remote get-url origin gives no address that https reaches\nNext: git remote add origin https://...", file=sys.stderr)
            return 1
        ADDRESS.write_text(address + "\n", encoding="utf-8")
        return write(False)
    if len(arguments) == 2 and arguments[0] == "--run":
        return run(arguments[1])
    print(__doc__.strip(), file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
