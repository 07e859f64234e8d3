# SPDX-License-Identifier: MIT
"""Day 79's ideas: what a step does, what parts of a batch count, how a checkpoint is written, and how the loss falls.

    tools/pictures.py 79
"""
from drawing import BAD, EMPTY, GLOBAL, GOOD, INK, OUTPUT, REGISTERS, SHARED, SOFT, THREADS, Card, picture


@picture("step.svg")
def step():
    card = Card("Down, then up again", 392, "Forward keeps what backward reads. The embedding is used at both ends, so it gets two gradients.")
    names = (("tokens", EMPTY), ("embedding", SHARED), ("layer 1", GLOBAL), ("layer 2", GLOBAL), ("embedding, turned", SHARED), ("loss", OUTPUT))
    for row, (name, fill) in enumerate(names):
        y = 62 + row * 52
        card.box(150, y, 180, 34, fill)
        card.text(240, y + 23, name, 16, INK)
        if row + 1 < len(names):
            card.arrow(190, y + 34, 190, y + 52, SOFT)
        if 0 < row < len(names) - 1:
            card.arrow(290, y + 52, 290, y + 34, BAD)
    for row in (1, 4):
        card.text(345, 62 + row * 52 + 23, "a gradient", 16, BAD, "start", bold=True)
    card.text(136, 165, "forward", 16, SOFT, "end", bold=True)
    card.text(345, 190, "backward", 16, BAD, "start", bold=True)
    return card


@picture("parts.svg")
def parts(targets=(8, 8, 2)):
    """Three parts with 8, 8 and 2 targets; each target counts a share of all."""
    card = Card("Each target counts the same", 256, f"{sum(targets)} targets in three parts. A mean of means would give the last part's two as much as eight others.")
    for row, count in enumerate(targets):
        y = 66 + row * 52
        card.text(96, y + 24, f"part {row + 1}", 16, INK, "end", bold=True)
        for i in range(targets[0]):
            card.box(110 + i * 30, y, 26, 34, REGISTERS if i < count else EMPTY)
        card.text(366, y + 24, f"{count} of {sum(targets)}", 16, GOOD, "start", bold=True)
    card.text(240, 240, "gray: ignored", 16, SOFT)
    return card


@picture("whole.svg")
def whole():
    card = Card("A folder is whole, or it is not there", 250, "Files are written into step_400.tmp and waited for; then one rename gives the folder its name.")
    card.time(64, [("tmp folder", [("write", 0, 3, GLOBAL), ("fsync", 3, 5, SHARED)]), ("step_400", [("", 5, 5.12, GOOD), ("read by whoever resumes", 5.2, 10, OUTPUT)])],
              left=124, end=10, words="")
    card.text(124 + 332 * 0.5, 206, "rename: the only moment that counts", 16, GOOD, bold=True)
    return card


# What `./days run 79 --variant train` said on a CPU: means of ten steps of loss.csv, and the unseen text's losses where it looked.
TRAINED = (6.2, 5.88, 5.51, 5.39, 5.68, 5.37, 5.32, 5.32, 5.24, 5.27, 5.21, 5.23, 5.13, 5.13, 5.06, 5.0, 4.98, 4.92, 4.91, 4.88)
UNSEEN = ((50, 5.27), (100, 5.14), (150, 4.93), (200, 4.76))


@picture("learns.svg")
def learns():
    """The loss of 200 steps."""
    card = Card("200 steps of a GPT, on a CPU", 300, f"Loss of a token: {TRAINED[0]} in the first ten steps, {TRAINED[-1]} in the last; text that it has not seen: {UNSEEN[-1][1]}.")
    left, right, top, bottom, most, least = 74, 444, 66, 246, 6.5, 4.4

    def at(step, loss):
        return left + (right - left) * step / 200, top + (bottom - top) * (most - loss) / (most - least)
    for loss in (5, 6):
        y = at(0, loss)[1]
        card.line(left, y, right, y, dashed=True, through=True)
        card.text(left - 8, y + 5, loss, 15, SOFT, "end")
    for step in (0, 100, 200):
        card.text(at(step, 0)[0], bottom + 22, step, 15, SOFT)
    card.line(left, bottom, right, bottom)
    card.text(left - 8, top - 6, "loss", 15, SOFT, "end")
    card.text((left + right) / 2, bottom + 42, "steps", 15, SOFT)
    points = [at(5 + 10 * i, loss) for i, loss in enumerate(TRAINED)]
    for (x1, y1), (x2, y2) in zip(points, points[1:]):
        card.line(x1, y1, x2, y2, THREADS[0], 2.4)
    for x, y in (at(*one) for one in UNSEEN):
        card.parts.append(f'<circle cx="{x:g}" cy="{y:g}" r="5" fill="{BAD}"/>')
    even = at(0, 6.24)[1]  # ln 512
    card.line(left, even, right, even, SOFT, through=True)
    card.text(right, even - 7, "6.24: all tokens equally likely", 15, SOFT, "end")
    card.text(right, 146, "the novels", 16, THREADS[0], "end", bold=True)
    card.text(left + 60, 228, "unseen text", 16, BAD, "start", bold=True)
    card.disc(left + 48, 223, "", BAD, 5)
    return card
