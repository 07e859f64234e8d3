# SPDX-License-Identifier: MIT
"""A GPT-2 in PyTorch that writes with keys and values kept in a cache of fixed length, after gpt-fast's recipe: everything in a step is on the
device, so that torch.compile(mode="reduce-overhead") makes one CUDA graph of it. Weights are random; contestants.py times it."""
import torch
from torch.nn import functional as F

SIZES = {"tiny": (2, 2, 128, 512, 64), "small": (6, 6, 384, 4096, 256), "gpt2": (12, 12, 768, 50304, 1024)}


class Gpt(torch.nn.Module):
    """keys and values: (layers, batch, heads, length, dim)."""

    def __init__(self, size, batch, length, device, dtype):
        super().__init__()
        self.layers, self.heads, width, vocab, context = SIZES[size]
        torch.manual_seed(80)

        def weight(*shape, deviation=0.02):
            return torch.nn.Parameter((deviation * torch.randn(shape)).to(device, dtype), requires_grad=False)
        self.wte, self.wpe = weight(vocab, width), weight(context, width)
        self.of = torch.nn.ParameterDict()
        for layer in range(self.layers):
            for name, out, into in (("qkv", 3 * width, width), ("proj", width, width), ("fc", 4 * width, width), ("down", width, 4 * width)):
                self.of[f"{name}{layer}"], self.of[f"{name}_bias{layer}"] = weight(out, into), weight(out)
            for name in ("norm1", "norm2"):
                self.of[f"{name}{layer}"], self.of[f"{name}_bias{layer}"] = weight(width, deviation=1), weight(width)
        self.norm, self.norm_bias = weight(width, deviation=1), weight(width)
        cache = torch.zeros(self.layers, batch, self.heads, length, width // self.heads, device=device, dtype=dtype)
        self.register_buffer("keys", cache)
        self.register_buffer("values", cache.clone())
        self.register_buffer("places", torch.arange(length, device=device))

    def body(self, ids, positions, attend):
        batch, seq = ids.shape
        x = self.wte[ids] + self.wpe[positions]
        width, of = x.shape[-1], self.of
        for layer in range(self.layers):
            normal = F.layer_norm(x, (width,), of[f"norm1{layer}"], of[f"norm1_bias{layer}"])
            qkv = F.linear(normal, of[f"qkv{layer}"], of[f"qkv_bias{layer}"]).view(batch, seq, 3, self.heads, -1)
            o = attend(layer, *qkv.permute(2, 0, 3, 1, 4)).transpose(1, 2).reshape(batch, seq, width)
            x = x + F.linear(o, of[f"proj{layer}"], of[f"proj_bias{layer}"])
            normal = F.layer_norm(x, (width,), of[f"norm2{layer}"], of[f"norm2_bias{layer}"])
            inner = F.gelu(F.linear(normal, of[f"fc{layer}"], of[f"fc_bias{layer}"]), approximate="tanh")
            x = x + F.linear(inner, of[f"down{layer}"], of[f"down_bias{layer}"])
        return F.linear(F.layer_norm(x[:, -1], (width,), self.norm, self.norm_bias), self.wte)

    def whole(self, ids):
        """The logits behind the last of (batch, seq) tokens, without a cache."""
        positions = torch.arange(ids.shape[1], device=ids.device)
        return self.body(ids, positions, lambda _, q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True))

    def prefill(self, ids):
        """The same, and keys and values go into the cache."""
        positions = torch.arange(ids.shape[1], device=ids.device)

        def attend(layer, q, k, v):
            self.keys[layer, :, :, positions] = k
            self.values[layer, :, :, positions] = v
            return F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.body(ids, positions, attend).argmax(-1, keepdim=True)

    def logits(self, ids, position):
        """Of (batch, 1) tokens at this position, (1)."""
        seen = (self.places <= position)[None, None, None]

        def attend(layer, q, k, v):
            self.keys[layer].index_copy_(2, position, k)
            self.values[layer].index_copy_(2, position, v)
            return F.scaled_dot_product_attention(q, self.keys[layer], self.values[layer], attn_mask=seen)
        return self.body(ids, position, attend)

    def step(self, ids, position):
        return self.logits(ids, position).argmax(-1, keepdim=True)


def off(model, ids):
    """How far logits with a cache are from those without, as a part of the greatest."""
    for at in range(ids.shape[1]):
        got = model.logits(ids[:, at:at + 1], torch.tensor([at], device=ids.device))
    expected = model.whole(ids)
    return ((got - expected).abs().max() / expected.abs().max()).item()
