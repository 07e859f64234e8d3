# SPDX-License-Identifier: MIT
"""Day 28's ideas: which calls share a binary under three rungs, and which lengths share a search.

    tools/pictures.py 28
"""
from drawing import EMPTY, GOOD, INK, OUTPUT, SOFT, THREADS, WHITE, Card, constant, picture

LENGTHS = (1, 16, 17, 1024, 4099)
FOLDER = "day28_triton_tanh/"


def _answers(n):
    """What Triton asks of an int."""
    return "1" if n == 1 else "16 divides" if n % 16 == 0 else "anything"


@picture("family.svg")
def family():
    card = Card("What is known makes a binary", 330,
                "Five lengths. As constants each has a binary; as arguments that Triton asks about three binaries serve them; not asked about, one.")
    size, left = 60, 150
    card.text(28, 78, "n", 16, SOFT, "start")
    card.cells(56, "", [f"{n:,}" for n in LENGTHS], left, size, 34)
    rows = (("constant", list(LENGTHS)), ("asked", [_answers(n) for n in LENGTHS]), ("blind", ["one"] * len(LENGTHS)))
    for top, (name, kinds) in zip((124, 194, 264), rows):
        known = list(dict.fromkeys(kinds))
        numbers = [known.index(kind) for kind in kinds]
        card.text(28, top + 22, name, 16, INK, "start", bold=True)
        fills = {i: THREADS[number] if number < len(THREADS) else INK for i, number in enumerate(numbers)}
        row = card.cells(top, "", [chr(ord("A") + number) for number in numbers], left, size, 34, EMPTY, fills=fills, inks=dict.fromkeys(fills, WHITE))
        card.text(28, top + 42, f"{len(known)} binar{'y' if len(known) == 1 else 'ies'}", 15, GOOD if len(known) == 1 else SOFT, "start")
        if name == "asked":
            card.text(row.x, row.bottom + 20, "A: n is 1    B: 16 divides n    C: neither", 15, SOFT)
    return card


@picture("ways.svg")
def ways():
    """Three programs of `both`, a toy length."""
    block, n = 4, 10
    card = Card("Ask when it runs, not when it is compiled", 270,
                "Ten elements in programs of four. Programs 0 and 1 find their blocks whole and load without a mask; program 2 takes the way with one.")
    count, size = -(-n // block) * block, 34
    array = card.cells(62, "", [i if i < n else "" for i in range(count)], 36, size, 34, EMPTY, fills={i: OUTPUT if i < n // block * block else EMPTY for i in range(n)})
    for program in range(count // block):
        place, whole = array.cells(program * block, program * block + block - 1), program < n // block
        card.frame(place, GOOD if whole else SOFT, 3, -1)
        card.text(place.x, 124, f"program {program}", 16, bold=True)
        card.text(place.x, 146, f"{program * block} + {block} <= {n}?", 15, SOFT)
        card.text(place.x, 170, "yes" if whole else "no", 16, GOOD if whole else INK, bold=True)
        card.text(place.x, 192, "wide loads" if whole else "a mask", 15, GOOD if whole else SOFT)
    card.text(240, 230, "Both ways stand in one binary. It knows nothing of n,", 16)
    card.text(240, 252, "and each program asks for itself.", 16)
    return card


@picture("buckets.svg")
def buckets():
    """Which calls begin a search."""
    lengths, least = (1000, 1024, 4096, 4099, 5000), constant(FOLDER + "04_both.py", "BLOCK")
    card = Card("A key that comes back", 250, "Five lengths make five searches with n as the key, and three with its size.")
    left, size = 136, 64
    card.text(28, 78, "n", 16, SOFT, "start")
    card.cells(56, "", [f"{n:,}" for n in lengths], left, size, 34)
    sizes = [max(least, 1 << (n - 1).bit_length()) for n in lengths]
    for top, name, keys in ((116, "key n", list(lengths)), (186, "key size", sizes)):
        known = list(dict.fromkeys(keys))
        fills = {i: THREADS[1] if keys.index(key) == i else EMPTY for i, key in enumerate(keys)}
        card.text(28, top + 22, name, 16, INK, "start", bold=True)
        card.text(28, top + 42, f"{len(known)} searches", 15, SOFT, "start")
        card.cells(top, "", ["search" if keys.index(key) == i else "known" for i, key in enumerate(keys)], left, size, 34, EMPTY, fills=fills,
                   inks={i: WHITE for i in fills if fills[i] != EMPTY})
    card.text(240, 242, "5,000 finds what 4,099 has searched for.", 15, SOFT)
    return card
