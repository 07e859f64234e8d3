# SPDX-License-Identifier: MIT
"""Changed since item: nobody asks. Every row is multiplied by its scale, which is 1 where nothing is too large. More arithmetic and one graph: the
compiler sees all of it.
"""
import torch

LIMIT = 4.0


def launch(x, gain, bias):
    y = 0.5 * x * (1 + torch.tanh(0.7978845608 * (x + 0.044715 * x ** 3)))
    y = y * torch.clamp(LIMIT / y.abs().amax(-1, keepdim=True), max=1.0)
    return x + y * gain + bias
