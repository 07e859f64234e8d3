# SPDX-License-Identifier: MIT
"""Day 62's ideas: private histograms and where they lie, places from a ballot, looking back, a pass of a radix sort, top-k.

    tools/pictures.py 62
"""
from drawing import BAD, EMPTY, GOOD, INK, OUTPUT, REGISTERS, SHARED, SOFT, THREADS, WHITE, Card, constant, picture

DAY = "day62_histogram_and_sort"
BINS = constant(f"{DAY}/histogram.h", "kBins")
DIGIT_BITS = constant(f"{DAY}/radix_sort.h", "kDigitBits")
SLICE = constant(f"{DAY}/15_slices.cu", "kThreads") * constant(f"{DAY}/15_slices.cu", "kItems")


@picture("private.svg")
def private():
    keys = [2, 0, 2, 2, 1, 2, 2, 0]
    card = Card("Private histograms, merged at the end", 366,
                "Eight threads with keys 2 0 2 2 1 2 2 0. On the left all add to one histogram and five of them queue at bin 2. "
                "On the right each half has its own histogram, and the two are added up.")

    def count(some):
        return [sum(key == bin_ for key in some) for bin_ in range(3)]

    card.text(118, 64, "one for all", 15, bold=True)
    card.text(358, 64, "one for each four threads", 15, bold=True)
    for left, part, color in ((18, keys, None), (252, keys[:4], 0), (368, keys[4:], 2)):
        for i, key in enumerate(part):
            card.disc(left + 13 + 25 * i, 96, key, BAD if color is None and key == 2 else THREADS[color or 0], 12)
    one = card.cells(176, "", count(keys), 58, fill=SHARED, fills={2: BAD}, inks={2: WHITE})
    for i, key in enumerate(keys):
        card.arrow(31 + 25 * i, 109, one.cell(key).x + (i - 3.5) * 3, 173, BAD if key == 2 else SOFT)
    card.places(one, {i: i for i in range(3)})
    card.text(118, 262, "5 queue at bin 2", 16, BAD, bold=True)
    sums = []
    for left, part, color in ((246, keys[:4], 0), (362, keys[4:], 2)):
        mine = card.cells(176, "", count(part), left, size=34, height=40, fill=SHARED)
        for i, key in enumerate(part):
            card.arrow(left + 19 + 25 * i, 109, mine.cell(key).x + (i - 1.5) * 3, 173, THREADS[color])
        sums.append(mine)
    total = card.cells(268, "", count(keys), 298, fill=OUTPUT)
    for mine in sums:
        card.arrow(mine.x, mine.bottom + 4, total.x + (mine.x - total.x) * 0.5, total.top - 4)
    card.text(358, 336, "then merge: once a bin", 16, GOOD, bold=True)
    card.text(118, 336, "a disc is a thread's key", 16, SOFT)
    return card


@picture("bytes.svg")
def bytes_():
    card = Card("A bank for each lane, four bins to a word", 282,
                "A table with a column a bank. All words of lane 0 are in bank 0, those of lane 1 in bank 1. Each word holds four "
                "bins of one byte. Four lanes count four different keys in four different banks.")
    keys = [6, 1, 6, 3]  # of lanes 0 to 3
    table = card.matrix(90, 104, 3, 4, 54, fill=SHARED, values=lambda row, bank: f"{4 * row}..{4 * row + 3}",
                        fills=lambda row, bank: THREADS[bank] if keys[bank] // 4 == row else None,
                        inks=lambda row, bank: WHITE if keys[bank] // 4 == row else None,
                        col_names=[f"bank {bank}" for bank in range(4)],
                        row_names=["bins", "bins", "bins"])
    for bank, key in enumerate(keys):
        card.text(table.cell(0, bank).x, 72, f"key {key}", 15, THREADS[bank], bold=True)
    card.text(324, 160, f"a GPU: {BINS // 4} rows,", 15, SOFT, "start")
    card.text(324, 182, "32 banks,", 15, SOFT, "start")
    card.text(324, 204, "8 KiB a warp", 15, SOFT, "start")
    return card


@picture("ballot.svg")
def ballot():
    keep = [1, 0, 1, 1, 0, 0, 1, 0]
    card = Card("A ballot gives each lane its place", 308,
                "Eight lanes; lanes 0, 2, 3 and 6 keep their element. A lane's place is the number of ones below its own bit.")
    flags = card.cells(76, "keep", keep, fills={i: THREADS[0] for i, k in enumerate(keep) if k},
                       inks={i: WHITE for i, k in enumerate(keep) if k})
    card.places(flags, {i: f"lane {i}" if i == 0 else i for i in range(8)}, below=False)
    below = card.cells(146, "below", [sum(keep[:i]) if k else "" for i, k in enumerate(keep)], fill=REGISTERS)
    places = card.cells(230, "y", ["x[0]", "x[2]", "x[3]", "x[6]"], flags.left, fill=OUTPUT)
    for i, k in enumerate(keep):
        if k:
            card.arrow(below.cell(i).x, below.bottom + 3, places.cell(sum(keep[:i])).x, places.top - 4)
    card.text(places.right + 16, 246, "one atomicAdd of 4", 16, GOOD, "start", True)
    card.text(places.right + 16, 268, "for the whole warp", 16, GOOD, "start", True)
    card.places(places, {0: "first", 1: "+1", 2: "+2", 3: "+3"})
    return card


@picture("look_back.svg")
def look_back():
    card = Card("Tile 4 adds up what it finds", 236,
                "Five tiles. Tiles 0 and 1 have published the sum up to themselves, tiles 2 and 3 only their own number. Tile 4 "
                "looks at 3, 2 and 1, and stops there.")
    card.chain(118, [("tile 0", "up to: 7", OUTPUT), ("tile 1", "up to: 12", OUTPUT), ("tile 2", "own: 4", SHARED), ("tile 3", "own: 9", SHARED),
                     ("tile 4", "?", EMPTY)], [(4, 3), (4, 2), (4, 1)], width=76, gap=14)
    card.text(240, 206, "9 + 4 + 12 = 25 come before tile 4. Tile 0 need not be asked.", 15, GOOD)
    return card


@picture("pass.svg")
def one_pass():
    keys = ["31", "12", "33", "02", "21", "32"]
    card = Card("A pass by the lower digit", 356,
                "Keys 31 12 33 02 21 32 sorted by their lower digit: the histogram of digits, where each digit begins, and the keys "
                "in their places. Keys with equal digits keep their order.")
    digit = [int(key[1]) for key in keys]
    count = [digit.count(d) for d in range(4)]
    start = [sum(count[:d]) for d in range(4)]
    source = card.cells(74, "in", keys, size=44, fills={i: THREADS[d] for i, d in enumerate(digit)}, inks=dict.fromkeys(range(6), WHITE))
    counts = card.cells(156, "count", count, size=36, fill=SHARED)
    card.places(counts, {d: f"digit {d}" if d == 0 else d for d in range(4)}, below=False)
    starts = card.cells(202, "start", start, size=36, fill=SHARED)
    target = card.cells(296, "out", ["", "", "", "", "", ""], size=44, fill=OUTPUT)
    used = list(start)
    for key, d in zip(keys, digit):
        cell = target.cell(used[d])
        card.box(cell.left, cell.top, 44, 44, THREADS[d], round=2)
        card.text(cell.x, cell.y + 6, key, 17, WHITE, bold=True)
        used[d] += 1
    for d, at in enumerate(start):
        if count[d]:
            card.arrow(starts.cell(d).x, starts.bottom + 4, target.cell(at).x, target.top - 4, THREADS[d])
    card.text(source.right + 12, source.y + 6, "colour:", 15, SOFT, "start")
    card.text(source.right + 12, source.y + 24, "digit", 15, SOFT, "start")
    card.text(target.right + 12, target.y - 4, "12 02 32:", 15, SOFT, "start")
    card.text(target.right + 12, target.y + 14, "as in in", 15, SOFT, "start")
    return card


@picture("staged.svg")
def staged():
    digits = [2, 0, 1, 2, 0, 1, 2, 0]
    card = Card("Sort the tile first, then write runs", 372,
                "Eight keys with digits 2 0 1 2 0 1 2 0. Written from where they are, neighbours go to different places. Sorted in "
                "shared memory first, neighbours go to neighbouring places.")
    order = sorted(range(8), key=lambda i: digits[i])
    places = {}  # of the digits in out: three runs, far apart
    for number, i in enumerate(order):
        places[i] = digits[i] * 4 + number - sum(d < digits[i] for d in digits)
    for top, name, row, words, color in ((72, "scatter", list(range(8)), "neighbours part", BAD),
                                         (226, "staged", order, "neighbours stay together", GOOD)):
        card.text(28, top - 12, name, 17, at="start", bold=True)
        card.text(452, top - 12, words, 16, color, "end", True)
        tile = card.cells(top, "", [digits[i] for i in row], size=34, fill=SHARED if name == "staged" else REGISTERS,
                          fills={n: THREADS[digits[i]] for n, i in enumerate(row)}, inks=dict.fromkeys(range(8), WHITE))
        out = card.cells(top + 84, "out", [""] * 12, size=30, fills={p: THREADS[digits[i]] for i, p in places.items()})
        for n, i in enumerate(row):
            card.arrow(tile.cell(n).x, tile.bottom + 3, out.cell(places[i]).x, out.top - 3, THREADS[digits[i]], 1.5)
    card.text(240, 358, "A colour is a digit; a tile of 8 keys, of one warp's store.", 15, SOFT)
    return card


@picture("peers.svg")
def peers():
    digits = [2, 3, 2, 0, 3, 2, 0, 2]
    card = Card("Which lanes have my digit? A ballot a bit", 306,
                "Eight lanes with digits of two bits. Lane 2 has digit 2, binary 10: it takes the ones of the upper bit and the "
                "zeros of the lower bit. Left are lanes 0, 2, 5 and 7.")
    mine = 2
    rows = (("digit", digits, lambda i: False),
            ("bit 1", [d >> 1 & 1 for d in digits], lambda i: digits[i] >> 1 & 1 == digits[mine] >> 1 & 1),
            ("bit 0", [d & 1 for d in digits], lambda i: digits[i] & 1 == digits[mine] & 1))
    top = 78
    for name, values, loud in rows:
        row = card.cells(top, name, values, size=40, height=36, fills={i: THREADS[0] for i in range(8) if loud(i)},
                         inks={i: WHITE for i in range(8) if loud(i)})
        if name == "digit":
            card.places(row, {i: f"lane {i}" if i == 0 else i for i in range(8)}, below=False)
            card.frame(row.cell(mine), INK)
        top += 50
    both = [i for i in range(8) if digits[i] == digits[mine]]
    card.cells(top + 6, "both", ["yes" if i in both else "" for i in range(8)], size=40, height=36, fills=dict.fromkeys(both, OUTPUT))
    card.text(240, 290, f"One of the four is below lane 2: rank 1. A GPU has {DIGIT_BITS} bits.", 15, SOFT)
    return card


@picture("select.svg")
def select():
    counts = [3, 9, 14, 8, 6, 2]
    k = 5
    card = Card(f"Which digit has the {k}th largest?", 316,
                "A histogram of six digits. From the largest digit on, bin 5 has 2 elements and bin 4 has 6: the fifth largest is "
                "in bin 4, and it is the third largest there.")
    for digit, count in enumerate(counts):
        left, high = 60 + digit * 62, count * 10
        fill = OUTPUT if digit == 5 else THREADS[0] if digit == 4 else EMPTY
        card.box(left, 226 - high, 48, high, fill)
        card.text(left + 24, 218 - high, count, 16, bold=True)
        card.text(left + 24, 246, digit, 16, SOFT)
    card.text(30, 246, "digit", 15, SOFT)
    card.text(394, 116, "2 are larger:", 15, GOOD, bold=True)
    card.text(394, 136, "they are chosen", 15, GOOD, bold=True)
    card.text(240, 278, "Bin 4 holds the 5th: the 3rd of its 6.", 16, bold=True)
    card.text(240, 302, "Only these 6 take part in the next pass.", 16, SOFT)
    return card


@picture("merge.svg")
def merge():
    lists = [[9, 6, 4], [8, 7, 1], [5, 3, 2]]
    mine = 7
    card = Card("A place is the number of larger ones", 292,
                "Three sorted lists, 9 6 4, 8 7 1 and 5 3 2. For 7 one is larger in the first, one in the second, none in the "
                "third: 7 has place 2.")
    for row, some in enumerate(lists):
        larger = sum(value > mine for value in some)
        array = card.cells(66 + row * 50, f"slice {row}", some, 130, 48, 38, fill=SHARED,
                           fills={**dict.fromkeys(range(larger), OUTPUT), **({some.index(mine): THREADS[0]} if mine in some else {})},
                           inks={some.index(mine): WHITE} if mine in some else {})
        card.text(array.right + 16, array.y + 6, f"{larger} larger than {mine}", 16, GOOD if larger else SOFT, "start", bool(larger))
    out = card.cells(226, "top 3", [9, 8, 7], 130, 48, 38, fill=OUTPUT, fills={2: THREADS[0]}, inks={2: WHITE})
    card.text(out.right + 16, 242, "1 + 1 + 0 = place 2", 16, GOOD, "start", True)
    card.text(240, 276, f"On a GPU a slice has {SLICE:,} elements.", 15, SOFT)
    return card
