#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the measured results into the days' notes: docs/results/GPU/dayNN.json, made by `./days run NN --json FILE`, becomes
the table between <!-- results:GPU --> and <!-- /results:GPU --> of the day's README.md. No figure there is typed by hand.

    tools/results_tables.py            write
    tools/results_tables.py --check    exit 1 where a note does not say what its results say
"""
import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def time_text(seconds):
    for unit, scale in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def number(value):
    return f"{value:.4g}" if value < 1000 else f"{value:,.0f}"


def row_cells(row, table, library):
    flops = table["flops"] > 0
    seconds = row.get("seconds")
    if not seconds:
        return [row["name"], row.get("reason", row.get("result", "")), "", "", ""]
    # A CPU row may have run on a smaller problem; its rate is then its own.
    rate = row.get("flops_per_second" if flops else "bytes_per_second")
    of_limit = row.get("of_limit")
    ratio = library / seconds if library and row["kind"] != "cpu" else None
    note = ""
    if row["kind"] == "cpu" and list(table["shape"].values()) != row["shape"]:
        note = " at " + " × ".join(map(str, row["shape"]))
    return [row["name"], time_text(seconds) + note, number(rate / (1e12 if flops else 1e9)) if rate else "",
            f"{of_limit:.1%}" if of_limit else "", f"{ratio:.3f}" if ratio else ""]


def render(results):
    device, lines = results["device"], []
    for table in results["tables"]:
        flops = table["flops"] > 0
        unit = "TFLOP/s" if flops else "GB/s"
        shape = " × ".join(map(str, table["shape"].values()))
        library = next((row for row in table["rows"] if row["kind"] == "library" and row.get("seconds")), None)
        limit = table["limit"]["per_second"] / (1e12 if flops else 1e9)
        lines += [f"**{table['ladder']}**, {shape} {table['type']}; the limit is this device's own {table['limit']['name']}, "
                  f"{number(limit)} {unit}, measured in the same run.", "",
                  f"| rung | time | {unit} | of limit | × {library['name'] if library else 'library'} |",
                  "|---|---|---|---|---|"]
        cells = (row_cells(row, table, library["seconds"] if library else None) for row in table["rows"])
        lines += ["| " + " | ".join(row) + " |" for row in cells]
        lines.append("")
    day = int(results["day"][3:5])
    lines.append(f"{device['name']} ({device['sm']}), CUDA {results['cuda']}, {results['date'][:10]}, commit "
                 f"{results['commit'][:7] or 'unknown'}: `./days run {day}`.")
    return "\n".join(lines)


def main():
    check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not check:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    stale = 0
    for path in sorted(ROOT.glob("docs/results/*/day*.json")):
        results = json.loads(path.read_text())
        gpu, note = path.parent.name, ROOT / results["day"] / "README.md"
        markers = re.compile(rf"(<!-- results:{gpu} -->\n).*?(<!-- /results:{gpu} -->)", re.DOTALL)
        old = note.read_text()
        if not markers.search(old):
            print(f"error: {note.relative_to(ROOT)} has no <!-- results:{gpu} --> markers", file=sys.stderr)
            return 1
        new = markers.sub(lambda m: m[1] + render(results) + "\n" + m[2], old)
        if new == old:
            continue
        stale += 1
        if check:
            print(f"error: {note.relative_to(ROOT)} is not what {path.relative_to(ROOT)} says: run tools/results_tables.py",
                  file=sys.stderr)
        else:
            note.write_text(new)
            print(f"wrote {note.relative_to(ROOT)}")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
