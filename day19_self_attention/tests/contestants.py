# SPDX-License-Identifier: MIT
"""PyTorch's attention by three of its backends, called by their own names: MATH, which stores the scores as this day does, and
FlashAttention 2 and cuDNN, which do not."""
from contestants import Skip

SHAPES = {"self": [[1, 1, 1, 1, 64], [1, 2, 65, 63, 64], [3, 1, 70, 200, 128]],
          "self_causal": [[1, 1, 1, 1, 64], [1, 2, 65, 65, 64], [3, 1, 200, 200, 128]]}


def arrays(problem, causal):
    """q, k, v as (batch, heads, seq, dim)."""
    s = problem.shape
    # PyTorch's mask begins at the first query and the first key, the ladder's ends at the last ones.
    if causal and s["seq_q"] != s["seq_k"]:
        raise Skip("is_causal is another mask where seq_q is not seq_k")
    return [tensor.view(s["batch"], s["heads"], s[length], s["dim"])
            for tensor, length in zip(problem.inputs, ("seq_q", "seq_k", "seq_k"))]


def results(problem, o, lse):
    return [made.reshape(tensor.shape) for made, tensor in zip((o, lse), problem.outputs)]


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


def flash(causal):
    def make(torch, problem):
        q, k, v = arrays(problem, causal)
        aten = torch.ops.aten
        run = aten._scaled_dot_product_flash_attention if q.is_cuda else aten._scaled_dot_product_flash_attention_for_cpu
        return lambda: results(problem, *run(q, k, v, 0.0, causal)[:2])
    return make


def cudnn(causal):
    def make(torch, problem):
        q, k, v = arrays(problem, causal)
        if not q.is_cuda:
            raise Skip("cuDNN needs a GPU")
        if q.dtype == torch.float32:  # it would say nothing, and return NaN
            raise Skip("cuDNN takes fp16 and bf16")
        run = torch.ops.aten._scaled_dot_product_cudnn_attention
        return lambda: results(problem, *run(q, k, v, None, True, 0.0, causal)[:2])
    return make


CONTESTANTS = [(ladder, name, make(ladder == "self_causal")) for ladder in ("self", "self_causal")
               for name, make in (("torch MATH", math), ("torch FLASH", flash), ("torch cuDNN", cudnn))]
