# SPDX-License-Identifier: MIT
"""The product of two matrices for PyTorch, by a tile that is picked for the device."""
from gpudays.op import Op

matmul_tiled = Op("a[m, k], b[k, n] -> c[m, n]", "matmul", ("picked", "dynamic", "tiled"),
                  backward=lambda dc, a, b: (matmul_tiled(dc, b.T.contiguous()), matmul_tiled(a.T.contiguous(), dc)))
