# SPDX-License-Identifier: MIT
"""GELU of each element for PyTorch: as it is defined, by the formula with tanh, and by a tanh of few digits. No backward: that is day 15's."""
from gpudays.op import Op

gelu = Op("x[n*] -> y[n*]", "gelu", ("erfc", "vectors", "erf"))
gelu_tanh = Op("x[n*] -> y[n*]", "gelu_tanh", ("sigmoid", "tanh"))
gelu_fast = Op("x[n*] -> y[n*]", "gelu_fast", ("pairs", "fast"))
