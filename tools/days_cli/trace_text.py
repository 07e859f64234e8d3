# SPDX-License-Identifier: MIT
"""A launch's counts as text: a table a kind of memory, the worst request lane by lane, and what it means."""
from __future__ import annotations

import os
import re

from days_cli import console, traces
from days_cli.metrics import EXERCISE


_ALWAYS = ("wasted_sectors",)  # of check's figures: the others are left out where they are 0

# What goes first where an expression is too long for its column.
_SHORTER = ((r"(?:reinterpret|static|const)_cast<(?:const )?([^<>]*)>", r"(\1)"),
            (r"\b(?:u?int(?:32|64)_t|(?:std::)?size_t|long long)\{([^{}]*)\}", r"\1"),
            (r" *([^\w\s]+) *", r"\1"))


def extents(numbers):
    numbers = list(numbers)
    while len(numbers) > 1 and numbers[-1] == 1:
        numbers.pop()
    return " x ".join(str(number) for number in numbers)


def number(value):
    return f"{value:,}"


def scaled(value, share):
    """A count, or its share with the decimals that tell 1.008 from 1."""
    return number(value) if share == 1 else f"{value * share:,.3f}"


def ratio(value):
    return f"{value:.1f}"


def plural(count, word):
    return f"{count:,} {word}" + ("" if count == 1 else "s")


def _short(text, width):
    for pattern, shorter in _SHORTER:
        if len(text) > width:
            text = re.sub(pattern, shorter, text)
    return text if len(text) <= width else text[:max(0, width - 3)] + "..."


def table(title, columns, rows):
    """rows: (line number, verb, expression, values). The expression gets what the numbers leave of 80 columns."""
    widths = [max(len(name), *(len(values[i]) for *_, values in rows)) for i, name in enumerate(columns)]
    numbers = sum(width + 2 for width in widths)
    places = max(len(str(line)) for line, *_ in rows)
    verbs = max(len(verb) for _, verb, *_ in rows)
    head = places + 2 + verbs + 2
    space = console.WIDTH - numbers - head
    width = min(space, max([len(text) for _, _, text, _ in rows] + [len(title) - head]))
    out = [console.paint(_short(title, head + width).ljust(head + width), "bold")
           + "".join(f"  {name:>{w}}" for name, w in zip(columns, widths))]
    for line, verb, text, values in rows:
        out.append(f"{line:>{places}}  {verb:<{verbs}}  {_short(text, width):<{width}}"
                   + "".join(f"  {value:>{w}}" for value, w in zip(values, widths)))
    return out


def wasted(line):
    return 1 - line.least / line.sectors if line.sectors else 0.0


def _by_file(lines):
    files = {}
    for line in sorted(lines, key=lambda line: (line.file, line.line)):
        files.setdefault(line.file, []).append(line)
    return files.items()


def global_tables(launch, share=1):
    out = []
    for file, lines in _by_file(launch.of_space("global")):
        out += table(os.path.basename(file), ("requests", "sectors", "per request", "least", "wasted"), [
            (line.line, line.verb, line.text,
             (scaled(line.requests, share), scaled(line.sectors, share), ratio(line.sectors / line.requests),
              ratio(line.least / line.requests), f"{100 * wasted(line):.0f}%")) for line in lines])
    return out


def shared_tables(launch, share=1):
    out = []
    for file, lines in _by_file(launch.of_space("shared")):
        out += table(f"{os.path.basename(file)}, shared", ("requests", "wavefronts", "conflicts", "per request"), [
            (line.line, line.verb, line.text,
             (scaled(line.requests, share), scaled(line.wavefronts, share), scaled(line.conflicts, share),
              ratio(line.wavefronts / line.requests))) for line in lines])
    return out


def is_first(line):
    return bool(line.first) and line.typical == line.first[0]


def worst(launch):
    """The access whose picture teaches most: (global line or None, shared line with conflicts or None)."""
    globals_ = [line for line in launch.of_space("global") if line.first]
    shared = [line for line in launch.of_space("shared") if line.first and line.conflicts]
    return (max(globals_, key=lambda line: (line.sectors - line.least, line.sectors), default=None),
            max(shared, key=lambda line: line.conflicts, default=None))


def picture(line, request):
    """Lanes above what each asks for. One that is not the line's first says so."""
    lanes = [lane for lane, address in enumerate(request.addresses) if address is not None]
    shown = lanes if len(lanes) <= 6 else [*lanes[:4], None, lanes[-1]]
    shared = line.space == "shared"
    place = (lambda a: a // 4 % traces.BANKS) if shared else (lambda a: a // traces.SECTOR)
    cells = [("...", "...") if lane is None else (str(lane), str(place(request.addresses[lane]))) for lane in shown]
    widths = [max(len(top), len(bottom)) for top, bottom in cells]
    what = f"warp {request.warp}, {'first' if is_first(line) else 'a typical'} {line.verb}"
    if any(request.block):
        what = f"block {','.join(map(str, request.block))}, " + what
    top = what + "   lane " + "  ".join(f"{cell[0]:>{w}}" for cell, w in zip(cells, widths))
    bottom = " " * len(what) + ("   bank " if shared else " sector ") + "  ".join(
        f"{cell[1]:>{w}}" for cell, w in zip(cells, widths))
    if not shared:
        sectors = request.sectors()
        used = sum(sectors.values()) / len(sectors)
        bottom += f"   {used:.0f} of 32 B used"
    return [top, bottom]


def _apart(request, verb):
    stride = request.stride()
    if len(request.active) == 1:
        return f"One lane {verb}s alone"
    if stride is None:
        return f"The lanes {verb} at irregular distances"
    if stride == 0:
        return f"All lanes {verb} the same {request.bytes} bytes"
    if stride == request.bytes:
        return f"Neighbouring lanes {verb} neighbouring {'' if request.bytes == 1 else f'{request.bytes} '}bytes"
    return f"Neighbouring lanes {verb} {abs(stride):,} bytes apart"


def global_sentence(line, request):
    verb = "update" if line.verb == "atomic" else line.verb
    kind = {"read": "load", "write": "store"}.get(line.verb, "atomic")
    sectors = request.sectors()
    count, least = len(sectors), -(-sum(sectors.values()) // traces.SECTOR)
    head = _apart(request, verb)
    if request.stride() == 0 and count == 1:
        return f"{head}: one sector serves the whole warp, a broadcast."
    if count == least:
        return f"{head}: each {kind} moves {plural(count, 'sector')}, all of whose bytes are used."
    if request.stride() == request.bytes:
        return (f"{head}, but the first does not start a sector: each {kind} moves {plural(count, 'sector')} "
                f"where {least} would do.")
    return f"{head}, so each {kind} moves {plural(count, 'sector')} where {least} would hold the bytes."


def shared_sentence(line, request):
    verb = "update" if line.verb == "atomic" else line.verb
    head, degree, wavefronts = _apart(request, verb), conflict(request), request.wavefronts()[0]
    if degree == 1:
        return f"{head}: every lane has a bank of its own, or shares a word; no conflict."
    return f"{head}, in shared memory: {degree}, which gives one at a time, so the warp waits for {wavefronts} wavefronts."


def conflict(request):
    """What a bank is asked for, of which it gives one at a time; 1 where that is no more than one word."""
    degree = max(request.banks().values(), default=1)
    part = {1: "", 2: " for each half of the warp", 4: " for each quarter of the warp"}[request.passes]
    return 1 if degree == 1 else f"{degree} different words of one bank{part}"


def branches(launch):
    out = []
    lines = [line for line in launch.of_space("branch") if line.metrics["simt_divergent_branches"]]
    total, divergent = launch.totals["simt_branches"], launch.totals["simt_divergent_branches"]
    if total:
        out.append(f"Branches: {number(total)} by warps, {number(divergent)} divergent (lanes went both ways)"
                   + (":" if lines else "."))
    width = console.WIDTH - 30
    for line in sorted(lines, key=lambda line: -line.metrics["simt_divergent_branches"])[:4]:
        out.append(f"{line.line:>5}  {_short(line.text, width):<{width}}"
                   f"{number(line.metrics['simt_divergent_branches']):>12} divergent")
    return out


def barriers(launch):
    lines = launch.of_space("barrier")
    if not lines:
        return []
    where = ", ".join(str(line.line) if line.file == launch.file else f"{line.file}:{line.line}"
                      for line in sorted(lines, key=lambda line: (line.file != launch.file, line.file, line.line)))
    blocks = launch.grid[0] * launch.grid[1] * launch.grid[2]
    each = launch.totals["simt_barriers"] / blocks
    return [f"Barriers: {ratio(each)} a block, {number(launch.totals['simt_barriers'])} in all (line {where})."]


def requested(launch):
    asked, distinct = launch.totals["simt_requested_bytes_op_ld"], launch.totals["simt_distinct_bytes_op_ld"]
    out = []
    if distinct:
        out.append(f"Loads ask for {asked / distinct:,.1f} bytes for each byte of input ({number(distinct)} bytes).")
    if launch.totals["simt_bulk_bytes"]:
        out.append(f"Bulk copies moved {number(launch.totals['simt_bulk_bytes'])} bytes besides, in no lane's name.")
    if launch.totals["simt_product_bytes"]:
        out.append(f"Products of warpgroups read {number(launch.totals['simt_product_bytes'])} bytes of shared memory, in no lane's name.")
    if launch.totals["simt_under_way_bytes"]:
        out.append(f"When a block waits for copies, {number(launch.totals['simt_under_way_bytes'])} bytes are under way.")
    return out


def describe(launch, share=1):
    """Everything about one launch, as lines. share: what the counts of the tables are multiplied by."""
    out = [*global_tables(launch, share), *shared_tables(launch, share)]
    if not out:
        out.append("No access to global or shared memory.")
    for line, sentence in zip(worst(launch), (global_sentence, shared_sentence)):
        if line:
            alike = "" if is_first(line) else f" {number(line.alike)} of its {number(line.requests)} requests cost the same."
            out += ["", *picture(line, line.typical), *console.wrap(sentence(line, line.typical) + alike)]
    out += [""] + [part for text in (*requested(launch), *branches(launch)[:1]) for part in console.wrap(text)]
    return out + branches(launch)[1:] + barriers(launch)


def in_all(launches, input_bytes, share=1):
    """The rows over all launches, their counts times share, and what check makes of them."""
    found = traces.figures(launches, input_bytes)
    out = []
    if found["requests"]:
        out += [f"in all{'requests':>12}{'sectors':>14}{'per request':>13}{'least':>7}{'wasted':>8}{'distinct a block':>18}",
                f"{'':6}{scaled(found['requests'], share):>12}{scaled(found['sectors'], share):>14}"
                f"{ratio(found['sectors'] / found['requests']):>13}"
                f"{ratio(found['sectors'] * (1 - found['wasted_sectors']) / found['requests']):>7}"
                f"{100 * found['wasted_sectors']:>7.0f}%{found['sectors_a_block']:>18,.0f}"]
    shown = [gate for gate in EXERCISE if gate.key in found and (found[gate.key] or gate.key in _ALWAYS)]
    said = ", ".join(f"{gate.label} {gate.form.format(found[gate.key])}" for gate in shown)
    return out + console.wrap(f"As check counts: {said}.") if said else out


def kernels_table(launches):
    """A row a kernel of a program, its launches together."""
    kernels = {}
    for launch in launches:
        kernels.setdefault(launch.name, []).append(launch)
    width = min(24, max(len(name) for name in kernels))
    head = f"{'kernel':<{width}}{'launches':>9}{'requests':>11}{'sectors':>12}{'wasted':>7}{'conflicts':>11}"
    out = [console.paint(head, "bold")]
    for name, own in kernels.items():
        found = traces.figures(own)
        out.append(f"{_short(name, width):<{width}}{sum(launch.times for launch in own):>9,}{found['requests']:>11,}"
                   f"{found['sectors']:>12,}{100 * found['wasted_sectors']:>6.0f}%{found['bank_conflicts']:>11,}")
    return out


def metrics(launch):
    """ncu's names for what the launch has: the command that counts the same on a GPU."""
    names = []
    for line in launch.lines:
        if line.space == "global" and line.op != "atomic":
            names += [traces.requests_metric(line.op), traces.sectors_metric(line.op)]
        if line.space == "shared" and line.op != "atomic":
            names += [traces.CONFLICTS.format(line.op), traces.WAVEFRONTS.format(line.op)]
    return sorted(set(names))
