# SPDX-License-Identifier: MIT
"""The brightness of each pixel for PyTorch, of colours that lie pixel by pixel: [height, width, 3]."""
from gpudays.op import Op

grayscale = Op("rgb[height, width, 3] -> gray[height, width]", "grayscale", ("staged", "words", "bytes"))
