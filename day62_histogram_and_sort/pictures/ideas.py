# SPDX-License-Identifier: MIT
"""Day 62's ideas: private histograms and where they lie, places from a ballot, looking back, a pass of a radix sort, top-k.

    tools/pictures.py 62
"""
from drawing import BAD, EMPTY, GLOBAL, GOOD, INK, LINE, OUTPUT, REGISTERS, SHARED, SOFT, THREADS, WHITE, Card, constant, picture

DAY = "day62_histogram_and_sort"
BINS = constant(f"{DAY}/histogram.h", "kBins")
DIGIT_BITS = constant(f"{DAY}/radix_sort.h", "kDigitBits")
SLICE = constant(f"{DAY}/15_slices.cu", "kThreads") * constant(f"{DAY}/15_slices.cu", "kItems")


@picture("private.svg")
def private():
    keys = [2, 0, 2, 2, 1, 2, 2, 0]
    card = Card("Private histograms, merged at the end", 376,
                "Eight threads of different warps with keys 2 0 2 2 1 2 2 0. On the left all add to one histogram and five of them queue at bin 2. "
                "On the right each half has its own histogram, where three and two meet at bin 2, and the two are added up.")

    def count(some):
        return [sum(key == bin_ for key in some) for bin_ in range(3)]

    def threads(left, some):
        for i, key in enumerate(some):
            card.disc(left + 13 + 25 * i, 104, key, BAD if key == 2 else THREADS[0], 12)

    def add(left, some, bins):
        loud = {2: BAD}
        for i, key in enumerate(some):
            card.arrow(left + 13 + 25 * i, 117, bins.cell(key).x + (i - (len(some) - 1) / 2) * 3, 181, loud.get(key, SOFT))

    for x, words in ((118, "one for all"), (350, "one for every four")):
        card.text(x, 66, words, 17, bold=True)
    card.text(238, 88, "a disc is a thread with its key, each of another warp", 15, SOFT)
    threads(18, keys)
    one = card.cells(184, "", count(keys), 58, fill=SHARED, fills={2: BAD}, inks={2: WHITE})
    add(18, keys, one)
    card.places(one, {i: i for i in range(3)})
    card.text(one.left - 10, one.bottom + 18, "bin", 15, SOFT, "end")
    card.text(118, 266, "5 queue at bin 2", 16, BAD, bold=True)
    sums = []
    for left, part in ((242, keys[:4]), (360, keys[4:])):
        threads(left, part)
        mine = card.cells(184, "", count(part), left, size=34, height=40, fill=SHARED, fills={2: BAD}, inks={2: WHITE})
        add(left, part, mine)
        sums.append(mine)
    total = card.cells(276, "", count(keys), 290, fill=OUTPUT)
    for mine in sums:
        card.arrow(mine.x, mine.bottom + 4, total.x + (mine.x - total.x) * 0.5, total.top - 4)
    card.text(350, 344, "3 and 2 queue; then merge", 16, GOOD, bold=True)
    return card


@picture("waiting.svg")
def waiting():
    card = Card("Four keys: four waits, or one", 216,
                "One thread over time. With a load for each key it waits before each of four additions. With one load for all four it waits once.")
    wait, add = 4, 1

    def steps(loads, keys):
        done, all_steps = 0, []
        for _ in range(loads):
            all_steps.append(("wait", done, done + wait, ""))
            done += wait
            for _ in range(keys // loads):
                all_steps.append(("+", done, done + add, OUTPUT))
                done += add
        return all_steps

    card.time(66, [("block", steps(4, 4)), ("warp", steps(1, 4))])
    card.text(210, 200, "Dashed: a load is under way. +: a key is counted.", 15, SOFT)
    return card


@picture("bytes.svg")
def bytes_():
    card = Card("A bank for each lane, four bins to a word", 330,
                "A table with a column a bank: bank 0 belongs to lane 0, bank 1 to lane 1. Each word holds four bins of one byte. Four "
                "lanes with the keys 6, 1, 6 and 3 count in four different banks.")
    keys = [6, 1, 6, 3]  # of lanes 0 to 3
    size, left, top = 25, 66, 108
    for lane, key in enumerate(keys):
        x = left + lane * (4 * size + 2) + 2 * size
        card.text(x, 66, f"lane {lane}", 15, SOFT)
        card.text(x, 86, f"key {key}", 16, THREADS[0], bold=True)
        for row in range(3):
            word = card.cells(top + row * 44, "", list(range(4 * row, 4 * row + 4)), x - 2 * size, size=size, height=34, fill=SHARED,
                              fills={key % 4: THREADS[0]} if key // 4 == row else {}, inks={key % 4: WHITE} if key // 4 == row else {})
            card.frame(word, SOFT, 1.6, 0)
        card.text(x, top + 3 * 44 + 12, f"bank {lane}", 15, SOFT)
    for row in range(3):
        card.text(left - 8, top + row * 44 + 23, "bins", 15, SOFT, "end")
    card.text(240, 282, "A frame is a word, a cell a byte: the counter of one bin.", 15)
    card.text(240, 308, f"On a GPU: 32 lanes, 32 banks, {BINS // 4} rows: 8 KiB a warp.", 15, SOFT)
    return card


@picture("ballot.svg")
def ballot():
    keep = [1, 0, 1, 1, 0, 0, 1, 0]
    card = Card("A ballot gives each lane its place", 308,
                "Eight lanes; lanes 0, 2, 3 and 6 keep their element. A lane's place is the number of ones below its own bit.")
    flags = card.cells(76, "keep", keep, fills={i: THREADS[0] for i, k in enumerate(keep) if k},
                       inks={i: WHITE for i, k in enumerate(keep) if k})
    card.places(flags, {i: i for i in range(8)}, below=False)
    card.text(flags.left - 10, flags.top - 8, "lane", 15, SOFT, "end")
    below = card.cells(146, "below", [sum(keep[:i]) if k else "" for i, k in enumerate(keep)], fill=REGISTERS)
    places = card.cells(230, "y", ["x[0]", "x[2]", "x[3]", "x[6]"], flags.left, fill=OUTPUT)
    for i, k in enumerate(keep):
        if k:
            card.arrow(below.cell(i).x, below.bottom + 3, places.cell(sum(keep[:i])).x, places.top - 4)
    card.text(places.right + 16, 246, "one atomicAdd of 4", 16, GOOD, "start", True)
    card.text(places.right + 16, 268, "for the whole warp", 16, GOOD, "start", True)
    card.places(places, {0: "first", 1: "+1", 2: "+2", 3: "+3"})
    return card


@picture("scan.svg")
def scan():
    values = [3, 1, 0, 2, 4, 1, 1, 2]
    card = Card("A scan in three steps of eight lanes", 374,
                "Eight lanes with 3 1 0 2 4 1 1 2. In each step a lane adds what the lane 1, then 2, then 4 before it has. Afterwards "
                "each has the sum of all up to itself: 3 4 4 6 10 11 12 14.")
    left, size = 146, 38
    rows, distance, top = [], 1, 84
    rows.append(card.cells(top, "own", values, left, size, 34, fill=REGISTERS))
    card.places(rows[0], {i: i for i in range(8)}, below=False)
    card.text(left - 10, rows[0].top - 8, "lane", 15, SOFT, "end")
    while distance < 8:
        top += 72
        before, values = values, [v + (values[i - distance] if i >= distance else 0) for i, v in enumerate(values)]
        last = distance == 4
        row = card.cells(top, "" if last else f"+ {distance} before", values, left, size, 34, fill=OUTPUT if last else REGISTERS)
        if last:
            card.text(left - 10, row.y - 4, "+ 4 before:", at="end", bold=True)
            card.text(left - 10, row.y + 16, "all up to me", 15, GOOD, "end", True)
        above = rows[-1]
        for i in range(8):
            if i >= distance:
                card.arrow(above.cell(i - distance).x, above.bottom + 2, row.cell(i).x - 6, row.top - 3, SOFT, 1.4)
            card.line(above.cell(i).x, above.bottom + 2, above.cell(i).x, row.top - 2, LINE, 1.2)
        rows.append(row)
        distance *= 2
        assert values[0] == before[0]
    card.text(240, top + 62, "Up to me, less my own, is what comes before me.", 15, SOFT)
    return card


@picture("tile.svg")
def tile():
    kept, taken = [3, 1, 0, 2], 40
    before = [sum(kept[:w]) for w in range(len(kept))]
    card = Card("One atomicAdd for the whole tile", 316,
                "Four warps keep 3, 1, 0 and 2 elements. A scan says that 0, 3, 4 and 4 come before. One atomicAdd of 6 gives back 40, so "
                "the warps begin at 40, 43, 44 and 44.")
    left, size = 130, 46
    row = card.cells(86, "kept", kept, left, size, 38, fill=REGISTERS)
    card.places(row, {w: w for w in range(len(kept))}, below=False)
    card.text(left - 10, row.top - 8, "warp", 15, SOFT, "end")
    scanned = card.cells(148, "before", before, left, size, 38, fill=SHARED)
    card.text(row.right + 16, row.y + 6, f"{sum(kept)} in all", 16, at="start")
    card.arrow(row.x, row.bottom + 3, row.x, scanned.top - 3)
    card.text(row.x + 12, row.bottom + 17, "scan", 15, SOFT, "start")
    places = card.cells(240, "begins at", [taken + b for b in before], left, size, 38, fill=OUTPUT)
    card.arrow(scanned.x, scanned.bottom + 3, scanned.x, places.top - 4)
    card.text(scanned.x + 12, 216, f"+ {taken}, by one atomicAdd", 16, GOOD, "start", True)
    card.text(240, 302, f"count was {taken}, and is {taken + sum(kept)} for the next tile.", 15, SOFT)
    return card


@picture("two_reads.svg")
def two_reads():
    tiles, threshold = [[3, 9, 7], [1, 4, 2], [8, 0, 5]], 2
    kept = [[value for value in tile if value > threshold] for tile in tiles]
    starts = [sum(len(some) for some in kept[:t]) for t in range(3)]
    card = Card("Count, scan, write: places are computed", 346,
                "Three tiles of three elements, kept above 2. They keep 3, 1 and 2, so they begin at 0, 3 and 4 of y.")
    size = 36
    for t, tile in enumerate(tiles):
        x = card.cells(82, "x" if t == 0 else "", tile, 84 + t * 126, size, fill=GLOBAL,
                       fills={i: THREADS[t] for i, v in enumerate(tile) if v > threshold},
                       inks={i: WHITE for i, v in enumerate(tile) if v > threshold})
        card.text(x.x, 72, f"tile {t}", 15, SOFT)
        count = card.cells(152, "count" if t == 0 else "", [len(kept[t])], x.x - size / 2, size, fill=SHARED)
        start = card.cells(208, "start" if t == 0 else "", [starts[t]], x.x - size / 2, size, fill=SHARED)
        card.arrow(x.x, x.bottom + 3, x.x, count.top - 3)
        if t == 0:
            y = card.cells(288, "y", [v for some in kept for v in some], 84 + 63, size, fill=OUTPUT,
                           fills={starts[u] + i: THREADS[u] for u in range(3) for i in range(len(kept[u]))},
                           inks=dict.fromkeys(range(6), WHITE))
        card.arrow(start.x, start.bottom + 3, y.cell(starts[t]).x, y.top - 4, THREADS[t])
    return card


@picture("look_back.svg")
def look_back():
    card = Card("Tile 4 adds up what it finds", 256,
                "Five tiles. Tiles 0 and 1 have published the sum up to themselves, tiles 2 and 3 only their own number. Tile 4 "
                "looks at 3, 2 and 1, and stops there.")
    card.chain(118, [("tile 0", "up to: 7", OUTPUT), ("tile 1", "up to: 12", OUTPUT), ("tile 2", "own: 4", SHARED), ("tile 3", "own: 9", SHARED),
                     ("tile 4", "?", EMPTY)], [(4, 3), (4, 2), (4, 1)], width=76, gap=14)
    card.text(240, 206, "9 + 4 + 12 = 25 come before tile 4.", 16, GOOD, bold=True)
    card.text(240, 232, "Tile 1's 12 holds tile 0's 7: nobody asks tile 0.", 15, SOFT)
    return card


@picture("slowest.svg")
def slowest():
    card = Card("One slow tile holds up all after it", 308,
                "Four tiles over time. Tiles 0, 2 and 3 have loaded and counted after three units of time, tile 1 after six. Tile 0 writes at once, "
                "tiles 2 and 3 wait for tile 1's number.")
    counted = {0: 3, 1: 6, 2: 3, 3: 3}  # when each tile has counted
    rows = []
    for tile, end in counted.items():
        begin = max(counted[other] for other in range(tile + 1))  # when all up to this one have
        wait = [("wait", end, begin, "")] if begin > end else []
        rows.append((f"tile {tile}", [("load", 0, end, GLOBAL), *wait, ("write", begin, begin + 1.5, OUTPUT)]))
    card.time(66, rows)
    card.text(210, 292, "Dashed: a place taken, and nothing under way.", 15, BAD)
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
    card.places(counts, {d: d for d in range(4)}, below=False)
    card.text(counts.left - 10, counts.top - 8, "digit", 15, SOFT, "end")
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
    card.text(target.right + 12, target.y + 14, "as above", 15, SOFT, "start")
    return card


@picture("ranks.svg")
def ranks():
    digits, seen, mine = [3, 7, 1, 3, 0, 7, 2, 3], [1, 0, 2, 5, 0, 3, 1, 4], 7
    card = Card("The leader adds for its peers", 340,
                "Eight lanes with digits 3 7 1 3 0 7 2 3. The warp has seen four keys with digit 7. Lane 1 leads lanes 1 and 5 and adds 2 "
                "to that counter, which gives back 4: their ranks are 4 and 5.")
    peers = [lane for lane, digit in enumerate(digits) if digit == mine]
    size, left = 40, 104
    row = card.cells(82, "digit", digits, left, size, 36, fills=dict.fromkeys(peers, THREADS[0]), inks=dict.fromkeys(peers, WHITE))
    card.places(row, {lane: lane for lane in range(8)}, below=False)
    card.text(left - 10, row.top - 8, "lane", 15, SOFT, "end")
    counters = card.cells(172, "counter", seen, left, size, 36, fill=SHARED, fills={mine: THREADS[0]}, inks={mine: WHITE})
    card.text(counters.left - 10, counters.bottom + 18, "of digit", 15, SOFT, "end")
    card.places(counters, {digit: digit for digit in range(8)})
    card.arrow(row.cell(peers[0]).x, row.bottom + 3, counters.cell(mine).x - 8, counters.top - 3, THREADS[0])
    card.text(left + 206, 140, f"atomicAdd of {len(peers)}", 15, THREADS[0], "start", True)
    out = card.cells(262, "rank", [seen[mine] + peers.index(lane) if lane in peers else "" for lane in range(8)], left, size, 36,
                     fills=dict.fromkeys(peers, OUTPUT))
    for lane in peers:
        card.arrow(counters.cell(mine).x - 8, counters.bottom + 26, out.cell(lane).x + 4, out.top - 4, GOOD)
    card.text(240, 324, f"The counter was {seen[mine]}, and is {seen[mine] + len(peers)} afterwards.", 15, SOFT)
    return card


@picture("staged.svg")
def staged():
    digits = [2, 0, 1, 2, 0, 1, 2, 0]
    card = Card("Sort the tile first, then write runs", 392,
                "Eight keys with digits 2 0 1 2 0 1 2 0, written by two stores of four keys each. Written from where they are, each "
                "store touches three sectors. Sorted in shared memory first, neighbours go to neighbouring places, and each store "
                "touches two.")
    keys_a_store = cells_a_sector = 4
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
        for first in range(0, 12, cells_a_sector):
            card.frame(out.cells(first, first + cells_a_sector - 1), INK, 2, 0)
        for first, x, at in ((0, tile.left - 10, "end"), (keys_a_store, tile.right + 10, "start")):
            card.frame(tile.cells(first, first + keys_a_store - 1), INK, 2, 0)
            touched = {places[i] // cells_a_sector for i in row[first:first + keys_a_store]}
            card.text(x, tile.y - 3, f"store {first // keys_a_store + 1}:", 15, SOFT, at)
            card.text(x, tile.y + 15, f"{len(touched)} sectors", 15, color, at)
        for n, i in enumerate(row):
            card.arrow(tile.cell(n).x, tile.bottom + 3, out.cell(places[i]).x, out.top - 3, THREADS[digits[i]], 1.5)
    card.text(240, 358, "A colour is a digit. Frames above: four keys of one store.", 15, SOFT)
    card.text(240, 380, "Frames below: a sector, here of four cells.", 15, SOFT)
    return card


@picture("peers.svg")
def peers():
    digits = [2, 3, 2, 0, 3, 2, 0, 2]
    card = Card("Which lanes have my digit? A ballot a bit", 330,
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
            card.places(row, {i: i for i in range(8)}, below=False)
            card.text(row.left - 10, row.top - 8, "lane", 15, SOFT, "end")
            card.frame(row.cell(mine), INK)
        top += 50
    both = [i for i in range(8) if digits[i] == digits[mine]]
    card.cells(top + 6, "both", ["yes" if i in both else "" for i in range(8)], size=40, height=36, fills=dict.fromkeys(both, OUTPUT))
    card.text(240, 290, "One of the four is below lane 2: rank 1.", 15, GOOD)
    card.text(240, 314, f"On the GPU a digit has {DIGIT_BITS} bits.", 15, SOFT)
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
    card.text(240, 302, "The next pass counts only these 6.", 16, SOFT)
    return card


@picture("merge.svg")
def merge():
    lists = [[9, 6, 4], [8, 7, 1], [5, 3, 2]]
    mine = 7
    card = Card("A place is the number of larger ones", 312,
                "Three sorted lists, 9 6 4, 8 7 1 and 5 3 2. For 7 one is larger in the first, one in the second, none in the "
                "third: 7 has place 2.")
    for row, some in enumerate(lists):
        larger = sum(value > mine for value in some)
        array = card.cells(66 + row * 50, f"slice {row}", some, 110, 48, 38, fill=SHARED,
                           fills={**dict.fromkeys(range(larger), OUTPUT), **({some.index(mine): THREADS[0]} if mine in some else {})},
                           inks={some.index(mine): WHITE} if mine in some else {})
        card.text(array.right + 16, array.y + 6, f"{larger} larger than {mine}", 16, GOOD if larger else SOFT, "start", bool(larger))
    out = card.cells(226, "top 3", [9, 8, 7], 110, 48, 38, fill=OUTPUT, fills={2: THREADS[0]}, inks={2: WHITE})
    card.text(out.right + 16, 242, "1 + 1 + 0 = place 2", 16, GOOD, "start", True)
    card.text(240, 294, f"On a GPU a slice has {SLICE:,} elements.", 15, SOFT)
    return card
