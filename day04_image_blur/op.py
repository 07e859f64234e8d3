# SPDX-License-Identifier: MIT
"""Blurs for PyTorch, of one picture or of several planes; beyond its border a picture goes on with its outermost pixels."""
from gpudays.op import Op

box_blur = Op("image[planes*, height, width], radius -> blurred[planes*, height, width]", "box_blur",
              ("box_running", "box_shared", "box_direct"))
gaussian_blur = Op("image[planes*, height, width], radius -> blurred[planes*, height, width]", "gaussian_blur",
                   ("gauss_registers", "gauss_shared"), unread=("weights",))
