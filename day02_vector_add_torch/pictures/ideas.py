# SPDX-License-Identifier: MIT
"""Day 02's ideas: one memory with several names, what the dispatcher finds for a call, and what an operator is traced with.

    tools/pictures.py 2
"""
from drawing import BAD, EMPTY, GLOBAL, GOOD, INK, OUTPUT, REGISTERS, SOFT, WHITE, Card, picture


@picture("one_memory.svg")
def one_memory():
    card = Card("One memory, several names", 262, "A PyTorch tensor, a pointer in C and a NumPy array all hold the same address: nothing is copied.")
    owners = (("PyTorch", "a.data_ptr()"), ("C, CUDA", "const float* a"), ("NumPy", "from_dlpack(a)"))
    row = card.cells(176, "", ["1.5", "2.0", "-3.0", "0.5", "..."], 130, 44, 36, GLOBAL)
    for number, (name, words) in enumerate(owners):
        box = card.box(20 + number * 150, 60, 140, 58, EMPTY, INK, 1.6)
        card.text(box.x, 83, name, 16, bold=True)
        card.text(box.x, 106, words, 15, SOFT)
        card.arrow(box.x, 120, row.cell(0).x + 8 + 5 * number, row.top - 3)
    card.text(240, 242, "The address is handed over, never an element.", 16, GOOD, bold=True)
    return card


@picture("dispatcher.svg")
def dispatcher():
    """What a call finds on its way, by what its tensors are; of which rung it is."""
    card = Card("What a call finds on its way", 334, "A call of vector_add first has its backward noted where a gradient is needed. Then a fake makes the result where there are no elements, else a kernel for the CPU or for a GPU.")
    call = card.box(150, 52, 180, 36, EMPTY, INK, 1.6)
    card.text(call.x, 76, "vector_add(a, b)", 16, bold=True)
    note = card.box(90, 116, 300, 58, OUTPUT, INK)
    card.text(note.x, 140, "note the backward", 16, bold=True)
    card.text(note.x, 163, "where a gradient is needed: rung 4", 15)
    card.arrow(call.x, 90, note.x, 113)
    for left, when, what, rung, fill in ((14, "no elements", "fake", "3 fake", REGISTERS), (168, "on the CPU", "kernel, wait", "2 op", GLOBAL),
                                         (322, "on a GPU", "kernel", "2 op", GLOBAL)):
        box = card.box(left, 248, 144, 58, fill, INK)
        card.text(box.x, 236, when, 15, SOFT)
        card.text(box.x, 272, what, 16, bold=True)
        card.text(box.x, 295, f"rung {rung}", 15)
        card.arrow(240 + (box.x - 240) * 0.4, 177, box.x, 218)
    return card


@picture("traced.svg")
def traced():
    """What tracing meets between two operators of PyTorch, rung by rung."""
    card = Card("What torch.compile traces", 346, "Tracing notes operators. A call into C is none; the operator of rung 2 has a result of unknown shape; with a fake the shape is known and tracing goes on.")
    for top, name, words, end, good in ((60, "1 pointer", "C function", "no operator", False), (148, "2 op", "vector_add", "what shape?", False),
                                        (236, "3 fake", "vector_add", "shape (4099)", True)):
        colour = GOOD if good else BAD
        card.text(16, top + 27, name, 15, at="start", bold=True)
        boxes = [card.box(108 + 126 * i, top, 106, 44, fill) for i, fill in enumerate((EMPTY, REGISTERS if good else WHITE, EMPTY))]
        for box, text in zip(boxes, ("2 * a", words, "* 3")):
            card.text(box.x, top + 27, text, 15)
        card.arrow(boxes[0].right + 1, top + 22, boxes[1].left - 2, top + 22)
        if good:
            card.arrow(boxes[1].right + 1, top + 22, boxes[2].left - 2, top + 22)
        card.text(boxes[1].x, top + 66, end, 15, colour)
    card.text(240, 332, "Without an arrow the graph ends there.", 16, bold=True)
    return card
