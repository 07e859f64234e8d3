# SPDX-License-Identifier: MIT
"""The sigmoid of each element for PyTorch, and two that have fewer digits; its gradient is computed from the result."""
from gpudays.op import Op

sigmoid_backward = Op("y[n*], dy[n*] -> dx[n*]", "sigmoid_backward_y", ("grad_from_y",))
sigmoid = Op("x[n*] -> y[n*]", "sigmoid", ("tails", "naive"), backward=lambda dy, y: sigmoid_backward(y, dy))
sigmoid_fast = Op("x[n*] -> y[n*]", "sigmoid_fast", ("fast",), backward=lambda dy, y: sigmoid_backward(y, dy))
sigmoid_tanh = Op("x[n*] -> y[n*]", "sigmoid_tanh", ("pairs", "tanh"), backward=lambda dy, y: sigmoid_backward(y, dy))
