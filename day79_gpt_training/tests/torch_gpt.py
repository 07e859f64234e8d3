#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The same GPT in PyTorch, from day 79's own checkpoints; contestants.py times its steps.

    torch_gpt.py compare FROM TO     goes on from checkpoint FROM with the same batches to that of TO; losses and weights have to agree
    torch_gpt.py transformers FOLDER what Hugging Face's transformers make of a checkpoint: the same logits

Several such commands may follow each other. Ends with 77, which CTest calls skipped, where PyTorch, safetensors or transformers are missing."""
import csv
import json
import math
import re
import sys
from pathlib import Path

try:
    import numpy as np
    import torch
    from safetensors import safe_open
    from safetensors.torch import load_file
    from torch.nn import functional as F
except ImportError as missing:
    if __name__ != "__main__":
        raise
    print(f"skip: needs Python's {missing.name} (python3 -m pip install torch safetensors)")
    sys.exit(77)

SIZES = {"tiny": (2, 2, 128, 512, 64), "small": (6, 6, 384, 4096, 256), "gpt2": (12, 12, 768, 50304, 1024)}
RATES = {"tiny": 2e-3, "small": 1e-3, "gpt2": 6e-4}  # 03_train.cu's
SEED, MASK = 79, (1 << 64) - 1


class Gpt(torch.nn.Module):
    """GPT-2 with weights as (in, out), by their names in the file."""

    def __init__(self, layers, heads, weights):
        super().__init__()
        self.layers, self.heads = layers, heads
        self.names = {name: name.replace(".", "_") for name in weights}
        for name, weight in weights.items():
            self.register_parameter(self.names[name], torch.nn.Parameter(weight.clone()))

    def of(self, name):
        return getattr(self, self.names["transformer." + name])

    def linear(self, x, name):
        return x @ self.of(name + ".weight").to(x.dtype) + self.of(name + ".bias").to(x.dtype)

    def norm(self, x, name):
        return F.layer_norm(x, x.shape[-1:], self.of(name + ".weight"), self.of(name + ".bias"), 1e-5)

    def forward(self, ids):
        batch, seq = ids.shape
        x = self.of("wte.weight")[ids] + self.of("wpe.weight")[:seq]
        width = x.shape[-1]
        for layer in range(self.layers):
            at = f"h.{layer}."
            qkv = self.linear(self.norm(x, at + "ln_1"), at + "attn.c_attn")
            q, k, v = qkv.view(batch, seq, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
            o = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(batch, seq, width)
            x = x + self.linear(o, at + "attn.c_proj")
            x = x + self.linear(F.gelu(self.linear(self.norm(x, at + "ln_2"), at + "mlp.c_fc"), approximate="tanh"), at + "mlp.c_proj")
        return self.norm(x, "ln_f") @ self.of("wte.weight").T

    def loss(self, ids, targets):
        logits = self(ids)
        return F.cross_entropy(logits.view(-1, logits.shape[-1]).float(), targets.reshape(-1))


def adam(model, **more):
    decays = [p for p in model.parameters() if p.dim() > 1]
    others = [p for p in model.parameters() if p.dim() == 1]
    return torch.optim.AdamW([{"params": decays, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}], betas=(0.9, 0.95), **more)


def mix(x):
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9 & MASK
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb & MASK
    return x ^ (x >> 31)


def window(sample, windows):
    """gpt/loader.h: which window the sample is."""
    key, at, half = mix(SEED + sample // windows), sample % windows, 1
    while 1 << (2 * half) < windows:
        half += 1
    while True:
        left, right = at >> half, at & ((1 << half) - 1)
        for number in range(4):
            bits = mix((mix(key) + (4 * right + number + 1) * 0x9e3779b97f4a7c15) & MASK)
            left, right = right, left ^ (bits & ((1 << half) - 1))
        at = left << half | right
        if at < windows:
            return at


def rate(step, steps, most):
    warmup = max(1, steps // 4)
    if step < warmup:
        return most * (step + 1) / warmup
    return most * (0.1 + 0.45 * (1 + math.cos(math.pi * min(1.0, (step - warmup) / max(1, steps - warmup)))))


def opened(folder):
    """(model, {m., v.: ...} of the optimizer, its metadata) of a checkpoint."""
    config = json.loads((folder / "config.json").read_text())
    with safe_open(str(folder / "optimizer.safetensors"), "pt") as file:
        metadata = file.metadata()
    return Gpt(config["n_layer"], config["n_head"], load_file(str(folder / "model.safetensors"))), load_file(str(folder / "optimizer.safetensors")), metadata


def compare(first, last):
    model, kept, metadata = opened(first)
    found = re.fullmatch(r"(\w+), (\w+), steps (\d+), batch (\d+), parts 1, seq (\d+), tokens (\d+)", metadata["settings"])
    size, kind, steps, batch, seq = found[1], found[2], *(int(found[i]) for i in (3, 4, 5))
    tokens = np.fromfile(first.parent / "tokens" / "train.bin", dtype=np.uint16).astype(np.int64)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model.to(device)
    tuner = adam(model, lr=1.0)
    begin = int(metadata["step"])
    for name, of in model.names.items():
        tuner.state[getattr(model, of)] = {"step": torch.tensor(float(begin)), "exp_avg": kept["m." + name].to(device),
                                           "exp_avg_sq": kept["v." + name].to(device)}
    with open(last / "loss.csv", encoding="utf-8") as file:
        losses = {int(row["step"]): float(row["train"]) for row in csv.DictReader(file)}
    end, sample, off = max(losses), int(metadata["samples"]), []
    for step in range(begin, end):
        at = [seq * window(sample + i, (len(tokens) - 1) // seq) for i in range(batch)]
        sample += batch
        ids, targets = (torch.from_numpy(np.stack([tokens[i + shift:i + shift + seq] for i in at])).to(device) for shift in (0, 1))
        for group in tuner.param_groups:
            group["lr"] = rate(step, steps, RATES[size])
        tuner.zero_grad()
        with torch.autocast(device, torch.bfloat16, enabled=kind == "bf16"):
            loss = model.loss(ids, targets)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        tuner.step()
        off.append((loss.item(), losses[step + 1]))
    # In bf16 single steps are apart by some hundredths after a while, and the curves are not: means of 20 steps are compared.
    most, group = (1e-5, 1) if kind == "fp32" else (3e-3, 20)
    count = max(1, len(off) // group)  # what is left over joins the last
    groups = [off[i * group:(i + 1) * group if i + 1 < count else None] for i in range(count)]
    worst = max(abs(sum(theirs for theirs, _ in some) / sum(ours for _, ours in some) - 1) for some in groups)
    print(f"{len(off)} steps, {group} at a time: losses differ by {worst:.1e} of themselves at most; {most:.0e} is allowed")
    print(f"the last {len(groups[-1])}: {sum(theirs for theirs, _ in groups[-1]) / len(groups[-1]):.4f} here, "
          f"{sum(ours for _, ours in groups[-1]) / len(groups[-1]):.4f} there")
    if not worst <= most:
        sys.exit("FAIL: the losses differ")
    print("ok")


def fresh(size, device):
    """A model as a training begins with."""
    layers, heads, width, vocab, seq = SIZES[size]
    weights = {"wte.weight": 0.02 * torch.randn(vocab, width), "wpe.weight": 0.02 * torch.randn(seq, width),
               "ln_f.weight": torch.ones(width), "ln_f.bias": torch.zeros(width)}
    for layer in range(layers):
        for name, shape in {"attn.c_attn": (width, 3 * width), "attn.c_proj": (width, width), "mlp.c_fc": (width, 4 * width),
                            "mlp.c_proj": (4 * width, width)}.items():
            deviation = 0.02 / math.sqrt(2 * layers) if name.endswith("c_proj") else 0.02
            weights[f"h.{layer}.{name}.weight"] = deviation * torch.randn(shape)
            weights[f"h.{layer}.{name}.bias"] = torch.zeros(shape[1])
        for name in ("ln_1", "ln_2"):
            weights[f"h.{layer}.{name}.weight"], weights[f"h.{layer}.{name}.bias"] = torch.ones(width), torch.zeros(width)
    return Gpt(layers, heads, {"transformer." + name: weight for name, weight in weights.items()}).to(device)


def stepper(size, tokens, device, compiled):
    """step() of `tokens` tokens in bf16, always the same ones, with gradients scaled to a norm of 1 and AdamW; it returns the loss."""
    torch.manual_seed(SEED)
    vocab, seq = SIZES[size][3], min(SIZES[size][4], tokens)
    model = fresh(size, device)
    tuner = adam(model, lr=1e-3, fused=device == "cuda")
    ids, targets = (torch.randint(vocab, (tokens // seq, seq), device=device) for _ in range(2))
    loss_of = torch.compile(model.loss) if compiled else model.loss

    def step():
        tuner.zero_grad()
        with torch.autocast(device, torch.bfloat16):
            loss = loss_of(ids, targets)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        tuner.step()
        return loss
    return step


def with_transformers(folder):
    try:
        from transformers import GPT2LMHeadModel  # pylint: disable=import-outside-toplevel
    except ImportError:
        print("skip: needs Python's transformers (python3 -m pip install transformers)")
        sys.exit(77)
    model, _, _ = opened(folder)
    theirs = GPT2LMHeadModel.from_pretrained(str(folder)).eval()
    ids = torch.arange(48).view(2, 24) * 7 % 500
    with torch.no_grad():
        off = (theirs(ids).logits - model(ids)).abs().max().item()
    print(f"logits differ by {off:.1e} at most")
    if not off <= 1e-4:
        sys.exit("FAIL: the logits differ")
    print("ok")


if __name__ == "__main__":
    COMMANDS = {"compare": (compare, 2), "transformers": (with_transformers, 1)}
    words = sys.argv[1:]
    if not words:
        sys.exit(__doc__)
    while words:
        command, count = COMMANDS.get(words[0], (None, 0))
        if command is None or len(words) <= count:
            sys.exit(__doc__)
        command(*map(Path, words[1:count + 1]))
        del words[:count + 1]
