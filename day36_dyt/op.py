# SPDX-License-Identifier: MIT
"""Dynamic tanh along the last dimension for PyTorch: gamma * tanh(alpha * x) + beta."""
from gpudays.op import Op

dyt_backward = Op("x[rows*, cols], dy[rows*, cols], alpha[1]:float32, gamma[cols] -> dx[rows*, cols], dgamma[cols], dbeta[cols], dalpha[1]:float32",
                  "dyt_backward", ("grad_wide", "grad_partials"), sums=True)


def _gradients(dy, x, alpha, gamma):
    dx, dgamma, dbeta, dalpha = dyt_backward(x, dy, alpha, gamma)
    return dx, dalpha, dgamma, dbeta


dyt = Op("x[rows*, cols], alpha[1]:float32, gamma[cols], beta[cols] -> y[rows*, cols]", "dyt", ("one_power", "columns", "naive"),
         backward=_gradients)
