# SPDX-License-Identifier: MIT
"""The product of two matrices for PyTorch, with 16-byte loads where rows are whole vectors."""
from gpudays.op import Op

matmul_coalesced = Op("a[m, k], b[k, n] -> c[m, n]", "matmul", ("wide", "broadcast", "coalesced"),
                      backward=lambda dc, a, b: (matmul_coalesced(dc, b.T.contiguous()), matmul_coalesced(a.T.contiguous(), dc)))
