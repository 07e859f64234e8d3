# SPDX-License-Identifier: MIT
"""The product of two matrices for PyTorch."""
from gpudays.op import Op

matmul = Op("a[m, k], b[k, n] -> c[m, n]", "matmul", ("lanes_across", "lanes_down"),
            backward=lambda dc, a, b: (matmul(dc, b.T.contiguous()), matmul(a.T.contiguous(), dc)))
