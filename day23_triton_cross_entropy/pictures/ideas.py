# SPDX-License-Identifier: MIT
"""Day 23's ideas: chunks of a row that meet in one number, and a gradient that is written over its logits.

    tools/pictures.py 23
"""
import math

from drawing import BAD, GLOBAL, GOOD, OUTPUT, REGISTERS, SOFT, Card, picture

ROW, CHUNK, TARGET = [1, 3, 2, 4, 0, 2], 2, 3


@picture("meet.svg")
def meet():
    card = Card("Chunks meet in one number", 330, "Three chunks of two each give their largest element and the sum of e^(x - largest). Scaled to the largest of all, the sums add "
                "up, and their logarithm is the row's log-sum-exp.")
    highest, whole = max(ROW), 0.0
    for number in range(0, len(ROW), CHUNK):
        piece, left = ROW[number:number + CHUNK], 24 + 148 * (number // CHUNK)
        top = max(piece)
        total = sum(math.exp(x - top) for x in piece)
        card.cells(62, "", piece, left, 60, 34, GLOBAL)
        card.text(left + 60, 124, f"largest {top}", 16, SOFT)
        card.cells(136, "", [f"sum {total:.2f}"], left, 120, 32, REGISTERS)
        card.text(left + 60, 194, f"× e^({top} − {highest})", 16, BAD if top < highest else SOFT)
        whole += total * math.exp(top - highest)
        card.arrow(left + 60, 204, left + 60, 226)
    exact = math.log(sum(math.exp(x) for x in ROW))
    if abs(exact - (highest + math.log(whole))) > 1e-12:
        raise ValueError("the chunks do not meet in the log-sum-exp")
    card.cells(230, "", [f"{highest} + log {whole:.3f} = {exact:.3f}"], 110, 260, 36, OUTPUT)
    card.text(240, 300, f"p at 4 is e^(4 − {exact:.3f}) = {math.exp(ROW[TARGET] - exact):.3f}", 16, GOOD)
    return card


@picture("over.svg")
def over():
    card = Card("Written over what was read", 306, "In a tensor of its own the logits stay. Written over them, the target's logit is gone once p - 1 stands there, so it is read "
                "first.")
    exact = math.log(sum(math.exp(x) for x in ROW))
    gradient = [math.exp(x - exact) - (i == TARGET) for i, x in enumerate(ROW)]
    card.text(28, 66, "1  the target's logit is read", 16, GOOD, "start", bold=True)
    card.cells(76, "", ROW, 28, 70, 34, GLOBAL, fills={TARGET: REGISTERS})
    card.text(28, 142, "2  the walk for the sum; all threads meet", 16, at="start", bold=True)
    card.cells(152, "", ROW, 28, 70, 34, GLOBAL)
    card.text(28, 218, "3  the gradient is stored in the same places", 16, at="start", bold=True)
    card.cells(228, "", [f"{g:.2f}" for g in gradient], 28, 70, 34, OUTPUT)
    card.text(240, 288, "From here on no logit is left.", 16, BAD)
    return card
