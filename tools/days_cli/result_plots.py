# SPDX-License-Identifier: MIT
"""Results as pictures: a ladder's bars beside the device's limit and the library, and a sweep's lines over the sizes.

SVG on a white card of its own, so that it is readable on a dark page too; the same results give the same bytes.
"""
from __future__ import annotations

import math
from xml.sax.saxutils import escape

from days_cli import result_table, results, stale

MOST_LINES = 5  # of a chart: more cannot be told apart
WIDTH = 640  # units; text of 12 stays readable on a narrow page
_INK, _SOFT, _FAINT, _RUNG, _BEST, _LIBRARY, _PEER, _LIMIT = (
    "#1f2430", "#57606a", "#eaeef2", "#8fb4dd", "#2f6fbb", "#b8a6d9", "#6f42c1", "#1f2430")
_LINES = ("#2f6fbb", "#c2410c", "#1a7f37", "#65a30d", "#9a6700", "#cf222e", "#0e7490", "#57606a")
_PEERS = (("#6f42c1", "5 4"), ("#bf3989", "2 3"), ("#57606a", "8 3 2 3"))  # colour and dashes of a sweep's libraries
_PEER_OF = {"torch.compile": 1, "torch": 2, "torch copy_": 2, "torch FLASH": 1}  # which of these; the first of all others
_FONT = "system-ui,Segoe UI,Helvetica,Arial,sans-serif"


def _text(x, y, words, size=12, colour=_INK, anchor="start", bold=False):
    weight = ' font-weight="600"' if bold else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{colour}" text-anchor="{anchor}"{weight}>{escape(words)}</text>'


def _line(x1, y1, x2, y2, colour=_SOFT, width=1.0, dash=""):
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return (f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" '
            f'stroke-width="{width}"{dashed}/>')


def _rect(x, y, width, height, fill):
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="2" fill="{fill}"/>'


def _svg(height, label, parts):
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" width="{WIDTH}" height="{height:.0f}" '
        f'role="img" font-family="{_FONT}">',
        f"<title>{escape(label)}</title>",
        f'<rect x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1:.0f}" rx="8" fill="#ffffff" stroke="#d0d7de"/>',
        *parts, "</svg>"]) + "\n"


def caption(found):
    return (f"{found['device']['name']}, CUDA {found['cuda']}, commit {found['commit'][:7] or 'unknown'}, "
            f"{found['date'][:10]}: docs/results/{results.slug(found['device']['name'])}/{found['day'][:5]}.json")


def nice_step(top, most):
    """The least of 1, 2, 5 x 10^n of which at most `most` fit below top."""
    power = 10.0 ** math.floor(math.log10(top / most))
    return next(factor * power for factor in (1, 2, 5, 10) if top / (factor * power) <= most)


def _number(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:g}"


def alt(table):
    """What the ladder's picture shows, in a sentence."""
    best, library = results.best(table), results.library(table)
    words = f"{results.title(table)}: {best['name']} reaches {result_table.digits(results.rate(table, best))} {results.unit(table)}"
    if best.get("of_limit"):
        words += f", {result_table.percent(best['of_limit'])} of the limit"
    if library:
        words += f"; {library['name']} {result_table.digits(results.rate(table, library))}"
    return words


def ladder(found, table):
    """Horizontal bars; a solid line at the limit, a dashed one at the fastest library, whiskers of the noise."""
    rows = [row for row in table["rows"] if row["kind"] != "cpu" and row.get("seconds")]
    best, library, limit = results.best(table), results.library(table), table.get("limit")
    speeds = [results.rate(table, row) for row in rows]
    tops = [speed * (1 + row.get("noise", 0)) for speed, row in zip(speeds, rows)]
    ceiling = results.scaled(table, limit["per_second"]) if limit else 0
    top = 1.02 * max([ceiling, *tops])
    left = 26 + 7.6 * max(len(stale.name(row)) for row in rows)
    right, first, pitch = WIDTH - 118, 88, 26
    bottom = first + pitch * len(rows)
    at = lambda value: left + (right - left) * value / top  # noqa: E731
    unit = results.unit(table)
    parts = [_text(16, 26, f"{results.name(table)}, {results.size(table, ' × ')} {table['type']}", 15, bold=True)]
    step = nice_step(top, 5)
    for i in range(int(top / step) + 1):
        parts += [_line(at(i * step), first - 4, at(i * step), bottom, _FAINT),
                  _text(at(i * step), bottom + 16, _number(i * step), 11, _SOFT, "middle")]
    parts.append(_text(right + 12, bottom + 16, unit, 11, _SOFT))
    for i, (row, speed) in enumerate(zip(rows, speeds)):
        y = first + pitch * i
        fill = _LIBRARY if row["kind"] == "library" else _BEST if row is best else _RUNG
        parts += [_text(left - 8, y + 14, stale.name(row), 12, anchor="end", bold=row is best),
                  _rect(left, y + 2, max(1.0, at(speed) - left), pitch - 8, fill)]
        # The time's spread as the speed's.
        low, high = at(speed / (1 + row.get("noise", 0))), at(speed / max(0.1, 1 - row.get("noise", 0)))
        if high - low >= 1:
            middle = y + 2 + (pitch - 8) / 2
            parts += [_line(low, middle, high, middle, _INK), _line(low, middle - 3, low, middle + 3, _INK),
                      _line(high, middle - 3, high, middle + 3, _INK)]
        share = row.get("of_limit")
        share = "" if share is None else f" · {100 * share:.1f}%" if share < 0.01 else f" · {result_table.percent(share)}"
        parts.append(_text(right + 12, y + 14, f"{result_table.digits(speed)}{share}", 12, bold=row is best))
    if ceiling:
        parts += [_line(at(ceiling), first - 32, at(ceiling), bottom, _LIMIT, 1.6),
                  _text(at(ceiling) - 6, first - 26, f"limit: its own {limit['name']}, {result_table.digits(ceiling)}", 11, _INK, "end")]
    if library:
        x = at(results.rate(table, library))
        side = {"anchor": "start"} if x < left + 8 * len(library["name"]) else {"anchor": "end"}
        parts += [_line(x, first - 16, x, bottom, _PEER, 1.4, "5 4"),
                  _text(x + (6 if side["anchor"] == "start" else -6), first - 9, library["name"], 11, _PEER, **side)]
    changed = stale.any_changed([table])
    if changed:
        parts.append(_text(16, bottom + 56, "†: its kernel has changed since it was measured.", 11, _SOFT))
    parts.append(_text(16, bottom + 40, caption(found), 11, _SOFT))
    return _svg(bottom + (70 if changed else 54), alt(table), parts)


def curves(tables):
    """{(name, kind): [(bytes, rate)]} of a sweep, MOST_LINES at most: up to two libraries, and the rungs, each of them those that are
    the fastest at most sizes, then at the biggest."""
    found, changed = {}, {row["name"] for table in tables for row in table["rows"] if row.get("changed")}
    for table in tables:
        for row in table["rows"]:
            if row["kind"] != "cpu" and row.get("seconds"):
                name = row["name"] + (stale.MARK if row["name"] in changed else "")
                found.setdefault((name, row["kind"]), []).append((_extent(table), results.rate(table, row)))
    found = {key: sorted(points) for key, points in found.items() if len(points) > 1}
    wins = dict.fromkeys(found, 0)
    for table in tables:
        for library in (False, True):
            here = {key: dict(points)[_extent(table)] for key, points in found.items()
                    if (key[1] == "library") == library and _extent(table) in dict(points)}
            if here:
                wins[max(here, key=here.get)] += 1
    ranked = sorted(found.items(), key=lambda item: (-wins[item[0]], -item[1][-1][0], -item[1][-1][1], item[0][0]))
    libraries = [item for item in ranked if item[0][1] == "library"][:2]
    return dict([item for item in ranked if item[0][1] != "library"][:MOST_LINES - len(libraries)] + libraries)


def _colours(tables, lines):
    """{(name, kind): (colour, dashes)}: those of a rung by its place in the ladder, of a library by its name, so that they are the
    same on all charts; where two of a chart would have the same, the second takes the next that is free."""
    order = list(dict.fromkeys(row["name"] for table in tables for row in table["rows"] if row["kind"] == "variant"))
    found = {}
    for name, kind in lines:
        own, choice = name.replace(stale.MARK, ""), _PEERS if kind == "library" else [(colour, "") for colour in _LINES]
        wanted = _PEER_OF.get(own, 0) if kind == "library" else order.index(own)
        free = [style for style in [*choice[wanted % len(choice):], *choice] if style not in found.values()]
        found[name, kind] = free[0] if free else choice[wanted % len(choice)]
    return found


def _extent(table):
    return table["shape"][table["over"]] if "over" in table else table["read_bytes"] + table["written_bytes"]


def _sweep_title(tables):
    first = tables[0]
    each = f", {first['each']} {first['shape'][first['each']]}" if "each" in first else ""
    return f"{first['ladder']} {first['type']}{each}: {results.unit(first)} over " + first.get("over", "the bytes it takes")


def sweep_alt(tables):
    return f"{_sweep_title(tables)}: {', '.join(name for name, _ in curves(tables))}"


def _varying(tables):
    """The names of the extents in which the sizes of a sweep differ."""
    return [name for name in tables[0]["shape"] if len({table["shape"][name] for table in tables}) > 1]


def _is_odd(table, names):
    """Whether a size is one that no 16 bytes or tile divides: an extent that is no multiple of 16; of a matrix any that isn't one of 8."""
    if "over" in table:
        return _extent(table) % 16 > 0
    return any(table["shape"][name] % 8 for name in names)


def _panels(found, tables):
    """(the tables of the main panel, those of the one beside it, what that is called). A line through sizes of both kinds would leap. Odd sizes
    stand beside, and of sizes within 3% of each other all but one, the main table's or the roundest. Fewer than three are no line: then all
    are in one panel."""
    names, shapes = _varying(tables), [table["shape"] for table in results.main_tables(found)]
    aside = [table for table in tables if _is_odd(table, names)]
    main, odd = [], len(aside)
    for table in sorted((table for table in tables if table not in aside), key=_extent):
        if main and _extent(table) < 1.03 * _extent(main[-1]):
            first, second = sorted((main.pop(), table), key=lambda one: (one["shape"] in shapes, int(_extent(one)) & -int(_extent(one))))
            aside.append(first)
            table = second
        main.append(table)
    if len(main) < 3:
        return tables, [], ""
    called = ", ".join(["odd sizes"] * (odd > 0) + ["other shapes"] * (len(aside) > odd))
    return main, sorted(aside, key=_extent), called


class _Axes:
    """Where speeds and sizes of the panels are."""
    FIRST, BOTTOM, LEFT = 56, 300, 64

    def __init__(self, main, aside, names, top, legend):
        self._top, self._names = top, names
        self._mark = str if "over" in main[0] else result_table.bytes_text
        gap = 6 + 3 * len(self._mark(_extent(main[-1])))  # half of the last size's words, and some
        self._marks = [self._words(table) for table in aside]
        pitch = 14 + 6 * max((len(word) for words in self._marks for word in words), default=0)
        self.far = WIDTH - legend  # where names begin
        self.right = self.far - (pitch * len(aside) + gap if aside else 0)
        self.beside = self.right + gap
        self._low, high = (math.log2(_extent(table)) for table in (main[0], main[-1]))
        self._span = max(1e-9, high - self._low)
        self._places = {id(table): self.x(_extent(table)) for table in main}
        self._places.update((id(table), self.beside + pitch * (i + 0.5)) for i, table in enumerate(aside))
        self._aside = aside

    def _words(self, table):
        """A size beside the main panel in full, a line for each extent that varies."""
        if "over" in table:
            return [str(_extent(table))]
        numbers = [str(table["shape"][name]) for name in self._names]
        return [f"{number} ×" for number in numbers[:-1]] + numbers[-1:]

    def x(self, extent):
        return self.LEFT + (self.right - self.LEFT) * (math.log2(extent) - self._low) / self._span

    def place(self, table):
        return self._places[id(table)]

    def y(self, rate):
        return self.BOTTOM - (self.BOTTOM - self.FIRST) * rate / self._top

    def lines_below(self):
        return max((len(words) for words in self._marks), default=1)

    def drawn(self, called):
        """Grid and sizes of both panels."""
        parts, step = [], nice_step(self._top, 5)
        for i in range(int(self._top / step) + 1):
            parts += [_line(self.LEFT, self.y(i * step), self.right, self.y(i * step), _FAINT),
                      _text(self.LEFT - 8, self.y(i * step) + 4, _number(i * step), 11, _SOFT, "end")]
            if self._aside:
                parts.append(_line(self.beside, self.y(i * step), self.far, self.y(i * step), _FAINT))
        least, high = math.ceil(self._low - 1e-9), self._low + self._span
        room = 7 + (6.2 if self._mark is str else 7) * len(self._mark(2**int(high + 1e-9)))
        every = max(1, math.ceil(self._span * room / (self.right - self.LEFT)))
        for power in range(least, int(high + 1e-9) + 1, every):
            parts += [_line(self.x(2**power), self.BOTTOM, self.x(2**power), self.BOTTOM + 4),
                      _text(self.x(2**power), self.BOTTOM + 18, self._mark(2**power), 11, _SOFT, "middle")]
        for table, words in zip(self._aside, self._marks):
            parts.append(_line(self.place(table), self.BOTTOM, self.place(table), self.BOTTOM + 4))
            parts += [_text(self.place(table), self.BOTTOM + 18 + 13 * i, word, 11, _SOFT, "middle") for i, word in enumerate(words)]
        if self._aside:
            parts.append(_text((self.beside + self.far) / 2, self.FIRST - 12, called, 11, _SOFT, "middle"))
        return parts


def sweep(found, tables):
    """Speed over the bytes that the problem takes or over an extent, spaced by their logarithm; odd sizes in a panel beside that."""
    tables = sorted(tables, key=lambda table: (_extent(table), list(table["shape"].values())))
    main, aside, called = _panels(found, tables)
    lines = curves(tables)
    limit = tables[-1].get("limit")
    ceiling = results.scaled(tables[-1], limit["per_second"]) if limit else 0
    top = 1.04 * max([ceiling, *(rate for points in lines.values() for _, rate in points)])
    axes = _Axes(main, aside, _varying(tables), top, 150)
    parts = [_text(16, 26, _sweep_title(tables), 15, bold=True), *axes.drawn(called)]
    if ceiling:
        for left, right in ((axes.LEFT, axes.right), (axes.beside, axes.far))[:2 if aside else 1]:
            parts.append(_line(left, axes.y(ceiling), right, axes.y(ceiling), _LIMIT, 1.6))
    ends, colours = [], _colours(tables, lines)
    for name, kind in lines:
        colour, dashes = colours[name, kind]
        dash = f' stroke-dasharray="{dashes}"' if dashes else ""
        for panel in (main, aside):
            rates = _rates(panel, name, kind)
            for run in _growing(rates):
                path = " ".join(f"{axes.place(table):.1f},{axes.y(rate):.1f}" for table, rate in run)
                parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.8"{dash}/>')
            parts += [f'<circle cx="{axes.place(table):.1f}" cy="{axes.y(rate):.1f}" r="2.2" fill="{colour}" stroke="{colour}"/>'
                      for table, rate in rates]
        last = (_rates(main, name, kind) or _rates(aside, name, kind))[-1][1]
        ends.append((axes.y(last), name, colour, dashes))
    for y, (own, name, colour, dashes) in zip(_apart([end[0] for end in sorted(ends)], 15, axes.FIRST, axes.BOTTOM), sorted(ends)):
        # Beside the main panel alone a name is led to the line's end; elsewhere it has a piece of the line.
        parts += [_line(axes.far + 10, y, axes.far + 28, y, colour, 1.8, dashes) if aside else _line(axes.far + 3, own, axes.far + 13, y, colour, 0.8),
                  _text(axes.far + (33 if aside else 16), y + 4, name, 12, colour)]
    if ceiling:  # over the lines that may cross it, with an edge of the card's white
        words = _text(axes.LEFT + 4, axes.y(ceiling) - 5, f"limit: its own {limit['name']}, {result_table.digits(ceiling)}", 11)
        parts.append(words.replace("<text ", '<text paint-order="stroke" stroke="#ffffff" stroke-width="4" ', 1))
    below = axes.BOTTOM + 33 + 13 * axes.lines_below()
    parts.append(_text(16, below, caption(found), 11, _SOFT))
    return _svg(below + 14, sweep_alt(tables), parts)


def _growing(rates):
    """[[(table, rate)]] that lines join: of shapes of one size none, because they lead from nothing to nothing."""
    runs = []
    for one in rates:
        if runs and _extent(one[0]) >= 1.03 * _extent(runs[-1][-1][0]):
            runs[-1].append(one)
        else:
            runs.append([one])
    return [run for run in runs if len(run) > 1]


def _rates(tables, name, kind):
    """[(table, rate)] where a contestant of `curves` was timed."""
    own = name.replace(stale.MARK, "")
    return [(table, results.rate(table, row)) for table in tables for row in table["rows"]
            if (row["name"], row["kind"]) == (own, kind) and row.get("seconds")]


def _apart(places, least, first, last):
    """Sorted places moved as little as a pass down and one up can, so that neighbours are `least` apart."""
    down = []
    for place in places:
        down.append(max(place, down[-1] + least) if down else max(place, first))
    up = []
    for place in reversed(down):
        up.append(min(place, up[-1] - least) if up else min(place, last))
    return up[::-1]


def _can_be_drawn(table):
    timed = [row for row in table["rows"] if row["kind"] != "cpu" and row.get("seconds")]
    return results.best(table) is not None and len(timed) > 1 and all(results.rate(table, row) for row in timed)


def pictures(found):
    """[(file's name, SVG, what it shows)]: of each ladder its main table, and each of its sweeps. Of a program day a table may
    hold a single row, or times without a rate: neither makes a plot."""
    gpu = results.slug(found["device"]["name"])
    made = [(f"results_{gpu}_{results.name(table).replace(' ', '_')}.svg", ladder(found, table), alt(table))
            for table in results.main_tables(found) if _can_be_drawn(table)]
    plots = {}
    for table in (table for tables in results.sweeps(found) for table in tables):
        each = f"_{table['each']}{table['shape'][table['each']]}" if "each" in table else ""
        plots.setdefault(f"{table['ladder']}_{table['type']}{each}", []).append(table)
    for name, tables in plots.items():
        if len(tables) > 2 and curves(tables):
            made.append((f"results_{gpu}_{name}_sizes.svg", sweep(found, tables), sweep_alt(tables)))
    return made


def story(groups, limits, unit, where):
    """Many ladders below each other on one axis, from the slowest rung to the hardware's limits: each step of the axis is ten times the
    one before, because the first rung may have a thousandth of the last one's speed.

    groups: [(heading, [(name, speed or None, kind, words)])]; kind is "variant", "library", or "bound": a rung without a time, whose speed is what its
    counts allow, a hollow bar. words stand behind the bar. limits: [(name, speed)]."""
    speeds = [speed for _, rows in groups for _, speed, _, _ in rows if speed] + [speed for _, speed in limits]
    speeds = speeds or [1, 1000]  # nothing is measured: an axis all the same
    low = math.floor(math.log10(min(speeds)))
    high = max(low + 1, math.ceil(math.log10(max(speeds))))
    left = 26 + 7.2 * max(len(name) for _, rows in groups for name, *_ in rows)
    right, first, pitch = WIDTH - 24, 72 + 16 * len(limits), 19
    bottom = first + sum(26 + pitch * len(rows) for _, rows in groups)
    at = lambda value: left + (right - left) * (math.log10(value) - low) / (high - low)  # noqa: E731
    parts = [_text(16, 26, f"Every rung of the matmul ladders, {unit}", 15, bold=True)]
    for power in range(low, high + 1):
        parts += [_line(at(10.0 ** power), first - 8, at(10.0 ** power), bottom, _FAINT),
                  _text(at(10.0 ** power), bottom + 16, _number(10.0 ** power), 11, _SOFT, "middle")]
    for i, (name, speed) in enumerate(limits):
        y = 52 + 16 * i
        parts += [_line(at(speed), y - 8, at(speed), bottom, _LIMIT, 1.4), _text(at(speed) - 6, y, f"{name}, {result_table.digits(speed)}", 11, _INK, "end")]
    y = first
    for heading, rows in groups:
        y += 26
        parts.append(_text(16, y - 8, heading, 12, bold=True))
        for name, speed, kind, words in rows:
            parts.append(_text(left - 8, y + 12, name, 12, anchor="end"))
            if speed and kind == "bound":
                parts.append(f'<rect x="{left:.1f}" y="{y + 1.5:.1f}" width="{at(speed) - left:.1f}" height="{pitch - 6}" rx="2" fill="#ffffff" '
                             f'stroke="{_RUNG}" stroke-dasharray="3 3"/>')
            elif speed:
                parts.append(_rect(left, y + 1, max(1.0, at(speed) - left), pitch - 5, _LIBRARY if kind == "library" else _RUNG))
            # A number that has no room behind its bar, or would lie on a limit's line, stands in it.
            end = at(speed) + 12 + 6.5 * len(words) if speed else 0
            inside = speed and (end > right or any(at(speed) <= at(limit) < end for _, limit in limits))
            parts.append(_text((at(speed) - 6 if inside else at(speed) + 6) if speed else left + 4, y + 12, words, 11,
                               _INK if speed else _SOFT, "end" if inside else "start"))
            y += pitch
    parts.append(_text(16, bottom + 38, where, 11, _SOFT))
    measured = sum(1 for _, rows in groups for _, speed, kind, _ in rows if speed and kind == "variant")
    total = sum(1 for _, rows in groups for _, _, kind, _ in rows if kind != "library")
    return _svg(bottom + 52, f"{measured} of {total} rungs with their {unit} on one axis of powers of ten, and the limits of the hardware", parts)
