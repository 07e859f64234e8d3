# SPDX-License-Identifier: MIT
"""Beside the ladder of a step: torch_gpt.py's GPT in PyTorch, of the same size, for as many texts and as long ones, in bf16. Its tokens have to be
those that it finds without a cache."""
import re
import sys
from pathlib import Path


def torch_gpt():
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    import torch_gpt as module  # needs PyTorch
    sys.path.pop(0)
    return module


def contestant(compiled):
    def make(torch, table):
        gpt = torch_gpt()
        device = "cuda" if torch.cuda.is_available() else "cpu"
        dtype = torch.bfloat16 if device == "cuda" else torch.float32
        size, units = table["shape"]["size"], int(table["work"]["units"])
        most = gpt.SIZES[size][4]
        found = re.search(r"context (\d+)", table.get("part", "context 12"))
        batch, context = (units, min(int(found[1]), most - 1)) if found else (1, units)
        # A cache is no longer than it has to be: all of it is read.
        model = gpt.Gpt(size, batch, min(most, -(-(context + 1) // 64) * 64), device, dtype).eval()
        kept = dict(fullgraph=True, mode="reduce-overhead")
        if found:
            body = torch.compile(model.step, **kept) if compiled else model.step
            token, position = torch.ones(batch, 1, dtype=torch.long, device=device), torch.tensor([context], device=device)
        else:
            body = torch.compile(model.prefill, **kept) if compiled else model.prefill
            token, position = torch.ones(1, context, dtype=torch.long, device=device), None

        @torch.inference_mode()
        def step():
            return (body(token) if position is None else body(token, position)).clone()
        step.model, step.token, step.position = model, token, position
        return step
    make.check = check
    return make


def check(step, table):
    import torch  # pylint: disable=import-outside-toplevel
    gpt, most = torch_gpt(), 5e-2 if step.token.is_cuda else 1e-4
    with torch.inference_mode():
        ids = torch.randint(500, (step.model.keys.shape[1], 9), device=step.token.device)
        off = gpt.off(step.model, ids)
        if not off <= most:
            return f"logits with a cache are off by {off:.1e} of the greatest; {most:.0e} is allowed"
        if step.position is not None:
            return "" if step().shape == step.token.shape else "a step gives each text a token"
        expected = step.model.whole(step.token)
        chosen = expected.gather(-1, step())
        return "" if (expected.amax(-1, keepdim=True) - chosen).max() <= most * expected.abs().max() else "a prompt's token is not the likeliest"


CONTESTANTS = [("speed", "torch eager", contestant(False)), ("speed", "torch compiled", contestant(True))]
SHAPES = {"speed": [({"size": "tiny"}, 3)]}
