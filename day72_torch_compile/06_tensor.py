# SPDX-License-Identifier: MIT
"""Changed since table: the rate is computed from a tensor of one element, which is an input like any other. Compiled once. Both results are new
tensors.
"""


def launch(p, m, g, step, number):
    m = 0.9 * m + g
    return p - 0.1 * 0.5 ** step * m, m
