# SPDX-License-Identifier: MIT
"""The sigmoid of each element for PyTorch; its gradient is computed from the result."""
from gpudays.op import Op

sigmoid_backward = Op("y[n*], dy[n*] -> dx[n*]", "sigmoid_backward_y", ("grad_from_y",))
sigmoid = Op("x[n*] -> y[n*]", "sigmoid", ("tails", "naive"), backward=lambda dy, y: sigmoid_backward(y, dy.contiguous()))
