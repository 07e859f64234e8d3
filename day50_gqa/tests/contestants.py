# SPDX-License-Identifier: MIT
"""PyTorch's attention with one query for each head, by FlashAttention 2 and by cuDNN, called by their own names, each with the groups as they are
and FlashAttention also with the keys repeated for each query; the new row goes into the cache by index_copy_ before. They take the whole cache:
lengths on the device, as the rungs have them, they know nothing of."""
from contestants import Skip

SHAPES = {"gqa": [[1, 1, 1, 1, 64], [1, 8, 2, 65, 64], [2, 7, 1, 300, 128]]}


def decode(of, repeated=False):
    def make(torch, problem):
        s = problem.shape
        q, k_new, v_new, k, v, lengths = problem.inputs
        if bool((lengths != s["capacity"] - 1).any()):
            raise Skip("takes a full cache alone")
        run, group = of(torch, problem), s["heads"] // s["kv_heads"]
        rows = lambda heads, length: (s["batch"], heads, length, s["dim"])
        row = lengths[:1].long()
        # a cache of its own: the ladder's is filled before each check
        k, v = (tensor.clone().view(rows(s["kv_heads"], s["capacity"])) for tensor in (k, v))

        def launch():
            for cache, new in ((k, k_new), (v, v_new)):
                cache.index_copy_(2, row, new.view(rows(s["kv_heads"], 1)))
            keys, values = (cache.repeat_interleave(group, 1) if repeated else cache for cache in (k, v))
            o, lse = run(q.view(rows(s["heads"], 1)), keys, values)[:2]
            return [made.reshape(tensor.shape) for made, tensor in zip((k, v, o, lse), problem.outputs)]
        return launch
    return make


def flash(torch, problem):
    aten = torch.ops.aten
    run = aten._scaled_dot_product_flash_attention if problem.inputs[0].is_cuda else aten._scaled_dot_product_flash_attention_for_cpu
    return lambda q, k, v: run(q, k, v, 0.0, False)


def cudnn(torch, problem):
    if not problem.inputs[0].is_cuda:
        raise Skip("cuDNN needs a GPU")
    if problem.type == "fp32":  # it would say nothing, and return NaN
        raise Skip("cuDNN takes fp16 and bf16")
    return lambda q, k, v: torch.ops.aten._scaled_dot_product_cudnn_attention(q, k, v, None, True, 0.0, False)


CONTESTANTS = [("gqa", "torch FLASH", decode(flash)), ("gqa", "torch cuDNN", decode(cudnn)),
               ("gqa", "torch FLASH repeated", decode(flash, repeated=True))]
