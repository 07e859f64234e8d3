# SPDX-License-Identifier: MIT
"""Day 79's ideas: what a step does, where a layer's gradients lie, what parts of a batch count, how a checkpoint is written.

    tools/pictures.py 79
"""
from drawing import BAD, EMPTY, GLOBAL, GOOD, INK, OUTPUT, REGISTERS, SHARED, SOFT, Card, picture


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
