# SPDX-License-Identifier: MIT
"""What torch.compile makes of a function, counted: graphs, compilations again, kernels, calls of libraries, bytes that they move. Counted
where it happens: by a backend of our own, and in the scheduler of PyTorch's."""
from __future__ import annotations

import contextlib
import math
import os
import shutil
import sysconfig
from pathlib import Path

import torch
import torch._dynamo
import torch._inductor.config
from torch._inductor.graph import GraphLowering
from torch._inductor.scheduler import ExternKernelSchedulerNode, NopKernelSchedulerNode

from days_cli.errors import ENVIRONMENT, DaysError

if not Path(sysconfig.get_path("include"), "Python.h").is_file():
    raise DaysError("PyTorch's compiler generates C++ that includes Python.h, and this Python has none", "apt-get install python3-dev", ENVIRONMENT)
if not shutil.which(os.environ.get("CXX", "g++")):
    raise DaysError("PyTorch's compiler generates C++, and there is no g++", "apt-get install g++", ENVIRONMENT)
os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", str(Path(__file__).resolve().parents[1] / "build" / "inductor"))
# Code is generated anew each time, or there is nothing to count; what g++ made of the same code is kept.
torch._inductor.config.fx_graph_cache = False
torch._inductor.config.compile_threads = 1


def graphs(function, calls):
    """([operations of each graph that the first call made], [graphs that each later call made])."""
    found, made = [], []

    def backend(graph, inputs):
        found.append(sum(node.op in ("call_function", "call_method") for node in graph.graph.nodes))
        return graph.forward
    torch._dynamo.reset()
    compiled, first = torch.compile(function, backend=backend), []
    for number, arguments in enumerate(calls):
        before = len(found)
        compiled(*arguments)
        if number == 0:
            first = list(found)
        else:
            made.append(len(found) - before)
    return first, made


def differ(results, expected):
    """How many of the compiled results are not what the function gives without a compiler."""
    expected = expected if isinstance(expected, (tuple, list)) else [expected]
    return sum(not torch.allclose(made, one, rtol=1e-4, atol=1e-4) for made, one in zip(results, expected))


def _library_bytes(call):
    """What a call of a library reads and writes. PyTorch's own count takes all of a tensor of which the call is given a part."""
    return sum(math.prod(map(int, one.get_size())) * one.get_dtype().itemsize for one in (*call.inputs, call))


@contextlib.contextmanager
def watched():
    """Gives {"kernels", "libraries", "bytes"}, which holds the sums of what is generated within."""
    sums, codegen = {"kernels": 0, "libraries": 0, "bytes": 0}, GraphLowering.codegen

    def counted(self, *arguments):
        made = codegen(self, *arguments)
        for node in self.scheduler.nodes:
            if not isinstance(node, NopKernelSchedulerNode):
                sums["libraries" if isinstance(node, ExternKernelSchedulerNode) else "kernels"] += 1
        sums["bytes"] += sum(_library_bytes(node.node) if isinstance(node, ExternKernelSchedulerNode) else node.get_read_write_buffers_sizes()
                             for node in self.scheduler.nodes)
        return made
    GraphLowering.codegen = counted
    try:
        yield sums
    finally:
        GraphLowering.codegen = codegen


def generated(function, arguments):
    """({"kernels", "libraries", "bytes"}, the results) of a function that PyTorch's own backend compiles."""
    torch._dynamo.reset()
    with watched() as sums:
        results = torch.compile(function)(*arguments)
    return sums, results if isinstance(results, (tuple, list)) else [results]
