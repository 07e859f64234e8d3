# SPDX-License-Identifier: MIT
"""A block of a network: GELU, rows with a too large element scaled down, gain and bias, and x added. The scaling is skipped where no element
is too large, and to know that, Python asks for a number: the graph ends there, and another one begins after the answer.
"""
import torch

LIMIT = 4.0


def launch(x, gain, bias):
    y = 0.5 * x * (1 + torch.tanh(0.7978845608 * (x + 0.044715 * x ** 3)))
    if y.abs().max().item() > LIMIT:
        y = y * torch.clamp(LIMIT / y.abs().amax(-1, keepdim=True), max=1.0)
    return x + y * gain + bias
