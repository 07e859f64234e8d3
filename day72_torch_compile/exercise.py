# SPDX-License-Identifier: MIT
"""A block of a network that torch.compile takes as one graph.

    ./days check 72     how far you are
    ./days hint 72      the next of three hints

x is (rows, cols), gain and bias have cols elements, all fp32. Scale each row of GELU's results whose largest element, without its sign, is beyond LIMIT, so
that it is LIMIT; leave the others alone. Then multiply by gain, and add bias and x. 01_item.py does all of that, in two graphs.

  1. Write it as in `item`. It is right, and one gate refuses it.
  2. Which line needs a number in Python? What would the line do, if it were always executed?
"""
import torch

LIMIT = 4.0


def launch(x, gain, bias):
    y = 0.5 * x * (1 + torch.tanh(0.7978845608 * (x + 0.044715 * x ** 3)))
    # your code
    return y
