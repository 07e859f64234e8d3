# SPDX-License-Identifier: MIT
"""Day 21's ideas: a mask that waits and a mask that is drawn again, which word a position has, and how the joins put words in order.

    tools/pictures.py 21
"""
from drawing import BAD, EMPTY, GLOBAL, GOOD, INK, REGISTERS, SHARED, SOFT, THREADS, WHITE, Card, picture

KEEP = [1, 0, 1, 1]


@picture("again.svg")
def again():
    card = Card("Store the mask, or draw it again", 372,
                "Stored: the forward launch writes a mask, which waits in memory until the backward launch loads it. Seeded: both launches draw from seed 7 "
                "and get the same mask, so that nothing waits.")
    for top, words, stored in ((72, "stored", True), (226, "seeded", False)):
        card.text(28, top, words, 17, BAD if stored else GOOD, "start", bold=True)
        for left, name in ((40, "forward: x to y"), (310, "backward: dy to dx")):
            place = card.box(left, top + 14, 136, 40, EMPTY, line=INK, thick=2)
            card.text(place.x, top + 39, name, 15)
        if stored:
            mask = card.cells(top + 84, "", KEEP, 176, 32, 30, GLOBAL)
            card.text(240, top + 138, "a byte a position waits in memory", 15, BAD)
            card.arrow(108, top + 58, 172, top + 99)
            card.arrow(mask.right + 4, top + 99, 372, top + 58)
        else:
            for x in (108, 378):
                card.text(x, top + 82, "seed 7", 15, bold=True)
                card.cells(top + 92, "", KEEP, x - 64, 32, 30, REGISTERS)
            card.text(240, top + 112, "=", 20, bold=True)
    card.text(240, 362, "The seed is all that both launches share.", 16, SOFT)
    return card


@picture("words.svg")
def words():
    card = Card("Four positions a counter", 300,
                "Positions 0 to 11. Position i takes word i mod 4 of counter i // 4. Philox turns the seed and a counter into four words.")
    for counter in range(3):
        x = 96 + 144 * counter
        place = card.box(x - 62, 62, 124, 50, SHARED)
        card.text(place.x, 82, f"counter {counter}", 15, bold=True)
        card.text(place.x, 102, "Philox, 10 rounds", 15)
        card.arrow(x, 114, x, 134)
        fills = {i: THREADS[i] for i in range(4)}
        array = card.cells(138, "", ["a", "b", "c", "d"], x - 62, 31, 32, fills=fills, inks=dict.fromkeys(range(4), WHITE))
        card.places(array, {i: 4 * counter + i for i in range(4)})
    card.text(240, 216, "word, and the position below it", 15, SOFT)
    card.text(240, 248, "A thread with one position calls Philox for four words", 16)
    card.text(240, 270, "and uses one. A thread with four neighbours uses all.", 16, GOOD)
    return card


@picture("joins.svg")
def joins():
    card = Card("The last join runs fastest", 356,
                "Of two counters the blocks a, b, c and d of two words each. join(join(a, c), join(b, d)) gives a0 b0 c0 d0 a1 b1 c1 d1. "
                "join(join(a, b), join(c, d)) gives a0 c0 b0 d0.")
    names = {name: THREADS[number] for number, name in enumerate("abcd")}

    def row(top, left, values, size=40):
        fills = {i: names[value[0]] for i, value in enumerate(values)}
        return card.cells(top, "", values, left, size, 32, fills=fills, inks=dict.fromkeys(fills, WHITE))

    def joined(one, other):
        return [word for both in zip(one, other) for word in both]
    blocks = {name: [f"{name}{k}" for k in range(2)] for name in "abcd"}
    for number, name in enumerate("abcd"):
        row(62, 44 + 104 * number, blocks[name])
    card.text(240, 116, "four blocks, word k of each for counter k", 15, SOFT)
    for top, outer, inner, loud in ((160, "ac", "bd", GOOD), (262, "ab", "cd", BAD)):
        card.text(80, top - 10, f"join(join({', '.join(outer)}), join({', '.join(inner)}))", 16, loud, "start", bold=True)
        made = joined(joined(blocks[outer[0]], blocks[outer[1]]), joined(blocks[inner[0]], blocks[inner[1]]))
        array = row(top, 80, made)
        card.places(array, dict(enumerate(range(8))))
        right = [f"{'abcd'[i % 4]}{i // 4}" for i in range(8)]
        if (made == right) != (loud == GOOD):
            raise ValueError("the picture's joins are not those of the rung")
    card.text(240, 338, "position, and the word that it gets", 15, SOFT)
    return card
