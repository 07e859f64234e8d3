# SPDX-License-Identifier: MIT
"""The softmax along the last dimension for PyTorch; its gradient is computed from the result."""
from gpudays.op import Op

softmax_backward = Op("y[rows*, cols], dy[rows*, cols] -> dx[rows*, cols]", "softmax_backward", ("grad_registers", "grad_warp"))
softmax = Op("x[rows*, cols] -> y[rows*, cols]", "softmax", ("registers", "cluster", "vectors"),
             backward=lambda dy, y: softmax_backward(y, dy))
