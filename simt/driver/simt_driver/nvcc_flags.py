# SPDX-License-Identifier: MIT
"""A command line as nvcc takes it, read for the CPU: what each flag means here, or that it means nothing."""
from __future__ import annotations

import difflib
import re
import shlex
from dataclasses import dataclass, field
from typing import Dict, List, Optional

from simt_driver import caller
from simt_driver.errors import CommandError


def help_command():
    return caller.COMPILER + " --help"


def command_name():
    """What a sentence calls the command."""
    return caller.COMPILER.replace("./", "", 1)


# Why a kind of flags has no effect; one note each.
KINDS = {
    "gpu": "kernels are compiled for this CPU, whatever the GPU",
    "tuning": "tunes GPU code; no effect here",
    "nvcc": "nvcc's own business; no effect here",
    "library": "part of simt already",
    "device library": "has no CPU version here; left out",
    "host": "the host compiler is $CXX, else g++ or clang++",
    "stream": "every stream keeps order here; no effect",
}

_FORWARDING = ("forward-unknown-opts", "forward-unknown-to-host-compiler")  # unknown flags are the host compiler's

# Flags without a value: long and short spelling alike, as nvcc takes either with one dash or two.
_SWITCHES = {
    "gpu": (),
    "tuning": ("use_fast_math", "lineinfo", "generate-line-info", "restrict", "resource-usage", "res-usage",
               "extra-device-vectorization", "ewp", "dlto", "dlink-time-opt", "lto", "source-in-ptx", "src-in-ptx"),
    "nvcc": ("keep", "save-temps", "no-compress", "display-error-number", "err-no", "no-display-error-number",
             "Wno-deprecated-gpu-targets", "no-host-device-initializer-list", "no-host-device-move-forward", "clean-targets",
             "keep-device-functions", "compress-all", "allow-unsupported-compiler", "static-global-template-stub", "Wreorder",
             "Wext-lambda-captures-this", "Wdefault-stream-launch", "Wmissing-launch-bounds", "no-exceptions"),
    "silent": ("extended-lambda", "expt-extended-lambda", "expt-relaxed-constexpr", "m64", *_FORWARDING),
}
# Flags with a value.
_VALUED = {
    "gpu": ("arch", "gpu-architecture", "code", "gpu-code", "gencode", "generate-code", "entries"),
    "tuning": ("Xptxas", "ptxas-options", "maxrregcount", "ftz", "prec-div", "prec-sqrt", "fmad", "dopt", "device-opt",
               "Xnvlink", "nvlink-options", "Xfatbin", "fatbin-options", "Xcicc", "Ofc", "ofast-compile"),
    "nvcc": ("Xcudafe", "diag-suppress", "diag-warn", "diag-error", "diag_suppress", "keep-dir", "threads", "t", "time",
             "objdir-as-tempdir", "split-compile", "Werror", "Wno-error", "std-lib", "compress-mode", "machine", "m",
             "static-global-template-stub"),
    "library": ("cudart", "cudadevrt"),
    "host": ("ccbin", "compiler-bindir"),
    "stream": ("default-stream",),
}
# Those that mean the same to a C++ compiler, by nvcc's long names.
_LONG = {
    "include-path": "-I", "define-macro": "-D", "undefine-macro": "-U", "system-include": "-isystem",
    "pre-include": "-include", "library-path": "-L", "library": "-l", "output-file": "-o", "optimize": "-O",
    "compiler-options": "-Xcompiler", "linker-options": "-Xlinker", "archive-options": "-Xarchive", "std": "-std",
    "x": "-x", "output-directory": "-odir", "relocatable-device-code": "-rdc", "dependency-output": "-MF",
}
_MODES = {
    "c": "-c", "compile": "-c", "dc": "-dc", "device-c": "-dc", "dlink": "-dlink", "device-link": "-dlink", "lib": "-lib",
    "E": "-E", "preprocess": "-E", "M": "-M", "generate-dependencies": "-M", "MM": "-MM",
    "generate-nonsystem-dependencies": "-MM",
}
_GPU_OUTPUT = ("ptx", "cubin", "fatbin", "optix-ir", "ltoir", "cuda", "device-w", "dw")
_OWN_LIBRARIES = ("cudart", "cudart_static", "cuda", "cudadevrt", "nvidia-ml", "nvToolsExt", "cupti", "culibos")
_DEVICE_LIBRARIES = ("cublas", "cufft", "curand", "cusparse", "cusolver", "cudnn", "nvrtc", "npp", "nccl", "nvjpeg",
                     "nvgraph", "cutensor", "nvJitLink", "cufile", "nvshmem")
_DEPENDENCY_SWITCHES = ("MD", "MMD", "MP", "generate-dependencies-with-compile",
                        "generate-nonsystem-dependencies-with-compile", "generate-dependency-targets")

_MOST_OPTIONS_FILES = 100

SOURCES = {".cu": "cu", ".cpp": "c++", ".cc": "c++", ".cxx": "c++", ".C": "c++", ".c": "c"}
OBJECTS = (".o", ".obj", ".a", ".so")


@dataclass
class Source:
    path: str
    language: str  # cu, c++ or c


@dataclass
class Request:
    """What the command line asks for."""
    sources: List[Source] = field(default_factory=list)
    link_inputs: List[str] = field(default_factory=list)  # objects and libraries, in their order
    mode: str = ""  # "" links; -c, -dc, -dlink, -lib, -E, -M, -MM
    output: Optional[str] = None
    output_folder: Optional[str] = None
    standard: str = "c++17"
    optimisation: str = ""
    debug: bool = False
    device_debug: bool = False
    relocatable: bool = False  # device code may call into other files
    checked: bool = False
    mutants: bool = False  # device code holds bugs to choose from at run time
    test: Optional[str] = None  # a command that must notice them
    mutant_lists: List[str] = field(default_factory=list)  # of earlier builds
    run: bool = False
    shared: bool = False  # a library
    verbose: bool = False
    quiet: bool = False  # a build system asks, and would show notes again with each file
    dry_run: bool = False  # says what it would do
    help: bool = False
    color: str = "auto"
    preprocessor: List[str] = field(default_factory=list)
    compiler: List[str] = field(default_factory=list)
    link: List[str] = field(default_factory=list)
    dependencies: List[str] = field(default_factory=list)
    options_files: List[str] = field(default_factory=list)
    notes: Dict[str, List[str]] = field(default_factory=dict)  # kind -> flags

    def ignore(self, kind, flag):
        if kind != "silent" and flag not in self.notes.setdefault(kind, []):
            self.notes[kind].append(flag)


def _shell_words(text):
    """nvcc hands these words to a shell: `-Xcompiler "-Wall -Wextra"` are two flags."""
    try:
        return shlex.split(text) if re.search(r"[\s\"']", text) else [text] if text else []
    except ValueError:
        return [text]


class _Reader:
    def __init__(self, words):
        self._queue = list(words)
        self.request = Request()
        self._language = None
        self._forwards = any(word.lstrip("-") in _FORWARDING for word in self._queue if word.startswith("-"))
        self._flag = ""

    def read(self):
        while self._queue:
            word = self._queue.pop(0)
            if word.startswith("-") and word != "-":
                self._flag = word
                self._option(word)
            else:
                self._file(word)
        self.request.quiet = self._forwards or bool(self.request.dependencies)
        return self.request

    def _next(self):
        if not self._queue:
            raise CommandError(f"{self._flag} needs a value", help_command())
        return self._queue.pop(0)

    def _file(self, path):
        dot = path.rfind(".")
        ending = path[dot:] if dot > path.rfind("/") else ""
        language = self._language or SOURCES.get(ending)
        if language:
            self.request.sources.append(Source(path, language))
        elif ending == ".mutants":
            self.request.mutant_lists.append(path)
        elif ending in OBJECTS or ".so." in path:
            self.request.link_inputs.append(path)
        else:
            raise CommandError(f'do not know what "{path}" is: .cu, .cpp, .cc, .cxx, .c, .o, .a and .so are known',
                               help_command())

    def _option(self, word):
        name, equals, value = word.lstrip("-").partition("=")
        short = "-" + name
        request = self.request
        if name in _LONG and name != "x":
            self._plain(_LONG[name], value if equals else self._next())
        elif short in ("-Xcompiler", "-Xlinker", "-Xarchive", "-o", "-odir", "-rdc", "-isystem", "-include", "-iquote",
                       "-idirafter", "-MF", "-MT", "-MQ"):
            self._plain(short, value if equals else self._next())
        elif name in ("optf", "options-file"):
            self._options_files(value if equals else self._next())
        elif name in _MODES:
            request.mode = _MODES[name]
            request.relocatable = request.relocatable or request.mode == "-dc"
        elif name in _DEPENDENCY_SWITCHES:
            request.dependencies.append("-MMD" if "nonsystem" in name or name == "MMD" else "-MP" if name in (
                "MP", "generate-dependency-targets") else "-MD")
        elif name in ("g", "debug"):
            request.debug = True
        elif name in ("G", "device-debug"):
            request.device_debug = True
        elif name in ("w", "disable-warnings"):
            request.compiler.append("-w")
        elif name in ("pg", "profile"):
            request.compiler.append("-pg")
            request.link.append("-pg")
        elif name in ("v", "verbose"):
            request.verbose = True
        elif name in ("dryrun", "dry-run"):
            request.dry_run = True
        elif name in ("run", "checked", "mutants", "shared", "help") or word == "-h":
            setattr(request, "help" if word == "-h" else name, True)
        elif name == "test":
            request.test = value if equals else self._next()
        elif name == "color":
            request.color = value if equals else self._next()
            if request.color not in ("auto", "always", "never"):
                raise CommandError(f'--color is auto or always or never, not "{request.color}"', help_command())
        elif name in _GPU_OUTPUT:
            raise CommandError(f"{word}: {command_name()} makes programs, objects (-c) and archives (-lib) for this CPU, no GPU code",
                               help_command())
        elif not self._known(name) and self._joined(word):
            pass
        else:
            self._ignored(word, name, equals)

    def _options_files(self, paths):
        """The words of the files stand where the flag stood."""
        words = []
        for path in paths.split(","):
            if len(self.request.options_files) == _MOST_OPTIONS_FILES:
                raise CommandError(f"{path}: more than {_MOST_OPTIONS_FILES} files of options; does one name itself?", help_command())
            self.request.options_files.append(path)
            try:
                with open(path, encoding="utf-8", errors="surrogateescape") as file:
                    lexer = shlex.shlex(file, posix=True)
                    lexer.whitespace_split, lexer.commenters, lexer.quotes = True, "", '"'  # as nvcc reads them
                    words += lexer
            except OSError as error:
                raise CommandError(f"{self._flag} {path}: {error.strerror}", help_command()) from error
            except ValueError as error:
                raise CommandError(f"{self._flag} {path}: {str(error).lower()}", help_command()) from error
        self._queue[:0] = words

    @staticmethod
    def _known(name):
        return any(name in names for kinds in (_SWITCHES, _VALUED) for names in kinds.values())

    def _ignored(self, word, name, equals):
        dashes = word[:len(word) - len(word.lstrip("-"))]
        for kind, names in _SWITCHES.items():
            if name in names and not equals:
                return self.request.ignore(kind, word)
        for kind, names in _VALUED.items():
            if name in names:
                if not equals:
                    self._next()
                return self.request.ignore(kind, dashes + name)
        if self._forwards:
            if word in ("-pthread", "-fopenmp", "-static-libstdc++", "-static-libgcc", "-rdynamic", "-s"):
                self.request.link.append(word)
            return self.request.compiler.append(word)
        if (dashes == "-" and name[:1] in ("W", "f", "m")) or name in ("pthread", "pedantic", "s", "ansi"):
            raise CommandError(f"nvcc knows no flag {word}; it hands on to the host compiler what follows -Xcompiler",
                               f"{caller.COMPILER} -Xcompiler {word} ...")
        known = [*_LONG, *_MODES, "options-file", "optf", "checked", "mutants", "test", "run", "shared", "verbose", "dryrun", "help",
                 *(n for names in _SWITCHES.values() for n in names),
                 *(n for names in _VALUED.values() for n in names)]
        near = difflib.get_close_matches(name, known, 1)
        nearest = f" Nearest: {'--' if dashes == '--' or len(near[0]) > 1 else '-'}{near[0]}" if near else ""
        raise CommandError(f"{command_name()} has no flag {word}.{nearest}", help_command())

    # -Ifolder, -I folder, -I=folder, -O3, ...: one letter, then the value or the next word.
    def _joined(self, word):
        letter, rest = word[1:2], word[2:]
        if word.startswith("--") or letter not in "IDULlxO":
            return False
        value = rest[1:] if rest.startswith("=") else rest
        self._plain(word[:2], value or self._next())
        return True

    def _plain(self, flag, value):
        request = self.request
        if flag in ("-I", "-D", "-U"):
            request.preprocessor += [flag + part for part in (value.split(",") if flag == "-I" else [value])]
        elif flag in ("-isystem", "-include", "-iquote", "-idirafter"):
            request.preprocessor += [flag, value]
        elif flag == "-L":
            request.link.append("-L" + value)
        elif flag == "-l":
            for name in value.split(","):
                self._library(name)
        elif flag == "-o":
            if not value:
                raise CommandError("-o needs the name of a file", help_command())
            request.output = value
        elif flag == "-odir":
            request.output_folder = value
        elif flag == "-O":
            request.optimisation = "-O" + value
        elif flag == "-std":
            request.standard = value
        elif flag == "-rdc":
            request.relocatable = value == "true"
        elif flag == "-x":
            if value not in ("cu", "c++", "c"):
                raise CommandError(f"-x is cu, c++ or c, not {value}", help_command())
            self._language = value
        elif flag == "-Xcompiler":
            request.compiler += [word for part in value.split(",") for word in _shell_words(part)]
        elif flag == "-Xlinker":
            request.link += [part for word in value.split(",") if word for part in ("-Xlinker", word)]
        elif flag in ("-MF", "-MT", "-MQ"):
            request.dependencies += [flag, value]

    def _library(self, name):
        base = name[:-len("_static")] if name.endswith("_static") else name
        if name in _OWN_LIBRARIES or base in _OWN_LIBRARIES:
            self.request.ignore("library", "-l" + name)
        elif any(base.startswith(known) for known in _DEVICE_LIBRARIES):
            self.request.ignore("device library", "-l" + name)
        else:
            self.request.link_inputs.append("-l" + name)


def read(words):
    """The Request behind nvcc's arguments; CommandError where they are none of nvcc's."""
    return _Reader(words).read()
