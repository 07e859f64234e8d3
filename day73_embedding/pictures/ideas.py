# SPDX-License-Identifier: MIT
"""Day 73's ideas: who writes a row of the gradient, and how sorted places are cut into equal pieces.

    tools/pictures.py 73
"""
from drawing import BAD, GLOBAL, GOOD, OUTPUT, REGISTERS, SHARED, SOFT, WIDTH, Card, constant, picture

PIECE = constant("day73_embedding/embedding.h", "kPiece")
TOKENS = [2, 0, 2, 2]


@picture("writers.svg")
def writers():
    card = Card("Many writers, or one", 356, "The tokens 2, 0, 2, 2. Above, three rows of dy are added to row 2 of dw, one after the other, by three writers. Below, the places are sorted by word: row 2 has the places 0, 2 and 3, and one warp adds them up and writes once.")
    card.text(28, 66, "each row of dy adds to its word's row", 16, BAD, "start", bold=True)
    above = card.cells(78, "", [f"dy[{t}]" for t in range(4)], left=60, size=90, height=30, fill=GLOBAL)
    below = card.cells(150, "", [f"dw[{v}]" for v in range(4)], left=60, size=90, height=30, fill=OUTPUT)
    for t, word in enumerate(TOKENS):
        card.arrow(above.cell(t).x, above.bottom + 2, below.cell(word).x + 9 * (t - 2), below.top - 3, BAD if word == 2 else SOFT)
    card.text(28, 218, "sorted by word: one writer a row", 16, GOOD, "start", bold=True)
    order = sorted(range(4), key=lambda t: TOKENS[t])
    places = card.cells(230, "", [f"dy[{t}]" for t in order], left=60, size=90, height=30, fill=GLOBAL)
    rows = card.cells(300, "", [f"dw[{v}]" for v in range(4)], left=60, size=90, height=30, fill=OUTPUT)
    card.frame(places.cells(1, 3), GOOD, 2.4, 1)
    card.arrow(places.cell(0).x, places.bottom + 2, rows.cell(0).x, rows.top - 3, SOFT)
    card.arrow(places.cells(1, 3).x, places.bottom + 3, rows.cell(2).x, rows.top - 3, GOOD, 2.6)
    card.text(WIDTH / 2, 349, "dw[1] and dw[3] have no row of dy: 0 is written.", 15, SOFT)
    return card


@picture("pieces.svg")
def pieces():
    card = Card("Cut where it is convenient", 330, f"Twelve sorted places of the words 0, 4, 4, 4, 4, 4, 4, 4, 4, 4, 7, 9, cut every four (the kernel: every {PIECE}). The words 0, 7 and 9 lie in one piece and are written at once. Word 4 lies in three, each of which leaves a partial sum.")
    words = [0, 4, 4, 4, 4, 4, 4, 4, 4, 4, 7, 9]
    row = card.cells(72, "", words, left=54, size=31, height=32, fills={i: SHARED if w == 4 else OUTPUT for i, w in enumerate(words)})
    card.text(54, 64, "words, in order", 15, SOFT, "start")
    for piece in range(3):
        part = row.cells(4 * piece, 4 * piece + 3)
        card.frame(part, SOFT, 2.2, 0)
        card.text(part.x, 126, f"warp {piece}", 15, SOFT)
        card.arrow(part.x, 132, part.x, 158)
        card.box(part.left + 20, 160, part.width - 40, 32, REGISTERS)
        card.text(part.x, 181, "partial", 15)
        card.line(part.x, 194, WIDTH / 2, 232, GOOD)
    card.box(WIDTH / 2 - 40, 234, 80, 30, OUTPUT)
    card.text(WIDTH / 2, 254, "dw[4]", 16)
    card.text(WIDTH / 2 + 50, 254, "2nd kernel, in order", 15, GOOD, "start")
    card.text(28, 294, "Orange: a cut divides the word. Green: it is written", 15, SOFT, "start")
    card.text(28, 316, f"at once. A piece of the kernel has {PIECE} places.", 15, SOFT, "start")
    return card
