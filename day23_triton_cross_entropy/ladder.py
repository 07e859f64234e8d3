# SPDX-License-Identifier: MIT
"""The day's two ladders, the gradient in a tensor of its own and over the logits: shapes and values that hurt. NumPy alone."""
import numpy as np

from python_days import Exercise, Ladder, within

IGNORED = -100


def logits(make, rows, cols, change=None):
    """Normal logits, changed where something hurts; change(values, targets) works on both in place."""
    x, target = make.normal(rows, cols, scale=3.0), make.integers(0, cols, rows, kind="int64")
    if change and make.draw:
        values, targets = x.values(), target.values()
        change(values, targets)
        x, target = make.fill(values.reshape(-1), rows, cols), make.fill(targets, rows, kind="int64")
    return [x, target, make.normal(rows, kind="fp32")]


def shifted(by):
    def change(values, _):
        values += by
    return change


def infinite_in_front(values, targets):
    """As behind a mask: where the row is long, whole pieces of it are -inf."""
    cols = values.shape[1]
    values[:, :cols - 1 - cols // 3] = -np.inf
    targets[:] = cols - 1


def only_the_target(values, targets):
    rows = np.arange(len(targets))
    kept = values[rows, targets]
    values[:] = -np.inf
    values[rows, targets] = kept


def not_the_target(values, targets):
    """The target is impossible: the loss is infinite, and the gradient is not."""
    if values.shape[1] > 1:
        values[np.arange(len(targets)), targets] = -np.inf


def a_nan(values, _):
    values[len(values) // 2, values.shape[1] // 2] = np.nan


def one_by_far(values, _):
    values[:, values.shape[1] // 2] = 60000.0


def confident(values, targets):
    """p is .999 or so at the target: p - 1 is what rounding leaves."""
    values[np.arange(len(targets)), targets] = values.max(axis=1) + np.log(1000.0 * values.shape[1])


def all_ignored(values, targets):
    """With a NaN in it, which nobody is to see."""
    targets[:] = IGNORED
    values[0, 0] = np.nan


def at_the_ends(values, targets):
    cols = values.shape[1]
    targets[:] = np.resize([cols - 1, 0, min(cols - 1, 4095), min(cols - 1, 4096), IGNORED], targets.size)


def no_such_target(_, targets):
    """Neither a column nor -100: NaN, and no access beyond the row. The last would be column 3 in 32 bits."""
    targets[:] = np.resize([-1, 1 << 40, (1 << 32) + 3], targets.size)


CHANGES = {"far above zero": shifted(500.0), "far below zero": shifted(-500.0), "-inf in front": infinite_in_front, "the target alone": only_the_target,
           "-inf at the target": not_the_target, "a NaN": a_nan, "one by far": one_by_far, "confident": confident, "all ignored": all_ignored,
           "targets at the ends": at_the_ends, "targets that are no column": no_such_target}


def entropy(x, target, scale):
    """(loss, dx), some rows at a time, since in double a large matrix would fill the memory."""
    loss, dx = np.empty(len(x)), np.empty_like(x)
    for first in range(0, len(x), 512):
        rows = slice(first, first + 512)
        highest = x[rows].max(axis=1, keepdims=True)
        power = np.exp(x[rows] - highest)
        total = power.sum(axis=1)
        t = target[rows]
        there, ignored = (t >= 0) & (t < x.shape[1]), t == IGNORED
        column = np.where(there, t, 0).astype(np.int64)
        each = np.arange(len(t))
        loss[rows] = np.where(there, np.log(total) - (x[rows][each, column] - highest[:, 0]), np.where(ignored, 0.0, np.nan))
        power /= total[:, None]
        power[each, column] -= 1
        power *= scale[rows, None]
        power[ignored], power[~there & ~ignored] = 0.0, np.nan
        dx[rows] = power
    return loss, dx


def apart(make, inputs):
    rows, cols = inputs[0].shape
    return inputs, [make.output(rows, kind="fp32"), make.output(rows, cols)]


def in_place(make, inputs):
    return inputs, [make.output(inputs[0].shape[0], kind="fp32"), inputs[0]]


def problems(outputs):
    """{name: problem} of what hurts."""
    return {name: lambda make, rows, cols, change=change: outputs(make, logits(make, rows, cols, change)) for name, change in CHANGES.items()}


def by_columns(make, rows, cols):
    inputs = logits(make, cols, rows)
    inputs[0].array, inputs[0].shape = inputs[0].array.T, (rows, cols)
    return [inputs[0], *logits(make, rows, cols)[1:]]


def refused(outputs):
    def replaced(number, tensor):
        def problem(make, rows, cols):
            inputs = logits(make, rows, cols)
            inputs[number] = tensor(make, rows, cols)
            return outputs(make, inputs)
        return problem
    return {"logits stored by columns": lambda make, rows, cols: outputs(make, by_columns(make, rows, cols)),
            "targets of 32 bits": replaced(1, lambda make, rows, cols: make.integers(0, cols, rows)),
            "a target too few": replaced(1, lambda make, rows, cols: make.integers(0, cols, rows - 1, kind="int64")),
            "scales in 16 bits": replaced(2, lambda make, rows, cols: make.normal(rows, kind="fp16")),
            "no columns": replaced(0, lambda make, rows, cols: make.normal(rows, 0))}


# One, odd, around a block of 1,024 and a piece of 4,096, several chunks of 8,192, a vocabulary.
SHAPES = ((1, 1), (3, 2), (2, 1023), (1, 50257), (2, 1024), (2, 4099), (2, 20001), (3, 5), (2, 1025), (7, 33))
TOLERANCE = within(relative=6e-5, absolute=2e-6)  # of e^(x - lse), where lse is 500 and has 24 digits

cross_entropy = Ladder(
    "cross_entropy", ("rows", "cols"),
    rungs=("whole", "walks", "chunks"),
    types=("fp32", "fp16", "bf16"),
    problem=lambda make, rows, cols: apart(make, logits(make, rows, cols)),
    hostile=problems(apart),
    refused=refused(apart),
    reference=entropy,
    tolerance=TOLERANCE,
    shapes=SHAPES,
    takes={"whole": lambda kind, rows, cols: cols <= 65536},
    show=(3, 50257),
    bench=((8192, 50304), (64, 262144)),
    sweep=((512, 50257), (8192, 128256), (64, 262144)),
    exercise=Exercise("cross entropy of a row in pieces, forward and backward", starts="whole", solution="walks",
                      gates={"spilled": 0, "reads_per_input": 2.02, "writes_per_output": 1.0}),
    asks=("scratch",),
    lesson="pieces of a row meet in one number, its log-sum-exp, and backward needs no more.",
)

cross_entropy_over = Ladder(
    "cross_entropy_over", ("rows", "cols"),
    rungs=("over",),
    types=("fp32", "fp16", "bf16"),
    problem=lambda make, rows, cols: in_place(make, logits(make, rows, cols)),
    hostile=problems(in_place),
    refused=refused(in_place),
    reference=entropy,
    tolerance=TOLERANCE,
    shapes=SHAPES,
    show=(3, 50257),
    bench=((8192, 50304),),
    lesson="a gradient may be written over what it came from once nobody reads that any more.",
)
