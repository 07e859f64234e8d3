# SPDX-License-Identifier: MIT
"""Pictures of GPU algorithms as SVG, in the field's words: cells, matrices, tiles, lanes, banks, fragments, trees, chains, time.

A script day*/pictures/*.py holds one function for each picture, and tools/pictures.py draws them all:

    from drawing import GLOBAL, Card, picture

    @picture("windows.svg")
    def windows():
        card = Card("Windows overlap", 190, "Six elements; the windows of y[1] and y[2] share two of them.")
        x = card.cells(70, "x", [3, 6, 0, 9, 3, 6], fill=GLOBAL)
        card.window(x, 0, 2, "y[1]")
        return card

A Card is a white sheet 480 units wide, so that its smallest text (15 units) is still 11 pixels high on a page 360 pixels wide:
one claim, its title, and about 15 words beside. Functions that draw return where things lie (Place, Array, Matrix), and others
take those instead of coordinates. A card refuses (ValueError) what a reader could not read: text that leaves the sheet or
lies on other text, and a line through text unless it says through=True.

One colour has one meaning on all cards, and a word says it, too: GLOBAL and SHARED memory, REGISTERS, OUTPUT, HALO; what is
GOOD (enters, moves no waste) and BAD (leaves, hurts, waits), and four THREADS.
"""
import re
from html import escape
from pathlib import Path

WIDTH = 480
INK, SOFT, LINE, EMPTY, WHITE = "#1f2328", "#57606a", "#8c959f", "#f3f4f6", "#ffffff"
GLOBAL, SHARED, REGISTERS, OUTPUT, HALO = "#cfe3f7", "#ffe3ad", "#e6d9f5", "#cdebd3", "#fff5de"
GOOD, BAD = "#00794f", "#c2410c"
THREADS = ["#0b62a8", "#c2410c", "#00794f", "#7a3fa0"]  # white numbers are readable on each

# Advance widths of DejaVu Sans in thousandths of its size, for the characters from the space to the tilde. A browser on a
# system without Helvetica and Arial takes this font or a narrower one, so that what fits in it is cut nowhere.
_PLAIN = [318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636, 636, 636, 636,
          636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632, 575, 775, 752, 295,
          295, 656, 557, 863, 748, 787, 603, 787, 695, 635, 611, 732, 684, 989, 685, 611, 685, 390, 337, 390, 838,
          500, 500, 613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612, 635, 635, 411, 521,
          392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838]
_BOLD = [348, 456, 521, 838, 696, 1002, 872, 306, 457, 457, 523, 838, 380, 415, 380, 365, 696, 696, 696, 696, 696,
         696, 696, 696, 696, 696, 400, 400, 838, 838, 838, 580, 1000, 774, 762, 734, 830, 683, 683, 821, 837, 372,
         372, 775, 637, 995, 837, 850, 733, 850, 770, 720, 682, 812, 774, 1103, 771, 724, 725, 457, 365, 457, 838,
         500, 500, 675, 716, 593, 716, 678, 435, 716, 712, 343, 343, 665, 343, 1042, 712, 687, 716, 716, 493, 595,
         478, 712, 652, 924, 645, 652, 582, 712, 365, 712, 838]

PICTURES = {}  # {file name: function}, of the script that is being run


def picture(name):
    """Registers a function that returns a Card (or the text of an SVG) as the picture of that file name."""
    def register(function):
        if name in PICTURES:
            raise ValueError(f"two pictures are named {name}")
        PICTURES[name] = function
        return function
    return register


def constant(path, name):
    """A number that a kernel file sets, `constexpr int kTile = 32;` (products and sums of numbers are worked out), or in Python a
    line `TILE = 32`, `ROWS, COLS = 8, 128` or `SCALE = tl.constexpr(0.5)`.

    path is relative to the root of the repository. ValueError where the file has no such constant, so that a picture
    cannot go on showing what the kernel no longer does.
    """
    text = (Path(__file__).resolve().parent.parent / path).read_text(encoding="utf-8")
    known = {}
    for names, numbers in re.findall(r"^([A-Z][\w, ]*) = ([\d, ]+)$", text, re.MULTILINE) if path.endswith(".py") else ():
        known.update(zip(names.split(", "), map(int, numbers.split(", "))))
    for key, number in re.findall(r"^([A-Z]\w*) = tl\.constexpr\((-?[\d.]+(?:e-?\d+)?)\)", text, re.MULTILINE) if path.endswith(".py") else ():
        known[key] = float(number)
    for found in re.findall(r"constexpr\s+\w+\s+(k\w+\s*=[^;]*?);", text):
        for part in found.split(","):
            key, _, right = part.partition("=")
            right = re.sub(r"\bk\w+", lambda m: str(known.get(m[0], m[0])), right).strip()
            if re.fullmatch(r"[\d\s+*/()<-]+", right):
                known[key.strip()] = int(eval(right.replace("/", "//")))  # pylint: disable=eval-used; digits and operators
    if name not in known:
        raise ValueError(f"{path} sets no constant {name}")
    return known[name]


def width_of(words, size, bold=False):
    """How wide words are at most, in units: in DejaVu Sans. A character beyond ASCII counts as a wide one."""
    widths = _BOLD if bold else _PLAIN
    return sum(widths[ord(c) - 32] if " " <= c <= "~" else 1000 for c in words) * size / 1000


class Place:
    """A rectangle on a card."""

    def __init__(self, left, top, width, height):
        self.left, self.top, self.width, self.height = left, top, width, height
        self.right, self.bottom = left + width, top + height
        self.x, self.y = left + width / 2, top + height / 2  # its middle


class Array(Place):
    """A row of cells; cell(i) is where one lies, cells(first, last) where a run of them does."""

    def __init__(self, left, top, size, height, count):
        super().__init__(left, top, size * count, height)
        self.size, self.count = size, count

    def cell(self, i):
        return self.cells(i, i)

    def cells(self, first, last):
        return Place(self.left + first * self.size, self.top, (last - first + 1) * self.size, self.height)


class Matrix(Place):
    """Rows and columns of cells; cell(row, col) is where one lies, tile(row, col, rows, cols) where several do."""

    def __init__(self, left, top, size, rows, cols):
        super().__init__(left, top, size * cols, size * rows)
        self.size, self.rows, self.cols = size, rows, cols

    def cell(self, row, col):
        return self.tile(row, col, 1, 1)

    def tile(self, row, col, rows, cols):
        return Place(self.left + col * self.size, self.top + row * self.size, cols * self.size, rows * self.size)


class Card:
    """A sheet with a title; `about` says in a sentence what is seen, for those who cannot see it."""

    def __init__(self, title, height, about=""):
        self.title, self.height, self.about = title, height, about
        self.under, self.parts = [], []  # what lies below everything, and the rest in order
        self.words, self.lines = [], []  # for the check of what can be read
        self.text(WIDTH / 2, 32, title, size=20, bold=True)

    # --- lines and words ---

    def text(self, x, y, words, size=16, color=INK, at="middle", bold=False):
        """Words with their baseline at y; `at` says which end of them is at x: start, middle, end."""
        words = str(words)
        weight = ' font-weight="700"' if bold else ""
        self.parts.append(f'<text x="{x:g}" y="{y:g}" font-size="{size:g}" fill="{color}" text-anchor="{at}"{weight}>'
                          f"{escape(words)}</text>")
        width = width_of(words, size, bold)
        left = x - {"start": 0, "middle": width / 2, "end": width}[at]
        self.words.append((words, left, y - 0.72 * size, left + width, y + 0.2 * size))

    def box(self, x, y, width, height, fill="none", line=LINE, thick=1.2, round=3, dashed=False):  # pylint: disable=redefined-builtin
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        self.parts.append(f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{round}" fill="{fill}" '
                          f'stroke="{line}" stroke-width="{thick}"{dash}/>')
        return Place(x, y, width, height)

    def line(self, x1, y1, x2, y2, color=LINE, thick=1.6, dashed=False, through=False):
        """through: it may cross words."""
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        self.parts.append(f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke="{color}" stroke-width="{thick}"{dash}/>')
        if not through:
            self.lines.append((x1, y1, x2, y2))

    def arrow(self, x1, y1, x2, y2, color=SOFT, thick=1.8, through=False):
        """An arrow whose point is at x2, y2."""
        length = ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5
        dx, dy = (x2 - x1) / length, (y2 - y1) / length
        bx, by = x2 - 8 * dx, y2 - 8 * dy
        self.line(x1, y1, bx, by, color, thick, through=through)
        points = f"{x2:g},{y2:g} {bx - 4.5 * dy:g},{by + 4.5 * dx:g} {bx + 4.5 * dy:g},{by - 4.5 * dx:g}"
        self.parts.append(f'<polygon points="{points}" fill="{color}"/>')

    def disc(self, x, y, words, color=SOFT, radius=13):
        """A thread or a step: white words in a disc."""
        self.parts.append(f'<circle cx="{x:g}" cy="{y:g}" r="{radius}" fill="{color}"/>')
        self.text(x, y + 5.5, words, 15, WHITE, bold=True)

    def curve(self, x1, y1, x2, y2, bend, color=SOFT, thick=1.8):
        """An arrow that bows by `bend` units upwards (downwards where negative) between its ends."""
        mx, my = (x1 + x2) / 2, (y1 + y2) / 2 - 2 * bend
        length = ((x2 - mx) ** 2 + (y2 - my) ** 2) ** 0.5
        dx, dy = (x2 - mx) / length, (y2 - my) / length
        bx, by = x2 - 8 * dx, y2 - 8 * dy
        self.parts.append(f'<path d="M{x1:g},{y1:g} Q{mx:g},{my:g} {bx:g},{by:g}" fill="none" stroke="{color}" stroke-width="{thick}"/>')
        points = f"{x2:g},{y2:g} {bx - 4.5 * dy:g},{by + 4.5 * dx:g} {bx + 4.5 * dy:g},{by - 4.5 * dx:g}"
        self.parts.append(f'<polygon points="{points}" fill="{color}"/>')

    def frame(self, place, color=INK, thick=3, pad=2):
        """A thick frame around a place: a tile, or a sector."""
        self.box(place.left - pad, place.top - pad, place.width + 2 * pad, place.height + 2 * pad, line=color, thick=thick)

    # --- rows of cells and what lies over them ---

    def cells(self, top, name, values, left=None, size=40, height=None, fill=EMPTY, fills=None, inks=None):
        """A row of cells. fills and inks, {cell: colour}, are for cells that differ from the rest."""
        height = height or size
        left = (WIDTH - len(values) * size) / 2 if left is None else left
        array = Array(left, top, size, height, len(values))
        for i, value in enumerate(values):
            cell = array.cell(i)
            self.box(cell.left, top, size, height, (fills or {}).get(i, fill), round=2)
            if value != "":
                ink = (inks or {}).get(i, INK)
                self.text(cell.x, cell.y + 6, value, min(17, 0.5 * height + 4), ink, bold=ink != INK)
        if name:
            self.text(left - 10, array.y + 6, name, at="end", bold=True)
        return array

    def places(self, array, labels, below=True, color=SOFT):
        """Small labels under (or over) cells, {cell: label}: their indices, say."""
        for i, label in labels.items():
            self.text(array.cell(i).x, array.bottom + 18 if below else array.top - 8, label, 15, color)

    def window(self, array, first, last, words, gap=10, below=True, color=SOFT):
        """A bracket along cells first to last, with words at its middle."""
        sign = 1 if below else -1
        edge = (array.bottom if below else array.top) + sign * gap
        left, right = array.cell(first).left + 3, array.cell(last).right - 3
        self.line(left, edge, left, edge + sign * 7, color, 2)
        self.line(right, edge, right, edge + sign * 7, color, 2)
        self.line(left, edge + sign * 7, right, edge + sign * 7, color, 2)
        self.text((left + right) / 2, edge + (26 if below else -14), words, 16, color)

    def needs(self, output, i, array, first, last):
        """Shows that cell i of output, above array, is made of its cells first to last: its window, shaded."""
        top, bottom = output.cell(i), array.cells(first, last)
        self._shade([(top.left, top.bottom), (top.right, top.bottom), (bottom.right, bottom.top - 3), (bottom.left, bottom.top - 3)])

    def _shade(self, corners, fill=OUTPUT, line=GOOD):
        points = " ".join(f"{x:g},{y:g}" for x, y in corners)
        self.under.append(f'<polygon points="{points}" fill="{fill}" fill-opacity="0.6" stroke="{line}"/>')

    def threads(self, array, owners, top, color=None, radius=13):
        """Threads (or lanes) as numbered discs below an array, each with an arrow to its cell: {cell: thread}."""
        for i, thread in owners.items():
            x, fill = array.cell(i).x, color or THREADS[thread % 4]
            self.arrow(x, top, x, array.bottom + 3, fill)
            self.disc(x, top + radius, thread, fill, radius)
        return Array(array.left, top, array.size, 2 * radius, array.count)  # for a window under the discs

    def owned(self, top, owners, size=26, group=None, frame=None, height=None, gap=10, left=None):
        """Cells in the colour and with the number of the thread that touches each; None is nobody's.

        With a group of so many cells there is a gap between groups. With a frame's colour the groups are sectors, and those
        that anybody touches are framed in it.
        """
        group = group or len(owners)
        groups = [owners[i:i + group] for i in range(0, len(owners), group)]
        left = (WIDTH - len(owners) * size - gap * (len(groups) - 1)) / 2 if left is None else left
        for part in groups:
            loud = {i: THREADS[t % 4] for i, t in enumerate(part) if t is not None}
            array = self.cells(top, "", ["" if t is None or size < 12 else t for t in part], left, size, height, fills=loud,
                               inks=dict.fromkeys(loud, WHITE))
            if frame:
                self.frame(array, frame if loud else LINE, 3.5 if loud else 1.5, 3)
            left += group * size + gap

    def barrier(self, y, left=32):
        self.line(left, y, WIDTH - left - 70, y, BAD, 3, dashed=True)
        self.text(WIDTH - left, y + 5, "barrier", 16, BAD, "end", bold=True)

    # --- matrices, tiles, fragments ---

    def matrix(self, left, top, rows, cols, size=20, name="", fill=EMPTY, values=None, fills=None, inks=None, row_names=(), col_names=()):
        """A matrix of cells. values, fills, inks: {(row, col): ...} or a function of row and col; None leaves a cell plain."""
        matrix = Matrix(left, top, size, rows, cols)
        pick = lambda of, row, col: of(row, col) if callable(of) else (of or {}).get((row, col))
        for row in range(rows):
            for col in range(cols):
                cell = matrix.cell(row, col)
                colour, value, ink = (pick(of, row, col) for of in (fills, values, inks))
                self.box(cell.left, cell.top, size, size, colour or fill, round=1, thick=0.8)
                if value is not None and value != "":
                    words = min(16, 0.62 * size)
                    self.text(cell.x, cell.y + 0.36 * words, value, words, ink or INK, bold=bool(ink))
        for row, words in enumerate(row_names):
            self.text(left - 6, matrix.cell(row, 0).y + 5, words, 15, SOFT, "end")
        for col, words in enumerate(col_names):
            self.text(matrix.cell(0, col).x, top - 6, words, 15, SOFT)
        if name:
            self.text(matrix.x, top - (26 if col_names else 10), name, bold=True)
        return matrix

    def sheet(self, left, top, width, height, name="", fill=EMPTY):
        """A matrix too big to show its cells: a plain sheet, its name above it."""
        if name:
            self.text(left + width / 2, top - 10, name, bold=True)
        return self.box(left, top, width, height, fill, round=1)

    def tile(self, place, words="", fill=SHARED, color=INK, ink=INK):
        """A framed tile over a place of a matrix or sheet."""
        self.box(place.left, place.top, place.width, place.height, fill, color, 2.4, 1)
        if words != "":
            self.text(place.x, place.y + 6, words, 16, ink, bold=True)

    def path(self, places, color=BAD, steps=False):
        """The way of a tile: an arrow from the middle of each place to the next; with steps their numbers in discs."""
        for a, b in zip(places, places[1:]):
            self.arrow(a.x, a.y, b.x, b.y, color, 2.4, through=True)
        if steps:
            for number, place in enumerate(places):
                self.disc(place.x, place.y, number, color, 11)

    def fragment(self, left, top, rows, cols, owner, size=24, name="", lanes=(), row_names=(), col_names=()):
        """A matrix as the lanes of a warp hold it: owner(row, col) is the lane, whose number each cell shows.

        The cells of `lanes` (at most four) are in colour, the others pale.
        """
        loud = {lane: THREADS[i] for i, lane in enumerate(lanes)}
        return self.matrix(left, top, rows, cols, size, name, EMPTY, values=owner,
                           fills=lambda r, c: loud.get(owner(r, c)), inks=lambda r, c: WHITE if owner(r, c) in loud else None,
                           row_names=row_names, col_names=col_names)

    # --- shared memory ---

    def banks(self, left, top, rows, banks, word, wanted, size=40, label=True):
        """Shared memory as a table with a column a bank: word(row, bank) is what lies there, None where nothing does.

        wanted are the words that threads ask for at the same time: {word: thread}.
        """
        names = range(banks) if label else ()
        table = self.matrix(left, top, rows, banks, size, fill=SHARED, values=word, col_names=names,
                            fills=lambda r, b: THREADS[wanted[word(r, b)] % 4] if word(r, b) in wanted
                            else WHITE if word(r, b) is None else SHARED,
                            inks=lambda r, b: WHITE if word(r, b) in wanted else None)
        if label:
            self.text(left - 6, top - 6, "bank", 15, SOFT, "end")
        return table

    # --- what threads do together ---

    def tree(self, top, values, combine, rise=62, left=40, fills=None):
        """A reduction by halves: each level adds the upper half of the lanes to the lower one. Returns the last disc's Place.

        values are the lanes' own; combine(a, b) makes the next level's.
        """
        step, level, values = (WIDTH - 2 * left) / (len(values) - 1), 0, list(values)
        at = lambda i: left + i * step
        while True:
            y = top + level * rise
            for i, value in enumerate(values):
                self.disc(at(i), y, value, (fills or THREADS)[level % 4], 16)
            half = len(values) // 2
            if half == 0:
                return Place(at(0) - 16, y - 16, 32, 32)
            for i in range(half):
                self.arrow(at(i), y + 17, at(i), y + rise - 18, SOFT)
                self.arrow(at(i + half), y + 17, at(i) + 12, y + rise - 15, SOFT)
            values = [combine(values[i], values[i + half]) for i in range(half)]
            level += 1

    def butterfly(self, top, values, combine, rise=70, left=40):
        """shuffles with lane XOR 1, 2, 4, ...: after the last level every lane has the result. Strides are written at the left."""
        step, count = (WIDTH - 2 * left - 24) / (len(values) - 1), len(values)
        at = lambda i: left + 24 + i * step
        values, stride, y = list(values), 1, top
        for i, value in enumerate(values):
            self.disc(at(i), y, value, THREADS[0], 16)
        while stride < count:
            for i in range(count):
                self.arrow(at(i), y + 17, at(i), y + rise - 18, LINE, 1.4)
                self.arrow(at(i), y + 17, at(i ^ stride) + (-9 if (i ^ stride) > i else 9), y + rise - 17, SOFT, 1.4)
            self.text(left - 10, y + rise / 2 + 5, f"^ {stride}", 15, SOFT, bold=True)
            values = [combine(values[i], values[i ^ stride]) for i in range(count)]
            y += rise
            for i, value in enumerate(values):
                self.disc(at(i), y, value, THREADS[0], 16)
            stride *= 2
        return y

    def chain(self, top, blocks, looks=(), width=72, gap=22, height=54):
        """Blocks in a row, (name, state, colour): a look-back chain. looks: (from, to) are arrows over their heads."""
        left = (WIDTH - len(blocks) * width - (len(blocks) - 1) * gap) / 2
        places = []
        for i, (name, state, fill) in enumerate(blocks):
            place = self.box(left + i * (width + gap), top, width, height, fill)
            self.text(place.x, place.y - 5, name, 15, bold=True)
            self.text(place.x, place.y + 15, state, 15)
            places.append(place)
        for start, end in looks:
            a, b = places[start], places[end]
            self.curve(a.x - 6, a.top - 3, b.x + 6, b.top - 3, 16 + 9 * abs(start - end), BAD)
        return places

    # --- time and distance ---

    def time(self, top, rows, left=84, height=34, end=None, words="time"):
        """A time line for each of rows, (name, steps); a step is (words, from, to, colour) in units of time."""
        end = end or max(step[2] for _, steps in rows for step in steps)
        unit = (WIDTH - left - 24) / end
        for row, (name, steps) in enumerate(rows):
            y = top + row * (height + 12)
            self.text(left - 10, y + height / 2 + 6, name, at="end", bold=True)
            for what, start, stop, fill in steps:
                self.box(left + start * unit, y, (stop - start) * unit, height, fill or "none", dashed=not fill)
                if what != "":
                    self.text(left + (start + stop) / 2 * unit, y + height / 2 + 6, what, 15)
        y = top + len(rows) * (height + 12) + 4
        self.arrow(left, y, WIDTH - 24, y)
        self.text(WIDTH - 24, y + 20, words, 15, SOFT, "end")
        return y

    def levels(self, top, levels, height=46):
        """Memory as steps away from the arithmetic, nearest first: (name, what it holds, how far it is, colour)."""
        for i, (name, holds, far, fill) in enumerate(levels):
            inset = 90 - 66 * i / max(1, len(levels) - 1)
            place = self.box(inset, top + i * (height + 8), WIDTH - 2 * inset, height, fill)
            self.text(place.left + 12, place.y + 6, name, 16, at="start", bold=True)
            self.text(place.x + 18, place.y + 6, holds, 15)
            self.text(place.right - 12, place.y + 6, far, 15, SOFT, "end")

    # --- the file ---

    def complaints(self):
        """What could not be read, as sentences."""
        for words, left, top, right, bottom in self.words:
            if left < 4 or right > WIDTH - 4 or top < 2 or bottom > self.height - 2:
                yield f'"{words}" leaves the sheet: {left:.0f} to {right:.0f} of {WIDTH}, {top:.0f} to {bottom:.0f} of {self.height}'
        for i, (a, left, top, right, bottom) in enumerate(self.words):
            for b, l2, t2, r2, b2 in self.words[i + 1:]:
                if min(right, r2) - max(left, l2) > 1 and min(bottom, b2) - max(top, t2) > 1:
                    yield f'"{a}" lies on "{b}" at {max(left, l2):.0f}, {max(top, t2):.0f}'
            for x1, y1, x2, y2 in self.lines:
                if _crosses(x1, y1, x2, y2, left + 1, top + 1, right - 1, bottom - 2):
                    yield f'a line from {x1:.0f}, {y1:.0f} to {x2:.0f}, {y2:.0f} goes through "{a}"'

    def svg(self):
        """The picture as text. ValueError where a reader could not read it."""
        wrong = list(self.complaints())
        if wrong:
            raise ValueError(f'picture "{self.title}": ' + "; ".join(wrong))
        about = f"<desc>{escape(self.about)}</desc>" if self.about else ""
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self.height:g}" width="720" '
                f'height="{self.height * 1.5:g}" role="img" font-family="Helvetica, Arial, sans-serif">'
                f"<title>{escape(self.title)}</title>{about}"
                f'<rect x="1" y="1" width="{WIDTH - 2}" height="{self.height - 2:g}" rx="10" fill="#ffffff" stroke="#d0d7de"/>\n'
                + "\n".join(self.under + self.parts) + "\n</svg>\n")


def _crosses(x1, y1, x2, y2, left, top, right, bottom):
    """Whether the line from x1, y1 to x2, y2 enters the rectangle (Liang and Barsky's clipping)."""
    start, end = 0.0, 1.0
    for p, q in ((x1 - x2, x1 - left), (x2 - x1, right - x1), (y1 - y2, y1 - top), (y2 - y1, bottom - y1)):
        if p == 0:
            if q < 0:
                return False
        elif p < 0:
            start = max(start, q / p)
        else:
            end = min(end, q / p)
    return start < end
