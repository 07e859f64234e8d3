# SPDX-License-Identifier: MIT
"""Products of two matrices for PyTorch, of which one may be stored transposed; so a gradient copies neither."""
from gpudays.op import Op

matmul_nt = Op("a[m, k], b[n, k] -> c[m, n]", "gemm", ("gemm_autotuned", "gemm_direct"), fixed={"form": 2},
               backward=lambda dc, a, b: (matmul_coarsened(dc, b), matmul_tn(dc, a)))
matmul_tn = Op("a[k, m], b[k, n] -> c[m, n]", "gemm", ("gemm_autotuned", "gemm_direct"), fixed={"form": 3},
               backward=lambda dc, a, b: (matmul_nt(b, dc), matmul_coarsened(a, dc)))
matmul_coarsened = Op("a[m, k], b[k, n] -> c[m, n]", "matmul", ("warps", "autotuned"),
                      backward=lambda dc, a, b: (matmul_nt(dc, b), matmul_tn(a, dc)))
