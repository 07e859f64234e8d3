# SPDX-License-Identifier: MIT
"""The gradients of attention for PyTorch, from what forward returned and the gradient of o."""
from gpudays.op import Op

RUNGS = ("apart", "tiled", "naive")
TENSORS = ("q[batch, heads, seq_q, dim], k[batch, kv_heads, seq_k, dim], v[batch, kv_heads, seq_k, dim], o[batch, heads, seq_q, dim], "
           "dout[batch, heads, seq_q, dim], lse[batch, heads, seq_q]:float32, scale:float=None -> "
           "dq[batch, heads, seq_q, dim], dk[batch, kv_heads, seq_k, dim], dv[batch, kv_heads, seq_k, dim]")
attention_backward = Op(TENSORS, "backward", RUNGS)
causal_attention_backward = Op(TENSORS, "causal_backward", [f"causal_{rung}" for rung in RUNGS])
