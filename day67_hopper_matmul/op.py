# SPDX-License-Identifier: MIT
"""Products of two matrices on Hopper for PyTorch: of 16-bit floats, and of floats by three products of tf32. Rows of a and b begin at multiples of
16 bytes, and for a gradient so do those of a's and b's transposes."""
from gpudays.op import Op

matmul_hopper = Op("a[m, k], b[k, n] -> c[m, n]", "half", ("persistent",),
                   backward=lambda dc, a, b: (matmul_hopper(dc, b.T.contiguous()), matmul_hopper(a.T.contiguous(), dc)))
matmul_hopper_fp32 = Op("a[m, k], b[k, n] -> c[m, n]", "fp32", ("three",),
                        backward=lambda dc, a, b: (matmul_hopper_fp32(dc, b.T.contiguous()), matmul_hopper_fp32(a.T.contiguous(), dc)))
