# SPDX-License-Identifier: MIT
"""Gray and Scott's two substances on a torus for PyTorch, some steps later, and numbers as the pixels of a picture."""
from gpudays.op import Op

gray_scott = Op("u[height, width], v[height, width], steps, feed:float=0.037, kill:float=0.06 -> u_after[height, width], v_after[height, width]",
                "gray_scott", ("steps", "tile", "swap"))
paint = Op("values[n*], low:float, high:float -> pixels[n*]:uint8", "paint", ("paint",))
