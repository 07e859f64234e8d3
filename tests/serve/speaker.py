# SPDX-License-Identifier: MIT
"""A model for tests of the server, whose text is known: at each position it says the byte that TEXT has there, whatever stands before. Its
last norm sees little but the position's row, which is the row of the token to come."""
import json
import random
import struct
from itertools import chain

CONTEXT, WIDTH, END = 2048, 64, 256
_LINE = "Grüße, 世界! The quick brown 🦊 jumps over the lazy 🐕; naïve café, Ω ≈ 3. "
_BYTES = _LINE.encode()
ENDS_AT = 1536  # a position at which it ends the text
TEXT = (_BYTES * (CONTEXT // len(_BYTES) + 1))[:ENDS_AT]


def says(prompt, tokens):
    """What it writes behind a prompt of so many tokens, of which a byte is one: at most so many."""
    return TEXT[prompt:prompt + tokens]


def _letters():
    """GPT-2's letter for each byte."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in plain]
    return {**{byte: chr(byte) for byte in plain}, **{byte: chr(256 + i) for i, byte in enumerate(others)}}


def write(folder):
    """Writes the model's folder."""
    chance = random.Random(80)
    rows = [[chance.choice((-1.0, 1.0)) for _ in range(WIDTH)] for _ in range(END + 1)]
    to_come = [*TEXT[1:], *[END] * (CONTEXT - len(TEXT) + 1)]
    places = [[8 * value for value in rows[token]] for token in to_come]
    w = WIDTH
    block = {"ln_1.weight": [1.0] * w, "ln_1.bias": [0.0] * w, "attn.c_attn.weight": [0.0] * 3 * w * w, "attn.c_attn.bias": [0.0] * 3 * w,
             "attn.c_proj.weight": [0.0] * w * w, "attn.c_proj.bias": [0.0] * w, "ln_2.weight": [1.0] * w, "ln_2.bias": [0.0] * w,
             "mlp.c_fc.weight": [0.0] * 4 * w * w, "mlp.c_fc.bias": [0.0] * 4 * w, "mlp.c_proj.weight": [0.0] * 4 * w * w,
             "mlp.c_proj.bias": [0.0] * w}
    shapes = {"attn.c_attn.weight": [w, 3 * w], "attn.c_proj.weight": [w, w], "mlp.c_fc.weight": [w, 4 * w], "mlp.c_proj.weight": [4 * w, w]}
    tensors = {"wte.weight": ([END + 1, w], [*chain(*rows)]), "wpe.weight": ([CONTEXT, w], [*chain(*places)]),
               "ln_f.weight": ([w], [1.0] * w), "ln_f.bias": ([w], [0.0] * w),
               **{f"h.0.{name}": (shapes.get(name, [len(values)]), values) for name, values in block.items()}}
    header, data = {}, b""
    for name, (shape, values) in tensors.items():
        header["transformer." + name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + 4 * len(values)]}
        data += struct.pack(f"<{len(values)}f", *values)
    head = json.dumps(header).encode()
    head += b" " * (-len(head) % 8)
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(head)) + head + data)
    (folder / "config.json").write_text(json.dumps({
        "architectures": ["GPT2LMHeadModel"], "model_type": "gpt2", "activation_function": "gelu_new", "n_layer": 1, "n_head": 1,
        "n_embd": w, "n_positions": CONTEXT, "n_ctx": CONTEXT, "vocab_size": END + 1, "layer_norm_epsilon": 1e-5,
        "tie_word_embeddings": True, "bos_token_id": END, "eos_token_id": END}))
    letters = _letters()
    (folder / "vocab.json").write_text(json.dumps({**{letters[byte]: byte for byte in range(256)}, "<|endoftext|>": END}))
    (folder / "merges.txt").write_text("#version: 0.2\n")
