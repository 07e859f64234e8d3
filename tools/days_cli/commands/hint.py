# SPDX-License-Identifier: MIT
"""days hint: the next of a note's three hints."""
from __future__ import annotations

import re

from days_cli import arguments, console, exercises, rungs
from days_cli.errors import DaysError

USAGE = "DAY [RUNG]"
SUMMARY = "the next of three hints"
HELP = """./days hint DAY         the next hint: a question, then the idea, then code
                        with holes
./days hint DAY RUNG    what the note says of the rung: the idea, then the rest

  --again               those that you have seen"""


def run(args):
    given = arguments.parse("hint", args, {}, ("--again",), 2)
    if given.get("--help"):
        console.say(HELP)
        return 0
    if not given.words:
        raise DaysError("a hint for which day?", "./days hint 1")
    what = exercises.resolve(given.words[0], "hint", *given.words[1:])
    hints, progress = exercises.hints(what), exercises.progress(what)
    typed = exercises.words(what)
    if not hints:
        return _none(what)
    seen = max(0, min(progress.get("hints", 0), len(hints)))  # a note may have lost hints since
    if given.get("--again"):
        if not seen:
            raise DaysError(f"you have seen no hint of {exercises.label(what)} yet", f"./days hint {typed}")
        wanted = range(seen)
    elif seen >= len(hints):
        console.say(f"You have seen all {len(hints)} hints of {exercises.label(what)}.")
        console.say("Again: " + console.paint(f"./days hint {typed} --again", "cyan") + "   Ours: "
                    + console.paint(f"./days solution {typed}", "cyan"))
        return 0
    else:
        wanted = [seen]
        if "last" in progress:
            console.say(f"Your last check: {progress['last']}")
    for number in wanted:
        console.say(console.paint(f"Hint {number + 1} of {len(hints)}", "bold"))
        _print(hints[number])
    if not given.get("--again"):
        exercises.remember(what, hints=seen + 1)  # once it was shown: a hint that standard output lost is not seen
    return 0


def _none(what):
    """A rung without hints: where the note speaks of it."""
    note = f"{exercises.day_of(what).target}/README.md"
    line = exercises.section(what)[0] if isinstance(what, rungs.Rung) else 0
    where = f"its section begins at {note}:{line}" if line else f"{note} is the day's note"
    console.say(f"The note has no hints for {exercises.label(what)};")
    console.say(f"{where}.")
    return 0


def _print(markdown):
    """Paragraphs and the items of lists at 80 columns; code as it is."""
    for part in re.split(r"(```.*?```)", markdown, flags=re.DOTALL):
        if part.startswith("```"):
            for line in part.splitlines()[1:-1]:
                console.say(("    " + line).rstrip())
            continue
        for paragraph in filter(None, re.split(r"\n\s*\n|\n(?=- )", part.strip("\n"))):
            if all(line.startswith("    ") for line in paragraph.splitlines()):  # a command
                console.say(paragraph)
                continue
            for line in console.wrap(" ".join(paragraph.split()).replace("**", "")):
                console.say(line)
