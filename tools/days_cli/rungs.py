# SPDX-License-Identifier: MIT
"""Every rung is an exercise: which rung it starts from, and the learner's file, which is that rung's kernel under this rung's
name. What it must reach is in rung_gates.py.

A rung starts from the one that its file's header names ("Changed since padded: ..."), else from the row before it in its ladder;
and from none that lacks an element type of its own."""
from __future__ import annotations

import difflib
import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from days_cli import kinds, ladders, python_ladders
from days_cli.errors import DaysError
from days_cli.ladders import plain

_WITHIN = "}  // namespace\n"  # ends what a file keeps to itself; launchers follow


@dataclass(frozen=True)
class Rung:
    day: object
    ladder: str
    name: str
    launcher: str
    types: tuple
    file: Path
    before: Optional["Rung"]  # None: the first of its ladder

    @property
    def words(self):
        """As a learner types it after a command."""
        return f"{self.day.number} {self.name}"

    @property
    def flags(self):
        """Of a program that is to run it and the one before: the type, where it takes halves and not the fp32 that is shown."""
        return ["--type", "fp16"] if "fp16" in self.types and "fp32" not in self.types else []


def of_day(day):
    """{name: Rung}, in the order of their tables; the ladder whose files come first, which the note tells first, before the others."""
    if day.kind == "python":
        return _in_python(day)
    found, files = {}, ladders.files(day)
    in_file = {}
    for name, path in files.items():
        in_file.setdefault(path, set()).add(name)
    first = {}
    for one in ladders.variants(day):
        if one.name not in files:
            raise DaysError(f"{day.target} has no file NN_idea.cu that defines {one.launcher}, which ladder.json names",
                            f"tools/ladder_json.py {day.number}", code=1)
        first[one.ladder] = min(files[one.name], first.get(one.ladder, files[one.name]))
    for one in sorted(ladders.variants(day), key=lambda one: first[one.ladder]):
        path = files[one.name]
        earlier = [rung for rung in found.values() if rung.ladder == one.ladder and set(one.types) <= set(rung.types)]
        about = header(path.read_text(encoding="utf-8"), one.name, in_file[path])
        since = re.search(r"\b[Ss]ince (\w+)", about)
        named = next((rung for rung in reversed(earlier) if since and since[1] in (rung.name, rung.name.partition("_")[2])), None)
        found[one.name] = Rung(day, one.ladder, one.name, one.launcher, one.types, path, named or (earlier[-1] if earlier else None))
    return found


def _in_python(day):
    """The same of a ladder.py. A rung starts from the one that "Changed since NAME:" in its file's docstring names, else from the row
    before it."""
    found, files = {}, python_ladders.files(day)
    for ladder in python_ladders.ladders(day):
        earlier = []
        for name in ladder["rungs"]:
            about = " ".join(python_ladders.header(files[name]).split())
            since = re.search(r"\b[Ss]ince (\w+)", about)
            named = next((rung for rung in earlier if since and rung.name == since[1]), None)
            found[name] = Rung(day, ladder["name"], name, "launch", (), files[name], named or (earlier[-1] if earlier else None))
            earlier.append(found[name])
    return found


def _comment(text):
    """The lines of a file's first comment."""
    return text[:len(text) - len(re.sub(r"\A(?://[^\n]*\n)+", "", text))].splitlines()


def header(text, name, rungs):
    """What a file's first comment says of this rung, on one line; a file of several rungs begins each part with "rung:"."""
    parts = _parts(_comment(text), rungs)
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


def resolve(day, word, command):
    """The rung that a learner means, which has one before it; DaysError where there is none."""
    if not kinds.has_rungs(day):
        raise DaysError(f"day {day.label} is {kinds.title(day.kind)} and has no rungs", f"./days {command} {day.number}")
    rungs = of_day(day)
    name = _named(rungs, word)
    if not name:
        near = difflib.get_close_matches(word, rungs, 1, 0.5)
        of_ladders = {}
        for rung in rungs.values():
            of_ladders.setdefault(rung.ladder, []).append(rung.name)
        listed = "; ".join(f"{ladder}: {', '.join(names)}" for ladder, names in of_ladders.items())
        first = next((rung.name for rung in rungs.values() if rung.before), "")
        raise DaysError(f'day {day.label} has no rung "{word}". ' + (f"Nearest: {near[0]}. " if near else "") +
                        f"Its rungs, {listed}", f"./days {command} {day.number} {near[0] if near else first}".rstrip())
    rung = rungs[name]
    if rung.before is None:
        after = next((other.name for other in rungs.values() if other.before is rung), "")
        raise DaysError(f"{name} is the first rung of {rung.ladder}: there is none before it to start from. Read "
                        f"{rung.file.name}; the step after it is {after}" if after else
                        f"{name} is the only rung of {rung.ladder}: there is none to start from",
                        f"./days {command} {day.number} {after}".rstrip())
    return rung


def _named(rungs, word):
    key = word.strip().lower().replace("-", "_")
    if key in rungs:
        return key
    known = next((name for name in rungs if key.endswith("_" + name)), None)  # causal_tiled is tiled's kernel
    begins = [name for name in rungs if key and name.startswith(key)]
    return known or (begins[0] if len(begins) == 1 else None)


# ---- the file to start from ----

def start_text(rung):
    """The kernel file of the rung before, whose launcher now has this rung's name. Of a file of several rungs what only the others
    use is left out, and so is what other files call: it stays in the program."""
    if rung.day.kind == "python":
        return python_ladders.start_text(rung)
    before = rung.before
    text = before.file.read_text(encoding="utf-8")
    here = {name for name, path in ladders.files(rung.day).items() if path == before.file}
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


def version(rung_or_day):
    """What a learner's file was made for, as a number: the file that it begins as and the day's headers, without comments."""
    day = getattr(rung_or_day, "day", rung_or_day)
    if day.kind == "python":
        text = start_text(rung_or_day) if isinstance(rung_or_day, Rung) else (day.folder / "exercise.py").read_text(encoding="utf-8")
        return hashlib.sha256(python_ladders.plain(text).encode()).hexdigest()[:12]
    own = start_text(rung_or_day) if isinstance(rung_or_day, Rung) else (day.folder / "exercise.cu").read_text(encoding="utf-8")
    headers = [path.read_text(encoding="utf-8") for pattern in ("*.h", "*.cuh") for path in sorted(day.folder.glob(pattern))]
    return hashlib.sha256("\n".join(map(plain, [own, *headers])).encode()).hexdigest()[:12]
