# SPDX-License-Identifier: MIT
"""tanh for PyTorch: of each element, of a product, and of a layer with its bias and what is carried past it, in one kernel each."""
from gpudays.op import Op

tanh = Op("x[n*] -> y[n*]", "tanh", ("alone",))
tanh_matmul = Op("a[m, k], b[k, n] -> c[m, n]", "tanh_matmul", ("fused",))
tanh_layer = Op("a[m, k], b[k, n], bias[n], residual[m, n] -> c[m, n]", "layer", ("composed",))
