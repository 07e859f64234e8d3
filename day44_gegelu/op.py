# SPDX-License-Identifier: MIT
"""Gated GELUs for PyTorch: GEGLU with gate and value in two halves, and Phi-3's GeGELU with pairs of them, clamped."""
from gpudays.op import Op

geglu_backward = Op("x[rows*, 2*cols], dy[rows*, cols] -> dx[rows*, 2*cols]", "geglu_backward", ("grad_halves", "grad_fused"))
geglu = Op("x[rows*, 2*cols] -> y[rows*, cols]", "geglu", ("halves", "fused"), backward=lambda dy, x: geglu_backward(x, dy))
gegelu_backward = Op("x[rows*, 2*cols], dy[rows*, cols], limit:float=20 -> dx[rows*, 2*cols]", "gegelu_backward",
                     ("grad_vectors", "grad_strided"))
gegelu = Op("x[rows*, 2*cols], limit:float=20 -> y[rows*, cols]", "gegelu", ("vectors", "pairs", "strided"),
            backward=lambda dy, x, limit: gegelu_backward(x, dy, limit))
