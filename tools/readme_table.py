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
    """The spine, each of its days with the side days that hang on it; then these, track by track."""
    here, spine = catalog.here(), catalog.spine()
    there = [day for day in spine if day.folder]
    minutes = sum(day.front_matter().get("minutes", 0) for day in there)
    side = {}
    for day in (day for day in catalog.all_days() if day.folder and day not in spine):
        side.setdefault(catalog.hangs_on(day), []).append(day)
    rows = [f"**The spine**: {len(spine)} days from one addition to a GPT that speaks, {len(there)} of them here: {minutes / 60:.0f} hours of "
            "reading, writing and measuring. What a day builds on stands before it.", "",
            "| Day | What you build | What it teaches | Minutes | Side days |", "|---|---|---|---|---|"]
    for day in spine:
        beside = " ".join(_link(other) for other in side.get(day, []))
        rows.append(f"| {_link(day)} | {_about(day)} | {beside} |" if day.folder else f"| {day.number:02d} | {_title(day)}: planned | | | |")
    rows += ["", f"**Side days**: the {len(here) - len(there)} others, by track.", "",
             "| Day | What you build | Builds on | What it teaches | Minutes |", "|---|---|---|---|---|"]
    for track, days in catalog.tracks():
        days = [day for day in days if day.folder and day not in spine]
        if days:
            rows.append(f"| | **{track}** | | | |")
        for day in days:
            title, before = _title(day), ", ".join(f"{number:02d}" for number in catalog.builds_on(day))
            rows.append(f"| {_link(day)} | {title} | {before} |{_about(day)[len(title) + 2:]} |")
    return "\n".join(rows)


def _link(day):
    return f"[{day.number:02d}]({day.folder.name}/README.md)"


def _title(day):
    return day.front_matter().get("title", day.name.replace("_", " ")) if day.folder else day.name.replace("_", " ")


def _about(day):
    note = day.front_matter()
    return f"{_title(day)} | {note.get('teaches', '')} | {note.get('minutes', '')}"


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
