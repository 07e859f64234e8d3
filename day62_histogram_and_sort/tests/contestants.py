# SPDX-License-Identifier: MIT
"""PyTorch's histogram, sort and top-k."""


def bincount(torch, problem):
    (keys,), (counts,) = problem.inputs, problem.outputs
    return lambda: torch.bincount(keys, minlength=counts.numel()).to(counts.dtype)


def sort(torch, problem):
    # PyTorch sorts no uint32: as signed numbers with the highest bit turned over they have the same order. It
    # also brings the indices of the keys, which nobody asked for.
    keys, flip = problem.inputs[0].view(torch.int32), -2**31
    return lambda: torch.sort(keys ^ flip)[0].bitwise_xor_(flip).view(torch.uint32)


def top_k(torch, problem):
    x, k = problem.inputs[0].view(problem.shape["rows"], problem.shape["cols"]), problem.shape["k"]

    def run():
        values, indices = torch.topk(x, k)
        return values, indices.to(torch.int32)
    return run


CONTESTANTS = [("histogram", "torch", bincount), ("radix_sort", "torch", sort), ("top_k", "torch", top_k)]
SHAPES = {"top_k": [(1, 1, 1), (3, 1025, 7), (2, 8193, 20)]}
