# SPDX-License-Identifier: MIT
"""A table for PyTorch whose features become rows, each scaled by its largest size, which is given, too."""
from gpudays.op import Op

scaled_columns = Op("x[samples, features] -> z[features, samples], most[features]", "columns", ("padded", "spread"))
