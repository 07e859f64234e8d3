# SPDX-License-Identifier: MIT
"""A matrix transposed into another one for PyTorch, whatever its elements are of 4, 2 or 1 bytes."""
from gpudays.op import Op

transpose = Op("x[rows, cols] -> y[cols, rows]", "transpose", ("bulk", "vectorised", "aligned"), backward=lambda dy: transpose(dy),
               also={"int32": "fp32", "bfloat16": "fp16", "int8": "uint8", "bool": "uint8"})
