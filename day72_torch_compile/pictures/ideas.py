# SPDX-License-Identifier: MIT
"""Day 72's ideas: operations with and without memory between them, a graph that Python cuts, calls of a library that stay, and the guards that
stand before compiled code.

    tools/pictures.py 72
"""
from drawing import BAD, EMPTY, GLOBAL, GOOD, INK, OUTPUT, REGISTERS, SHARED, SOFT, Card, picture


@picture("fused.svg")
def fused():
    card = Card("Three operations, one kernel", 330,
                "One after the other each operation reads its inputs from memory and writes its result there. Fused, the values between them stay in registers.")
    card.text(28, 64, "one by one: sigmoid(a) * b + c", 16, at="start", bold=True)
    moved = 0
    for number, (name, reads) in enumerate((("sigmoid", 1), ("times b", 2), ("plus c", 2))):
        left = 28 + 150 * number
        place = card.box(left, 118, 110, 36, REGISTERS)
        card.text(place.x, place.y + 6, name, 16)
        memory = card.box(left, 76, 110, 24, GLOBAL)
        card.text(memory.x, memory.y + 5, f"{reads} in, 1 out", 15)
        card.arrow(place.x - 14, 101, place.x - 14, 117, SOFT)
        card.arrow(place.x + 14, 117, place.x + 14, 101, SOFT)
        moved += reads + 1
    card.text(240, 180, f"memory moves {moved} blocks", 16, BAD, bold=True)
    card.text(28, 222, "fused", 16, at="start", bold=True)
    memory = card.box(28, 232, 410, 24, GLOBAL)
    card.text(memory.x, memory.y + 5, "a, b, c in, 1 out", 15)
    place = card.box(28, 274, 410, 36, REGISTERS)
    card.text(160, place.y + 6, "sigmoid, times b, plus c", 16)
    card.text(360, place.y + 6, "4 blocks", 16, GOOD, bold=True)
    card.arrow(90, 257, 90, 273, SOFT)
    card.arrow(390, 273, 390, 257, SOFT)
    return card


@picture("steps.svg")
def steps():
    card = Card("What torch.compile does at a first call", 396,
                "The function becomes a graph and guards, then a graph without operations in place, then a kernel's text, then code.")
    rows = (("sigmoid(a) * b + c", "your function", EMPTY), ("sigmoid, mul, add", "graph, and guards", GLOBAL), ("the same, nothing in place", "graph", GLOBAL),
            ("one loop: tmp1, tmp3, tmp5", "text: C++ or Triton", SHARED), ("runs if the guards hold", "code", OUTPUT))
    for number, (words, kind, fill) in enumerate(rows):
        place = card.box(28, 58 + 68 * number, 230, 36, fill)
        card.text(place.x, place.y + 6, words, 15)
        card.text(272, place.y + 6, kind, 15, SOFT, "start")
        if number < 4:
            card.arrow(place.x, place.bottom + 2, place.x, place.bottom + 30)
            card.text(place.x + 14, place.bottom + 21, ("1 Dynamo", "2 AOTAutograd", "3 Inductor", "4 g++ or Triton")[number], 15, at="start", bold=True)
    return card


@picture("cut.svg")
def cut():
    card = Card("Where Python asks, the graph ends", 322,
                "With an if about a number the function becomes two graphs with Python between them; without it, it is one graph.")
    card.text(28, 66, "item", 16, at="start", bold=True)
    first = card.box(28, 78, 140, 62, OUTPUT)
    card.text(first.x, 104, "graph 1", 16, bold=True)
    card.text(first.x, 126, "GELU, largest", 15)
    ask = card.box(184, 78, 112, 62, EMPTY, BAD, 2, dashed=True)
    card.text(ask.x, 104, "Python", 16, BAD, bold=True)
    card.text(ask.x, 126, "waits: .item()", 15, BAD)
    second = card.box(312, 78, 140, 62, OUTPUT)
    card.text(second.x, 104, "graph 2", 16, bold=True)
    card.text(second.x, 126, "branch, add x", 15)
    card.arrow(169, 109, 183, 109)
    card.arrow(297, 109, 311, 109)
    card.text(240, 168, "a graph on either side of one number", 15, BAD)
    card.text(28, 214, "whole", 16, at="start", bold=True)
    one = card.box(28, 226, 424, 50, OUTPUT)
    card.text(one.x, one.y + 6, "one graph: GELU, largest, scale, add x", 16, bold=True)
    card.text(240, 304, "Nobody asks; a scale of 1 changes nothing.", 15, GOOD)
    return card


@picture("library.svg")
def library():
    card = Card("Around a library, never through it", 316,
                "Three products are three calls and read x three times; with the weights side by side it is one call. The kernel after them is fused either way.")
    card.text(28, 66, "three", 16, at="start", bold=True)
    x = card.box(28, 98, 60, 74, GLOBAL)
    card.text(x.x, x.y + 6, "x", 16, bold=True)
    for number, name in enumerate("abc"):
        call = card.box(130, 78 + 38 * number, 120, 30, SHARED)
        card.text(call.x, call.y + 6, f"x @ w{name}", 15)
        card.arrow(89, x.y, 129, call.y, BAD)
        card.arrow(251, call.y, 309, 134 if number == 1 else 128 if number == 0 else 140)
    after = card.box(312, 108, 140, 52, REGISTERS)
    card.text(after.x, after.y + 6, "one kernel", 16)
    card.text(28, 226, "one", 16, at="start", bold=True)
    x = card.box(28, 238, 60, 40, GLOBAL)
    card.text(x.x, x.y + 6, "x", 16, bold=True)
    call = card.box(130, 238, 120, 40, SHARED)
    card.text(call.x, call.y + 6, "x @ w", 16)
    after = card.box(312, 238, 140, 40, REGISTERS)
    card.text(after.x, after.y + 6, "one kernel", 16)
    card.arrow(89, 258, 129, 258, GOOD)
    card.arrow(251, 258, 311, 258)
    card.text(240, 302, "yellow: calls of a library", 15, SOFT)
    return card


@picture("guards.svg")
def guards():
    card = Card("Guards stand before the code", 300,
                "A call looks whether the guards of code that is there hold. If so it runs; if not, the function is compiled once more, with other guards.")
    call = card.box(28, 76, 110, 44, EMPTY)
    card.text(call.x, call.y + 6, "a call", 16, bold=True)
    look = card.box(176, 66, 190, 64, SHARED)
    card.text(look.x, 92, "fp32? 64 x 512?", 15)
    card.text(look.x, 114, "number == 1?", 15, BAD, bold=True)
    card.arrow(139, 98, 175, 98)
    run = card.box(176, 180, 190, 40, OUTPUT)
    card.text(run.x, run.y + 6, "compiled code", 16, bold=True)
    card.arrow(230, 131, 230, 179, GOOD)
    card.text(222, 160, "yes", 15, GOOD, "end")
    again = card.box(386, 180, 80, 40, EMPTY, BAD, 2)
    card.text(again.x, again.y + 6, "compile", 15, BAD, bold=True)
    card.arrow(330, 131, 410, 179, BAD)
    card.text(386, 152, "no", 15, BAD, "start")
    card.arrow(385, 200, 367, 200, INK)
    card.text(240, 258, "A size that changed becomes any size.", 15)
    card.text(240, 282, "A number that Python needs stays a constant.", 15, BAD)
    return card
