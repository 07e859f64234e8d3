#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Looks for what would leave a reader of the notes in the lurch, without building anything:

    tools/check_notes.py

- a link of a note, of README.md, CONTRIBUTING.md or docs/*.md that leads to no file here, or to no heading of it
- a day in the text (day 39, days 10 and 11) or in a note's builds_on that is not here; "planned" in the same sentence excuses it
- a listing of a kernel that has the name of one of the day's and lines that this one has not (comments aside); "simplified" in the
  paragraph before it excuses that
- a word that a note links to the glossary, but only after it has used it
- an output that README.md shows and no note, whose outputs tools/note_outputs.py holds to their commands
- a note of more words than 1,200 and 100 more for each rung, a heading `### N · ...`, or than 2,500: one idea is told in 1,200, a ladder of
  seven in 1,900. Code, outputs, tables, results, pictures and folds don't count
- a rung of more than 200 such words, or as many before the note's first command
- a note with more than one number for 25 such words. Headings don't count, nor do the names of days, rungs and types; a shape is one number
- a note whose `minutes` are not what they are counted to be, in steps of five: its words and folds at 150 a minute, 20 for each exercise
  (`./days check NN ...`), one for each command whose output is shown
- a note without the nvcc line that builds its day, or one of its programs
- an entry of docs/glossary.md that is longer than 60 words, has no number, or is not in its place by the alphabet

Exit code: 0 nothing, 1 something, said as FILE:LINE: what.
"""
import re
import sys
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import note_outputs  # noqa: E402
from days_cli import catalog, program_day, results  # noqa: E402
from days_cli.errors import DaysError  # noqa: E402

MOST_WORDS = 60
WORDS_A_MINUTE, MINUTES_OF_AN_EXERCISE = 150, 20
WORDS, WORDS_FOR_A_RUNG, WORDS_AT_MOST, WORDS_IN_A_RUNG, WORDS_BEFORE_HANDS = 1200, 100, 2500, 200, 200
WORDS_A_NUMBER = 25
_LINK = re.compile(r"!?\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
_DAYS = re.compile(r"\b[Dd]ays?\s+\[?(\d{1,2}(?:(?:,\s+(?:and\s+|or\s+)?|\s+and\s+|\s+or\s+|\s+to\s+)\d{1,2})*)\b")
_GLOSSARY = "docs/glossary.md"


def blank(text, pattern):
    """The text with spaces in place of what matches, lines as they were."""
    return re.sub(pattern, lambda match: re.sub(r"[^\n]", " ", match[0]), text, flags=re.DOTALL | re.MULTILINE)


def prose(text):
    """What is read as sentences: no front matter, code, comments, generated results and profiles."""
    for pattern in (r"\A---\n.*?\n---\n", results.markers().pattern, r"^[^\n]*<!-- profile -->$", r"<!--.*?-->", r"^ *```.*?^ *```$",
                    r"^(?: {4}|\t).*?$"):
        text = blank(text, pattern)
    return text


def line_of(text, at):
    return text.count("\n", 0, at) + 1


def slug(heading):
    """The anchor that GitHub gives a heading."""
    heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", heading.strip().lower().replace("`", "")).replace(" ", "-")


def anchors(text):
    found = set()
    for heading in re.findall(r"^#+ +(.+?) *$", blank(text, r"^ *```.*?^ *```$"), re.MULTILINE):
        name, count = slug(heading), 0
        while name in found:
            count += 1
            name = f"{slug(heading)}-{count}"
        found.add(name)
    return found | set(re.findall(r'<a (?:id|name)="([^"]+)"', text))


def links(path, text):
    """(line, complaint) of links to what is not there."""
    known = {}  # anchors of the files that the page links to
    for match in _LINK.finditer(blank(blank(text, r"^ *```.*?^ *```$"), r"^(?: {4}|\t).*?$")):
        target, _, anchor = match[2].partition("#")
        if re.match(r"[a-z]+:", target):
            continue
        file = (path.parent / target).resolve() if target else path
        if not file.exists():
            yield line_of(text, match.start()), f"link to {match[2]}: there is no such file"
        elif anchor and file.suffix == ".md":
            if file not in known:
                known[file] = anchors(file.read_text(encoding="utf-8"))
            if anchor not in known[file]:
                yield line_of(text, match.start()), f"link to {match[2]}: no heading there makes this anchor"


def sentence(text, at):
    start = max(text.rfind(end, 0, at) for end in (". ", ".\n", "\n\n"))
    stop = min((found for found in (text.find(end, at) for end in (". ", ".\n", "\n\n")) if found >= 0), default=len(text))
    return text[start + 1:stop]


def days_named(text, here):
    """(line, complaint) of days that a reader is sent to and that are not here."""
    text = prose(text)
    for match in _DAYS.finditer(text):
        missing = [number for number in re.findall(r"\d+", match[1]) if int(number) not in here]
        if missing and not re.search(r"\bplanned\b", sentence(text, match.start())):
            yield line_of(text, match.start()), f"day {', '.join(missing)} is not here: leave it out, or say that it is planned"


def builds_on(day, here):
    """Complaints of a note's front matter."""
    for word in day.front_matter().get("builds_on", []):
        if int(word) not in here:
            yield 1, f"builds on day {int(word)}, which is not here"
    try:
        catalog.used_by(day)
    except DaysError as error:
        yield 1, error.message


def read(text):
    """The sentences of a note as they are read: no tables, pictures, markup and targets of links, code within a line is one word."""
    text = blank(prose(text), r"^\|.*?$")  # what follows keeps the lines, as complaints name them
    for pattern, words in ((r"!\[[^\]]*\]\([^)]*\)", ""), (r"\]\([^)\s]*\)", "]"), (r"`[^`\n]*`", "code"), (r"</?[a-z]+>", ""), (r"[*\[\]]", "")):
        text = re.sub(pattern, words, text)
    return text


def unfolded(text):
    """What is read of a note whose folds stay closed."""
    return read(blank(text, r"^<details>.*?^</details>"))


def words_of(text):
    return len(re.findall(r"\S*\w\S*", text))


def numbers_of(text):
    """How many numbers a reader must take in: 32 x 8 is one, and what only names a thing is none (day 5, rung 2, fp32, the 2 of a list)."""
    text = blank(text, r"^#.*?$")
    text = re.sub(r"(?m)^ *\d+\. |\b\d{4}-\d\d-\d\d\b", " ", text)
    text = re.sub(r"(?i)\b(?:days?|rungs?|hints?|mistakes?|stages?)\s+\d+(?:(?:,\s+(?:and\s+|or\s+)?|\s+(?:and|or|to)\s+)\d+\b)*", " ", text)
    return len(re.findall(r"(?<![\w.,])\d[\d,.]*(?:\s+x\s+\d[\d,.]*)*", text))


def length(text):
    """(line, complaint) of a note with more words than its rungs allow, or more numbers than its words."""
    shown, found = unfolded(text), []
    words, numbers = words_of(shown), numbers_of(shown)
    rungs = list(re.finditer(r"^### (\d+) · [^\n]*(?P<body>.*?)(?=^#{2,3} |\Z)", shown, re.MULTILINE | re.DOTALL))
    most = min(WORDS + WORDS_FOR_A_RUNG * len(rungs), WORDS_AT_MOST)
    if words > most:
        found.append((1, f"{words:,} words, at most {most:,} for {len(rungs)} rungs: say less, or split a rung that needs three readings"))
    for rung in rungs:
        count = words_of(rung["body"])
        if count > WORDS_IN_A_RUNG:
            found.append((line_of(shown, rung.start()), f"rung {rung[1]}: {count} words, at most {WORDS_IN_A_RUNG}: fold what its idea does not need"))
    if numbers * WORDS_A_NUMBER > words:
        found.append((1, f"{numbers} numbers in {words:,} words, at most one for {WORDS_A_NUMBER}: say them in words, or fold the arithmetic"))
    return found


def hands(text):
    """(line, complaint) of a note that lets its reader wait for the first command."""
    command = re.search(r"^ {4}\./days ", text, re.MULTILINE)
    if not command:
        yield 1, "no line shows a command of ./days"
    elif (words := words_of(unfolded(text[:command.start()]))) > WORDS_BEFORE_HANDS:
        yield line_of(text, command.start()), f"{words} words before the first command, at most {WORDS_BEFORE_HANDS}: what it does not need comes later"


def minutes(day, text):
    """Complaints of a note that promises to take another time than it does."""
    said = day.front_matter().get("minutes", 0)
    exercises = set(re.findall(rf"\./days check 0*{day.number}(?!\d)(?: +(?!exercise\b)([a-z]\w*))?(?! +--rung)", re.sub(r"<!--.*?-->", "", text)))
    counted = words_of(read(text)) / WORDS_A_MINUTE + MINUTES_OF_AN_EXERCISE * len(exercises) + len(note_outputs.BLOCK.findall(text))
    if said != (counted := -int(-counted // 5) * 5):
        yield 1, f"minutes: {said}, and counted are {counted}: write these"
    for match in re.finditer(r"[Aa]bout\s+(\d+)\s+minutes", prose(text)[:2000]):
        if int(match[1]) != said:
            yield line_of(text, match.start()), f"{match[0]}, and above stands minutes: {said}"


def commands(day, text):
    """Complaints of a note without the nvcc line of its day, or of each of its programs, with the kernels that it takes from other days:
    some readers have nothing but nvcc."""
    try:
        used = catalog.used_words(day)
    except DaysError:
        return  # builds_on() says so
    lines = re.findall(r"^ *nvcc .*$", re.sub(r" *\\\n *", " ", text), re.MULTILINE)
    wanted = () if day.kind.in_python else program_day.sources(day).values() if day.kind.has_programs else [f"{day.folder.name}/*.cu"]
    for files in wanted:
        if not any(all(f" {word} " in f"{line} " for word in (files, *used)) for line in lines):
            yield 1, f"no line says how nvcc alone builds {' '.join((files, *used))}"
    if any("common/harness.cu" in line and "common/core.cpp" not in line for line in lines):
        yield 1, "nvcc's line names common/harness.cu without common/core.cpp, which that needs"


def _code(line):
    """A line of code without its comment and without white space around it."""
    return re.sub(r"\s*//.*", "", line).strip()


def listings(folder, text):
    """(line, complaint) of listings of kernels that are not what the day's files say."""
    files = {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("[0-9][0-9]_*.cu"))}
    for match in re.finditer(r"^```(?:cpp|cuda)\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        said = re.sub(r"<!-- given: (?:(?!-->).)*-->\s*\Z", "", text[:match.start()], flags=re.DOTALL).rstrip().rpartition("\n\n")[2]
        for name in re.findall(r"__global__ void (?:__launch_bounds__\([^)]*\) )?(\w+)\(", match[1]):
            sources = {file: source for file, source in files.items() if re.search(rf"__global__[^;]*?\b{name}\(", source)}
            if not sources or re.search(r"\bsimplified\b", said, re.IGNORECASE):
                continue
            known = {_code(line) for source in sources.values() for line in source.splitlines()}
            for offset, line in enumerate(match[1].splitlines(), 1):
                if _code(line) not in known | {""}:
                    yield line_of(text, match.start()) + offset, f"{name}: {' and '.join(sources)} has no such line: {line.strip()}"


def late_links(text):
    """(line, complaint) of words that are linked to the glossary after their first use."""
    shown = prose(text)
    first = {}
    for match in _LINK.finditer(shown):
        if match[2].partition("#")[0].endswith("glossary.md"):
            first.setdefault(match[1].strip("*").lower(), match.start())
    plain = blank(blank(shown, r"!\[[^\]]*\]\([^)]*\)"), r"\]\([^)\s]*\)")
    plain = blank(blank(plain, r"`[^`\n]*`"), r"^#.*?$")
    for word, at in first.items():
        used = re.search(rf"\b{re.escape(word)}\b", plain[:at].lower())
        if used:
            yield line_of(text, used.start()), f'"{word}" is linked to the glossary only in line {line_of(text, at)}: link its first use'


def entries(text):
    """(line, complaint) of the glossary."""
    heads = list(re.finditer(r"^### (.+)$", text, re.MULTILINE))
    for match, end in zip(heads, [*(head.start() for head in heads[1:]), len(text)]):
        body = re.sub(r"\]\([^)]*\)", "]", text[match.end():end])
        words = len(body.split())
        if words > MOST_WORDS:
            yield line_of(text, match.start()), f"{match[1]}: {words} words, at most {MOST_WORDS}"
        if not re.search(r"\d", body):
            yield line_of(text, match.start()), f"{match[1]}: has no number"
    names = [match[1].lower() for match in heads]
    for before, name, match in zip(names, names[1:], heads[1:]):
        if name <= before:
            yield line_of(text, match.start()), f"{match[1]} stands after {before}: entries are in the order of the alphabet"


def borrowed(text, notes):
    """(line, complaint) of outputs that stand in none of the notes."""
    for match in note_outputs.BLOCK.finditer(text):
        if not any(match[0] in note for note in notes):
            yield line_of(text, match.start()), "no note shows this output: copy it from the note that has it"


def complaints():
    here = catalog.here()
    numbers = {day.number for day in here}
    pages = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/*.md")), *(day.folder / "README.md" for day in here))
    for path in filter(Path.is_file, pages):
        text = path.read_text(encoding="utf-8")
        found = [*links(path, text), *days_named(text, numbers), *late_links(text)]
        if path == ROOT / _GLOSSARY:
            found += entries(text)
        if path == ROOT / "README.md":
            found += borrowed(text, [(day.folder / "README.md").read_text(encoding="utf-8") for day in here])
        for day in here:
            if day.folder == path.parent:
                found += [*builds_on(day, numbers), *listings(day.folder, text), *length(text), *hands(text), *minutes(day, text),
                          *commands(day, text)]
        for line, what in sorted(found):
            yield f"{path.relative_to(ROOT)}:{line}: {what}"


def main(words):
    if words:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    found = list(complaints())
    for complaint in found:
        print(f"error: {complaint}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
