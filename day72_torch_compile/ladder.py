# SPDX-License-Identifier: MIT
"""The day's three ladders: a block of a network, a layer with a gate, a step of an optimizer. Rungs are programs of PyTorch; the ladder compiles them, and counts
what became of them."""
import numpy as np

from python_days import Counter, Exercise, Ladder, within

LIMIT = 4.0


def block_inputs(make, rows, cols):
    return [make.normal(rows, cols), make.normal(cols), make.normal(cols)], [make.output(rows, cols)]


def beyond_the_limit(make, rows, cols):
    """Every row has elements that are cut down."""
    return [make.normal(rows, cols, scale=20.0), make.normal(cols), make.normal(cols)], [make.output(rows, cols)]


def one_row_beyond(make, rows, cols):
    values = make.normal(rows, cols).values()
    values[rows // 2] *= 50
    return [make.fill(values.reshape(-1), rows, cols), make.normal(cols), make.normal(cols)], [make.output(rows, cols)]


def block_reference(x, gain, bias):
    y = 0.5 * x * (1 + np.tanh(0.7978845608 * (x + 0.044715 * x ** 3)))
    y = y * np.minimum(LIMIT / np.maximum(np.abs(y).max(axis=1, keepdims=True), 1e-20), 1.0)
    return x + y * gain + bias


def least(inputs, outputs):
    """Bytes that must be moved: every input read, every result written."""
    return sum(one.numel() * one.element_size() for one in (*inputs, *outputs) if hasattr(one, "numel"))


def copies(inputs):
    return [one.clone() if hasattr(one, "clone") else one for one in inputs]


def measured(launch, inputs, outputs, calls):
    """What all ladders count. calls: arguments of one call after the other."""
    from day72_torch_compile import counting
    first, later = counting.graphs(launch, calls)
    given = copies(inputs)
    sums, results = counting.generated(launch, given)
    return {"breaks": len(first) - 1, "later": sum(later), "kernels": sums["kernels"], "libraries": sums["libraries"],
            "moved": sums["bytes"] / least(inputs, outputs), "wrong": counting.differ(results, launch(*copies(inputs))),
            "new": sum(all(made.data_ptr() != one.data_ptr() for one in given[:2]) for made in results)}


BREAKS, LATER = Counter("breaks", "breaks"), Counter("later", "again")
KERNELS, LIBRARIES, WRONG = Counter("kernels", "kernels"), Counter("libraries", "libraries"), Counter("wrong", "wrong")
MOVED, NEW = Counter("moved", "moved", "{:.2f}", 0.05), Counter("new", "new")


def measure_block(launch, inputs, outputs):
    """Other values, and twice other rows."""
    x, gain, bias = inputs
    return measured(launch, inputs, outputs, [(x, gain, bias), (x * 100, gain, bias), (x[:-1], gain, bias), (x[:-2], gain, bias)])


block = Ladder(
    "block", ("rows", "cols"),
    rungs=("item", "whole"),
    by="torch",
    problem=block_inputs,
    hostile={"beyond the limit": beyond_the_limit, "one row beyond": one_row_beyond},
    reference=block_reference,
    tolerance=within(relative=1e-4, absolute=1e-4),
    # One, fewer than a vector of the CPU's, odd, divisible, and longer than any vector.
    shapes=((1, 1), (3, 2), (7, 33), (64, 128), (5, 1000)),
    show=(64, 512),
    bench=((16384, 4096),),
    counters=(BREAKS, LATER, KERNELS, MOVED, WRONG),
    measure=measure_block,
    counts={"item": {"breaks": 1, "later": 3, "wrong": 0}, "whole": {"breaks": 0, "later": 1, "wrong": 0}},
    exercise=Exercise("a block of a network in one graph", starts="item", solution="whole", gates={"breaks": 0, "later": 1, "wrong": 0}),
    lesson="a graph ends where Python needs a number, and nothing is fused across its end.",
)


def layer_inputs(make, m, n, k):
    return [make.normal(m, k), make.normal(k, 3 * n, scale=max(1, k) ** -0.5)], [make.output(m, n)]


def layer_reference(x, w):
    a, b, c = np.split(x @ w, 3, axis=1)
    return b / (1 + np.exp(-a)) + c


def measure_layer(launch, inputs, outputs):
    return measured(launch, inputs, outputs, [tuple(inputs)])


layer = Ladder(
    "layer", ("m", "n", "k"),
    rungs=("three", "one"),
    by="torch",
    problem=layer_inputs,
    reference=layer_reference,
    tolerance=within(relative=1e-4, absolute=1e-4),
    shapes=((1, 1, 1), (3, 5, 7), (64, 32, 96), (33, 65, 17)),
    show=(256, 128, 256),
    bench=((8192, 4096, 4096),),
    flops=lambda m, n, k: 6 * m * n * k,
    counters=(BREAKS, KERNELS, LIBRARIES, MOVED, WRONG),
    measure=measure_layer,
    counts={"three": {"breaks": 0, "kernels": 1, "libraries": 3, "wrong": 0}, "one": {"breaks": 0, "kernels": 1, "libraries": 1, "wrong": 0}},
    lesson="a call of a library is the end of a kernel: what stands around it is fused, and nothing through it.",
)


def step_inputs(make, n, step):
    p, m, g = (make.normal(n) for _ in range(3))
    return [p, m, g, make.integers(step, step + 1, 1, kind="int64"), step], [p, m]


def measure_step(launch, inputs, outputs):
    """Six steps, each with its number."""
    import torch
    p, m, g, step, _ = inputs
    calls = [(p.clone(), m.clone(), g, torch.full_like(step, number), number) for number in range(6)]
    return measured(launch, inputs, outputs, calls)


def step_reference(p, m, g, _, step):
    m = 0.9 * m + g
    return p - 0.1 * 0.5 ** int(step) * m, m


momentum = Ladder(
    "momentum", ("n", "step"),
    rungs=("table", "tensor", "in_place"),
    by="torch",
    problem=step_inputs,
    reference=step_reference,
    tolerance=within(relative=1e-5, absolute=1e-5),
    shapes=((1, 1), (7, 2), (1024, 3), (4099, 5)),
    show=(4096, 1),
    bench=((1 << 26, 1),),
    counters=(LATER, KERNELS, MOVED, NEW, WRONG),
    measure=measure_step,
    counts={"table": {"later": 5, "kernels": 1, "new": 2, "wrong": 0},
            "tensor": {"later": 0, "kernels": 1, "new": 2, "wrong": 0},
            "in_place": {"later": 0, "kernels": 1, "new": 0, "wrong": 0}},
    lesson="a number of Python's is a constant of the code; a tensor is an input. In place is a matter of where the last store goes.",
)
