# SPDX-License-Identifier: MIT
"""Day 22's ideas: the group of two groups, a reduction by halves with groups for elements, and how often rungs merge.

    tools/pictures.py 22
"""
from drawing import BAD, GLOBAL, GOOD, REGISTERS, SOFT, Card, constant, picture

FOLDER = "day22_triton_batch_norm/"


def merged(one, other):
    """(count, mean, sum of squared deviations) of both groups."""
    n, mean, m2 = one
    more, other_mean, other_m2 = other
    whole = n + more
    share, delta = (more / whole if whole else 0), other_mean - mean
    return whole, mean + delta * share, m2 + other_m2 + delta * delta * n * share


def told(group):
    return ", ".join(f"{part:g}" for part in group)


def of(values):
    mean = sum(values) / len(values)
    return len(values), mean, sum((value - mean) ** 2 for value in values)


@picture("merge.svg")
def merge():
    first, second = [1, 3], [7, 9]
    both = merged(of(first), of(second))
    if both != of(first + second):
        raise ValueError("the merged group is not the group of all")
    card = Card("Two groups make one", 300,
                "1 and 3 are the group 2, 2, 2; 7 and 9 the group 2, 8, 2. Both together are 4, 5, 40: the squared deviations of both, and 36 "
                "for the distance of the means.")
    for left, values in ((50, first), (290, second)):
        array = card.cells(66, "", values, left, 70, 38, GLOBAL)
        place = card.box(left, 132, 140, 40, REGISTERS)
        card.text(place.x, 158, told(of(values)), 17, bold=True)
        card.arrow(place.x, array.bottom + 4, place.x, 128)
    card.text(240, 158, "merge", 16, SOFT)
    card.arrow(190, 176, 224, 202)
    card.arrow(290, 176, 256, 202)
    place = card.box(170, 206, 140, 40, REGISTERS)
    card.text(place.x, 232, told(both), 17, bold=True)
    share = both[2] - of(first)[2] - of(second)[2]
    card.text(240, 272, f"{both[2]:g} = {of(first)[2]:g} + {of(second)[2]:g} + {share:g}, for the distance of the means", 16, GOOD)
    return card


@picture("halves.svg")
def halves():
    values = [(1, 1, 0), (1, 3, 0), (1, 7, 0), (0, 0, 0)]
    card = Card("tl.reduce with a merge", 320,
                "Four rows, the last of which is not there and is a group of none. Row 0 merges with row 2 and row 1 with row 3, then both results "
                "with each other.")
    card.text(240, 62, "a group for each row: count, mean, squared deviations", 15, SOFT)
    top = 78
    while True:
        step = 440 / len(values)
        places = [card.box(20 + step * i + (step - 96) / 2, top, 96, 36, REGISTERS) for i in range(len(values))]
        for place, value in zip(places, values):
            card.text(place.x, top + 24, told(value), 15.5 if len(told(value)) < 9 else 15, BAD if value[0] == 0 else GOOD if len(values) == 1 else "#1f2328",
                      bold=True)
        half = len(values) // 2
        if not half:
            break
        values = [merged(values[i], values[i + half]) for i in range(half)]
        values = [tuple(round(part, 2) for part in value) for value in values]
        for i in range(half):
            x = 20 + 440 / half * (i + 0.5)
            card.arrow(places[i].x, top + 38, x - 8, top + 74)
            card.arrow(places[i + half].x, top + 38, x + 8, top + 74)
        top += 78
    card.text(240, 306, "A group of none must change nothing.", 16, BAD)
    return card


@picture("often.svg")
def often():
    rows = constant(FOLDER + "02_each.py", "ROWS")
    if rows != constant(FOLDER + "03_tile.py", "ROWS"):
        raise ValueError("both rungs have tiles of as many rows")
    card = Card("How often a channel merges", 330,
                f"A channel in three tiles of {rows} rows. each merges every element into a group of its place, tile sums up a tile and merges once for each.")
    for left, name, colour in ((40, "each", BAD), (270, "tile", GOOD)):
        card.text(left + 85, 66, name, 17, colour, bold=True)
        for tile in range(3):
            top = 80 + 70 * tile
            for row in range(4):
                card.box(left, top + 14 * row, 60, 12, GLOBAL, round=1, thick=0.8)
                if name == "each":
                    card.arrow(left + 64, top + 14 * row + 6, left + 104, top + 14 * row + 6, BAD)
            if name == "tile":
                card.arrow(left + 64, top + 27, left + 104, top + 27, GOOD, 3)
            card.text(left + 112, top + 32, f"{rows if name == 'each' else 1} merge{'s' if name == 'each' else ''}", 15, SOFT, "start")
    card.text(240, 310, f"Each box stands for {rows // 4} of a tile's {rows} rows.", 15, SOFT)
    return card
