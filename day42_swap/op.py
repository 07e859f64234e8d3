# SPDX-License-Identifier: MIT
"""Two tensors that change places, and one that is turned round, in place, for PyTorch."""
from gpudays.op import Op

swap = Op("a![n*], b![n*] ->", "swap", ("vectors", "pairs"), also={"int32": "fp32", "int8": "uint8", "bool": "uint8"})
reverse = Op("x![n] ->", "reverse", ("vector_ends", "ends"), also={"int32": "fp32", "int8": "uint8", "bool": "uint8"})
