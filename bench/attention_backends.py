# SPDX-License-Identifier: MIT
"""PyTorch's attention by FlashAttention 2 and by cuDNN, called by their own names: contestants of the days whose problem is days::Attention. Both also
return the logarithms of the sums that a backward pass needs, as the rungs do."""
from contestants import Skip


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
