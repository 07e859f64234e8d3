#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The tokenizer beside Hugging Face's `tokenizers`: the same merges from the same text, the same ids for 10,000 texts. Its argument is the
program that tokens_main.cpp makes. Ends with 77, which CTest calls skipped, where the package is not installed."""
import random
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import tokenizers
except ImportError:
    print("skip: needs Python's tokenizers (python3 -m pip install tokenizers)")
    sys.exit(77)

CORPUS = Path(__file__).resolve().parents[3] / "corpus" / "austen.txt"
VOCAB, TEXTS = 1024, 10000


def theirs(folder, text):
    """Their tokenizer, trained on the text to as many merges."""
    made = tokenizers.Tokenizer(tokenizers.models.BPE())
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=VOCAB - 1, show_progress=False,
                                             initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet())
    made.train_from_iterator([text], trainer)
    made.model.save(str(folder))
    return made


def texts():
    """Seeded texts: pieces of the corpus, of many scripts, of spaces and signs in every mixture."""
    chance, corpus = random.Random(79), CORPUS.read_text(encoding="utf-8")
    alphabets = ["  \n\r\t'", " \u00a0\u2003\u3000\u2028a", "'s't're've'm'll'd", "abcXYZ019 .,!?-", "\u00e9\u00df\u00f1\u03b1\u03b2\u0416\u0434 ",
                 "\u4e2d\u6587\u3042\u30ab\uac00 ", "\u0627\u0628\u05d0\u05d1\u0915\u093f\u0e01\u0e33 ", "\u0661\u00b2\u00bd\u2167\u0967 1a",
                 "\U0001f600\U0001f468\u200d\U0001f469\ufe0f ", "\u0301\u200b\u00ad\ufeff\u0000\u0085 x"]
    for _ in range(TEXTS):
        parts = []
        for _ in range(chance.randrange(1, 5)):
            if chance.random() < 0.4:
                begin = chance.randrange(len(corpus))
                parts.append(corpus[begin:begin + chance.randrange(80)])
            else:
                letters = chance.choice(alphabets)
                parts.append("".join(chance.choice(letters) for _ in range(chance.randrange(20))))
        yield "".join(parts)
    yield from (" " * 5000, "a" * 3000, "<|endoftext|>", "")


def main():
    program = sys.argv[1]
    text = CORPUS.read_text(encoding="utf-8")[:400000]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "theirs").mkdir()
        (folder / "text").write_text(text, encoding="utf-8")
        made = theirs(folder / "theirs", text)
        subprocess.run([program, "train", folder / "text", str(VOCAB), folder / "ours"], check=True)
        merges = [[line for line in (folder / whose / "merges.txt").read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
                  for whose in ("ours", "theirs")]
        for number, (ours, other) in enumerate(zip(*merges)):
            if ours != other:
                sys.exit(f"merge {number} is {ours!r}, theirs {other!r}")
        if len(merges[0]) != len(merges[1]):
            sys.exit(f"{len(merges[0])} merges, theirs {len(merges[1])}")
        all_texts = list(texts())
        asked = b"".join(b"%d\n%s\n" % (len(one.encode()), one.encode()) for one in all_texts)
        answer = subprocess.run([program, "encode", folder / "ours"], input=asked, stdout=subprocess.PIPE, check=True).stdout
        lines = answer.decode().split("\n")[:-1]
        if len(lines) != len(all_texts):
            sys.exit(f"{len(lines)} answers to {len(all_texts)} texts")
        for one, line in zip(all_texts, lines):
            ours, other = [int(word) for word in line.split()], made.encode(one).ids
            if ours != other:
                sys.exit(f"{one!r}:\n  ours {ours}\ntheirs {other}")
        print(f"ok: {len(merges[0])} merges and the ids of {len(all_texts)} texts are those of tokenizers {tokenizers.__version__}")


if __name__ == "__main__":
    main()
