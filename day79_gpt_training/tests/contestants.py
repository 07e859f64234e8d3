# SPDX-License-Identifier: MIT
"""Beside the ladder of a step: torch_gpt.py's GPT in PyTorch, of the same size and with as many tokens, in bf16. That it computes what day 79
does is held to by the day's tests, from the same checkpoint with the same batches; here it has to learn, as the ladder's rungs have."""
import math
import sys
from pathlib import Path


def torch_gpt():
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    import torch_gpt as module  # needs PyTorch
    sys.path.pop(0)
    return module


def contestant(compiled):
    def make(torch, table):
        return torch_gpt().stepper(table["shape"]["size"], int(table["work"]["units"]), "cuda" if torch.cuda.is_available() else "cpu", compiled)
    make.check = check
    return make


def check(step, table):
    losses, start = [step().item() for _ in range(3)], math.log(torch_gpt().SIZES[table["shape"]["size"]][3])
    if abs(losses[0] - start) < 0.2 and losses[2] < losses[0]:
        return ""
    return f"losses {losses}, which should begin at {start:.4f} and fall"


CONTESTANTS = [("speed", "torch eager", contestant(False)), ("speed", "torch compiled", contestant(True))]
SHAPES = {"speed": [({"size": "tiny"}, 64)]}
