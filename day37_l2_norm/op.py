# SPDX-License-Identifier: MIT
"""Rows of length 1 for PyTorch, whatever their size: torch.nn.functional.normalize along the last dimension. Its gradient is
computed from the result and the norm."""
from gpudays.op import Op

l2_normalize_backward = Op("y[rows*, cols], dy[rows*, cols], norm[rows*]:float32, eps:float=1e-12 -> dx[rows*, cols]", "l2_norm_backward",
                           ("grad_registers", "grad_twice"))
l2_normalize = Op("x[rows*, cols], eps:float=1e-12 -> y[rows*, cols]; norm[rows*]:float32", "l2_norm", ("exponent", "registers", "three"),
                  backward=lambda dy, y, norm, eps: l2_normalize_backward(y, dy, norm, eps))
