#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles the listings of the days' notes apart from their files, on the CPU backend, syntax only: a listing stands alone.

    tools/check_listings.py [NN ...]      the days, or all

A ```cpp listing may use, without declaring it, what the C++, CUDA and common/ headers declare that the day's own files include, CUDA's
built-ins, and what earlier listings of its section (`##` or `###`) declare. All else it declares, or the text declares it for the reader, and
a comment of HTML directly above the listing for this tool:

    <!-- given: const float* x, int n, class T; constexpr int kThreads = 256; using day12::Moments; float by_erf(float x) -->

Between semicolons stand declarations, or parameters: statements are compiled as the body of a function, and these are its own (`class T` is a
parameter of its template). The day's headers are there to take a type from, `using dayNN::Type`. Each given name must be used in the listing,
and a reader must know it: it stands in the paragraph before the listing, in a comment of the listing, or in an earlier listing of the
section. A listing whose braces stay open goes on in the next one.

Not compiled: hints, listings with holes (___), what is no C++, which is marked ```text, and what lies below `<!-- not compiled: WHY -->`.

Exit code: 0 all compile, 1 some don't, said as FILE:LINE: what, 2 wrong usage, 3 nothing can be
compiled here.
"""
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import listing_program  # noqa: E402
from days_cli import builder, errors, paths, run_build  # noqa: E402
from listing_program import bare, uses  # noqa: E402

_FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^ *```[ ]*$", re.DOTALL | re.MULTILINE)
_GIVEN = re.compile(r"<!-- given: ((?:(?!-->).)*?) -->\n *\Z", re.DOTALL)
_SKIPPED = re.compile(r"<!-- not compiled: \S[^\n]* -->\n *\Z")
_HINT = re.compile(r"<details><summary>Hint .*?</details>", re.DOTALL)


@dataclass
class Listing:
    line: int  # of its first line of code in the note
    section: int  # where its heading stands
    code: str
    said: str  # the paragraph before it
    given: str = ""
    given_line: int = 0
    earlier: list = field(default_factory=list)  # the listings of its section before it


def listings(text):
    """The listings of a note that are compiled, in order."""
    hidden = [match.span() for match in _HINT.finditer(text)]
    found, headings = [], [match.start() for match in re.finditer(r"^##{1,2} ", text, re.MULTILINE)]
    for match in _FENCE.finditer(text):
        before = text[:match.start()]
        if match[2] not in ("cpp", "cuda") or "___" in match[3] or _SKIPPED.search(before) \
                or any(start < match.start() < end for start, end in hidden):
            continue
        given = _GIVEN.search(before)
        code = "".join(line[len(match[1]):] if line.strip() else line for line in match[3].splitlines(keepends=True))
        section = max((at for at in headings if at < match.start()), default=0)
        found.append(Listing(line_of(text, match.start(3)), section, code, paragraph(before), given[1] if given else "",
                             line_of(text, given.start()) if given else 0, [other for other in found if other.section == section]))
    return found


def line_of(text, at):
    return text.count("\n", 0, at) + 1


def paragraph(before):
    """The last paragraph of sentences: pictures, folds and comments are passed over."""
    before = re.sub(r"<!--.*?-->|^ *!\[.*?\]\([^)]*\)$|</?details>|<summary>.*?</summary>", "", before, flags=re.DOTALL | re.MULTILINE)
    return re.split(r"\n[ \t]*\n", before.strip())[-1]


def is_known(name, listing):
    """Whether a reader has met the name."""
    read = f"{listing.said} {listing_program.comments(listing.code)}"
    if name == "a":  # which is an English word, too
        read = " ".join(re.findall(r"`[^`]*`|\ba(?=[:,=]| and )", read))
    return any(uses(name, text) for text in (read, *(other.code for other in listing.earlier)))


def unknown(listing):
    """(line, complaint) of given names that a reader does not know, or that the listing does not use."""
    parameters, _, names = listing_program.givens(listing.given)
    for name in [*parameters, *names]:
        if not uses(name, bare(listing.code)):
            if len(re.findall(rf"\b{name}\b", listing.given)) < 2:  # a type may be there for what else is given
                yield listing.given_line, f"{name} is given, and the listing does not use it"
        elif not is_known(name, listing):
            yield listing.given_line, f"{name} is given, and no reader knows it: say it in the paragraph before the listing, or in a comment of it"
    if parameters and not any(kind == "inside" for _, _, kind in listing_program.chunks(listing.code)):
        yield listing.given_line, f"{', '.join(parameters)}: parameters are given to statements, and this listing is declarations"


def borrowed(listing, functions):
    """(line, complaint) of calls of the day's functions that nobody has declared for the reader. The compiler finds them where an argument
    is of one of the day's types."""
    plain = bare(listing.code)
    _, _, names = listing_program.givens(listing.given)
    known = {*names, *re.findall(r"(\w+)\s*\(", " ".join(bare(other.code) for other in listing.earlier)),
             *re.findall(r"[\w>&*] +[&*]*(\w+)\(", re.sub(r"\breturn\b", "", plain))}
    for match in re.finditer(r"(?<![\w:.>])(\w+)\(", plain):
        if match[1] in functions - known:
            yield listing.line + line_of(plain, match.start()) - 1, f"‘{match[1]}’ was not declared in this scope"


def functions_of(folder):
    """The functions that a day's headers define."""
    return {name for path in (*folder.glob("*.h"), *folder.glob("*.cuh"))
            for name in re.findall(r"^(?:inline|__\w+__|DAYS_\w+|template <.*>) [\w:<>,*& ]*[&* ](\w+)\(", path.read_text(encoding="utf-8"),
                                   re.MULTILINE)}


def headers(folder):
    """The #include lines of a day's files, those of its own headers last."""
    files = [path for pattern in ("*.cu", "*.cuh", "*.h", "programs/*.cu") for path in folder.glob(pattern)]
    lines = {line for path in files
             for line in re.findall(r'^#include (?:<[\w./]+>|"[\w./]+")', path.read_text(encoding="utf-8"), re.MULTILINE)}
    return sorted(lines, key=lambda line: (line.startswith('#include "day'), line))


def compiled(source, name):
    """[(line, complaint)] of what the compiler says of a program about lines of the file NAME; line 0 where it is about others."""
    simt = run_build.Simt()
    with builder.lock(paths.RUN_BUILD):
        builder.Build(quiet=True).run([simt.translator])
    path = paths.BUILD / "listings" / (name.partition("/")[0] + ".cu")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(source, encoding="utf-8")
    command = [str(simt.translator.output), simt.cxx, "-std=c++20", "-D__SIMT__=1", "-w", "-O0", "-fdiagnostics-color=never", f"-I{ROOT}",
               "-fsyntax-only", str(path)]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    found = []
    for file, line, what in re.findall(r"^([^:\n]+):(\d+)(?::\d+)?: (?:fatal )?error: (.*?)(?:; did you mean .*)?$", done.stdout, re.MULTILINE):
        found.append((int(line), what) if file == name else (0, f"{what} ({file}:{line})"))
    if done.returncode and not found:
        found.append((0, done.stdout.strip()[-500:]))
    # What the translator made of a line that is wrong is wrong, too.
    return [(line, what) for line, what in found if line and not re.search(r"\bsimt_\w\d", what)] or found


def complaints(folder):
    """(line, complaint) of a day's note."""
    name = f"{folder.name}/README.md"
    found, functions = listings((folder / "README.md").read_text(encoding="utf-8")), functions_of(folder)
    for listing in found:
        try:
            yield from unknown(listing)
            yield from borrowed(listing, functions)
        except ValueError as error:
            yield listing.given_line, str(error)
            listing.given = ""
    whole = []
    for group in listing_program.groups(found):
        if listing_program.balance(group):
            yield group[0].line, "braces or parentheses stay open, or close what is not open"
        else:
            whole.append(group)
    if whole:
        yield from compiled(listing_program.program(name, whole, headers(folder)), name)


def main(words):
    wrong = [word for word in words if not re.fullmatch(r"\d{1,2}", word)]
    days = {int(word) for word in words if word not in wrong}
    folders = [folder for folder in sorted(ROOT.glob("day[0-9][0-9]_*")) if not days or int(folder.name[3:5]) in days]
    if wrong or (days and len(folders) != len(days)):
        print(f"error: {wrong[0] if wrong else 'no such day'}: tools/check_listings.py [NN ...]", file=sys.stderr)
        return 2
    count = bad = 0
    for folder in folders:
        count += len(listings((folder / "README.md").read_text(encoding="utf-8")))
        try:
            found = sorted(set(complaints(folder)))
        except errors.DaysError as error:
            print(f"error: {error}", file=sys.stderr)
            return 3
        bad += len(found)
        for line, what in found:
            print(f"{folder.name}/README.md:{line}: {what}")
    print(f"{'FAIL' if bad else 'ok'}: {count} listings in {len(folders)} notes" + (f", {bad} complaints" if bad else ""))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
