# SPDX-License-Identifier: MIT
"""PyTorch's gradients of attention, by FlashAttention 2 and by cuDNN, called by their own names: nothing chooses another in their place. Both get the
ladder's o and lse; what else forward leaves for them is made once."""
from contestants import Skip

SHAPES = {"backward": [[1, 1, 1, 1, 1, 64], [1, 2, 2, 65, 63, 64], [3, 1, 1, 70, 200, 128]],
          "causal_backward": [[1, 1, 1, 1, 1, 64], [1, 2, 2, 65, 65, 64], [3, 1, 1, 200, 200, 128]]}


def arrays(problem, causal):
    """q, k, v, o, dout as (batch, heads, seq, dim), and lse."""
    s = problem.shape
    if s["heads"] != s["kv_heads"]:
        raise Skip("its operator has no groups of heads")
    # PyTorch's mask begins at the first query and the first key, the ladder's ends at the last ones.
    if causal and s["seq_q"] != s["seq_k"]:
        raise Skip("is_causal is another mask where seq_q is not seq_k")
    lengths = ("seq_q", "seq_k", "seq_k", "seq_q", "seq_q")
    made = [tensor.view(s["batch"], s["heads"], s[length], s["dim"]) for tensor, length in zip(problem.inputs, lengths)]
    return *made, problem.inputs[5].view(s["batch"], s["heads"], s["seq_q"])


def results(problem, made):
    return [one.reshape(tensor.shape) for one, tensor in zip(made, problem.outputs)]


def flash(causal):
    def make(torch, problem):
        q, k, v, o, dout, lse = arrays(problem, causal)
        aten = torch.ops.aten
        if not q.is_cuda:
            run = aten._scaled_dot_product_flash_attention_for_cpu_backward
            return lambda: results(problem, run(dout, q, k, v, o, lse, 0.0, causal))
        if q.dtype == torch.float32:
            raise Skip("FLASH takes fp16 and bf16")
        _, _, *lengths, seed, offset, _ = aten._scaled_dot_product_flash_attention(q, k, v, 0.0, causal)
        run = aten._scaled_dot_product_flash_attention_backward
        return lambda: results(problem, run(dout, q, k, v, o, lse, *lengths, 0.0, causal, seed, offset))
    return make


def cudnn(causal):
    def make(torch, problem):
        q, k, v, o, dout, lse = arrays(problem, causal)
        if not q.is_cuda:
            raise Skip("cuDNN needs a GPU")
        if q.dtype == torch.float32:  # it would say nothing, and return NaN
            raise Skip("cuDNN takes fp16 and bf16")
        aten = torch.ops.aten
        _, sums, *lengths, seed, offset, _ = aten._scaled_dot_product_cudnn_attention(q, k, v, None, True, 0.0, causal)
        lse, run = lse.view(sums.shape), aten._scaled_dot_product_cudnn_attention_backward
        return lambda: results(problem, run(dout, q, k, v, o, lse, seed, offset, None, *lengths, 0.0, causal))
    return make


CONTESTANTS = [(ladder, name, make(ladder == "causal_backward")) for ladder in ("backward", "causal_backward")
               for name, make in (("torch FLASH", flash), ("torch cuDNN", cudnn))]
