# SPDX-License-Identifier: MIT
"""Wrong kernels of dayNN_name/tests/wrong.py: each launcher says what rejects it."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Callable

from python_days import counters


@dataclass(frozen=True)
class Wrong:
    """by: "run", in the interpreter, "compiler", or "counters", a line "KEY is VALUE" of what the tests count."""
    ladder: str
    name: str
    says: str
    launch: Callable
    by: str

    @property
    def of_code(self):
        """Whether the compiler's process rejects it."""
        return self.by == "compiler" or self.by == "counters" and counters.of_code(self.says.partition(" is ")[0])


def must_reject(ladder, says, by="run"):
    """Decorates a launcher: the tests of this ladder must fail with it, with these words in what is said."""
    def decorate(launch):
        launch.wrong = Wrong(ladder.name, launch.__name__, says, launch, by)
        return launch
    return decorate


def of_module(module):
    return [value.wrong for value in vars(module).values() if hasattr(value, "wrong")]
