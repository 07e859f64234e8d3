# SPDX-License-Identifier: MIT
"""Products of two matrices by tensor cores for PyTorch: of 16-bit floats, in tf32, in three products of tf32, and a layer."""
from gpudays.op import Op

matmul_half = Op("a[m, k], b[k, n] -> c[m, n]", "half", ("grouped",),
                 backward=lambda dc, a, b: (matmul_half(dc, b.T.contiguous()), matmul_half(a.T.contiguous(), dc)))
matmul_tf32 = Op("a[m, k], b[k, n] -> c[m, n]", "tf32", ("tf32",),
                 backward=lambda dc, a, b: (matmul_tf32(dc, b.T.contiguous()), matmul_tf32(a.T.contiguous(), dc)))
matmul_fp32 = Op("a[m, k], b[k, n] -> c[m, n]", "fp32", ("three",),
                 backward=lambda dc, a, b: (matmul_fp32(dc, b.T.contiguous()), matmul_fp32(a.T.contiguous(), dc)))
linear_relu = Op("a[m, k], b[k, n], bias[n] -> c[m, n]", "linear", ("fused",))
