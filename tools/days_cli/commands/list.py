# SPDX-License-Identifier: MIT
"""days list: every day, track by track; days alone: one line a track."""
from __future__ import annotations

from days_cli import arguments, catalog, console, exercises, kinds
from days_cli import gpu as gpus

USAGE = ""
SUMMARY = "every day in teaching order"
HELP = """./days list      every day in teaching order: here, or planned
./days           one line a track"""


def run(args):
    given = arguments.parse("list", args)
    if given.get("--help"):
        console.say(HELP)
        return 0
    for track, days in catalog.tracks():
        console.say(console.paint(track, "bold"))
        for day in days:
            _line(day)
        console.say()
    console.say("Run one: " + console.paint("./days run 1", "cyan"))
    return 0


def _line(day):
    if not day.folder:
        console.say(f"  {day.number:02d} {day.name:<28} " + console.paint("planned", "yellow"))
        return
    front = day.front_matter()
    title, minutes = str(front.get("title", "")), front.get("minutes")
    kind = str(front.get("kind", kinds.DEFAULT))
    about = (title + (f", {minutes} min" if minutes else "") + (f", {kind}" if kind != kinds.DEFAULT else "")).lstrip(", ")
    if len(about) > console.WIDTH - 34:
        about = title[:console.WIDTH - 37] + "..."
    console.say(f"  {console.paint(f'{day.number:02d} {day.name:<28}', 'cyan')} {about}".rstrip())


def overview():
    """The bare command. In the bars # is a day whose exercise is solved, o one that is here, . one that is planned."""
    tracks = catalog.tracks()
    done = exercises.solved_of(catalog.here())
    planned, here = len(catalog.all_days()), len(catalog.here())
    probe = gpus.detect()
    where = f"{probe.gpu.name}, sm_{probe.gpu.sm}." if probe.gpu else "No GPU: kernels run on this CPU."
    for line in console.wrap(f"{planned} days of GPU programming, {here} here so far (o; # once you have solved its "
                             f"exercise). {where}"):
        console.say(line)
    width = max(len(track) for track, _ in tracks) + 1
    longest = max(len(days) for _, days in tracks)
    first = next((day for _, days in tracks for day in days if day.folder and day not in done), None)
    for track, days in tracks:
        bar = "[" + "".join("#" if day in done else "o" if day.folder else "." for day in days) + "]"
        count = f"{sum(day in done for day in days)}/{len(days)}"
        start = f"  <- start here: {first.label}" if first in days else ""
        console.say(f"{track:<{width}}{bar:<{longest + 2}} {count:>5}" + console.paint(start, "bold"))
    number = first.number if first else 1
    commands = lambda *words: "  ".join(console.paint(word, "cyan") for word in words)  # noqa: E731
    target = first.target if first else "day01_vector_add"
    console.say("Next      " + commands(f"./days run {number}", f"./days check {number}") + f"  and {target}/README.md")
    console.say("On Colab  docs/notebooks/day01.ipynb")
    console.say("Your own  " + commands("./days explain --file mine.cu", "./days cc --checked mine.cu"))
    console.say("Also      hint, solution, next, list, doctor, --help")
    return 0
