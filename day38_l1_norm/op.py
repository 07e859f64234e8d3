# SPDX-License-Identifier: MIT
"""Sums of |x| along the last dimension for PyTorch, and the gradient of x in the same pass."""
from gpudays.op import Op

l1_norm_step = Op("x[rows*, cols], dnorm[rows*]:float32 -> norm[rows*]:float32, dx[rows*, cols]", "l1_norm", ("own_bits", "ballots"))
