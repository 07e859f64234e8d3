# SPDX-License-Identifier: MIT
"""A stencil of 17 points for PyTorch: the Laplace operator of the eighth order, with 0 beyond the border."""
from gpudays.op import Op

stencil = Op("x[rows, cols] -> y[rows, cols]", "stencil", ("stages9", "plain", "direct"), fixed={"blocks": 2})
