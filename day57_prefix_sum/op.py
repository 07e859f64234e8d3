# SPDX-License-Identifier: MIT
"""Prefix sums for PyTorch: of all elements, and of segments that begin where head is not 0."""
from gpudays.op import Op

scan = Op("x[n*], exclusive:float=0 -> y[n*]", "scan", ("look_ahead", "one_word"))
segmented_scan = Op("x[n*], head[n*]:uint8 -> y[n*]", "segmented_scan", ("segmented",))
