# SPDX-License-Identifier: MIT
"""PyTorch's attention, by FlashAttention 2 and by cuDNN, called by their own names: nothing chooses another in their place, and
both also return the logarithms of the sums that a backward pass needs, as the rungs do."""
from attention_backends import cudnn, flash

SHAPES = {"attention": [[1, 1, 1, 1, 64], [1, 2, 65, 63, 64], [3, 1, 70, 200, 128]],
          "causal": [[1, 1, 1, 1, 64], [1, 2, 65, 65, 64], [3, 1, 200, 200, 128]]}
CONTESTANTS = [(ladder, name, make(ladder == "causal")) for ladder in ("attention", "causal")
               for name, make in (("torch FLASH", flash), ("torch cuDNN", cudnn))]
