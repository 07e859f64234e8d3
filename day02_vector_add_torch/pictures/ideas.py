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
    """Which function a call finds, by what its tensors are; of which rung it is."""
    rows = (("needs a gradient", "backward", "4 autograd", OUTPUT), ("has no elements", "fake", "3 fake", REGISTERS),
            ("on the CPU", "kernel and wait", "2 op", GLOBAL), ("on a GPU", "kernel, no wait", "2 op", GLOBAL))
    card = Card("The dispatcher looks at the tensors", 320, "A call of vector_add finds one of the functions that were registered for it: for tensors that need a gradient, that have no elements, on the CPU, on a GPU.")
    call = card.box(16, 150, 112, 56, EMPTY, INK, 1.6)
    card.text(call.x, 173, "vector_add", 15, bold=True)
    card.text(call.x, 195, "(a, b)", 15)
    for number, (when, what, rung, fill) in enumerate(rows):
        top = 66 + 62 * number
        card.text(172, top + 26, when, 15, SOFT, at="start")
        box = card.box(304, top - 4, 168, 50, fill, INK)
        card.text(box.x, top + 16, what, 15, bold=True)
        card.text(box.x, top + 36, f"rung {rung}", 15)
        card.arrow(134, 178, 168, top + 21)
    return card


@picture("traced.svg")
def traced():
    card = Card("What torch.compile traces", 262, "Tracing runs the function on tensors without elements. A ctypes call needs an address and there is none; an operator with a fake passes a shape on.")
    for top, name, words, colour, end in ((70, "pointer", "data_ptr()?", BAD, "no address"), (160, "fake", "empty_like(a)", GOOD, "a shape: (4099)")):
        card.text(20, top + 26, name, 16, at="start", bold=True)
        boxes = [card.box(100 + 126 * i, top, 106, 44, fill) for i, fill in enumerate((EMPTY, REGISTERS if colour == GOOD else WHITE, EMPTY))]
        for box, text in zip(boxes, ("2 * a", words, "* 3")):
            card.text(box.x, top + 27, text, 15, colour if text == words else INK)
        card.arrow(boxes[0].right + 1, top + 22, boxes[1].left - 2, top + 22)
        if colour == GOOD:
            card.arrow(boxes[1].right + 1, top + 22, boxes[2].left - 2, top + 22)
        card.text(boxes[1].x, top + 66, end, 15, colour)
    card.text(240, 252, "One graph, or two with a hole between.", 16, bold=True)
    return card
