# SPDX-License-Identifier: MIT
"""days new: a day from templates, which builds and whose tests fail until its kernel is written."""
from __future__ import annotations

import re

from days_cli import arguments, catalog, console, kinds, ladders, outputs, paths
from days_cli.errors import DaysError

USAGE = "NN NAME"
SUMMARY = "starts a day"
HELP = """./days new NN NAME     starts day NN in a folder of its own

  --kind ladder|program|python
                         kernels that compete (default), programs of their own
                         that check themselves, or kernels in Python

NN is 01 to 99, NAME of a-z, 0-9 and _ (./days list has the planned ones). The
new day builds, with an exercise; its tests fail until its kernels are written.
What a day of each kind holds: CONTRIBUTING.md, "Kinds of days"."""

# What a C++ name cannot be; NAME becomes one.
_RESERVED = set("""alignas alignof and asm auto bool break case catch char class compl concept const consteval constexpr
constinit continue decltype default delete do double else enum errno explicit export extern false float for friend goto
if inline int long mutable namespace new noexcept not nullptr operator or private protected public register requires
return short signed sizeof static stderr stdin stdout struct switch template this throw true try typedef typeid typename
union unsigned using virtual void volatile while xor half bf16""".split())


def run(args):
    given = arguments.parse("new", args, {"--kind": tuple(kinds.KINDS)}, words=2)
    if given.get("--help"):
        console.say(HELP)
        return 0
    if len(given.words) < 2:
        raise DaysError("new needs a number and a name", "./days new 14 softmax")
    number, name = _number(given.words[0]), given.words[1]
    kind = kinds.KINDS[given.get("--kind", kinds.DEFAULT)]
    if not _templates(kind).is_dir():
        raise DaysError(f"new cannot write {kind.title} yet, as nothing would run it; what such a day holds is in "
                        'CONTRIBUTING.md, "Kinds of days"', f"./days new {number:02d} {name} --kind program")
    _check(number, name)
    day = catalog.Day(number, name, "", paths.ROOT / f"day{number:02d}_{name}")
    made = _write(day, kind)
    for path in made:
        console.say(f"wrote {console.paint(str(path), 'cyan')}")
    console.say(f"\n{kind.written}: " + console.paint(f"./days test {number}", "cyan"))
    console.say("Afterwards " + console.paint("tools/readme_table.py", "cyan") + " adds it to the README's table.")
    return 0


def _templates(kind):
    return paths.TEMPLATES / kind.name


def _number(word):
    match = re.fullmatch(r"(?:day)?(\d{1,2})", word)
    if not match or int(match.group(1)) == 0:
        raise DaysError(f'a day\'s number is 01 to 99, not "{word}"', "./days new 14 softmax")
    return int(match.group(1))


def _check(number, name):
    """DaysError where the day exists, where the plan says otherwise, or where the name cannot be one in C++."""
    if not re.fullmatch(r"[a-z][a-z0-9_]+", name) or name in _RESERVED or "__" in name or name.endswith("_"):
        raise DaysError(f'"{name}" cannot be a name: a letter, then a-z, 0-9 and _, no word of C++',
                        "./days new 14 softmax")
    for day in catalog.all_days():
        if day.folder and (day.number == number or day.name == name):
            raise DaysError(f"there is {day.target} already", f"./days run {day.number}")
    for day in catalog.all_days():
        if day.number == number and day.name != name:
            raise DaysError(f"day {number:02d} is {day.name} in the plan", f"./days new {number:02d} {day.name}")
        if day.name == name and day.number != number:
            raise DaysError(f"{name} is day {day.number:02d} in the plan", f"./days new {day.number:02d} {name}")


def _write(day, kind):
    values = {"NN": f"{day.number:02d}", "number": str(day.number), "name": day.name,
              "Name": "".join(part.capitalize() for part in day.name.split("_")),
              "title": day.name.replace("_", " ").capitalize()}

    def fill(text):
        return re.sub(r"@(\w+)@", lambda match: values[match.group(1)], text)

    files = {}
    for template in sorted(_templates(kind).rglob("*.in")):
        files[day.folder / fill(template.relative_to(_templates(kind)).as_posix()[:-len(".in")])] = fill(template.read_text(encoding="utf-8"))
    described = day.folder / "ladder.json"
    if described in files:
        files[described] = ladders.with_source(files[described], ladders.number(files[day.folder / "ladder.cpp"]))
    made = []
    try:
        for path, text in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            made.append(path)
            outputs.put(path, text)
    except OSError:
        for path in made:  # all or nothing
            path.unlink(missing_ok=True)
        for folder in sorted({path.parent for path in made}, reverse=True):
            if folder.is_dir():
                folder.rmdir()
        raise
    return [path.relative_to(paths.ROOT) for path in made]
