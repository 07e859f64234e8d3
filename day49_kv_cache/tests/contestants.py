# SPDX-License-Identifier: MIT
"""PyTorch's attention with one query, by FlashAttention 2 and by cuDNN, called by their own names; the new row goes into the cache by index_copy_
before. Both take the whole cache: lengths on the device, as the rungs have them, they know nothing of."""
from contestants import Skip

SHAPES = {"decode": [[1, 1, 1, 64], [1, 2, 65, 64], [2, 3, 300, 128]]}


def decode(of):
    def make(torch, problem):
        s = problem.shape
        q, k_new, v_new, k, v, lengths = problem.inputs
        if bool((lengths != s["capacity"] - 1).any()):
            raise Skip("takes a full cache alone")
        run = of(torch, problem)
        one, all_rows = (s["batch"], s["heads"], 1, s["dim"]), (s["batch"], s["heads"], s["capacity"], s["dim"])
        row = lengths[:1].long()
        k, v = k.clone().view(all_rows), v.clone().view(all_rows)  # a cache of its own: the ladder's is filled before each check

        def launch():
            k.index_copy_(2, row, k_new.view(one))
            v.index_copy_(2, row, v_new.view(one))
            o, lse = run(q.view(one), k, v)[:2]
            return [made.reshape(tensor.shape) for made, tensor in zip((k, v, o, lse), problem.outputs)]
        return launch
    return make


def flash(torch, problem):
    aten = torch.ops.aten
    if not problem.inputs[0].is_cuda and problem.type != "fp32":
        raise Skip("PyTorch's kernel for a CPU takes a rougher exponential in 16 bits: beyond lse's tolerance")
    run = aten._scaled_dot_product_flash_attention if problem.inputs[0].is_cuda else aten._scaled_dot_product_flash_attention_for_cpu
    return lambda q, k, v: run(q, k, v, 0.0, False)


def cudnn(torch, problem):
    if not problem.inputs[0].is_cuda:
        raise Skip("cuDNN needs a GPU")
    if problem.type == "fp32":  # it would say nothing, and return NaN
        raise Skip("cuDNN takes fp16 and bf16")
    return lambda q, k, v: torch.ops.aten._scaled_dot_product_cudnn_attention(q, k, v, None, True, 0.0, False)


CONTESTANTS = [("decode", "torch FLASH", decode(flash)), ("decode", "torch cuDNN", decode(cudnn))]
