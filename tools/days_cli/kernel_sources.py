# SPDX-License-Identifier: MIT
"""What a rung's kernel, or a program, is made of, as a number that a result keeps: whoever reads the result later sees whether the kernel is
still the one that was measured.

The number is of the texts, not of a commit: it can be told in a shallow clone or an archive, a rebase or a file that is not
committed yet leaves it true, and a change elsewhere does not touch it. The texts are the file that defines the rung's launcher,
the day's files of kernels that are no rung's, the headers of the day that these include, and those paragraphs of common/'s
headers with device code that they use; without comments and white space. Whatever includes a header of model/, gpt/ or serve/ runs
that folder's kernels, so all of its .cu files count, too. The rest of common/ (errors, buffers, the harness) and the CPU backend do not count: no GPU
runs them.

Kernels are also rewritten without becoming others: tools/same_code.py compares what nvcc makes of them, and gives a result the
new number where that is the same."""
from __future__ import annotations

import hashlib
import re

from days_cli import catalog, ladders, python_ladders
from days_cli.ladders import plain

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.MULTILINE)
_NAME = re.compile(r"(?<!<)(?<!, )\b(?:struct|class|union|enum)\s+([A-Za-z_]\w*)|\b([A-Za-z_]\w*)\s*(?:[({=;\[]|<[^<>;]*>\s*\(|$)")
_WORDS = set("alignas class const decltype define else endif enum for if ifdef ifndef include inline noexcept once operator pragma "
             "requires return sizeof static_assert static_cast struct template typename undef union using while".split())
_ELSEWHERE = ("simt/", "common/harness/")
_LIBRARIES = re.compile(rf"(?:{'|'.join(catalog.LIBRARY_FOLDERS)})/[^/]+$")  # folders of kernels above the days


def _depth(text):
    """How many braces of a plain text are open at its end, those of namespaces left out."""
    depth = 0
    for brace in re.findall(r"\bnamespace[\w: ]*\{|[{}]", text):
        depth = depth + (brace == "{") if brace != "}" else max(0, depth - 1)
    return depth


def _paragraphs(header):
    """The header's parts between empty lines, as plain texts; one that ends within braces goes on."""
    parts = []
    for part in filter(None, map(plain, re.split(r"\n[ \t]*\n", header))):
        if parts and _depth(parts[-1]):
            parts[-1] += " " + part
        else:
            parts.append(part)
    return parts


def _defined(part):
    """The names of types, and those before a parenthesis, brace or sign, without those in bodies and parameters: what a body only
    calls is not the paragraph's. An operator has no name: all of its paragraph's count."""
    outside, depth = [], 0
    for piece in re.findall(r"\bnamespace[\w: ]*\{|[{}()]|[^{}()]+?(?=\bnamespace[\w: ]*\{|[{}()]|$)", part):
        if piece.startswith("namespace"):
            continue
        if piece in ("}", ")"):
            depth = max(0, depth - 1)
        if not depth:
            outside.append(piece)
        depth += piece in ("{", "(")
    found = _NAME.findall(part if re.search(r"\boperator\b", part) else "".join(outside))
    return {name for both in found for name in both if name} - _WORDS


def used(text, headers):
    """The paragraphs of the headers, as plain texts, that a text may use: those that define a name which it has, too, and
    those that these use in turn. All of them where the text has a name of ptx:: that none of them has, as a macro may make it
    of pieces."""
    paragraphs = [part for _, header in sorted(headers.items()) for part in _paragraphs(header)]
    names = [_defined(part) for part in paragraphs]
    if set(re.findall(r"\bptx::(\w+)", text)) - set().union(*names):
        return paragraphs
    words, chosen = set(re.findall(r"\w+", text)), set()
    while True:
        more = [i for i, own in enumerate(names) if i not in chosen and own & words]
        if not more:
            return [paragraphs[i] for i in sorted(chosen)]
        for i in more:
            chosen.add(i)
            words |= set(re.findall(r"\w+", paragraphs[i]))


class Tree:
    """The files of a clone, or of a commit of it."""

    def __init__(self, read, names):
        self._read, self._names, self._texts = read, names, {}

    @classmethod
    def of_folder(cls, root):
        def names(folder):
            return sorted(path.relative_to(root).as_posix() for path in (root / folder).glob("*") if path.is_file())
        return cls(lambda name: (root / name).read_text(encoding="utf-8"), names)

    def text(self, name):
        """None where there is no such file."""
        if name not in self._texts:
            try:
                self._texts[name] = self._read(name)
            except (OSError, KeyError):
                self._texts[name] = None
        return self._texts[name]

    def names(self, folder):
        return self._names(folder)


class Day:
    """The kernels of a day, as the tree has them."""

    def __init__(self, tree, folder):
        self._tree, self._folder = tree, folder
        self._kernels = [name for name in tree.names(folder) if name.endswith(".cu") and not name.endswith("/exercise.cu")]
        ladder = tree.text(f"{folder}/ladder.json")
        rungs = ladders.rungs_of(ladders.parse(ladder)) if ladder else []
        self.launchers = {rung.name: rung.launcher for rung in rungs}
        self._rungs = {name: rung.name for rung in rungs for name in (rung.name, *rung.also)}
        # A day without a ladder has programs, which stand for its rungs: {name: its file}.
        self._python = tree.text(f"{folder}/ladder.py") is not None
        if self._python:
            self._kernels = [name for name in tree.names(folder) if name.endswith(".py")
                             and name.rpartition("/")[2] not in ("ladder.py", "exercise.py")]
            self.launchers = {match[1]: "launch" for name in self._kernels
                              for match in [re.match(r"\d\d_(.*)\.py$", name.rpartition("/")[2])] if match}
            self._rungs = {name: name for name in self.launchers}
        self.programs = {} if ladder or self._python else {match[1]: name for name in self._kernels
                                           for match in [re.match(r"\d\d_(.*)\.cu$", name.rpartition("/")[2])] if match}
        self._numbers = {}

    def variant(self, row):
        """The rung that a row of results is of, which has another name where its ladder puts a prefix before it; None: of none."""
        return self._rungs.get(row)

    def files(self, row):
        """The .cu files that the row's launch may run, or the program of that name; all of the day where there is none."""
        if row in self.programs:
            return [self.programs[row]]
        if self._python:
            return [name for name in self._kernels if not re.match(r"\d\d_", name.rpartition("/")[2])
                    or name.rpartition("/")[2][3:-3] == row]
        launcher = self.launchers.get(self.variant(row))
        helpers = [name for name in self._kernels if not re.match(r"\d\d_", name.rpartition("/")[2])]
        own = [name for name in self._kernels if launcher and name not in helpers
               and re.search(rf"\bvoid\s+{launcher}\s*\(", self._tree.text(name))]
        return sorted({*own, *helpers}) if own else self._kernels

    def reference(self):
        """Twelve hexadecimal digits of what the CPU's versions are made of: the day's host files and headers, without the lines that name
        variants."""
        if "reference" not in self._numbers:
            names = [name for name in self._tree.names(self._folder) if name.endswith((".h", ".cpp", "/ladder.py"))]
            text = "\n".join(plain(re.sub(r"^.*(?:LAUNCHER|\.lesson)\(.*$", "", self._tree.text(name), flags=re.MULTILINE)) for name in names)
            self._numbers["reference"] = hashlib.sha256(text.encode()).hexdigest()[:12]
        return self._numbers["reference"]

    def number(self, row):
        """Twelve hexadecimal digits."""
        files = tuple(self.files(row))
        if files not in self._numbers:
            seen, queue = {}, list(files)
            while queue:
                name = queue.pop()
                text = self._tree.text(name)
                if name in seen or text is None or name.startswith(_ELSEWHERE):
                    continue
                seen[name] = text
                here = name.rpartition("/")[0]
                if _LIBRARIES.match(name):
                    queue += [other for other in self._tree.names(here) if other.endswith(".cu")]
                for included in _INCLUDE.findall(text):
                    queue += [included, f"{here}/{included}"]
            if self._python:
                text = "\n".join(python_ladders.plain(seen[name]) for name in sorted(seen))
                self._numbers[files] = hashlib.sha256(text.encode()).hexdigest()[:12]
                return self._numbers[files]
            own = {name: plain(text) for name, text in seen.items()
                   if name.startswith(self._folder + "/") or _LIBRARIES.match(name) and name.endswith((".cu", ".cuh"))}
            shared = {name: text for name, text in seen.items() if name not in own and "__device__" in text}
            parts = [f"{name}\n{text}" for name, text in sorted(own.items())] + used(" ".join(own.values()), shared)
            whole = "\n".join(parts)
            self._numbers[files] = hashlib.sha256(whole.encode()).hexdigest()[:12]
        return self._numbers[files]


def of_commit(root, commit):
    """The Tree of a commit, or None where this clone has not got it."""
    import subprocess

    def git(*words):
        return subprocess.run(["git", "-C", str(root), *words], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              encoding="utf-8").stdout
    try:
        everything = git("ls-tree", "-r", "--name-only", commit).splitlines()
    except (OSError, subprocess.CalledProcessError):
        return None
    known = set(everything)

    def read(name):
        if name not in known:
            if name.endswith("/ladder.json"):  # it is older than these files: today's has the rungs that are looked for
                return (root / name).read_text(encoding="utf-8")
            raise KeyError(name)
        return git("show", f"{commit}:{name}")
    return Tree(read, lambda folder: [name for name in everything if name.rpartition("/")[0] == folder])
