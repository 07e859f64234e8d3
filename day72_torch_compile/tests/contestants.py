# SPDX-License-Identifier: MIT
"""The rungs themselves, compiled: the table's rows run them as they are, operation by operation."""
import importlib.util
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1]


def compiled(rung):
    """A contestant: torch.compile of a rung's launch."""
    file, = FOLDER.glob(f"[0-9][0-9]_{rung}.py")

    def make(torch, problem):
        spec = importlib.util.spec_from_file_location(f"day72_{rung}", file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        function = torch.compile(module.launch)
        return lambda: function(*problem.inputs)
    return make


CONTESTANTS = [(ladder, f"compile({rung})", compiled(rung)) for ladder, rungs in (
    ("block", ("item", "whole")), ("layer", ("three", "one")), ("momentum", ("tensor", "in_place"))) for rung in rungs]
