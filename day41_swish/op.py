# SPDX-License-Identifier: MIT
"""Swish with a parameter for PyTorch: x * sigmoid(beta * x)."""
from gpudays.op import Op

swish_backward = Op("x[n*], dy[n*], beta[1]:float32 -> dx[n*], dbeta[1]:float32", "swish_backward", ("stages", "block"), sums=True)
swish = Op("x[n*], beta[1]:float32 -> y[n*]", "swish", ("vectors",), backward=lambda dy, x, beta: swish_backward(x, dy, beta))
