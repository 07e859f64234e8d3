# SPDX-License-Identifier: MIT
"""days list: every day, the spine first; days alone: one line a track."""
from __future__ import annotations

from days_cli import arguments, catalog, console, exercises, following, kinds
from days_cli import gpu as gpus

USAGE = ""
SUMMARY = "every day: the spine, then the side days"
HELP = """./days list      every day: the spine in its order, then side days by track,
                 each with the spine day that it hangs on
./days           one line a track

# a day whose exercise you have solved, > the one that is next, "planned" one
that is not written yet."""

_TITLES_AT = 34


def run(args):
    given = arguments.parse("list", args)
    if given.get("--help"):
        console.say(HELP)
        return 0
    marked, done = following.going().marked, set(exercises.solved_of(catalog.here()))
    spine = catalog.spine()
    console.say(console.paint("Spine, from one addition to a GPT: what a day builds on stands before it", "bold"))
    for day in spine:
        _line(day, day in done, day == marked)
    for track, days in catalog.tracks():
        side = [day for day in days if day not in spine]
        if side:
            console.say("\n" + console.paint(f"{track}, side days", "bold"))
        for day in side:
            if day.folder:
                _line(day, day in done, day == marked)
        planned = ", ".join(f"{day.number:02d} {day.name}" for day in side if not day.folder)
        for line in console.wrap(planned, "           ", "  " + "planned: ") if planned else ():
            console.say(line)
    console.say("\nRun one: " + console.paint(f"./days run {marked.number if marked else 1}", "cyan") + "   Where to go on: "
                + console.paint("./days next", "cyan"))
    return 0


def _line(day, done, marked):
    mark = ">" if marked else "#" if done else " "
    if not day.folder:
        console.say(f"{mark} {day.number:02d} {day.name:<28} " + console.paint("planned", "yellow"))
        return
    front, after = day.front_matter(), catalog.hangs_on(day)
    kind = str(front.get("kind", kinds.DEFAULT))
    facts = [str(front.get("title", "")), f"{front['minutes']}\u00a0min" if front.get("minutes") else "", {kinds.DEFAULT: ""}.get(kind, kind),
             f"after\u00a0{after.number:02d}" if after else ""]
    head = f"{mark} {day.number:02d} {day.name:<28} "
    lines = [line.replace("\u00a0", " ") for line in console.wrap(", ".join(filter(None, facts)), " " * _TITLES_AT, head)]
    console.say((mark + " " + console.paint(head[2:], "cyan") + lines[0][len(head):]).rstrip())
    for line in lines[1:]:
        console.say(line)


def overview():
    """The bare command. In the bars # is a day whose exercise is solved, o one that is here, . one that is planned."""
    ways = following.ways()
    done = set(exercises.solved_of(catalog.here()))
    planned, here = len(catalog.all_days()), len(catalog.here())
    probe = gpus.detect()
    where = f"{probe.gpu.name}, sm_{probe.gpu.sm}." if probe.gpu else "No GPU: kernels run on this CPU."
    for line in console.wrap(f"{planned} days of GPU programming, {here} here so far (o; # once you have solved its "
                             f"exercise). {where} The spine leads through the tracks below."):
        console.say(line)
    width = max(len(way) for way, _ in ways) + 1
    longest = max(len(days) for _, days in ways)
    going = following.going()
    for way, days in ways:
        bar = "[" + "".join("#" if day in done else "o" if day.folder else "." for day in days) + "]"
        count = f"{sum(day in done for day in days)}/{len(days)}"
        start = "  <- start here" if way == going.way and not done else "  <- you" if way == going.way else ""
        console.say(f"{way:<{width}}{bar:<{longest + 2}} {count:>5}" + console.paint(start, "bold"))
    commands = lambda *words: "  ".join(console.paint(word, "cyan") for word in words)  # noqa: E731
    day = going.marked
    if day:
        begin = (going.command,) if going.rung_first and going.rung else (f"./days run {day.number}", f"./days check {day.number}")
        console.say("Next      " + commands(*begin) + f"  and {day.target}/README.md")
    console.say("Python    " + commands("./days run 20") + "  PyTorch and Triton: needs no compiler")
    console.say("Your own  " + commands("./days explain --file mine.cu", "./days cc --checked mine.cu"))
    console.say("On Colab  docs/notebooks/day01.ipynb")
    console.say("Also      hint, solution, next, list, doctor, --help")
    return 0
