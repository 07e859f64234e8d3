# SPDX-License-Identifier: MIT
"""days report: writes every text that is made from results, notes and counts; none of it is typed by hand."""
from __future__ import annotations

import subprocess
import sys

from days_cli import arguments, console, paths

USAGE = "[--check]"
SUMMARY = "writes the notes' tables and plots from results"
HELP = """./days report          writes what is made from committed results: the tables and
                       plots of the days' notes, the README's table, the notebooks,
                       the pages of the matmul ladders, of counters and of
                       foreign programs; and what each day's program says of
                       its ladders, in ladder.json

  --check              writes nothing; exit code 1 where something is stale

It also looks for links, words and days in the notes that lead nowhere."""

# (script, arguments to write, arguments to check); the last one writes nothing
_WRITERS = (("ladder_json.py", (), ("--check",)), ("results_tables.py", (), ("--check",)), ("readme_table.py", (), ("--check",)),
            ("notebooks.py", (), ("--check",)), ("matmul_page.py", (), ("--check",)), ("ncu_counters.py", ("write",), ("check",)),
            ("foreign_programs.py", (), ("--check",)), ("check_notes.py", (), ()))


def run(args):
    given = arguments.parse("report", args, {}, ("--check",))
    if given.get("--help"):
        console.say(HELP)
        return 0
    bad = 0
    for script, write, check in _WRITERS:
        path = paths.ROOT / "tools" / script
        done = subprocess.run([sys.executable, str(path), *(check if given.get("--check") else write)], check=False)
        bad += done.returncode != 0
    if given.get("--check"):
        console.say(f"{len(_WRITERS) - bad} passed, {bad} failed")
    return 1 if bad else 0
