# SPDX-License-Identifier: MIT
"""days hint: the next of a note's three hints."""
from __future__ import annotations

import re

from days_cli import arguments, console, exercises
from days_cli.errors import DaysError

USAGE = "DAY"
SUMMARY = "the next of three hints"
HELP = """./days hint DAY         the next hint: a question, then the idea, then code
                        with holes

  --again               those that you have seen"""


def run(args):
    given = arguments.parse("hint", args, {}, ("--again",), 1)
    if given.get("--help"):
        console.say(HELP)
        return 0
    if not given.words:
        raise DaysError("a hint for which day?", "./days hint 1")
    day = exercises.resolve(given.words[0], "hint")
    hints, progress = exercises.hints(day), exercises.progress(day)
    seen = max(0, min(progress.get("hints", 0), len(hints)))  # a note may have lost hints since
    if given.get("--again"):
        if not seen:
            raise DaysError(f"you have seen no hint of day {day.label} yet", f"./days hint {day.number}")
        wanted = range(seen)
    elif seen >= len(hints):
        raise DaysError(f"you have seen all {len(hints)} hints of day {day.label}",
                        f"./days hint {day.number} --again", 0)
    else:
        wanted = [seen]
        if "last" in progress:
            console.say(f"Your last check: {progress['last']}")
    for number in wanted:
        console.say(console.paint(f"Hint {number + 1} of {len(hints)}", "bold"))
        _print(hints[number])
    if not given.get("--again"):
        exercises.remember(day, hints=seen + 1)  # once it was shown: a hint that standard output lost is not seen
    return 0


def _print(markdown):
    """Paragraphs at 80 columns; code as it is."""
    for part in re.split(r"(```.*?```)", markdown, flags=re.DOTALL):
        if part.startswith("```"):
            for line in part.splitlines()[1:-1]:
                console.say(("    " + line).rstrip())
            continue
        for paragraph in filter(None, re.split(r"\n\s*\n", part.strip())):
            for line in console.wrap(" ".join(paragraph.split())):
                console.say(line)
