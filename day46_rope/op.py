# SPDX-License-Identifier: MIT
"""Rotary position embedding for PyTorch, exact at any position; the pairs of a head are its two halves, or neighbours."""
import torch

from gpudays.op import Op

UNREAD = ("frequency", "cosines", "sines")
TENSORS = "q[seq, heads, dim], k[seq, kv_heads, dim], turns[2, dim/2]:float32, context -> rotated_q[seq, heads, dim], rotated_k[seq, kv_heads, dim]"
# context: how many positions there are with the last one, seq where q and k begin at position 0.
rope_backward = Op(TENSORS, "rope_backward", ("inverse",), unread=UNREAD)
rope = Op(TENSORS, "rope", ("vectors", "turns"), unread=UNREAD,
          backward=lambda drotated_q, drotated_k, turns, context: rope_backward(drotated_q, drotated_k, turns, context))
rope_interleaved = Op(TENSORS, "rope_interleaved", ("interleaved",), unread=UNREAD)


def rope_turns(dim, base=10000.0, device="cpu"):
    """What rope calls turns, [2, dim/2]: of each pair the turns from a position to the next, as the sum of a large and a small float."""
    exact = base ** (-2 * torch.arange(dim // 2, dtype=torch.float64) / dim) / (2 * torch.pi)
    large = exact.float()
    return torch.stack((large, (exact - large.double()).float())).to(device)
