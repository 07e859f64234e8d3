# SPDX-License-Identifier: MIT
"""Day 42's ideas: a swap through a third array and one in two registers, who owns which pair, and groups that are turned.

    tools/pictures.py 42
"""
from drawing import BAD, GLOBAL, GOOD, INK, REGISTERS, SOFT, THREADS, WHITE, Card, picture


@picture("third.svg")
def third():
    card = Card("A third array, or two registers", 330,
                "On the left three copies: a to the third array, b to a, the third array to b. On the right one thread loads "
                "a[i] and b[i] into two registers and stores them crosswise.")
    card.text(120, 66, "third: three copies", 16, bold=True)
    for name, top, fill in (("a", 90, GLOBAL), ("third", 160, GLOBAL), ("b", 230, GLOBAL)):
        card.cells(top, name, ["", "", "", ""], 70, 28, 28, fill)
    card.arrow(98, 120, 98, 156)
    card.disc(98 - 20, 139, 1)
    card.curve(186, 244, 186, 104, 0)
    card.disc(204, 174, 2)
    card.arrow(140, 190, 140, 226)
    card.disc(140 - 20, 209, 3)
    card.text(120, 294, "6 accesses for each pair", 16, BAD, bold=True)
    card.text(360, 66, "pairs: one thread a pair", 16, bold=True)
    for name, top in (("a", 90), ("b", 230)):
        card.cells(top, name, ["", "", "", ""], 300, 28, 28, fills={1: THREADS[0]}, fill=GLOBAL)
    left = card.box(318, 156, 26, 34, REGISTERS)
    right = card.box(362, 156, 26, 34, REGISTERS)
    card.text(left.x, 179, "a", 15)
    card.text(right.x, 179, "b", 15)
    card.text(436, 166, "its two", 15, SOFT)
    card.text(436, 184, "registers", 15, SOFT)
    card.arrow(336, 120, 331, 152)
    card.arrow(350, 228, 372, 194)
    card.arrow(375, 152, 346, 120)
    card.arrow(331, 194, 336, 228)
    card.text(360, 294, "4 accesses for each pair", 16, GOOD, bold=True)
    return card


@picture("owners.svg")
def owners():
    card = Card("Four threads reverse eight elements", 228,
                "Thread 0 owns the first and the last element, thread 1 the second and the last but one, and so on to the middle.")
    row = card.cells(104, "x", list("abcdefgh"), size=44, fills={i: THREADS[min(i, 7 - i)] for i in range(8)},
                     inks=dict.fromkeys(range(8), WHITE))
    for i in range(4):
        first, last = row.cell(i), row.cell(7 - i)
        bend = 38 - 9 * i
        card.curve(first.x, 100, last.x, 100, bend, INK)
        card.curve(last.x, 100, first.x, 100, bend, INK)
    card.threads(row, {i: min(i, 7 - i) for i in range(8)}, 162)
    card.text(240, 214, "A disc is a thread: the owner of the element above it.", 16, SOFT)
    return card


@picture("race.svg")
def race():
    card = Card("A thousand threads: who comes first?", 290,
                "Thread 0 stores z at x[0] before thread 999 has loaded a from there. Both ends then hold z, and a is lost.")
    values, lost = ["a", "b", "c", "…", "x", "y", "z"], ["z", "b", "c", "…", "x", "y", "z"]
    for top, row, words, fills, inks in (
            (70, values, "before", {}, {}),
            (140, lost, "thread 0 has run", {0: THREADS[0]}, {0: WHITE}),
            (210, lost, "thread 999 has run", {0: THREADS[0], 6: THREADS[1]}, {0: WHITE, 6: WHITE})):
        card.cells(top, "", row, 170, 36, 36, fills=fills, inks=inks)
        card.text(158, top + 24, words, 15, SOFT, at="end")
    card.text(240, 276, "x[999] should be a, which nobody has any more.", 16, BAD, bold=True)
    return card


@picture("groups.svg")
def groups():
    card = Card("Groups move, and each is turned", 300,
                "Four groups of four elements. The first and the last change places, and the elements within each are turned round.")
    names = "abcdefghijklmnop"
    colours = lambda order: {i: THREADS[min(order[i] // 4, 3 - order[i] // 4)] for i in range(16)}
    straight = list(range(16))
    moved = [12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3]
    turned = list(reversed(straight))
    for top, order, words in ((78, straight, "x"), (148, moved, "moved"), (218, turned, "and turned")):
        card.cells(top, "", [names[i] for i in order], 112, 22, 30, fills=colours(order), inks=dict.fromkeys(range(16), WHITE))
        card.text(102, top + 21, words, 15, SOFT, at="end")
    card.text(240, 284, "A colour is a thread; it owns two groups.", 16, SOFT)
    return card
