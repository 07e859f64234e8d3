# SPDX-License-Identifier: MIT
"""Changed since tensor: the results are written where the inputs lie. Inside its graph the compiler has no operation in place: it computes new values
and writes them back at the end, in the same kernel. No memory is asked for.
"""


def launch(p, m, g, step, number):
    m.mul_(0.9).add_(g)
    p.sub_(0.1 * 0.5 ** step * m)
    return p, m
