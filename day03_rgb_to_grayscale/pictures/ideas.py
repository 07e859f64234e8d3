# SPDX-License-Identifier: MIT
"""Day 03's ideas: how pixels lie in bytes and words, what threads ask for at once, why a thread takes whole threes, who fetches and
who uses, and whose bytes a warp's load touches.

    tools/pictures.py 3
"""
from drawing import BAD, EMPTY, GOOD, INK, OUTPUT, SHARED, SOFT, THREADS, WHITE, Card, constant, picture

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


@picture("ask.svg")
def ask(threads=2048, needed=15.0):
    """The bytes that the threads of a full multiprocessor ask for at once, in KiB, beside what Little's law needs."""
    words = 3 * constant("day03_rgb_to_grayscale/03_words.cu", "kPixels")
    card = Card("What 2,048 threads ask for", 236, f"Each of {threads} threads asks for 3, {words} or 48 bytes: 6, 24 or 96 KiB; {needed:.0f} KiB are needed.")
    scale, left = 2.9, 104
    for top, each, color in ((64, 3, BAD), (110, words, GOOD), (156, 48, GOOD)):
        kib = threads * each / 1024
        card.text(left - 12, top + 20, f"{each} bytes", 16, at="end")
        card.box(left, top, kib * scale, 30, color, color)
        if kib > 48:
            card.text(left + kib * scale / 2 + 20, top + 21, f"{kib:.0f} KiB", 16, WHITE, bold=True)
        else:
            card.text(left + max(kib, needed) * scale + 12, top + 21, f"{kib:.0f} KiB", 16, at="start", bold=True)
    x = left + needed * scale
    card.line(x, 54, x, 196, INK, 2.4, dashed=True)
    card.text(x + 8, 212, f"needed: {needed:.0f} KiB", 16, INK, "middle", bold=True)
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


@picture("fetch.svg")
def fetch(threads=4):
    """Rung 2 with four threads and their 16 pixels: three threads fetch 16 bytes each, then thread p mod 4 picks pixel p."""
    card = Card("Who fetches is not who picks", 276, "Three of four threads fetch 16 bytes each; behind the barrier each thread picks every fourth of the 16 pixels.")
    left, wide = 48, 384
    card.text(left, 66, "fetch: 16 bytes a thread", 16, at="start", bold=True)
    for piece in range(3):
        card.box(left + piece * wide / 3, 76, wide / 3, 36, THREADS[piece])
        card.text(left + (piece + 0.5) * wide / 3, 100, piece, 16, WHITE)
    card.line(left, 134, left + wide, 134, INK, 2.4, dashed=True)
    card.text(240, 158, "barrier", 16, SOFT)
    card.text(left, 192, "pick: 3 bytes a pixel", 16, at="start", bold=True)
    for pixel in range(16):
        card.box(left + pixel * wide / 16, 202, wide / 16, 36, THREADS[pixel % threads])
        card.text(left + (pixel + 0.5) * wide / 16, 226, pixel % threads, 16, WHITE)
    card.text(240, 264, "A number is a thread's.", 16, SOFT)
    return card


@picture("exchange.svg")
def exchange():
    """Rung 5 with a warp of four lanes: the twelve vectors in shared memory, by who lays them down and who picks them up."""
    card = Card("Lanes exchange their vectors", 236, "Of twelve vectors in shared memory lane i lays down those at i, i + 4 and i + 8, and picks up 3 i to 3 i + 2.")
    for top, name, owners in ((78, "laid down by lane", [i % 4 for i in range(12)]), (160, "picked up by lane", [i // 3 for i in range(12)])):
        card.text(24, top - 12, name, 16, at="start", bold=True)
        card.cells(top, "", owners, 24, 36, 34, SHARED, fills={i: THREADS[t] for i, t in enumerate(owners)}, inks=dict.fromkeys(range(12), WHITE))
    card.text(240, 222, "A cell is 16 bytes of shared memory.", 16, SOFT)
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
    card.text(240, 250, "Framed: the sectors touched, 4 against 2.", 16, SOFT)
    return card
