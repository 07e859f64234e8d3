# SPDX-License-Identifier: MIT
"""A Python day's folder as Python sees it: its ladders, and the files of its rungs."""
from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

from days_cli import paths
from days_cli.errors import USAGE, WRONG, DaysError
from python_days.ladder import Ladder
from python_days.plain import Unavailable

EXERCISE = "exercise"


class Day:
    def __init__(self, folder):
        self.folder = Path(folder)
        self.number, self.name = int(self.folder.name[3:5]), self.folder.name[6:]
        # What a day's rungs share, also for the learner's files: `from shared import ...`, or `from dayNN_name import shared`, whoever asks.
        sys.path += [str(path) for path in (self.folder.resolve(), self.folder.resolve().parent) if str(path) not in sys.path]
        module = load(self.folder / "ladder.py")
        self.ladders = [value for value in vars(module).values() if isinstance(value, Ladder)]
        if not self.ladders:
            raise DaysError(f"{self.folder.name}/ladder.py makes no Ladder", code=WRONG)

    def ladder_of(self, rung):
        """The ladder that a rung is of; the exercise is of the one that has one."""
        found = next((ladder for ladder in self.ladders if rung in ladder.rungs or rung == EXERCISE and ladder.exercise), None)
        if not found:
            raise DaysError(f'day {self.number:02d} {self.name} has no rung "{rung}"', f"./days run {self.number} --list", USAGE)
        return found

    def file(self, rung):
        if rung == EXERCISE:
            return self.folder / "exercise.py"
        found = sorted(self.folder.glob(f"[0-9][0-9]_{rung}.py"))
        if not found:
            raise DaysError(f"{self.folder.name} has no file NN_{rung}.py", code=WRONG)
        return found[0]

    def launch(self, rung, file=None):
        """A rung's launcher; from another file where one is given."""
        path = Path(file) if file else self.file(rung)
        try:
            module = load(path)
        except Unavailable as error:
            return _refusal(error)
        if not callable(getattr(module, "launch", None)):
            raise DaysError(f"{shown(path)} has no function launch", code=WRONG)
        return module.launch

    def wrong(self):
        """The wrong launchers of the day's tests/wrong.py."""
        from python_days import wrong
        path = self.folder / "tests" / "wrong.py"
        return wrong.of_module(load(path)) if path.exists() else []


def _refusal(error):
    """A launcher in place of a rung's whose file cannot be imported on this machine."""
    def launch(*_):
        raise Unavailable(str(error))
    return launch


def load(path):
    """A file as a module. What is wrong with it is said in one line, with the place."""
    path = Path(path).resolve()
    name = "_".join(("python_days_file", *path.parts[-3:-1], path.stem))
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # Triton asks for a kernel's module by its name
    folder = str(path.parent)
    sys.path.insert(0, folder)
    try:
        spec.loader.exec_module(module)
    except Unavailable:
        del sys.modules[name]
        raise
    except SyntaxError as error:
        raise DaysError(f"{shown(error.filename or path)}:{error.lineno}: {error.msg}", code=WRONG) from error
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise DaysError(f"{where_of(error, path)}: {error}", code=WRONG) from error
        raise DaysError(f"{where_of(error, path)}: this day runs without PyTorch, which is not here: its tensors come from the course, and a "
                        "kernel needs triton and triton.language alone. Leave the import out", code=WRONG) from error
    except Exception as error:
        raise DaysError(f"{where_of(error, path)}: {type(error).__name__}: {error}", code=WRONG) from error
    finally:
        sys.path.remove(folder)
        if name in sys.modules and not hasattr(module, "__file__"):
            del sys.modules[name]
    return module


def where_of(error, path):
    """"file:line" of the last step of an exception's way that lies in the course's files."""
    place, trace = shown(path), error.__traceback__
    while trace:
        file = trace.tb_frame.f_code.co_filename
        if Path(file) == path:
            place = f"{shown(file)}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place


def shown(path):
    """As the learner types it."""
    path = Path(path)
    try:
        return path.resolve().relative_to(paths.ROOT).as_posix()
    except ValueError:
        return str(path)
