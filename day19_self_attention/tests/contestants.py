# SPDX-License-Identifier: MIT
"""PyTorch's attention by three of its backends, called by their own names: MATH, which stores the scores as this day does, and
FlashAttention 2 and cuDNN, which do not."""
from attention_backends import arrays, cudnn, flash, results

SHAPES = {"self": [[1, 1, 1, 1, 64], [1, 2, 65, 63, 64], [3, 1, 70, 200, 128]],
          "self_causal": [[1, 1, 1, 1, 64], [1, 2, 65, 65, 64], [3, 1, 200, 200, 128]]}


def math(causal):
    """The logarithms of the sums are not among what MATH returns: they are added from its own scores, which its time has not."""
    def make(torch, problem):
        from torch.nn.attention import SDPBackend, sdpa_kernel
        q, k, v = arrays(problem, causal)
        scores = (q.float() @ k.float().transpose(-1, -2)).div_(q.shape[-1] ** 0.5)
        if causal:
            scores.masked_fill_(torch.ones_like(scores, dtype=torch.bool).triu(1), float("-inf"))
        lse = scores.logsumexp(-1)
        del scores

        def run():
            with sdpa_kernel(SDPBackend.MATH):
                return results(problem, torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal), lse)
        return run
    return make


CONTESTANTS = [(ladder, name, make(ladder == "self_causal")) for ladder in ("self", "self_causal")
               for name, make in (("torch MATH", math), ("torch FLASH", flash), ("torch cuDNN", cudnn))]
