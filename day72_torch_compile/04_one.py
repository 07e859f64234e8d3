# SPDX-License-Identifier: MIT
"""Changed since three: one product with all three weights side by side, and its result taken apart. The compiler does not do that for you. Taking
apart moves nothing: the kernel after it reads three places.
"""
import torch


def launch(x, w):
    a, b, c = (x @ w).chunk(3, dim=1)
    return torch.sigmoid(a) * b + c
