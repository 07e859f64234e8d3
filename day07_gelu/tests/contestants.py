# SPDX-License-Identifier: MIT
"""PyTorch's GELU, both formulas."""


def eager(approximate):
    def contestant(torch, problem):
        x, = problem.inputs
        return lambda: torch.nn.functional.gelu(x, approximate=approximate)
    return contestant


def compiled(approximate):
    def contestant(torch, problem):
        x, = problem.inputs
        gelu = torch.compile(lambda x: torch.nn.functional.gelu(x, approximate=approximate))
        return lambda: gelu(x)
    return contestant


CONTESTANTS = [contestant for ladder, approximate in (("gelu", "none"), ("gelu_tanh", "tanh"), ("gelu_fast", "tanh"))
               for contestant in ((ladder, "torch", eager(approximate)), (ladder, "torch.compile", compiled(approximate)))]
