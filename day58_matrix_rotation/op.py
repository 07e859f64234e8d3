# SPDX-License-Identifier: MIT
"""Pictures that are turned for PyTorch: by a quarter against the clock or by a half, into another or in place, and by degrees."""
from gpudays.op import Op

PIXELS = {"float32": "uint32", "int32": "uint32", "int8": "uint8", "bool": "uint8"}
rotate_quarter = Op("x[height, width] -> y[width, height]", "quarter", ("vectors", "tile", "gather", "scatter"), also=PIXELS)
rotate_half = Op("x[height, width] -> y[height, width]", "half", ("half_vectors", "half_pairs"), also=PIXELS)
rotate_in_place = Op("image![height, width] ->", "in_place", ("tile_cycles", "cycles"), also=PIXELS)
