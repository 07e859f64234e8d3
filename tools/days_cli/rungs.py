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

from days_cli import kernel_sources, kinds, ladders, python_ladders
from days_cli.errors import DaysError

_LADDER = re.compile(r'\bladder<\w+>\(\s*(?:"(\w+)")?')
_REGISTERED = re.compile(r"^REGISTER_LADDER\((\w+)\)", re.MULTILINE)
WITHIN = "}  // namespace\n"  # ends what a file keeps to itself; launchers follow


@dataclass(frozen=True)
class Rung:
    day: object
    ladder: str
    name: str
    launcher: str
    file: Path
    before: Optional["Rung"]  # None: the first of its ladder

    @property
    def words(self):
        """As a learner types it after a command."""
        return f"{self.day.number} {self.name}"

    @property
    def flags(self):
        """Of a program that is to run it and the one before: the type, where it takes halves and not the fp32 that is shown."""
        types = _types(self.file, self.launcher)
        return ["--type", "fp16"] if "days::half" in types and "float" not in types else []


def of_day(day):
    """{name: Rung}, ladder by ladder in the order of their tables."""
    if day.kind == "python":
        return _in_python(day)
    text = ladders.text(day)
    starts = list(_LADDER.finditer(text))
    registered = _REGISTERED.findall(text)
    found = {}
    files = ladders.files(day)
    for number, start in enumerate(starts):
        end = starts[number + 1].start() if number + 1 < len(starts) else len(text)
        ladder = start[1] or (registered[number] if number < len(registered) else day.name)
        earlier = []
        for name, launcher in ladders.VARIANT.findall(text, start.end(), end):
            if name in files and name not in found:
                found[name] = Rung(day, ladder, name, launcher, files[name], _before(name, launcher, files[name], earlier))
                earlier.append(found[name])
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
            found[name] = Rung(day, ladder["name"], name, "launch", files[name], named or (earlier[-1] if earlier else None))
            earlier.append(found[name])
    return found


def _before(name, launcher, file, earlier):
    types = _types(file, launcher)
    earlier = [rung for rung in earlier if types <= _types(rung.file, rung.launcher)]
    about = _header(file.read_text(encoding="utf-8"), name)
    since = re.search(r"\b[Ss]ince (\w+)", about)
    named = next((rung for rung in reversed(earlier) if since and since[1] in (rung.name, rung.name.partition("_")[2])), None)
    return named or (earlier[-1] if earlier else None)


def _types(file, launcher):
    """The element types that a file has the launcher for."""
    text = file.read_text(encoding="utf-8")
    many = re.search(rf"^INSTANTIATE_LAUNCHER\({launcher},\s*\w+,([^;]*)\);", text, re.MULTILINE)
    one = re.search(rf"^void {launcher}\(const [\w:]+<([\w:]+)>", text, re.MULTILINE)
    return {word.strip() for word in many[1].split(",")} if many else {_aliased(one[1], text)} if one else set()


def _aliased(name, text):
    """What a name of a type stands for, where the file gives it one of its own: `using T = days::half;`."""
    own = re.search(rf"^using {name} = ([\w:]+);", text, re.MULTILINE)
    return own[1] if own else name


def _comment(text):
    """The lines of a file's first comment."""
    return text[:len(text) - len(re.sub(r"\A(?://[^\n]*\n)+", "", text))].splitlines()


def _header(text, name):
    """What a file's first comment says of this rung, on one line; a file of several rungs begins each part with "rung:"."""
    parts = _parts(_comment(text))
    return " ".join(" ".join(line[2:].strip() for line in parts.get(name, parts[""])).split())


def _parts(lines):
    """{rung: lines} of a first comment, "" for what is of none or of all. The licence is left out."""
    parts, of = {"": []}, ""
    for line in lines:
        if "SPDX-License" in line:
            continue
        begins = re.match(r"// (\w+):(?: |$)", line)
        if begins and (of or parts[""]) and begins[1] not in ("Teaches", "Bound"):
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
    """The kernel file of the rung before, whose launcher now has this rung's name; what only other rungs of that file use is
    left out."""
    if rung.day.kind == "python":
        return python_ladders.start_text(rung)
    before = rung.before
    text = before.file.read_text(encoding="utf-8")
    comment = _comment(text)
    body = text[sum(len(line) + 1 for line in comment):]
    inside, ends, outside = body.partition(WITHIN)
    outside = _own_launcher(outside, rung)
    if len(launchers(body)) > 1:
        inside = _used(inside, outside)
    body = (inside + ends + outside).replace(f'"{before.name}"', f'"{rung.name}"')
    parts = _parts(comment)
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


_FUNCTION = re.compile(r"^(?P<head>(?:template <[^\n]*>\n)?(?:requires [^\n]*\n)?)(?P<result>(?:[\w:<>]+[ *&]+)+?)(?P<name>\w+)"
                       r"\((?P<takes>[^{;]*)\) \{\n(?P<body>.*?)^\}\n", re.MULTILINE | re.DOTALL)
_INSTANCES = re.compile(r"^INSTANTIATE_LAUNCHER\((\w+),[^;]*;\n", re.MULTILINE)


def launchers(text):
    """Matches of the launchers that a kernel file defines, each as a whole function, by "name"."""
    return [match for match in _FUNCTION.finditer(text) if "cudaStream_t" in match["takes"] and match["result"] == "void "
            and re.match(r"const (?:\w+::)*\w+<", match["takes"])]


def _own_launcher(outside, rung):
    """What follows a file's own part: of the functions there the launcher alone, with the name, the types and the instances
    that the rung's has."""
    theirs = rung.file.read_text(encoding="utf-8")
    theirs_outside = theirs.partition(WITHIN)[2]
    model = next((match for match in launchers(theirs_outside) if match["name"] == rung.launcher), None)
    if model is None:
        raise DaysError(f"{rung.file.name} has no launcher {rung.launcher} after its own part", code=1)
    instances = next((match[0] for match in _INSTANCES.finditer(theirs_outside) if match[1] == rung.launcher), "")

    def launcher(match):
        if match["name"] != rung.before.launcher:
            return ""
        takes = match["takes"]
        problem = re.match(r"const [\w:]+<[^<>]*>& ?", model["takes"])[0]
        if not model["head"]:
            problem = re.sub(r"<(\w+)>", lambda name: f"<{_aliased(name[1], theirs)}>", problem)
        takes = re.sub(r"^const [\w:]+<[^<>]*>& ?", lambda _: problem, takes)
        parameter, only = re.search(r"template <class (\w+)>", match["head"]), re.search(r"<([^<>]*)>", problem)[1]
        named = f"  using {parameter[1]} = {only};\n" if parameter and not model["head"] else ""
        return f"{model['head']}void {rung.launcher}({takes}) {{\n{named}{match['body']}}}\n"
    outside = _FUNCTION.sub(launcher, outside)
    outside = _INSTANCES.sub("", outside)
    last = outside.rfind("\n}  // namespace")
    return outside[:last].rstrip("\n") + "\n\n" + (instances + "\n" if instances else "") + outside[last + 1:].lstrip("\n")


def _used(inside, outside):
    """Those entities of a file's own part that the rest still names."""
    parts = _entities(inside)
    while True:
        for i, part in enumerate(parts):
            name = _name(part)
            others = "".join(parts[:i] + parts[i + 1:]) + outside
            if name and not re.search(rf"\b{name}\b", kernel_sources.plain(others)):
                del parts[i]
                break
        else:
            return "".join(parts)


def _entities(text):
    """The text in parts: each struct, function, variable, directive with the comment before it, and what lies between them."""
    parts, part, depth = [], [], 0
    for line in text.splitlines(keepends=True):
        code = re.sub(r"//.*", "", line).strip()
        part.append(line)
        depth += sum(code.count(sign) for sign in "({") - sum(code.count(sign) for sign in ")}")
        if code.startswith("namespace"):
            depth = 0
        elif depth or not (code.endswith((";", "}")) or code.startswith("#") or not code and len(part) == 1 and line.isspace()):
            continue
        parts.append("".join(part))
        part = []
    return [*parts, "".join(part)]


def _name(part):
    """Of the one entity that the part declares; "" where it declares none, or several."""
    code = kernel_sources.plain(part)
    code = re.sub(r"^template <[^{;]*?> (?=[a-z_])", "", code)
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
    return hashlib.sha256("\n".join(map(kernel_sources.plain, [own, *headers])).encode()).hexdigest()[:12]
