# SPDX-License-Identifier: MIT
"""The learner's files and progress: my/dayNN.cu, my/dayNN_RUNG.cu, my/old/, my/progress.json, and the hints of a note.

What is exercised is a Day, whose first step is its exercise.cu, or one of its Rungs (rungs.py)."""
from __future__ import annotations

import contextlib
import datetime
import fcntl
import functools
import json
import os
import re

from days_cli import catalog, console, ladders, outputs, paths, rungs
from days_cli.errors import ENVIRONMENT, DaysError

_PROGRESS = "progress.json"


def resolve(word, command, rung=None):
    """The day that is meant, or its rung; there must be an exercise."""
    day = catalog.resolve(word, command)
    if rung is not None and rung != "exercise":
        return rungs.resolve(day, rung, command)
    if not skeleton(day).is_file():
        with_one = [other.number for other in catalog.here() if skeleton(other).is_file()]
        raise DaysError(f"day {day.label} has no exercise; these have: {', '.join(map(str, with_one)) or 'none'}",
                        f"./days {command} {with_one[0]}" if with_one else "./days list")
    return day


def day_of(what):
    return what.day if isinstance(what, rungs.Rung) else what


def words(what):
    """What a learner types behind a command."""
    return what.words if isinstance(what, rungs.Rung) else str(what.number)


def label(what):
    """"day 05 matmul", "rung padded of day 13 transpose"."""
    return f"rung {what.name} of day {what.day.label}" if isinstance(what, rungs.Rung) else f"day {what.label}"


def my_file(what):
    if isinstance(what, rungs.Rung):
        return paths.MY / f"day{what.day.number:02d}_{what.name}{what.file.suffix}"
    return paths.MY / f"day{what.number:02d}{skeleton(what).suffix}"


def skeleton(day):
    """The exercise as it is shipped; a day need not have one."""
    return day.folder / ("exercise" + day.kind.suffix)


def start_bytes(what):
    """What the learner's file begins as."""
    return rungs.start_text(what).encode() if isinstance(what, rungs.Rung) else skeleton(what).read_bytes()


def start(what):
    """my/dayNN.cu or my/dayNN_RUNG.cu, made where there is none. True: it is new."""
    mine = my_file(what)
    if mine.is_dir():
        raise DaysError(f"{shown(mine)} is a folder, and your kernel has to stand there", f"mv {shown(mine)} {shown(mine)}.old",
                        ENVIRONMENT)
    if mine.exists():
        return False
    _make_folder()
    if mine.is_symlink():
        raise DaysError(f"{shown(mine)} leads to {os.readlink(mine)}, which is not there", f"ls -l {shown(mine)}", ENVIRONMENT)
    made = outputs.create(mine, start_bytes(what))
    if made and day_of(what).kind.has_rungs:
        remember(what, begun=rungs.version(what))
    return made


def other_version(what):
    """Whether the learner's file was begun from another version of the day; False where that is not known."""
    begun = progress(what).get("begun")
    return begun is not None and day_of(what).kind.has_rungs and begun != rungs.version(what)


def restart(what):
    """The learner's file as it begins; what was there is moved to my/old: its path there, or None."""
    mine = my_file(what)
    kept = _put_away(mine) if mine.exists() else None
    try:
        start(what)
    except BaseException:
        if kept:
            os.rename(kept, mine)
        raise
    return kept


def _put_away(mine):
    old = paths.MY / "old"
    old.mkdir(exist_ok=True)
    stamp = datetime.datetime.now().strftime("%Y%m%d-%H%M%S")
    with _lock():
        target = _free(old / f"{mine.stem}-{stamp}{mine.suffix}")
        os.rename(mine, target)
    return target


def _free(path):
    """The path, with a number where there is something already."""
    count, free = 1, path
    while os.path.lexists(free):
        count += 1
        free = path.with_name(f"{path.stem}-{count}{path.suffix}")
    return free


def _make_folder():
    """my/, where it can be made or is: it may be a link to a drive that is not there now."""
    mine = shown(paths.MY)
    try:
        paths.MY.mkdir(exist_ok=True)
    except FileNotFoundError as error:
        raise DaysError(f"no folder {shown(paths.MY.parent)}, where {mine} has to stand",
                        f"mkdir -p {shown(paths.MY.parent)}", ENVIRONMENT) from error
    except FileExistsError as error:
        if paths.MY.is_symlink():
            raise DaysError(f"{mine} leads to {os.readlink(paths.MY)}, which is not there. Is it on a drive that is not mounted?",
                            f"ls -l {mine}", ENVIRONMENT) from error
        raise DaysError(f"{mine} is a file, and the folder of your kernels has to stand there", f"mv {mine} {mine}.old",
                        ENVIRONMENT) from error


@contextlib.contextmanager
def _lock():
    """Keeps other commands from changing my/ until this has ended. It leaves no file there."""
    folder = os.open(paths.MY, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # some network file systems have no locks
            fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def shown(path):
    """As the learner types it."""
    return os.path.relpath(path, paths.ROOT) if str(path).startswith(str(paths.ROOT)) else str(path)


# ---- progress ----

_FACTS = {"solved": str, "hints": int, "solution": bool, "last": str, "begun": str}


def _read():
    """({a day's number: its facts}, what is wrong with the file or ""). OSError where it cannot be read."""
    try:
        found = json.loads((paths.MY / _PROGRESS).read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return {}, ""
    except (ValueError, RecursionError):
        return {}, "is no JSON"
    if not isinstance(found, dict):
        return {}, "has no days in it"
    days = {number: {name: value for name, value in facts.items() if type(value) is _FACTS.get(name, type(value))}
            for number, facts in found.items() if isinstance(facts, dict)}
    return days, "" if days == found else "has facts in it that are none"


def _write(days):
    outputs.put(paths.MY / _PROGRESS, json.dumps(days, indent=1, sort_keys=True) + "\n")


def _sound():
    """{a day's number: its facts}, in a _lock(). A file that is damaged is set aside, and what of it makes sense stays."""
    days, damage = _read()
    if damage:
        path = paths.MY / _PROGRESS
        aside = _free(path.with_name(_PROGRESS + ".bad"))
        os.rename(path, aside)
        _write(days)
        console.note(f"note: {shown(path)} {damage}; it is kept as {shown(aside)}")
    return days


def _load():
    try:
        days, damage = _read()
        if damage:
            with _lock():
                days = _sound()
        return days
    except OSError as error:
        console.note(f"warning: {shown(paths.MY / _PROGRESS)}: {error.strerror}; what you have solved is not known")
        return {}


def _key(what):
    return f"{what.day.number:02d} {what.name}" if isinstance(what, rungs.Rung) else f"{what.number:02d}"


def progress(what):
    """{"solved": its moment or absent, "hints": seen, "solution": True once seen, "last": the last check's verdict, "begun": the
    version of the day that the file was begun from}"""
    return _load().get(_key(what), {})


def remember(what, **facts):
    """Adds to the progress. Where that cannot be saved, a line says so: it is not what the command was asked for. The
    first moment of "solved" stays."""
    try:
        _make_folder()
        with _lock():
            days = _sound()
            known = days.setdefault(_key(what), {})
            known.update({name: value for name, value in facts.items() if name != "solved" or name not in known})
            _write(days)
    except (OSError, DaysError) as error:
        why = error.message if isinstance(error, DaysError) else f"{shown(paths.MY / _PROGRESS)}: {error.strerror}"
        console.note(f"warning: your progress could not be saved: {why}")


def now():
    """A moment as progress keeps it: later ones are greater."""
    return datetime.datetime.now().isoformat(timespec="seconds")


@functools.lru_cache(maxsize=None)
def as_rung(day):
    """The rung that the day's first step is, where it starts from the one before that rung and comes to it; else None. Who has solved one
    of the two has solved both."""
    named = ladders.exercise(day) if day.kind.has_rungs else None
    rung = rungs.of_day(day).get(named[2]) if named else None
    return rung if rung and rung.before and rung.before.name == named[1] else None


def solved_at(what, known=None):
    """When this was solved, as now() has it; "" where it is not."""
    known = _load() if known is None else known
    found = known.get(_key(what), {}).get("solved", "")
    if not found and any(key[:2] == _key(what)[:2] and "solved" in facts for key, facts in known.items()):
        rung = as_rung(day_of(what))
        other = what.day if isinstance(what, rungs.Rung) and rung and what.name == rung.name else rung if what is day_of(what) else None
        found = known.get(_key(other), {}).get("solved", "") if other else ""
    return found


def solved_of(days):
    """Those of the days whose exercise is solved."""
    known = _load()
    return [day for day in days if solved_at(day, known)]


def last_solved():
    """The day or rung that was solved last, None where none was."""
    found = {_key(day): day for day in catalog.here()}
    known = {key: facts["solved"] for key, facts in _load().items() if "solved" in facts and key[:2] in found}
    for key in sorted(known, key=lambda key: (known[key], len(key)), reverse=True):
        day, name = found[key[:2]], key[3:]
        what = day if not name else rungs.of_day(day).get(name) if day.kind.has_rungs else None
        if what:
            return what
    return None


def open_rung(day, after=None):
    """The rung to go on with: the day's first that can be checked and is not solved behind the one that is given, or that was solved last;
    where none is behind it, the first of all. None where all are solved."""
    known, found = _load(), list(rungs.of_day(day).values()) if day.kind.has_rungs else []
    after = after or max((rung for rung in found if solved_at(rung, known)), key=lambda rung: solved_at(rung, known), default=None)
    at = [rung.name for rung in found].index(after.name) + 1 if after else 0
    return next((rung for rung in found[at:] + found[:at] if rung.before and not solved_at(rung, known)), None)


def rungs_solved(day):
    """(how many of the day's rungs are solved, how many can be)."""
    known, found = _load(), [rung for rung in rungs.of_day(day).values() if rung.before] if day.kind.has_rungs else []
    return sum(bool(solved_at(rung, known)) for rung in found), len(found)


# ---- hints ----

_HINT = re.compile(r"<details>\s*<summary>Hint (\d)[^<]*</summary>\n(.*?)</details>", re.DOTALL)


def hints(what):
    """The texts of the note's <details><summary>Hint N</summary> blocks: of a day's first step, those outside of its rungs'
    sections. Of a rung, those in its section; where that has none, what it says: the idea, then all that follows."""
    note = (day_of(what).folder / "README.md").read_text(encoding="utf-8")
    if not isinstance(what, rungs.Rung):
        first = _HINT.search(note)
        for rung in rungs.of_day(what).values() if what.kind.has_rungs else ():
            text = section(rung)[1]
            if first and first[0] not in text:
                note = note.replace(text, "") if text else note
        return [text.strip("\n") for _, text in sorted(_HINT.findall(note))]
    text = section(what)[1]
    own = [hint.strip("\n") for _, hint in sorted(_HINT.findall(text))]
    return own or (_unfolded(what, text) if text.strip() else [])


def section(rung):
    """(the line of its heading, the text below it) of the rung's section in the note; (0, "") where it has none."""
    note = (rung.day.folder / "README.md").read_text(encoding="utf-8")
    heading = re.search(rf"^(###+) [^:\u2014\n]*\b{rung.name}\b.*\n", note, re.MULTILINE)
    if not heading:
        return 0, ""
    after = note[heading.end():]
    end = re.search(rf"^#{{1,{len(heading[1])}}} ", after, re.MULTILINE)
    return note.count("\n", 0, heading.start()) + 1, after[:end.start()] if end else after


def _unfolded(rung, text):
    """A section as hints: a question, from what hurts; the idea; its code with holes. Pictures, tables, outputs, folds and the arithmetic
    are left out, and so is what the rung has reached."""
    text = re.sub(r"<!-- (\w+)[^>]*-->.*?<!-- /\1 -->", "", text, flags=re.DOTALL)
    text = re.sub(r"<details><summary>The arithmetic</summary>.*?</details>", "", text, flags=re.DOTALL)
    text = re.sub(r"^.*<!-- profile -->\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"^\|.*\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"^!\[.*?\]\([^)]*\)$|</?details>|<summary>.*?</summary>|<!--.*?-->", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r" ?\(?\[`\d\d_\w+\.(?:cu|py)`\]\([^)]*\)(?:, simplified[^)\n:]*)?\)?", "", text)  # the answer's file
    text = re.sub(r"\[([^\]]*)\]\([^)\s]+\)", r"\1", text)  # a lambda's [&](float x) has a space where a link has none
    parts = re.split(r"^\*\*([^*\n]+?)[.:]?\*\*", text, flags=re.MULTILINE)
    told = {name.split(",")[0]: body for name, body in reversed(list(zip(parts[1::2], parts[2::2])))}
    idea = told.get("The idea", "" if "What hurts" in told else text)
    code = re.search(r"^```\w*\n(.*?)^```", idea, re.MULTILINE | re.DOTALL)
    holes = _with_holes(code[1], start_bytes(rung).decode()) if code else ""
    question = (f"Which line of yours is that? `./days explain {rung.words} --mine` says what each costs." if told.get("What hurts") else
                f"What has {rung.name} that {rung.before.name} has not? `./days explain {rung.words} --mine` says what each line of yours costs.")
    return [hint for hint in (f"{_whole(told.get('What hurts', ''))}\n\n{question}".strip("\n"), _whole(idea[:code.start()] if code else idea),
                              f"```\n{holes}```" if "___" in holes else "") if hint]


def _whole(text):
    """Prose without its code, and without a last sentence that only leads over to what is left out."""
    text = re.sub(r"^```.*?^```\n?", "", text, flags=re.MULTILINE | re.DOTALL).strip()
    text = re.sub(r"\n{3,}", "\n\n", re.sub(r":(?=\s*\n\n(?!- ))", ".", text))
    while text.endswith(":"):
        text = text[:max(text.rfind(end) for end in (". ", ".\n", "? ", "\n\n", "!\n")) + 1].strip()
    return text


def _with_holes(code, start):
    """The code, and where a line is not the start's, a hole in place of what it computes or asks."""
    known = {" ".join(line.split("//")[0].split()) for line in start.splitlines()}
    out = []
    for line in code.splitlines():
        bare, comment = line.split("//")[0].rstrip(), line.partition("//")[1] + line.partition("//")[2]
        if " ".join(bare.split()) not in known and not bare.lstrip().startswith(("#", "@", "def ", "template", "__global__", "using ", "import ")):
            bare = re.sub(r"\b(if|while|elif) ?\(.*\)(?= |$)|\b(if|while|elif) [^(].*(?=:$)", lambda m: f"{m[1]} (___)" if m[1] else f"{m[2]} ___", bare, count=1)
            loop = re.match(r"(\s*for \([^;]*;)[^;]*;[^;]*?\)(?= |$)", bare)
            head, bare = (loop[1] + " ___; ___)", bare[loop.end():]) if loop else ("", bare)
            bare = re.sub(r"(\[)[^\[\]]+(\];)$", r"\1___\2", bare) if re.match(r"\s*(?:__shared__|__constant__|\w+) ", bare) and "=" not in bare else bare
            bare = re.sub(r"(?<=[^=!<>]= )[^;{]+(?=;|$)|\breturn \S[^;]*(?=;|$)", lambda m: "return ___" if m[0].startswith("return") else "___", bare, count=1)
            bare = head + re.sub(r"^(\s*(?:\w+(?:::|\.|->))*\w+(?:<[^<>]*>)?)\([^()].*\)(;?)$", r"\1(___)\2", bare)
        out.append(f"{bare}  {comment}".rstrip() + "\n")
    return "".join(out)
