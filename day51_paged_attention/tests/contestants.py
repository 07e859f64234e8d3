# SPDX-License-Identifier: MIT
"""PyTorch, which gathers each sequence's pages and then computes attention to all of them by FlexAttention, with a length for each sequence."""
from contestants import Skip

SHAPES = {"paged_attention": [[2, 4, 2, 17, 16, 64], [3, 5, 1, 130, 12, 64]]}


def gathered(torch, problem):
    try:
        from torch.nn.attention.flex_attention import flex_attention  # pylint: disable=import-outside-toplevel
    except ImportError as error:
        raise Skip("this PyTorch has no FlexAttention") from error
    s = problem.shape
    q, k_new, v_new, k, v, table, lengths = problem.inputs
    q = q.view(s["sequences"], s["heads"], 1, s["dim"])
    k_new, v_new = (new.view(s["sequences"], s["kv_heads"], s["dim"]) for new in (k_new, v_new))
    k, v = (cache.view(-1, s["kv_heads"], s["page"], s["dim"]) for cache in (k, v))
    table = table.view(s["sequences"], -1).long()
    attend = torch.compile(flex_attention) if q.is_cuda else flex_attention
    at = lengths.long()

    def visible(score, sequence, _head, _query, key):
        return torch.where(key <= at[sequence], score, -float("inf"))

    def run():
        page = table.gather(1, (at // s["page"])[:, None])[:, 0]
        k[page, :, at % s["page"]], v[page, :, at % s["page"]] = k_new, v_new
        rows = [cache[table.clamp(min=0)].transpose(1, 2).flatten(2, 3) for cache in (k, v)]
        o, lse = attend(q, *rows, score_mod=visible, enable_gqa=True, return_lse=True)
        return [made.reshape(tensor.shape).to(tensor.dtype) for made, tensor in zip((k, v, o, lse), problem.outputs)]
    return run


CONTESTANTS = [("paged_attention", "torch Flex", gathered)]
