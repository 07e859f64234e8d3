# SPDX-License-Identifier: MIT
"""The program that runs a day of the kind `python` (tools/python_days), which needs another Python than ./days does."""
from __future__ import annotations

import json
import os
import tempfile

from days_cli import gpu as gpus
from days_cli import arguments, console, exercises, paths, programs, python_setup, rungs
from days_cli.errors import ENVIRONMENT, WRONG, DaysError

PROGRAM = paths.ROOT / "tools" / "python_days"
EXERCISE = "exercise"


# ---- the program ----

def backend(wanted, again=""):
    """"cuda" or "simt", which stands for the interpreter: what was asked for, else the GPU where a Python here reaches it. A remark
    where there is a GPU and none does."""
    if wanted == "simt" or not gpus.detect().gpu:
        if wanted == "cuda":
            raise DaysError("there is no GPU here", again, ENVIRONMENT)
        return "simt", ""
    found, why = python_setup.with_gpu()
    if found:
        return "cuda", ""
    if wanted == "cuda":
        raise DaysError(why, "pip install torch", ENVIRONMENT)
    return "simt", f"the kernels run on this CPU: {why}"


def command(day, words, where="simt"):
    """(the command line, what it needs in its environment) of the day's program."""
    extras = python_setup.extras_of(day)
    python = python_setup.with_gpu()[0] if where == "cuda" else python_setup.ensure(extras)
    if where == "cuda" and python.lacks(extras):
        raise DaysError(f"{python.path} lacks {', '.join(python.lacks(extras))}, which day {day.label} needs",
                        f"{python.path} -m pip install {' '.join(python.lacks(extras))}", ENVIRONMENT)
    # PyTorch's compiler tells each graph break on many lines; what a day says of them, it counts. TORCH_LOGS shows them again.
    return [python.path, "-B", str(PROGRAM), str(day.folder), *words], {
        "DAYS_BACKEND": where, "PYTHONWARNINGS": "ignore", "TORCH_LOGS": os.environ.get("TORCH_LOGS", "-all")}


def run_here(day, words, where="simt"):
    """In the terminal; its exit code."""
    line, environment = command(day, words, where)
    os.environ.update(environment)
    console.flush()
    ended = programs.run_here(line)
    if ended.problem:
        raise programs.Died(day.target, ended)
    return ended.code


def told(day, words, seconds=600, step_seconds=None, progress=""):
    """An Ended of a run whose output is kept."""
    line, environment = command(day, words)
    if progress:
        console.progress(progress)
    ended = programs.run(line, {"NO_COLOR": "1", **environment}, paths.ROOT, step_seconds, seconds)
    console.clear_progress()
    return ended


def asked(day, words, progress=""):
    """What the program answers as JSON; DaysError with its own words where it does not."""
    ended = told(day, words, progress=progress)
    if ended.code or ended.problem:
        said = ended.stderr.partition("error: ")[2] or ended.stderr.strip()[-300:]
        message, _, hint = said.partition("\nNext: ")
        raise DaysError(" ".join(message.split()) or f"the program of day {day.label} {ended.problem or 'failed'}", hint.strip(),
                        ended.code if ended.code in (1, 2, 3) else WRONG)
    return json.loads(ended.stdout)


def counted(day, words, made=None, progress=""):
    """What `count` answers. made: the answer of `compile` for metrics.ARCHITECTURE, by which blocks are dealt out to lanes."""
    if not made or "refused" in made:
        return asked(day, ["count", *words], progress)
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(made, file)
        file.flush()
        return asked(day, ["count", *words, "--dealt", file.name], progress)


def known(day, name, verb):
    """DaysError with the nearest name where the day has no such rung."""
    arguments.known_variant(verb, name, [*rungs.of_day(day), EXERCISE], day, "rung")


def mine_flags(day, name, rung=None):
    """--file for the learner's file where there is one, of the exercise or of a rung."""
    if rung:
        return ["--file", str(exercises.my_file(rung))]
    if name == EXERCISE:
        mine = exercises.my_file(day)
        return ["--file", str(mine)] if mine.exists() else []
    return []
