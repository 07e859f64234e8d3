# SPDX-License-Identifier: MIT
"""Day 03's ideas: how pixels lie in bytes and words, why a thread takes whole threes, and whose bytes a warp's load touches.

    tools/pictures.py 3
"""
from drawing import BAD, EMPTY, GOOD, INK, OUTPUT, SOFT, THREADS, WHITE, Card, picture

RED, GREEN, BLUE = "#f6c9c0", "#cdebd3", "#cfe3f7"


@picture("pixels.svg")
def pixels():
    card = Card("Three bytes in, one byte out", 258, "Four pixels are twelve bytes, red, green and blue in turn; each pixel becomes one byte of gray.")
    colours = card.cells(80, "", ["R", "G", "B"] * 4, 24, 36, 36, fills={i: (RED, GREEN, BLUE)[i % 3] for i in range(12)})
    for pixel in range(4):
        card.window(colours, 3 * pixel, 3 * pixel + 2, f"pixel {pixel}", 8, below=False)
        x = colours.cells(3 * pixel, 3 * pixel + 2).x
        card.arrow(x, 120, x, 152)
        card.box(x - 18, 156, 36, 36, OUTPUT)
        card.text(x, 180, pixel, 16)
    card.text(240, 220, "gray = (77 R + 150 G + 29 B + 128) / 256", 16, bold=True)
    card.text(240, 246, "A cell is a byte; the lower row is gray.", 16, SOFT)
    return card


@picture("threes.svg")
def threes():
    card = Card("Whole pixels come in threes", 260, "Three words of four bytes hold four whole pixels; a single word holds one and a third.")
    pixel = [i // 3 for i in range(12)]
    array = card.cells(92, "", pixel, 24, 36, 36, fills={i: THREADS[p] for i, p in enumerate(pixel)}, inks=dict.fromkeys(range(12), WHITE))
    for word in range(3):
        card.frame(array.cells(4 * word, 4 * word + 3), INK, 3, 0)
        card.window(array, 4 * word, 4 * word + 3, f"word {word}", 8, below=False)
    gray = card.cells(168, "", [0, 1, 2, 3], 168, 36, 36, fills=dict(enumerate(THREADS)), inks=dict.fromkeys(range(4), WHITE))
    card.arrow(240, 132, 240, 162)
    card.text(gray.right + 12, gray.y + 6, "one word of gray", 16, at="start")
    card.text(240, 234, "A cell is a byte; its number is the pixel's.", 16, SOFT)
    return card


@picture("apart.svg")
def apart():
    """Whose 16 bytes the first of three loads takes, in a warp of four lanes."""
    card = Card("The first of three loads", 276, "With vectors the four lanes take every third vector; staged, they take the first four side by side.")
    for top, owners, name, words, color in ((78, [i // 3 if i % 3 == 0 else None for i in range(12)], "vectors", "48 bytes apart", BAD),
                                            (164, [i if i < 4 else None for i in range(12)], "staged", "side by side", GOOD)):
        card.text(24, top - 12, name, 16, at="start", bold=True)
        card.text(456, top - 12, words, 16, color, "end")
        loud = {i: THREADS[t] for i, t in enumerate(owners) if t is not None}
        array = card.cells(top, "", ["" if t is None else t for t in owners], 24, 36, 34, EMPTY, fills=loud, inks=dict.fromkeys(loud, WHITE))
        for sector in range(6):
            if any(owners[2 * sector + half] is not None for half in range(2)):
                card.frame(array.cells(2 * sector, 2 * sector + 1), INK, 3, 0)
    card.text(240, 226, "A cell is 16 bytes, its number the lane that loads it.", 16, SOFT)
    card.text(240, 250, "Framed: the sectors that move, 4 against 2.", 16, SOFT)
    return card
