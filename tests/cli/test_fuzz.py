#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A few hundred seeded tries of ./days with odd words, odd files, odd my/ folders and odd environments: no traceback, no lost
file, exit codes as they are promised.

    tests/cli/test_fuzz.py                      the tries that CI makes
    FUZZ_SEED=7 FUZZ_TRIES=5000 tests/cli/test_fuzz.py
    FUZZ_SEED=7 FUZZ_ONLY=123 tests/cli/test_fuzz.py      one try again, told in full

Each try is a process of its own, forked from this one, which works in a copy of the clone. Compilers, CMake and package
managers are a shell script that compiles nothing, installs nothing, and fails as it is told.
"""
import hashlib
import json
import os
import random
import shlex
import shutil
import signal
import stat
import sys
import tempfile
import time
import traceback
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]
SEED = int(os.environ.get("FUZZ_SEED", "1"))
TRIES = int(os.environ.get("FUZZ_TRIES", "300"))
SECONDS = 30  # a try that takes longer hangs

# What ./days is made of; neither what was built nor the learner's own files.
_COPIED = ("CMakeLists.txt", "CMakePresets.json", "README.md", "bench", "cmake", "common", "days", "docs", "gpt", "model", "serve", "simt",
           "tools")

# A compiler, a linker, ar and the program that they make, in one: what it makes is a copy of itself.
_TOOL = """#!/bin/sh
case "$1" in --version|-v) echo "g++ (fake) 12.2.0"; exit ;; esac
out= deps= next=
for word; do
  case "$next" in out) out=$word ;; deps) deps=$word ;; esac
  next=
  case "$word" in -o) next=out ;; -MF) next=deps ;; rcs) next=out ;; -print-file-name=*) echo libbacktrace.a; exit ;; esac
done
if [ -z "$out" ]; then  # it is the program
  case "$FUZZ_PROGRAM" in
  killed) kill -9 $$ ;;
  noise) printf 'no \\377 table\\n'; echo "{}" >&2 ;;
  silent) ;;
  *) echo "error: $FUZZ_PROGRAM" >&2; exit "$FUZZ_PROGRAM" ;;
  esac
  exit
fi
case "$FUZZ_COMPILER" in
error) echo "x.cu:1:1: error: no \\377"; exit 1 ;;
memory) echo "cc1plus: out of memory allocating 1 bytes"; exit 1 ;;
killed) kill -9 $$ ;;
nothing) exit ;;
warning) echo "x.cu:1:1: warning: \\377" ;;
esac
[ -z "$deps" ] || printf 'x: a.cu\\n' > "$deps"
cp "$0" "$out" && chmod +x "$out"
"""
_OLD_OR_FAILING = "#!/bin/sh\ncase \"$1\" in --version) echo 'version 3.25.1' ;; *) echo 'fails'; exit 1 ;; esac\n"

_RESULT = {"schema": 1, "day": "day13_transpose", "command": "run", "backend": "cuda", "cuda": "13.0", "driver": "13.0",
           "device": {"name": "NVIDIA H200", "sm": "sm_90"}, "tables": []}
_FILES = {"a.cu": b"#include \"h.h\"\nint main() {}\n", "b.cpp": b"int b;\n", "h.h": b"// h\n", "bytes.cu": b"\xff\xfe\n",
          "empty.cu": b"", "sp ace.cu": b"int main() {}\n", "notes.txt": b"precious\n", "o.o": b"\x7fELF", "l.a": b"!<arch>\n",
          "results.json": json.dumps(_RESULT).encode(), "list.json": b"[]", "options": b"-DX -o a.cu a.cu",
          "p.png": b"\x89PNG", b"n\xff.cu": b"int main() {}\n"}
_SOURCES = ("a.cu", "b.cpp", "h.h", "link.cu", "bytes.cu", "empty.cu", "sp ace.cu", "folder", "dangling", "loop", "none.cu",
            b"n\xff.cu", "o.o", "l.a", "notes.txt", "./a.cu", "folder/../a.cu", "hard.cu")
_DAYS = ("1", "01", "day13", "matmul", "vector_add", "14", "43", "16", "99", "0", "-1", "1e9", "", "soft max", "é", b"\xff",
         "a" * 3000,
         "--", "-", "1 2", "../1", "%s", "\n", "exercise", "naive", "softmax", "3")
_VALUES = ("0", "-5", "4x5", "64", "1x1x1", "99999999999999999999999", "nan", "auto", "always", "cuda", "simt", "fp32", "h200",
           "naive", "", "x", b"\xff", "=", ",", "a,b", "cpu", "cpu,cuda")
_OUTPUTS = ("out", "notes.txt", "results.json", "list.json", "folder", "folder/x", "none/x", "null", "link.cu", "a.cu", "loop",
            "dangling", "-", "", b"o\xff", "hard.cu", "h.h")
_FLAGS = ("--help", "-h", "--color", "--color=never", "--json", "--size", "--type", "--variant", "--backend", "--checked",
          "--list", "--with", "--recorded", "--rung", "--again", "--yes", "--preset", "--against", "--compare", "--sweep", "--check",
          "--file", "--bogus", "-x", "--", "--arch", "--kernel", "--json=-", "--size=", "-I", "-DX")
_CC = ("-c", "-dc", "-dlink", "-lib", "-E", "-M", "-MM", "-MD", "-MMD", "-run", "-g", "-O3", "-std=c++20", "-std=c++11",
       "-arch=sm_80", "-Xcompiler", "-x", "cu", "-I.", "-L.", "-lm2", "-rdc=true", "--checked", "-optf", "options", "-include", "h.h",
       "-ptx", "-w")
_OUTPUT_FLAGS = ("-o", "-MF", "--output-file", "--dependency-output", "-odir")
_PROGRESS = (b"[]", b"null", b"", b"\xff", b'"x"', b'{"01": 5}', b'{"01": {"hints": "x", "solved": 1}}',
             b'{"01": {"hints": -9}}', b'{"01": {"hints": 1e400}}', b'{"01": {"hints": 1}, "13": {"solved": "2026-01-01"}}', b"[" * 5000)


def _text(word):
    return os.fsdecode(word) if isinstance(word, bytes) else word


class Try:
    """One command line, its folder, my/ folder and environment; all of it follows from the seed and the number."""

    def __init__(self, number):
        self.random = random.Random(f"{SEED} {number}")
        self.words = [_text(word) for word in self._line()]
        self.streams = self.random.choice(("kept",) * 7 + ("full", "closed", "unread"))

    def _line(self):
        chance, pick = self.random.random, self.random.choice
        command = pick(("list", "run", "run", "check", "check", "hint", "solution", "reset", "next", "test", "bench", "report",
                        "explain", "explain", "asm", "cc", "cc", "cc", "cc", "doctor", "new", "watch", "", "--help",
                        b"\xff", "rnu"))
        if command == "cc":
            words = [pick(_SOURCES) for _ in range(pick((1, 1, 1, 2, 3)))]
            words += [pick(_CC) for _ in range(pick((0, 0, 1, 2, 4)))]
            for flag in ("-o", "-MF"):
                if chance() < 0.5:
                    words += pick(([flag, pick(_OUTPUTS + _SOURCES)], [flag + "=" + _text(pick(_OUTPUTS + _SOURCES))]))
            if chance() < 0.3:
                self.random.shuffle(words)
            return [command, *words]
        words = [pick(_DAYS if chance() < 0.4 else _DAYS[:8])] if chance() < 0.85 else []
        for _ in range(pick((0, 0, 0, 1, 1, 2, 3))):
            words += [pick(_FLAGS)] + ([pick((pick(_VALUES), pick(_OUTPUTS), pick(_SOURCES)))] if chance() < 0.7 else [])
        if chance() < 0.2:
            words.append(pick(_DAYS))
        if command == "watch":  # it ends when it is told to, so it is only tried with what it refuses
            words = ["99", *words]
        if command == "new" and words:
            words = [pick((*_DAYS, "77", "78")), pick(("softmax", "bits", "x y", "../x", "", "é"))]
        return [command, *words] if command or words else []

    def lay_out(self, folder):
        """The folder that the command is called in, and my/ beside it."""
        pick = self.random.choice
        work = folder / "work"
        work.mkdir()
        for name, contents in _FILES.items():
            with open(os.path.join(os.fsencode(work), os.fsencode(name)), "wb") as file:
                file.write(contents)
        (work / "folder").mkdir()
        (work / "link.cu").symlink_to("a.cu")
        (work / "loop").symlink_to("loop")
        (work / "dangling").symlink_to("nowhere")
        os.link(work / "a.cu", work / "hard.cu")
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            try:
                os.mknod(work / "null", 0o666 | stat.S_IFCHR, os.makedev(1, 3))
            except OSError:
                pass
        my = folder / "my"
        kind = pick(("absent", "absent", "files", "files", "files", "file", "dangling", "loop", "fixed"))
        if kind == "file":
            my.write_bytes(b"no folder")
        elif kind in ("dangling", "loop"):
            my.symlink_to("my" if kind == "loop" else "gone")
        elif kind != "absent":
            my.mkdir()
            for number in (1, 13, 14):
                if pick((True, False)):
                    contents = pick((b"\xff\n", b"", b"int x;\n" * 9, None))
                    path = my / f"day{number:02d}.cu"
                    path.mkdir() if contents is None else path.write_bytes(contents + b"// mine %d\n" % number)
            if pick((True, False)):
                (my / "old").write_bytes(b"a file\n") if pick((True, False)) else (my / "old").mkdir()
            if pick((True, True, False)):
                (my / "progress.json").write_bytes(pick(_PROGRESS))
            if kind == "fixed":
                my.chmod(0o500)
        return work, my

    def environment(self, folder, my):
        pick = self.random.choice
        tools = folder / "tools"
        tools.mkdir()
        left_out = pick((None, None, None, "g++", "cmake"))
        others = ("cmake", "ctest", "ninja", "apt-get", "apt-cache", "brew", "dnf", "pkg-config", "nvidia-smi", "c++", "clang++")
        for name, text in (("g++", _TOOL), ("ar", _TOOL), *((name, _OLD_OR_FAILING) for name in others)):
            if name == left_out:
                if name == "cmake":
                    continue
                text = _OLD_OR_FAILING
            (tools / name).write_text(text)
            (tools / name).chmod(0o755)
        for name in ("sh", "cp", "chmod", "cat", "git", "env"):
            if shutil.which(name):
                (tools / name).symlink_to(shutil.which(name))
        values = {"PATH": str(tools), "PIP_NO_INDEX": "1", "HOME": str(folder), "TMPDIR": str(folder), "DAYS_MY": str(my),
                  "FUZZ_COMPILER": pick(("good", "good", "error", "memory", "killed", "nothing", "warning")),
                  "FUZZ_PROGRAM": pick(("0", "1", "2", "3", "killed", "noise", "silent"))}
        odd = {"HOME": (None, "/proc/none", "\udcff"), "TERM": ("dumb", "", "xterm"), "COLUMNS": ("0", "-1", "x", "5"),
               "NO_COLOR": ("1", ""),
               "CXX": ("", "nope", "g++", "g++ -m32", "/", "\udcff"), "CUDACXX": ("/none", "g++"), "CUDA_HOME": ("/none", ""),
               "CUDA_VISIBLE_DEVICES": ("", "-1", "x"), "DAYS_WERROR": ("ON", "\udcff"), "TMPDIR": ("/none",),
               "LANG": ("C", "xx"), "CCACHE_DIR": ("/proc/none",), "VIRTUAL_ENV": ("/none", ""), "CMAKE_PREFIX_PATH": (":::", "/none")}
        for name in self.random.sample(sorted(odd), pick((0, 1, 1, 3))):
            values[name] = pick(odd[name])
        return {name: value for name, value in values.items() if value is not None}

    def command(self):
        return " ".join(["./days", *map(shlex.quote, self.words)]).encode("utf-8", "backslashreplace").decode()


def _look(folder):
    """{path: what it is and holds} of all beneath a folder, links not followed."""
    seen = {}
    for place, folders, files in os.walk(os.fsencode(folder)):
        for name in files + [name for name in folders if os.path.islink(os.path.join(place, name))]:
            path = os.path.join(place, name)
            kind = os.lstat(path)
            if stat.S_ISLNK(kind.st_mode):
                seen[path] = "link", os.readlink(path)
            elif stat.S_ISREG(kind.st_mode):
                with open(path, "rb") as file:
                    seen[path] = "file", file.read()
            else:
                seen[path] = "other", stat.S_IFMT(kind.st_mode)
    return seen


def _values(words, flags):
    """The words that stand behind one of the flags, or are joined to it."""
    found = [word for flag, word in zip(words, words[1:]) if flag in flags]
    return found + [word.partition("=")[2] for word in words if word.partition("=")[0] in flags and "=" in word]


class Fuzz(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix="days fuzz ")
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.folder = Path(cls.temporary.name).resolve()
        cls.clone = cls.folder / "clone"
        cls.clone.mkdir()
        for path in [*(ROOT / name for name in _COPIED), *ROOT.glob("day[0-9][0-9]_*")]:
            if path.is_dir():
                shutil.copytree(path, cls.clone / path.name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy2(path, cls.clone / path.name)
        cls.before = cls.of_clone()

    @classmethod
    def of_clone(cls):
        """What nothing but a new day may change; by date, size and inode, because it is looked at after each try."""
        seen = {}
        for place, folders, files in os.walk(cls.clone):
            folders[:] = [name for name in folders if name not in ("build", "__pycache__")]
            for name in files:
                facts = os.lstat(os.path.join(place, name))
                seen[os.path.join(place, name)] = facts.st_mtime_ns, facts.st_size, facts.st_ino
        return seen

    def start(self, words, environment, work, streams, plant=None):
        """(exit code or minus signal, stdout, stderr) of ./days in a process forked from this one."""
        files = [tempfile.TemporaryFile() for _ in range(2)]
        child = os.fork()
        if child == 0:
            code = 99
            try:
                code = self.be_days(words, environment, work, streams, files, plant)
            except SystemExit as leaving:
                code = leaving.code if isinstance(leaving.code, int) else 98
            except BaseException:  # what Python would print at its end
                os.write(files[1].fileno(), traceback.format_exc().encode("utf-8", "backslashreplace"))
            finally:
                os._exit(code)
        until = time.monotonic() + SECONDS
        while (status := self.ended(child)) is None:
            if time.monotonic() > until:
                os.kill(child, signal.SIGKILL)
            time.sleep(0.002)
        texts = []
        for file in files:
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
            file.close()
        return status, *texts

    @staticmethod
    def ended(child):
        """None while it runs."""
        pid, status = os.waitpid(child, os.WNOHANG)
        return os.waitstatus_to_exitcode(status) if pid else None

    def be_days(self, words, environment, work, streams, files, plant):
        os.chdir(work)
        os.environ.clear()
        os.environ.update(environment)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(files[1].fileno(), 2)
        if streams == "full" and os.path.exists("/dev/full"):
            os.dup2(os.open("/dev/full", os.O_WRONLY), 1)
        elif streams == "unread":
            reader, writer = os.pipe()
            os.dup2(writer, 1)
            os.close(reader)
            os.close(writer)
        else:
            os.dup2(files[0].fileno(), 1)
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)  # as Python does at its start
        sys.stdin, sys.stderr = open(0, closefd=False), open(2, "w", buffering=1, errors="backslashreplace", closefd=False)
        sys.stdout = open(1, "w", closefd=False)
        if streams == "closed":
            os.close(1)
            sys.stdout = None
        sys.argv = [str(self.clone / "days"), *words]
        sys.path[:0] = [str(self.clone / "tools")]
        sys.dont_write_bytecode = False  # the copy is imported a few hundred times
        from days_cli import main
        if plant:
            plant(main, words)
        code = main.main(words)
        if sys.stdout is not None:
            sys.stdout.flush()
        return code

    def complaints(self, number, plant=None, words=None):
        """What is wrong about a try: [] where all is well."""
        attempt = Try(number)
        if words is not None:
            attempt.words, attempt.streams = words, "kept"
        with tempfile.TemporaryDirectory(dir=self.folder) as name:
            folder = Path(name)
            work, my = attempt.lay_out(folder)
            environment = attempt.environment(folder, my)
            files, mine = _look(work), _look(my) if my.is_dir() else {}
            code, out, err = self.start(attempt.words, environment, work, attempt.streams, plant)
            found = [*self.of_words(attempt, code, out, err, environment), *self.of_files(attempt, files, _look(work)),
                     *self.of_my(mine, _look(my) if my.is_dir() else {})]
            if my.is_dir() and not my.is_symlink():
                my.chmod(0o700)
        now = self.of_clone()
        found += [f"{path} of the clone was changed" for path, facts in self.before.items() if now.get(path) != facts]
        for path in set(now) - set(self.before):  # of ./days new
            os.unlink(path)
        if os.environ.get("FUZZ_ONLY"):
            print(f"{attempt.command()}\n{environment}\nstdout {attempt.streams}: exit code {code}\n{out}\n{err}")
        return [f"try {number}, {attempt.command()} (stdout {attempt.streams}): {complaint}\n{err[-1500:]}" for complaint in found]

    @staticmethod
    def of_words(attempt, code, out, err, environment):
        for word in ("Traceback", "Exception ignored", "days itself is at fault"):
            if word in out + err:
                yield word
        if "\033" in out + err and "always" not in " ".join(attempt.words):
            yield "colours, but no terminal"
        died = environment["FUZZ_PROGRAM"] == "killed" and code == -signal.SIGKILL  # what days has become
        if code not in (0, 1, 2, 3) and not died and not (attempt.streams == "unread" and code in (-signal.SIGPIPE, 128 + signal.SIGPIPE)):
            yield f"exit code {code}" + (f" after {SECONDS} s" if code == -signal.SIGKILL else "")
        if code in (2, 3) and "error: " not in err and attempt.words[:1] != ["doctor"]:  # whose table says what is missing
            yield f"exit code {code} without a word"
        if code == 0 and attempt.streams in ("full", "closed") and attempt.words[:1] in (["list"], ["--help"], []):
            yield "lost output is a success"

    @staticmethod
    def of_files(attempt, before, after):
        """A file changes only where the command line names it as an output, and as nothing else."""
        words = attempt.words
        work = os.path.dirname(next(iter(before)))

        def places(names):
            return {os.path.realpath(os.path.join(work, os.fsencode(name))) for name in names if name}

        named = places(_values(words, _OUTPUT_FLAGS) if words[:1] == ["cc"] else [])
        others = places(word for i, word in enumerate(words) if words[i - 1] not in _OUTPUT_FLAGS and "=" not in word)
        json_ = places(_values(words, ("--json",)))
        options = any("optf" in word for word in words)  # the file of options names a.cu as the output
        for path, (kind, contents) in before.items():
            if after.get(path) == (kind, contents):
                continue
            shown = os.path.basename(path).decode(errors="backslashreplace")
            if after.get(path, ("",))[0] != kind:
                yield f"{shown} was a {kind}, and is {after.get(path, ('lost',))[0]} now"
            elif path in named and path not in others and not (options and shown in ("a.cu", "hard.cu")):
                continue
            elif path in json_ and contents[:1] in (b"{", b"["):
                continue
            elif words[:1] == ["cc"] and "-c" in words + ["-dc"] and shown in ("o.o",):
                continue
            else:
                yield f"{shown} was written over"

    @staticmethod
    def of_my(before, after):
        """The learner's files are where they were, or elsewhere in my/."""
        kept = [hashlib.sha256(contents).digest() for kind, contents in after.values() if kind == "file"]
        for path, (kind, contents) in before.items():
            if kind == "file" and not path.endswith(b"progress.json") and hashlib.sha256(contents).digest() not in kept:
                yield f"my/{os.path.basename(path).decode()} is lost"

    def test_tries(self):
        only = os.environ.get("FUZZ_ONLY")
        found = []
        for number in [int(only)] if only else range(TRIES):
            found += self.complaints(number)
        self.assertEqual(found, [], "\n\n".join([f"{len(found)} complaints, seed {SEED}", *found[:12]]))

    def test_faults_are_noticed(self):
        """One fault of each kind is put into the command: the tries must notice it."""
        def raising(main, words):
            main.main = lambda args: {}["x"]

        def own_fault(main, words):
            main._dispatch = lambda args: {}["x"]

        def code(main, words):
            main.main = lambda args: 7

        def silent(main, words):
            main.main = lambda args: 2

        def hanging(main, words):
            main.main = lambda args: os.kill(os.getpid(), signal.SIGKILL)

        def overwriting(main, words):
            main.main = lambda args: Path("a.cu").write_text("") and 0 or 0

        def replacing(main, words):
            main.main = lambda args: os.replace("notes.txt", "link.cu") or 0

        def in_clone(main, words):
            main.main = lambda args: os.utime(self.clone / "README.md") or 0

        def losing(main, words):
            main.main = lambda args: [path.unlink() for path in Path(os.environ["DAYS_MY"]).glob("day*.cu") if path.is_file()] and 0 or 0

        with_files = next(n for n in range(1000) if self.has_mine(n))
        for plant, number, said in ((raising, 0, "Traceback"), (own_fault, 0, "days itself is at fault"), (code, 0, "exit code 7"),
                                    (silent, 0, "without a word"), (hanging, self.not_killed(), "exit code -9"),
                                    (overwriting, 0, "a.cu was written over"), (replacing, 0, "link.cu was a link"),
                                    (losing, with_files, "is lost"), (in_clone, 0, "of the clone was changed")):
            found = self.complaints(number, plant, ["list"])
            self.assertTrue(any(said in complaint for complaint in found), f"{said}: {found}")
        type(self).before = self.of_clone()
        self.assertEqual(self.complaints(0, None, ["list"]), [])

    def has_mine(self, number):
        with tempfile.TemporaryDirectory(dir=self.folder) as name:
            _, my = Try(number).lay_out(Path(name))
            has = my.is_dir() and any(path.is_file() for path in my.glob("day*.cu")) and os.access(my, os.W_OK)
            if my.is_dir() and not my.is_symlink():
                my.chmod(0o700)
        return has

    def not_killed(self):
        for number in range(1000):
            with tempfile.TemporaryDirectory(dir=self.folder) as name:
                attempt = Try(number)
                _, my = attempt.lay_out(Path(name))
                environment = attempt.environment(Path(name), my)
                if my.is_dir() and not my.is_symlink():
                    my.chmod(0o700)
            if environment["FUZZ_PROGRAM"] != "killed":
                return number
        raise AssertionError("all are")


if __name__ == "__main__":
    unittest.main()
