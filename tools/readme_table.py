#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes README.md's table of days, between its markers, from the folders' notes; --check only says whether it is right."""
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

from days_cli import catalog, paths  # noqa: E402

README = paths.ROOT / "README.md"
BEGIN, END = "<!-- days: written by tools/readme_table.py -->", "<!-- days end -->"


def table():
    """Track by track one row a day that is here, in teaching order."""
    rows = ["| Day | What you build | What it teaches | Builds on | Minutes |", "|---|---|---|---|---|"]
    for track, days in catalog.tracks():
        days = [day for day in days if day.folder]
        if days:
            rows.append(f"| | **{track}** | | | |")
        for day in days:
            note = day.front_matter()
            title, before = note.get("title", day.name.replace("_", " ")), ", ".join(f"{int(word):02d}" for word in note.get("builds_on", []))
            rows.append(f"| [{day.number:02d}]({day.folder.name}/README.md) | {title} | {note.get('teaches', '')} | {before} "
                        f"| {note.get('minutes', '')} |")
    return "\n".join(rows)


def main(arguments):
    if arguments not in ([], ["--check"]):
        print("usage: tools/readme_table.py [--check]", file=sys.stderr)
        return 2
    old = README.read_text(encoding="utf-8")
    if old.count(BEGIN) != 1 or old.count(END) != 1:
        print(f"error: README.md lacks the markers {BEGIN} and {END}", file=sys.stderr)
        return 1
    before, rest = old.split(BEGIN)
    new = f"{before}{BEGIN}\n{table()}\n{END}{rest.split(END)[1]}"
    if new == old:
        return 0
    if arguments:
        print("error: README.md's table of days is out of date\nNext: tools/readme_table.py", file=sys.stderr)
        return 1
    README.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
