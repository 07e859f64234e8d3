# SPDX-License-Identifier: MIT
"""Results as tables of at most 80 columns, in the form of the days' own executables."""
from __future__ import annotations

import math
import textwrap

from days_cli import console, results, stale

_NOISY = 0.02  # times with more than this carry a ±


def digits(value):
    """Three significant digits without an exponent, as common/harness/text.h has them."""
    size = abs(value)
    return f"{value:.{0 if size >= 99.95 else 1 if size >= 9.995 else 2 if size >= 0.9995 else 3}f}"


def time_text(seconds):
    if seconds < 999.5e-6:
        return digits(1e6 * seconds) + " us"
    if seconds < 999.5e-3:
        return digits(1e3 * seconds) + " ms"
    return digits(seconds) + " s"


def bytes_text(count):
    units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]
    # Files of before counts were written in full have 1073741820 for 2^30.
    while count >= 1024 * (1 - 1e-8) and len(units) > 1:
        count /= 1024
        units.pop(0)
    count = round(count) if abs(count - round(count)) < 1e-8 * count else count
    return f"{count:.0f} {units[0]}" if count == int(count) or count >= 100 else f"{count:.1f} {units[0]}"


def percent(share):
    return f"{round(100 * share)}%"


def fold(text):
    return "\n".join(textwrap.wrap(text, console.WIDTH, subsequent_indent="  ", break_long_words=False,
                                   break_on_hyphens=False))


def machine(found):
    """NVIDIA H200 sm_90, CUDA 13.0, driver 580.82.07"""
    device = found["device"]
    return f"{device['name']} {device['sm']}, CUDA {found['cuda']}, driver {results.machine(found)['driver']}"


def provenance(found):
    """commit 18fc1ba, 2026-11-21"""
    return f"commit {found['commit'][:7] or 'unknown'}, {found['date'][:10]}"


def limit_text(table, when):
    limit = table.get("limit")
    if not limit:
        return ""
    text = f" Limit = its own {limit['name']}, {digits(results.scaled(table, limit['per_second']))} {results.unit(table)}"
    if limit.get("sustained_per_second"):
        text += f" in a burst, {digits(results.scaled(table, limit['sustained_per_second']))} sustained"
    return text + f", measured {when}"


def heading(found, table):
    text = f"Day {int(found['day'][3:5])} {results.name(table)}, {results.size(table)} {table['type']}"
    if table["read_bytes"] + table["written_bytes"] > 0:
        text += f", {bytes_text(table['read_bytes'])} in + {bytes_text(table['written_bytes'])} out"
    return fold(text)


def render(found, recorded=False):
    """All tables: each shape's, then each sweep's."""
    plain = [table for table in found["tables"] if not table.get("sweep")]
    parts = [_table(found, table, recorded) for table in plain]
    parts += [_sweep(found, tables, recorded) for tables in results.sweeps(found)]
    return "\n\n".join(parts)


def _where(found, table, recorded):
    if found["backend"] == "simt":
        return "No GPU: every kernel ran on this CPU and is checked, none is timed."
    if recorded:
        return (f"Recorded, not measured now: {machine(found)}, {provenance(found)}."
                + limit_text(table, "in the same run"))
    return machine(found) + "." + limit_text(table, "in the same run")


class _Widths:
    def __init__(self, table, timed):
        rows = table["rows"]
        self.name = max([11] + [len(stale.name(row)) for row in rows]) + 1
        self.time = 15 if any(row.get("noise", 0) > _NOISY for row in timed) else 10
        self.limit = bool(table.get("limit"))
        self.sustained = 7 if any(row.get("of_sustained") for row in timed) else 0
        self.library = 7 if results.library(table) else 0
        others = 8 + 5 + self.time + 9 + 2 + (8 if self.limit else 0) + self.sustained + self.library
        self.name = min(self.name, console.WIDTH - others)
        others += self.name - (3 if self.limit else 0)
        self.bar = console.WIDTH - others if self.limit and console.WIDTH - others >= 4 else 0

    def label(self, row):
        name = stale.name(row)
        return (name if len(name) < self.name else name[:self.name - 2] + "…").ljust(self.name)


def _table(found, table, recorded):
    timed = [row for row in table["rows"] if row.get("seconds") and row["kind"] != "cpu"]
    widths, best, library = _Widths(table, timed), results.best(table), results.library(table)
    lines = [heading(found, table), fold(_where(found, table, recorded)), ""]
    if timed:
        head = (f"{'rung':{widths.name}}{'result':8}{'error':5}{'time':>{widths.time}}{results.unit(table):>9}  "
                + ("of limit" if widths.limit else "").ljust(widths.bar + 5)[:max(widths.bar + 5, 8 if widths.limit else 0)]
                + ("sust." if widths.sustained else "").rjust(widths.sustained) + ("x lib" if library else "").rjust(widths.library))
    else:
        head = f"{'rung':{widths.name}}{'result':8}{'error':5}"
        if any(row["kind"] == "cpu" for row in table["rows"]):
            head += f"{'time':>{widths.time}}{results.unit(table):>9}"
    lines.append(head.rstrip())
    for row in table["rows"]:
        if row["kind"] == "cpu":
            lines.append(_cpu_row(table, row, widths))
        elif row.get("seconds"):
            line = _timed_row(table, row, widths, library)
            lines.append(console.paint(line, "bold") if row is best else line)
        else:
            lines += _untimed_row(found, row, widths)
    lines += _remarks(found, table)
    return "\n".join(lines)


def _error(row):
    error = row.get("worst_error")
    return "nan" if error is None else "0" if error == 0 else f"{error:.0e}"


def _timed_row(table, row, widths, library):
    shown_time = time_text(row["seconds"])
    if row.get("noise", 0) > _NOISY:
        shown_time += f" ±{math.ceil(100 * row['noise'])}%"
    speed = results.rate(table, row)
    line = f"{widths.label(row)}{'ok':8}{_error(row):5}{shown_time:>{widths.time}}{digits(speed) if speed else '':>9}  "
    share = row.get("of_limit")
    if share is not None:
        bar = "#" * max(1, round(min(share, 1.0) * widths.bar)) if widths.bar else ""
        line += f"{bar:{widths.bar}}{percent(share):>5}"
    else:
        line += " " * (widths.bar + 5)
    sustained = row.get("of_sustained")
    line += f"{percent(sustained) if sustained else '':>{widths.sustained}}" if widths.sustained else ""
    if library:
        ratio = results.over_library(row, library)
        line += f"{'' if ratio is None else f'{ratio:.2f}':>{widths.library}}"
    return line.rstrip()


def _cpu_row(table, row, widths):
    line = f"{widths.label(row)}{'':13}{time_text(row['seconds']):>{widths.time}}"
    speed = results.rate(table, row)
    line += f"{digits(speed):>9}" if speed else ""
    if row["shape"] != list(table["shape"].values()):
        line += "  at " + "x".join(map(str, row["shape"]))
    return line


def _untimed_row(found, row, widths):
    simt = found["backend"] == "simt"
    if row["result"] == "ok":
        return [f"{widths.label(row)}{console.status('ok', 8)}{_error(row)}"]
    word = {"fail": "FAIL", "skip": "skip", "missing": "miss"}[row["result"]]
    reason = row.get("reason", "")
    if row["result"] == "missing" and simt:
        reason = "a library of GPU code"
    if row["result"] == "fail":
        reason = "not timed"
    lines = fold(f"{widths.label(row)}{word:8}{reason}").splitlines()
    lines[0] = lines[0].replace(word, console.status(word), 1)
    if row["result"] == "fail":
        lines += ["  " + line for part in row.get("report", "").splitlines()
                  for line in textwrap.wrap(part, console.WIDTH - 2)]
    return lines


def _remarks(found, table):
    lines = []
    copies = table.get("copies")
    if copies:
        lines.append(f"copies: {time_text(copies['to_device_seconds'])} to the GPU + "
                     f"{time_text(copies['to_host_seconds'])} back, {copies['memory']} memory")
    if table.get("verified") == "sampled":
        lines.append("Checked by Freivalds' check or samples: the reference would take too long.")
    if table.get("verified") == "checked":
        lines.append("Checked by a rule, not against one result: more than one is right.")
    for row in table["rows"]:
        if row.get("limit"):
            lines.append(f"Of {row['name']}: its own limit, the {row['limit']['name']}, "
                         f"{digits(results.scaled(table, row['limit']['per_second']))} {results.unit(table)}.")
        if row.get("setup_seconds"):
            lines.append(f"{row['name']} was set up in {time_text(row['setup_seconds'])}, before its launches: in no time above.")
    if stale.any_changed([table]):
        lines.append(fold(stale.remark(found["day"]).replace("`", "")))
    if table.get("python"):
        lines.append(fold(f"{table['python']['about']}: timed in one process with the rungs, "
                           "to which x lib compares them there."))
    if found["backend"] == "simt":
        number = int(found["day"][3:5])
        seen = results.recorded(number)
        lines.append(fold("The CPU's times are of its own versions. A GPU adds each rung's time, GB/s or TFLOP/s, share of "
                          f"the device's limit, and the libraries: ./days bench {number} there"
                          + (f", or what is recorded: ./days run {number} --recorded {seen[0]}" if seen else "")))
    return lines


def _sweep(found, tables, recorded):
    first = tables[0]
    shown = "every rung" if found["backend"] == "simt" else "the best rung, and the fastest library"
    lines = [fold(f"Day {int(found['day'][3:5])} {first['ladder']} {first['type']}, from small to big: {shown}"), fold(_where(found, first, recorded)), ""]
    sizes = max(len(results.size(table, "x")) for table in tables)
    shape = "x".join(first["shape"])
    shape = "shape" if len(shape) > max(sizes, 14) else shape
    sizes = max(sizes, len(shape))
    if found["backend"] == "simt":
        lines.append(f"{shape:{sizes}} {'checked':9}result")
    else:
        lines.append(f"{shape:{sizes}} {'best rung':12}{'time':>8}{results.unit(first):>8}{'limit':>6}  "
                     f"{'library':11}{'x lib':>5} checked")
    lines += [_sweep_row(found, table, sizes) for table in tables]
    return "\n".join(line.rstrip() for line in lines)


def _sweep_row(found, table, sizes):
    wrong = [row["name"] for row in table["rows"] if row["result"] == "fail"]
    checked = "FAIL" if wrong else {"sampled": "sampled", "checked": "by rule"}.get(table.get("verified"), "in full")
    line = f"{results.size(table, 'x'):{sizes}} "
    if found["backend"] == "simt":
        good = sum(row["result"] == "ok" for row in table["rows"])
        return line + f"{checked:9}" + (", ".join(wrong) if wrong else f"{good} rungs ok")
    best, library = results.best(table), results.library(table)
    if not best:
        return line + f"{'none':12}{'':41}{checked}"
    speed, share = results.rate(table, best), best.get("of_limit")
    line += (f"{best['name'][:11]:12}{time_text(best['seconds']):>8}{digits(speed) if speed else '':>8}"
             f"{percent(share) if share is not None else '':>6}  ")
    ratio = results.over_library(best, library) if library else None
    return line + f"{library['name'][:10] if library else '':11}{'' if ratio is None else f'{ratio:.2f}':>5} {checked}"
