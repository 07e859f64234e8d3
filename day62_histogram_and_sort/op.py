# SPDX-License-Identifier: MIT
"""How often each byte occurs, what is above a threshold, keys in order, and the largest of each row, for PyTorch."""
from gpudays.op import Op

histogram = Op("keys[n*] -> counts[256]:uint32", "histogram", ("thread", "warp", "block"), sums=True)
compaction = Op("x[n], threshold:float -> y[n]=0, count[1]:uint32", "compaction_stable", ("look_back", "two_reads"), sums=True)
radix_sort = Op("keys[n] -> sorted_keys[n]", "radix_sort", ("onesweep", "staged", "scatter"))
top_k = Op("x[rows*, cols], k -> values[rows*, k], indices[rows*, k]:int32", "top_k", ("slices", "radix_select", "repeated_max"))
