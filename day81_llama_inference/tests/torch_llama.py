#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The same Llama in Hugging Face's transformers.

    torch_llama.py compare FOLDER LOGITS  the folder as AutoModelForCausalLM and AutoTokenizer load it: the same tokens and logits as in the file
                                          LOGITS, whose lines are a text in JSON, its tokens, and the logits behind the last of them
    torch_llama.py speed [CONTEXT ...]    microseconds a token of SmolLM2-135M's shapes with random weights, bf16, on a GPU: a static cache,
                                          eager and compiled with CUDA graphs

Ends with 77, which CTest calls skipped, where PyTorch or transformers are missing."""
import json
import statistics
import sys
import time
from pathlib import Path

try:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaConfig, LlamaForCausalLM, StaticCache
except ImportError as missing:
    print(f"skip: needs Python's {missing.name} (python3 -m pip install torch transformers)")
    sys.exit(77)


def compare(folder, logits):
    text, ids, numbers = Path(logits).read_text(encoding="utf-8").splitlines()
    text, ids, numbers = json.loads(text), [int(word) for word in ids.split()], [float(word) for word in numbers.split()]
    theirs = AutoTokenizer.from_pretrained(folder)(text)["input_ids"]
    if theirs != ids:
        sys.exit(f"{text!r}:\n  ours {ids}\ntheirs {theirs}")
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    with torch.no_grad():
        expected = model(torch.tensor([ids])).logits[0, -1].double()
    off = ((torch.tensor(numbers, dtype=torch.float64) - expected).abs().max() / expected.abs().max()).item()
    print(f"{len(ids)} tokens, {len(numbers)} logits: off by {off:.1e} of the greatest")
    if len(numbers) != len(expected) or not off < 1e-5:
        sys.exit("logits differ")
    print("ok: tokens and logits are those of transformers")


def speed(contexts):
    if not torch.cuda.is_available():
        print("skip: needs a GPU")
        sys.exit(77)
    config = LlamaConfig(vocab_size=49152, hidden_size=576, intermediate_size=1536, num_hidden_layers=30, num_attention_heads=9,
                         num_key_value_heads=3, max_position_embeddings=8192, rms_norm_eps=1e-5, rope_theta=100000.0, tie_word_embeddings=True)
    with torch.device("cuda"):
        model = LlamaForCausalLM(config).to(torch.bfloat16).eval()

    def step(token, position, cache):
        return model(token, past_key_values=cache, cache_position=position, use_cache=True).logits[:, -1].argmax(-1, keepdim=True)

    for context in contexts:
        for name, run in (("eager", step), ("compiled, reduce-overhead", torch.compile(step, mode="reduce-overhead", fullgraph=True))):
            with torch.no_grad():
                cache = StaticCache(config=config, max_cache_len=context + 128)
                prompt = torch.randint(0, 49152, (1, context), device="cuda")
                token = step(prompt, torch.arange(context, device="cuda"), cache)
                position, times = torch.tensor([context], device="cuda"), []
                for _ in range(100):
                    torch.cuda.synchronize()
                    begin = time.perf_counter()
                    token = run(token, position, cache).clone()
                    torch.cuda.synchronize()
                    times.append(time.perf_counter() - begin)
                    position = position + 1
                print(f"{name}, behind {context}: {statistics.median(times[36:]) * 1e6:.1f} us a token")


def main():
    command, words = (sys.argv[1:2] or [""])[0], sys.argv[2:]
    if command == "compare" and len(words) == 2:
        compare(*words)
    elif command == "speed":
        speed([int(word) for word in words] or [128, 4096])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
