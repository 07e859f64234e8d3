# SPDX-License-Identifier: MIT
"""A Triton file of one's own, which no day knows: its main() or launch() makes tensors and starts kernels. `watched` runs it in Triton's
interpreter, `made` compiles what it starts. Both without a GPU: what the file asks "cuda" for is made in this CPU's memory and says that it is
on a GPU. Tensors are PyTorch's, or NumPy's arrays."""
from __future__ import annotations

import contextlib
import ctypes
import inspect
import os
import sys
from pathlib import Path

import numpy as np
import triton
from triton.runtime.driver import driver
from triton.runtime.jit import JITFunction

from days_cli.errors import WRONG, DaysError
from python_days.day import load, shown
from python_days.tensors import POISON, TYPES, Tensor

_NAMES = ("main", "launch")


class _NoDevice:
    """Stands where Triton asks for the device."""

    def get_active_torch_device(self):
        import torch
        return torch.device("cuda", 0)

    def get_current_device(self):
        return 0

    def get_current_stream(self, device):
        return 0


def _entered(path):
    """The file's main() or launch(), and its name. DaysError where there is none that needs no arguments."""
    sys.path.append(str(Path(path).resolve().parent))
    module = load(path)
    for name in _NAMES:
        function = getattr(module, name, None)
        if callable(function):
            needed = [one.name for one in inspect.signature(function).parameters.values()
                      if one.default is one.empty and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]
            if needed:
                raise DaysError(f"{shown(path)}: {name}() needs {', '.join(needed)}; nobody is here to give that. Give it defaults, or write a "
                                "main() that makes the tensors and calls it", code=WRONG)
            return function, name
    raise DaysError(f"{shown(path)} has no main() and no launch(): a function without arguments that makes tensors and starts the kernels "
                    "(what stands below `if __name__ == \"__main__\":` is not run here)", code=WRONG)


# ---- PyTorch without a GPU ----

class Memory:
    """What is known of PyTorch's memory: of each torch.empty() which elements somebody has given a value."""

    def __init__(self):
        self._known = {}  # {address of a storage: (tensor, which holds it, bool of each element)}

    def empty(self, tensor):
        storage = tensor.untyped_storage()
        if tensor.dtype.is_complex or not storage.nbytes():
            return
        np.ctypeslib.as_array((ctypes.c_uint8 * storage.nbytes()).from_address(storage.data_ptr()))[...] = POISON
        self._known[storage.data_ptr()] = tensor, np.zeros(storage.nbytes() // tensor.element_size(), bool)

    def forget(self, tensor):
        """PyTorch has written to it itself."""
        self._known.pop(tensor.untyped_storage().data_ptr(), None)

    def written(self, tensor):
        """Of the elements from the tensor's first on; None where all have a value."""
        if not hasattr(tensor, "untyped_storage"):
            return getattr(tensor, "written", None)
        whole, marks = self._known.get(tensor.untyped_storage().data_ptr(), (None, None))
        return marks[tensor.storage_offset():] if marks is not None and whole.element_size() == tensor.element_size() else None

    def left(self):
        """[(shape, how many elements, the first of those)] of what kernels have written in part."""
        found = []
        for tensor, marks in self._known.values():
            marks = marks[:tensor.numel()]
            if marks.any() and not marks.all():
                found.append((tuple(tensor.shape), int((~marks).sum()), int(marks.argmin())))
        return found


def _torch_mode(memory):
    """A context in which PyTorch's tensors are on this CPU and say that they are on a GPU; a null one where nobody has imported PyTorch."""
    if "torch" not in sys.modules:
        return contextlib.nullcontext()
    import torch
    from torch.overrides import TorchFunctionMode
    makes_empty = {torch.empty, torch.empty_like, torch.empty_strided, torch.Tensor.new_empty, torch.Tensor.new_empty_strided}
    asks_cuda, asks_device = torch.Tensor.is_cuda.__get__, torch.Tensor.device.__get__

    def here(value):
        cuda = isinstance(value, torch.device) and value.type == "cuda" or isinstance(value, str) and value.split(":")[0] == "cuda"
        return torch.device("cpu") if cuda else value

    class Mode(TorchFunctionMode):
        def __torch_function__(self, function, types, given=(), named=None):
            if function is torch.device:  # a name, not yet a place
                return function(*given, **(named or {}))
            named = {name: here(value) for name, value in (named or {}).items()}
            if function == asks_cuda:
                return True
            if function == asks_device:
                return torch.device("cuda", 0)
            if function == torch.Tensor.cuda:
                return given[0].clone()
            name = getattr(function, "__name__", "")
            changed = [given[0]] if given and (name.endswith("_") and not name.endswith("__") or name == "__setitem__" or name.startswith("__i")) else []
            out = named.get("out")
            for tensor in (*changed, *(out if isinstance(out, (list, tuple)) else [out])):
                if isinstance(tensor, torch.Tensor):
                    memory.forget(tensor)
            named.pop("pin_memory", None)
            made = function(*map(here, given), **named)
            if function in makes_empty:
                memory.empty(made)
            return made
    torch.cuda.synchronize = lambda *_, **__: None
    torch.cuda.device = lambda *_: contextlib.nullcontext()
    torch.manual_seed(0)
    return Mode()


@contextlib.contextmanager
def _arrays_too(kind):
    """Kernels take NumPy's arrays as well. kind: the class whose run() starts them."""
    run = kind.run

    def wrapped(value):
        if not isinstance(value, np.ndarray):
            return value
        element = next((name for name, (_, numpy_type) in TYPES.items() if numpy_type == value.dtype and name != "bf16"), None)
        if not element:
            raise TypeError(f"an array of {value.dtype}: a kernel takes {', '.join(np.dtype(t).name for n, (_, t) in TYPES.items() if n != 'bf16')}")
        return Tensor(value, element)

    def run_any(self, *given, **named):
        known = {}
        each = lambda value: known.setdefault(id(value), wrapped(value)) if isinstance(value, np.ndarray) else value
        return run(self, *map(each, given), **{name: each(value) for name, value in named.items()})
    kind.run = run_any
    try:
        yield
    finally:
        kind.run = run


def watched(path, orders):
    """[{order, error, reports, launches, unwritten}], one for each order of programs; what main() prints in the first is printed."""
    from python_days import cases, watch
    from python_days.interpreted import interpreter
    driver.set_active(_NoDevice())
    triton.testing.do_bench = lambda call, *_, **__: (call(), float("nan"))[1]  # nothing is timed here
    memory, found, name = Memory(), [], ""
    load_torch(path)
    with _torch_mode(memory):
        function, name = _entered(path)
    for order in orders:
        memory, error = Memory(), ""
        np.random.seed(0)
        with contextlib.ExitStack() as stack:
            if found:
                stack.enter_context(contextlib.redirect_stdout(stack.enter_context(open(os.devnull, "w", encoding="utf-8"))))
            stack.enter_context(np.errstate(all="ignore"))
            stack.enter_context(_torch_mode(memory))
            stack.enter_context(_arrays_too(interpreter.InterpretedFunction))
            watching = stack.enter_context(watch.Watch(order, written=memory.written))
            try:
                function()
            except Exception as failure:  # a file of one's own may do anything
                error = _told(failure, cases)
        found.append({"order": order, "error": error, "reports": [[report.slug, *cases.describe(report)] for report in watching.reports],
                      "launches": cases.counted(watching.launches), "unwritten": memory.left()})
        if error or found[-1]["reports"]:
            break
    return {"function": name, "runs": found}


def load_torch(path):
    """Imports PyTorch before the file does, so that the file is read within its mode."""
    with contextlib.suppress(OSError):
        if "torch" in Path(path).read_text(encoding="utf-8", errors="replace"):
            with contextlib.suppress(ImportError):
                import torch  # noqa: F401


def _told(failure, cases):
    if isinstance(failure, AssertionError) and not str(failure).strip():
        file, line = cases.line_of(failure)
        return f"{shown(file)}:{line}: an assertion fails" if file else "an assertion fails"
    return cases.told(failure)


def made(path, sm, stage="", lines=True):
    """What the compiler makes of each kernel that main() starts: compiled.Kernels. compiled.Refused where it says no."""
    from python_days import compiled
    load_torch(path)
    driver.set_active(_NoDevice())
    triton.testing.do_bench = lambda call, *_, **__: (call(), float("nan"))[1]
    memory = Memory()
    with _torch_mode(memory), _arrays_too(JITFunction):
        function, _ = _entered(path)

        def launch():
            try:
                function()
            except AssertionError as error:  # no kernel has run, so what main() looks at is not there
                trace = error.__traceback__
                while trace.tb_next:
                    trace = trace.tb_next
                if trace.tb_frame.f_code.co_filename.startswith(os.path.dirname(triton.__file__)):
                    raise
        return compiled.compiled(launch, [], sm, lines, stage=stage, once=True)
