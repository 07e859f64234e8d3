# SPDX-License-Identifier: MIT
"""The rungs of a ladder in C++: which file holds which, which one each starts from, and what a learner's file of it begins as."""
from __future__ import annotations

import re

from days_cli import ladders
from days_cli.errors import DaysError
from days_cli.ladders import plain
from days_cli.rungs import Rung

_LAUNCHER = re.compile(r"^void (\w+)\(", re.MULTILINE)
_WITHIN = "}  // namespace\n"  # ends what a file keeps to itself; launchers follow


def files(day):
    """{rung: its file NN_idea.cu}, in the order of the files and, within one, of its launchers. A file may hold several rungs. A
    rung that several ladders have under names with a prefix is here once, without it."""
    launchers = {rung.launcher: rung.name for rung in ladders.variants(day)}
    found = {}
    for path in sorted(day.folder.glob("[0-9][0-9]_*.cu")):
        for launcher in _LAUNCHER.findall(path.read_text(encoding="utf-8")):
            if launcher in launchers:
                found.setdefault(launchers[launcher], path)
    return found


def exercise(day):
    """(goal, starting rung, solution) as .exercise names them; None where the ladder has no exercise."""
    found = next((ladder["exercise"] for ladder in ladders.of(day) if "exercise" in ladder), None)
    return (found["goal"], found["starts"], found["solution"]) if found else None


def rungs(day):
    """{name: Rung}, in the order of their tables; the ladder whose files come first, which the note tells first, before the others."""
    found, in_files = {}, files(day)
    in_file = {}
    for name, path in in_files.items():
        in_file.setdefault(path, set()).add(name)
    first = {}
    for one in ladders.variants(day):
        if one.name not in in_files:
            raise DaysError(f"{day.target} has no file NN_idea.cu that defines {one.launcher}, which ladder.json names",
                            f"tools/ladder_json.py {day.number}", code=1)
        first[one.ladder] = min(in_files[one.name], first.get(one.ladder, in_files[one.name]))
    for one in sorted(ladders.variants(day), key=lambda one: first[one.ladder]):
        path = in_files[one.name]
        earlier = [rung for rung in found.values() if rung.ladder == one.ladder and set(one.types) <= set(rung.types)]
        about = header(path.read_text(encoding="utf-8"), one.name, in_file[path])
        since = re.search(r"\b[Ss]ince (\w+)", about)
        named = next((rung for rung in reversed(earlier) if since and since[1] in (rung.name, rung.name.partition("_")[2])), None)
        found[one.name] = Rung(day, one.ladder, one.name, one.launcher, one.types, path, named or (earlier[-1] if earlier else None))
    return found


def _comment(text):
    """The lines of a file's first comment."""
    return text[:len(text) - len(re.sub(r"\A(?://[^\n]*\n)+", "", text))].splitlines()


def header(text, name, beside):
    """What a file's first comment says of this rung, on one line; a file of several rungs begins each part with "rung:"."""
    parts = _parts(_comment(text), beside)
    return " ".join(" ".join(line[2:].strip() for line in parts.get(name, parts[""])).split())


def _parts(lines, rungs):
    """{rung: lines} of the first comment of a file with these rungs, "" for what is of none or of all. The licence is left out."""
    parts, of = {"": []}, ""
    for line in lines:
        if "SPDX-License" in line:
            continue
        begins = re.match(r"// (\w+):(?: |$)", line)
        if begins and len(rungs) > 1 and begins[1] in rungs:
            of = begins[1]
        parts.setdefault(of, []).append(line)
    return parts


# ---- the file to start from ----

def start_text(rung):
    """The kernel file of the rung before, whose launcher now has this rung's name. Of a file of several rungs what only the others
    use is left out, and so is what other files call: it stays in the program."""
    before = rung.before
    text = before.file.read_text(encoding="utf-8")
    here = {name for name, path in files(rung.day).items() if path == before.file}
    comment = _comment(text)
    inside, ends, outside = text[sum(len(line) + 1 for line in comment):].partition(_WITHIN)
    outside = "".join(part for part in _blocks(outside) if _is_of(part, before.launcher) or not _declared(part))
    if len(here) > 1:
        inside = _used(inside, outside)
    body = re.sub(rf"\b{before.launcher}\b", rung.launcher, inside + ends + _head_of(outside, rung))
    body = body.replace(f'"{before.name}"', f'"{rung.name}"')
    parts = _parts(comment, here)
    about = parts.get(before.name) or parts[""]
    while about and about[0].strip() == "//":
        about = about[1:]
    title = f"// Yours: {rung.name} of day {rung.day.number}. It begins as {before.name}, which is right; the note says what is missing."
    if len(title) > 110:
        title = title.partition("; the note")[0] + "."
    head = ["// SPDX-License-Identifier: MIT", "//", title,
            f"//   ./days check {rung.words}     what is asked, and how far you are",
            f"//   ./days hint {rung.words}      what the note says of it", "//",
            *([] if about and about[0].startswith(f"// {before.name}:") else [f"// What {before.name} does:"]), *about]
    while head[-1].strip() == "//":
        head.pop()
    return "\n".join(head) + "\n" + re.sub(r"\n{3,}", "\n\n", body)


def without(text, others):
    """A kernel file without these launchers."""
    return "".join(part for part in _blocks(text) if not any(_is_of(part, other) for other in others))


def _is_of(part, launcher):
    """Is a block the launcher's definition, or its instances?"""
    return re.search(rf"^(?:void {launcher}\(|INSTANTIATE_LAUNCHER\({launcher},)", part, re.MULTILINE) is not None


def _head_of(outside, rung):
    """The same with what stands before the launcher's body, and its instances, as this rung's file has them: it may take fewer
    types."""
    theirs = rung.file.read_text(encoding="utf-8")
    theirs_parts = [part for part in _blocks(theirs.partition(_WITHIN)[2]) if _is_of(part, rung.launcher)]
    if not theirs_parts:
        raise DaysError(f"{rung.file.name} has no launcher {rung.launcher} after its own part", code=1)
    if rung.types == rung.before.types:
        return outside
    made = []
    for part in _blocks(outside):
        if f"\nINSTANTIATE_LAUNCHER({rung.before.launcher}," in "\n" + part:
            part = "\n".join(["", *(one.strip("\n") for one in theirs_parts if "INSTANTIATE_LAUNCHER" in one), ""])
        elif _is_of(part, rung.before.launcher):
            old, body = _cut(part)
            new, _ = _cut(theirs_parts[0])
            own = re.search(r"^using T = ([\w:]+);", theirs, re.MULTILINE)  # a name for its one type
            new = new.replace("<T>", f"<{own[1]}>") if own else new
            only = re.search(r"<([\w:]+)>&", new)[1]
            named = f"  using T = {only};\n" if "template <class T>" in old and "template" not in new else ""
            part = new + named + body
        made.append(part)
    return "".join(made)


def _cut(part):
    """(all up to the line that opens its body, the rest) of a function with the comment and the empty lines before it."""
    at = re.search(r"\{\n", part).end()
    return part[:at], part[at:]


def _used(inside, outside):
    """Those blocks of a file's own part that the rest still names."""
    parts = _blocks(inside)
    while True:
        for i, part in enumerate(parts):
            name = _declared(part)
            others = "".join(parts[:i] + parts[i + 1:]) + outside
            if name and not re.search(rf"\b{name}\b", plain(others)):
                del parts[i]
                break
        else:
            return "".join(parts)


def _blocks(text):
    """The text in parts that add up to it: each struct, function, variable or directive with the comment before it, and what lies
    between them."""
    parts, part, depth = [], [], 0
    for line in text.splitlines(keepends=True):
        code = re.sub(r"//.*", "", line).strip()
        part.append(line)
        depth += sum(code.count(sign) for sign in "({") - sum(code.count(sign) for sign in ")}")
        if code.startswith("namespace"):
            depth = 0
        elif depth > 0 or not (code.endswith((";", "}")) or code.startswith("#") or not code and len(part) == 1 and line.isspace()):
            continue
        depth = 0  # the end of a namespace closes what no block has opened
        parts.append("".join(part))
        part = []
    return [*parts, "".join(part)]


def _declared(part):
    """The name of the one thing that a block declares; "" where it declares none, or several."""
    code = re.sub(r"^template <[^{;]*?> (?:requires [\w:]+(?:<[\w:]*>)? )?(?=[a-z_])", "", plain(part))
    match = (re.match(r"(?:struct|class|using) (?:alignas\(\w+\) )?(\w+)", code) or re.match(r"__constant__ \w+ (\w+)\[", code) or
             re.match(r"[\w:<>,*& ]*?(?:__launch_bounds__\([^()]*\) )?(\w+)\(", code))
    return match[1] if match and not code.startswith(("#", "namespace")) else ""


def own_text(day, own):
    """A learner's file `own` and the day's headers, which it was made for, without comments."""
    headers = [path.read_text(encoding="utf-8") for pattern in ("*.h", "*.cuh") for path in sorted(day.folder.glob(pattern))]
    return "\n".join(map(plain, [own, *headers]))


def measured(day):
    """Whether the day has something to measure."""
    return (day.folder / "ladder.cpp").exists()
