# SPDX-License-Identifier: MIT
"""Layer norm along the last dimension for PyTorch; backward takes the mean and the deviation that forward has kept."""
from gpudays.op import Op

layer_norm_backward = Op("x[rows*, cols], dy[rows*, cols], gamma[cols], mean[rows*]:float32, rstd[rows*]:float32 -> "
                         "dx[rows*, cols], dgamma[cols], dbeta[cols]", "layer_norm_backward",
                         ("grad_async", "grad_registers", "grad_partials"), sums=True)
layer_norm = Op("x[rows*, cols], gamma[cols], beta[cols], eps:float=1e-5 -> y[rows*, cols]; mean[rows*]:float32, rstd[rows*]:float32",
                "layer_norm", ("persistent", "registers", "warp"),
                backward=lambda dy, x, gamma, mean, rstd: layer_norm_backward(x, dy, gamma, mean, rstd))
