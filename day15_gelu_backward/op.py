# SPDX-License-Identifier: MIT
"""The gradient of GELU for PyTorch, and forward and backward of the same elements in one pass."""
from gpudays.op import Op

gelu_backward = Op("x[n*], dy[n*] -> dx[n*]", "gelu_backward", ("grad_one_power", "grad_vectors", "grad_single"))
gelu_step = Op("x[n*], dy[n*] -> y[n*], dx[n*]", "gelu_step", ("recompute",))
