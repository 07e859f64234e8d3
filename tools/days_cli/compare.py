# SPDX-License-Identifier: MIT
"""Fresh results beside committed ones: each row's ratio, and whether it is more than noise."""
from __future__ import annotations

import math

from days_cli import console, results
from days_cli.result_table import fold, digits, machine, provenance, time_text

# Within one run medians repeat to some tenths of a percent; from run to run clocks and heat move them by more.
LEAST = 0.03
SIGMAS = 3


def threshold(old, new):
    """How much slower, relative, is more than noise."""
    return max(LEAST, SIGMAS * math.hypot(old.get("noise", 0), new.get("noise", 0)))


def rows(old, new, partial=False):
    """[(table, row's name, then, now, ratio, verdict)] of what either file timed on shapes that both have; ratio is now's
    time over then's. Verdicts: "", "slower", "faster", "lost" (timed then, not now), "new". partial: the new run chose
    among the rungs. CPU versions are left out: their times are another machine's."""
    tables = {results.key(table): table for table in old["tables"]}
    found = []
    for table in new["tables"]:
        before = tables.get(results.key(table))
        if before is None:
            continue
        then = {row["name"]: row for row in before["rows"] if row.get("seconds") and row["kind"] != "cpu"}
        now = {row["name"]: row for row in table["rows"] if row["kind"] != "cpu"}
        for name in [*now, *(name for name in then if name not in now and not partial)]:
            a, b = then.get(name), now.get(name)
            if a is None and b.get("seconds"):
                found.append((table, name, None, b, None, "new"))
            elif a is not None and (b is None or not b.get("seconds")):
                found.append((table, name, a, None, None, "lost"))
            elif a is not None:
                ratio, most = b["seconds"] / a["seconds"], threshold(a, b)
                verdict = "slower" if ratio > 1 + most else "faster" if ratio < 1 / (1 + most) else ""
                found.append((table, name, a, b, ratio, verdict))
    return found


def is_regression(row):
    """A library that is slower or not installed is no fault of ours."""
    _, _, then, now, _, verdict = row
    return verdict in ("slower", "lost") and (then or now)["kind"] == "variant"


def report(path, old, new, partial=False):
    """(lines, is there a regression)"""
    changed = results.differences(old, new)
    lines = [fold(f"Compared with {results.shown(path)}: {machine(old)}, {provenance(old)}")]
    if changed:
        lines.append(fold(f"Another machine: {'; '.join(changed)}. Ratios are shown, nothing is judged."))
    found = rows(old, new, partial)
    if not found:
        return [*lines, "no shape is in both"], False
    width, last = max(11, *(len(name) for _, name, *_ in found)) + 1, None
    for row in found:
        table, name, then, now, ratio, verdict = row
        if table is not last:
            lines += ["", f"{results.title(table)}{_limits(old, table)}"[:console.WIDTH],
                      f"{'rung':{width}}{'then':>10}{'now':>10}{'now/then':>10}{'noise':>7}"]
            last = table
        noise = f"{math.ceil(100 * threshold(then, now)):d}%" if then and now else ""
        line = (f"{name:{width}}{time_text(then['seconds']) if then else '':>10}{time_text(now['seconds']) if now else '':>10}"
                f"{digits(ratio) if ratio else '':>10}{noise:>7}  {verdict}").rstrip()
        lines.append(console.paint(line, "red") if is_regression(row) and not changed else line)
    count = {verdict: sum(row[5] == verdict for row in found) for verdict in ("slower", "faster", "lost", "new")}
    lines += ["", f"{len(found)} rows compared, {count['slower']} slower, {count['faster']} faster, {count['lost']} lost, "
                  f"{count['new']} new"]
    return lines, not changed and any(map(is_regression, found))


def _limits(old, table):
    """The device's own limit then and now: where it moved too, the device did, not the kernel."""
    before = next(t for t in old["tables"] if results.key(t) == results.key(table)).get("limit")
    now = table.get("limit")
    if not before or not now:
        return ""
    return (f"; {now['name']} {digits(results.scaled(table, before['per_second']))}, now "
            f"{digits(results.scaled(table, now['per_second']))} {results.unit(table)}")
