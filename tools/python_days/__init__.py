# SPDX-License-Identifier: MIT
"""What a Python day's ladder.py is written with. NumPy alone: no Triton is imported here."""
from python_days.comparing import exact, within
from python_days.ladder import Counter, Exercise, Ladder
from python_days.tensors import Tensor, new_empty
from python_days.wrong import must_reject

__all__ = ["Counter", "Exercise", "Ladder", "Tensor", "exact", "must_reject", "new_empty", "within"]
