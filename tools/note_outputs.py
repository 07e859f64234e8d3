#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the outputs that the days' notes show against what their commands print today, without a GPU.

    tools/note_outputs.py [DAY ...]            runs the commands and writes the notes
    tools/note_outputs.py --check [DAY ...]    exit 1 where a note shows something else

A block is marked `<!-- output: COMMAND -->` ... `<!-- /output -->`, in Markdown indented by four columns; bash runs the command
at the root of the clone. One that only an edited file or a GPU prints has no command, and is not looked at.
"""
import difflib
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"<!-- output: ([^\n]+) -->\n(.*?)<!-- /output -->", re.DOTALL)


def printed(command):
    """What a command prints, as a note shows it; None where it fails."""
    environment = dict(os.environ, NO_COLOR="1", COLUMNS="80")
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=ROOT, env=environment, text=True, check=False,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    # A pipe's last command may hide that nothing could be built, whatever the note's own edit is.
    broken = re.search(r"undefined reference|^(?:\./)?(?:common|simt)/\S+: error:", done.stdout, re.MULTILINE)
    why = f"exit code {done.returncode}" if done.returncode else "does not build" if broken else ""
    if why:
        print(f"FAIL {command}: {why}\n{done.stdout[-500:]}{done.stderr[-500:]}")
        return None
    return "".join(("    " + line).rstrip() + "\n" for line in done.stdout.strip("\n").splitlines())


def note(path, check):
    """The number of blocks that fail, or with check differ."""
    text, bad = path.read_text(encoding="utf-8"), 0

    def fresh(match):
        nonlocal bad
        output = printed(match[1])
        if output is None or (check and output != match[2]):
            bad += 1
        if output is None:
            return match[0]
        if check and output != match[2]:
            print(f"{path.relative_to(ROOT)} is stale: {match[1]}")
            print("\n".join(difflib.unified_diff(match[2].splitlines(), output.splitlines(), "note", "today", lineterm="", n=0)))
        return f"<!-- output: {match[1]} -->\n{output}<!-- /output -->"

    new = BLOCK.sub(fresh, text)
    if not check and new != text:
        path.write_text(new, encoding="utf-8")
        print(f"wrote {path.relative_to(ROOT)}")
    return bad


def main(arguments):
    check = "--check" in arguments
    wrong = [word for word in arguments if word != "--check" and not word.isdecimal()]
    if wrong:
        print(f"error: {wrong[0]} is no day's number: tools/note_outputs.py [--check] [DAY ...]", file=sys.stderr)
        return 2
    days = [int(day) for day in arguments if day != "--check"]
    notes = [path for path in sorted(ROOT.glob("day[0-9][0-9]_*/README.md")) if not days or int(path.parent.name[3:5]) in days]
    if days and len(notes) != len(set(days)):
        print(f"error: no note of some of the days {days}", file=sys.stderr)
        return 2
    bad = sum(note(path, check) for path in notes)
    print(f"{'FAIL' if bad else 'ok'}: outputs in {len(notes)} notes")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
