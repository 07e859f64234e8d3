# SPDX-License-Identifier: MIT
"""The course's kernels as operators of PyTorch:

    import gpudays, torch
    gpudays.softmax(torch.randn(4, 1000))

gpudays.operators() names them. They are for tensors of the device that the package was built for, gpudays.backend: "cuda", or "simt",
where kernels run on this CPU."""
from __future__ import annotations

import importlib
import types
from pathlib import Path

from gpudays import op as _op

_HERE = Path(__file__).resolve().parent
_functions, backend = {}, ""


def operators():
    """The names of all operators, each with the tensors that it takes and gives."""
    return {name: function.__doc__.partition(": ")[2] for name, function in sorted(_functions.items())}


def register(module, path, ops=_HERE / "libgpudays_ops.so"):
    """Registers the operators that a day's op.py declares, over the day's shared library. A function of that file whose name begins
    with no _ is there for users, too."""
    global backend
    library = _op.Library.load(path, ops)
    backend = library.description["backend"]
    for name, declared in list(vars(module).items()):
        if isinstance(declared, _op.Op):
            _functions[name] = globals()[name] = declared.register(name, library)
        elif isinstance(declared, types.FunctionType) and declared.__module__ == module.__name__ and not name.startswith("_"):
            globals()[name] = declared


for _file in sorted((_HERE / "days").glob("day[0-9][0-9].py")):
    register(importlib.import_module(f"gpudays.days.{_file.stem}"), _HERE / f"lib{_file.stem}.so")
