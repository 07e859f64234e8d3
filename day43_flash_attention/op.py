# SPDX-License-Identifier: MIT
"""Attention for PyTorch, without a matrix of scores: softmax(scale * q k^T) v, of all keys or of those that do not come after a query."""
from gpudays.op import Op

RUNGS = ("wide", "skipping", "async", "mma", "turing", "tiled", "naive")
TENSORS = ("q[batch, heads, seq_q, dim], k[batch, heads, seq_k, dim], v[batch, heads, seq_k, dim], scale:float=None -> "
           "o[batch, heads, seq_q, dim]; lse[batch, heads, seq_q]:float32")
attention = Op(TENSORS, "attention", RUNGS)
causal_attention = Op(TENSORS, "causal", [f"causal_{rung}" for rung in RUNGS])
