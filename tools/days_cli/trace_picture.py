# SPDX-License-Identifier: MIT
"""The first requests of a launch as an SVG: lanes above, the sectors or banks that they ask for below."""
from __future__ import annotations

from xml.sax.saxutils import escape

from days_cli import traces

WIDTH = 360  # units; text of 11 stays readable where the picture is 360 pixels wide
_MARGIN = 12
_INNER = WIDTH - 2 * _MARGIN
_PANEL = 132
_INK, _SOFT, _LANE, _WASTE, _SPARE, _CONFLICT = "#1f2430", "#6b7280", "#2f6fbb", "#f3c9b5", "#d7dce2", "#c2410c"


def _text(x, y, words, size=11, colour=_INK, anchor="start", bold=False, mono=False):
    family = "ui-monospace,Menlo,Consolas,monospace" if mono else "system-ui,Segoe UI,Helvetica,Arial,sans-serif"
    weight = ' font-weight="600"' if bold else ""
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-family="{family}" font-size="{size}" fill="{colour}" '
            f'text-anchor="{anchor}"{weight}>{escape(words)}</text>')


def _box(x, y, width, height, fill, stroke="none"):
    return (f'<rect x="{x:.2f}" y="{y:.2f}" width="{width:.2f}" height="{height:.2f}" rx="1" fill="{fill}" '
            f'stroke="{stroke}" stroke-width="0.5"/>')


def _short(words, most):
    return words if len(words) <= most else words[:most - 3] + "..."


def _lanes(request, y):
    step = _INNER / 32
    out = []
    for lane, address in enumerate(request.addresses):
        fill = _LANE if address is not None else "#e5e7eb"
        out.append(_box(_MARGIN + lane * step + 0.5, y, step - 1, 11, fill))
    out += [_text(_MARGIN + (lane + 0.5) * step, y - 3, str(lane), 9, _SOFT, "middle") for lane in (0, 8, 16, 24, 31)]
    return out, [_MARGIN + (lane + 0.5) * step for lane in range(32)]


def _links(pairs, top, bottom, colour):
    return [f'<path d="M{a:.1f} {top}L{b:.1f} {bottom}" stroke="{colour}" stroke-width="0.8" opacity="0.55"/>'
            for a, b in sorted(set(pairs))]


def _labels(values, step, y):
    """Some of the numbers under the cells: the first, the last, and what fits between."""
    every = max(1, -(-30 // max(1, int(step))))
    shown = [i for i in range(len(values)) if i % every == 0 and (i + every <= len(values) or i == 0)]
    if len(values) > 1 and values and len(values) - 1 not in shown:
        shown.append(len(values) - 1)
    return [_text(_MARGIN + (i + 0.5) * step, y, str(values[i]), 9, _SOFT, "middle") for i in shown]


def _sectors(request, y):
    lanes, centres = _lanes(request, y + 40)
    used = request.sectors()
    numbers = list(used)
    step = min(_INNER / len(numbers), 42)
    place = {sector: i for i, sector in enumerate(numbers)}
    out, pairs = [], []
    for lane, address in enumerate(request.addresses):
        if address is not None:
            for sector in range(address // traces.SECTOR, (address + request.bytes - 1) // traces.SECTOR + 1):
                pairs.append((centres[lane], _MARGIN + (place[sector] + 0.5) * step))
    gap = min(1, step / 8)
    needed = len(numbers) == -(-sum(used.values()) // traces.SECTOR)  # no fewer sectors could hold the bytes: none is wasted
    for sector, i in place.items():
        x, width = _MARGIN + i * step + gap, step - 2 * gap
        out.append(_box(x, y + 84, width, 16, _SPARE if needed else _WASTE))
        out.append(_box(x, y + 84 + 16 * (1 - used[sector] / 32), width, 16 * used[sector] / 32, _LANE))
    return lanes + _links(pairs, y + 51, y + 84, _LANE) + out + _labels(numbers, step, y + 112), (
        f"{len(numbers)} sector{'s' * (len(numbers) != 1)} for {sum(used.values())} bytes")


def _banks(request, y):
    lanes, centres = _lanes(request, y + 40)
    step = _INNER / traces.BANKS
    degrees = request.banks()
    out, pairs = [], []
    for lane, address in enumerate(request.addresses):
        if address is not None:
            pairs.append((centres[lane], _MARGIN + (address // 4 % traces.BANKS + 0.5) * step))
    for bank in range(traces.BANKS):
        degree = degrees.get(bank, 0)
        fill = _CONFLICT if degree > 1 else _LANE if degree else "#e5e7eb"
        out.append(_box(_MARGIN + bank * step + 0.5, y + 84, step - 1, 16, fill))
        if 1 < degree and step >= 6:
            out.append(_text(_MARGIN + (bank + 0.5) * step, y + 95, str(degree), 8, "#ffffff", "middle"))
    worst = max(degrees.values(), default=1)
    part = {1: "", 2: " by half a warp", 4: " by a quarter warp"}[request.passes]
    words = "no conflict" if worst == 1 else f"{worst} words of one bank{part}: {request.wavefronts()[0]} wavefronts"
    colour = _CONFLICT if worst > 1 else _LANE
    return (lanes + _links(pairs, y + 51, y + 84, colour) + out
            + _labels(list(range(traces.BANKS)), step, y + 112)), words


def _panel(line, y):
    request = line.typical
    shared = line.space == "shared"
    body, words = (_banks if shared else _sectors)(request, y)
    where = f"block {','.join(map(str, request.block))}, warp {request.warp}: "
    title = f"{line.line}  {line.verb}  {line.text}"
    return [_text(_MARGIN, y + 11, _short(title, 52), 11, mono=True, bold=True),
            _text(_MARGIN, y + 25, f"{where}lanes to {'banks' if shared else 'sectors'}, {words}", 10, _SOFT), *body]


def panels(launch, most=6):
    """The lines worth drawing: every access that has a request to show, in the source's order."""
    lines = [line for line in launch.lines if line.space in ("global", "shared") and line.first]
    if len(lines) > most:  # those that cost most
        cost = {id(line): line.sectors if line.space == "global" else line.wavefronts for line in lines}
        lines = sorted(lines, key=lambda line: -cost[id(line)])[:most]
    return sorted(lines, key=lambda line: (line.file, line.line))


def svg(title, launches):
    """One picture for all launches of a program or variant."""
    body, y = [_text(_MARGIN, 20, _short(title, 54), 12, bold=True)], 32
    for launch in launches:
        lines = panels(launch)
        if len(launches) > 1 and lines:
            body.append(_text(_MARGIN, y + 12, _short(launch.name, 50), 11, _SOFT, bold=True))
            y += 20
        for line in lines:
            body += _panel(line, y)
            y += _PANEL
    body += [_box(_MARGIN, y, 9, 9, _LANE), _text(_MARGIN + 13, y + 8, "asked for", 9, _SOFT),
             _box(_MARGIN + 66, y, 9, 9, _WASTE), _text(_MARGIN + 79, y + 8, "moved in vain", 9, _SOFT),
             _box(_MARGIN + 152, y, 9, 9, _SPARE), _text(_MARGIN + 165, y + 8, "rest of a sector", 9, _SOFT),
             _box(_MARGIN + 246, y, 9, 9, _CONFLICT), _text(_MARGIN + 259, y + 8, "bank conflict", 9, _SOFT)]
    height = y + 20
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{2 * WIDTH}" '
            f'role="img" aria-label="{escape(title, {chr(34): "&quot;"})}">\n'
            f'<rect width="{WIDTH}" height="{height}" rx="6" fill="#ffffff"/>\n' + "\n".join(body) + "\n</svg>\n")
