# SPDX-License-Identifier: MIT
"""PyTorch's look-up and its gradient, also compiled, and Liger's gradient in Triton."""
from types import SimpleNamespace

from contestants import Skip


def shaped(problem, tensor, rows):
    return tensor.view(problem.shape[rows], problem.shape["width"])


def look_up(torch, problem):
    w, tokens = problem.inputs
    w = shaped(problem, w, "vocab")
    return lambda: torch.nn.functional.embedding(tokens, w)


def compiled(torch, problem):
    w, tokens = problem.inputs
    w = shaped(problem, w, "vocab")
    function = torch.compile(torch.nn.functional.embedding)
    return lambda: function(tokens, w)


def gradient(torch, problem):
    dy, tokens = problem.inputs
    dy, vocab = shaped(problem, dy, "count"), problem.shape["vocab"]
    return lambda: torch.ops.aten.embedding_dense_backward(dy, tokens, vocab, -1, False)


def compiled_gradient(torch, problem):
    dy, tokens = problem.inputs
    dy, vocab = shaped(problem, dy, "count"), problem.shape["vocab"]
    function = torch.compile(lambda dy, tokens: torch.ops.aten.embedding_dense_backward(dy, tokens, vocab, -1, False))
    return lambda: function(dy, tokens)


def liger(torch, problem):
    from liger_kernel.ops.experimental.embedding import LigerEmbeddingFunction  # pylint: disable=import-outside-toplevel
    dy, tokens = problem.inputs
    if problem.type != "fp32":
        raise Skip(f"it adds in {problem.type}, where a sum of ones stands still: beyond the tolerance")
    if not dy.is_cuda:
        raise Skip("needs a GPU")
    dy = shaped(problem, dy, "count")
    saved = SimpleNamespace(saved_tensors=(tokens, torch.empty(problem.shape["vocab"], dy.shape[1], dtype=dy.dtype, device=dy.device)))
    return lambda: LigerEmbeddingFunction.backward(saved, dy)[0]


CONTESTANTS = [("embedding", "torch", look_up), ("embedding", "torch.compile", compiled),
               ("embedding_backward", "torch", gradient), ("embedding_backward", "torch.compile", compiled_gradient),
               ("embedding_backward", "Liger", liger)]
