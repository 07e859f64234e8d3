# SPDX-License-Identifier: MIT
"""The text that torch.compile generates for a function: C++ for a CPU, or Triton as for a GPU, which is not needed for that. Nothing of it is compiled or
run. What is the same in every text is left out."""
import importlib.util
import re
from pathlib import Path

import counting  # noqa: F401  says what is missing here
import torch
import torch._dynamo
import torch._inductor.config as config
from torch._inductor.graph import GraphLowering


def rung(name):
    """A rung's launch."""
    file, = Path(__file__).parent.glob(f"[0-9][0-9]_{name}.py")
    spec = importlib.util.spec_from_file_location(f"day72_{name}", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.launch


class _Written(Exception):
    """Carries the text out of the compiler, which need not go on."""


def _text(function, arguments, **settings):
    def caught(self, *more):
        made = codegen(self, *more)
        raise _Written(made[0].value)
    codegen, GraphLowering.codegen = GraphLowering.codegen, caught
    torch._dynamo.reset()
    try:
        with config.patch(**settings):
            torch.compile(function)(*arguments)
    except Exception as error:  # the compiler wraps what is thrown in it
        while error and not isinstance(error, _Written):
            error = error.__cause__ or error.__context__
        if not error:
            raise
        return error.args[0]
    finally:
        GraphLowering.codegen = codegen
    raise AssertionError("nothing was generated")


def cpp(function, arguments):
    """The loops of the generated C++, with vectors of 256 bits."""
    found = []
    for line in _text(function, arguments, **{"cpp.simdlen": 256}).splitlines():
        if re.match(r"\s*(for\(|auto tmp|tmp\d+\.store|\w+\[.*\] = )", line):
            line = re.sub(r"static_cast<int64_t>\((\w+)\)", r"\1", line.strip())
            line = re.sub(r"\b(\d+)L\b", r"\1", line).replace("at::vec::", "")
            found.append(re.sub(r"decltype\(tmp\d+\)\(([^()]*)\)", r"\1", line))
    return found


def triton(function, arguments, sm=90):
    """[the lines of each kernel in the generated Triton]."""
    from python_days import compiled
    from triton.runtime.driver import driver
    kept = driver._active  # a GPU's own, where there is one
    driver.set_active(compiled._NoGpu(sm))
    try:
        text = _text(function, arguments, cpu_backend="triton")
    finally:
        driver._active = kept
    return [kernel.rstrip().splitlines() for kernel in re.findall(r"@triton.jit\n(def .*?)\n'''", text, re.DOTALL)]
