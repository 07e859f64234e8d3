# SPDX-License-Identifier: MIT
"""Day 81's ideas: which head of keys a query head reads, and where a checkpoint puts the two elements of a pair.

    tools/pictures.py 81
"""
from drawing import GLOBAL, INK, OUTPUT, REGISTERS, SHARED, SOFT, THREADS, Card, picture


@picture("heads.svg")
def heads(queries=9, keys=3):
    """Query head h reads head h / 3 of the keys."""
    card = Card("Neighbours share a head of keys", 232, f"{queries} heads of queries, {keys} of keys: head h reads head h / {queries // keys}.")
    top = card.cells(64, "", [f"q{h}" for h in range(queries)], size=44, height=36, fill=REGISTERS)
    low = card.cells(164, "", [f"k{g}" for g in range(keys)], size=132, height=36, fill=GLOBAL)
    for h in range(queries):
        card.arrow(top.cell(h).x, top.bottom + 3, low.cell(h // (queries // keys)).x + (h % 3 - 1) * 30, low.top - 3, THREADS[h // 3])
    return card


@picture("pairs.svg")
def pairs(dim=8):
    """The elements of a head in the two orders; a pair has one colour."""
    half, fills = dim // 2, [GLOBAL, SHARED, REGISTERS, OUTPUT]
    card = Card("Two orders of the same head", 236, "A pair is turned together. Hugging Face has its elements half a head apart, llama.cpp side by side.")
    there = card.cells(74, "", [f"{i % half}{'ab'[i // half]}" for i in range(dim)], size=48, height=36, fills={i: fills[i % half] for i in range(dim)})
    here = card.cells(172, "", [f"{i // 2}{'ab'[i % 2]}" for i in range(dim)], size=48, height=36, fills={i: fills[i // 2] for i in range(dim)})
    card.text(240, 66, "Hugging Face: pair 0 is 0a and 0b", 16, SOFT)
    card.text(240, 226, "llama.cpp", 16, SOFT)
    for i in range(dim):
        card.arrow(there.cell(i).x, there.bottom + 3, here.cell(i % half * 2 + i // half).x, here.top - 3, INK if i % half == 0 else SOFT)
    return card
