# SPDX-License-Identifier: MIT
"""days cc: nvcc's place taken by this CPU: compiles and links stand-alone CUDA programs with simt."""
from __future__ import annotations

import hashlib
import os
import re
import subprocess
from pathlib import Path

from days_cli import compiler_messages, console, nvcc_flags, outputs, paths, run_build, settings, toolchain
from days_cli.builder import DEPS, OUT, Build, Step, lock, read_deps, rule_files
from days_cli.errors import ENVIRONMENT, WRONG, DaysError

USAGE = "FILE.cu [flags]"
SUMMARY = "compiles any CUDA program for this CPU"
HELP = """./days cc FILE... [-o PROGRAM] [nvcc's flags]

Compiles CUDA programs for this CPU; the command line is nvcc's.

  ./days cc prog.cu -o prog && ./prog
  ./days cc --checked prog.cu -o prog     watches every access of a kernel
  ./days cc -c a.cu && ./days cc a.o b.cpp -o prog

Files      .cu .cpp .cc .cxx .c, objects .o .a .so; -x cu names others
Output     -o, a.out by default; -c -dc objects, -lib an archive, -run runs
Meant      -I -D -U -include -isystem -std -O -g -G -L -l -Xcompiler
           -Xlinker -rdc -dlink -odir -E -M -MM -MD -MF -w -pg -optf
Ignored    with a note: -arch -gencode -Xptxas -maxrregcount -lineinfo
           --use_fast_math and what else concerns GPU code; -lcudart
Refused    -ptx -cubin -fatbin -shared

-std is c++17 by default, as with nvcc 13. -O2 -g is the default; -g or -G
alone means -O0, for gdb, which stops at lines of the .cu file.
Device libraries (Thrust, CUB, cuBLAS, cuFFT, cuRAND, ...) have no CPU
version: the error names the line that includes one.
How the program runs, its reports and its knobs: docs/simt.md"""

_CACHE = paths.RUN_BUILD / "cc"


def _notes(request):
    for kind, flags in request.notes.items():
        console.note(f"note: {', '.join(flags)}: {nvcc_flags.KINDS[kind]}")
    if request.standard.lstrip("gnuc+") in ("98", "03", "11", "14", "0x", "1y"):
        console.note(f"note: -std={request.standard}: compiled as C++17, which simt's headers need")
        request.standard = "gnu++17" if request.standard.startswith("gnu") else "c++17"


class _Compilation:
    """The steps behind one command line. Its files lie in a folder of their own in the cache."""

    def __init__(self, request, arguments):
        self._request = request
        self._cwd = Path.cwd()
        self._data = settings.load()
        self._simt = run_build.Simt()
        self._library = self._simt.static_library()
        self._cxx = toolchain.host_compiler().path
        self._include = str(paths.ROOT / self._data["simt"]["include"])
        key = "\0".join([str(self._cwd), *arguments])
        self.folder = _CACHE / hashlib.sha256(os.fsencode(key)).hexdigest()[:16]

    def prepare(self):
        """Translator and library, once for all programs."""
        if not self._library.output.exists():
            console.note("Building the CPU backend, once: about a minute.")
        with lock(paths.RUN_BUILD):
            Build().run([self._simt.translator, self._library])

    def _flags(self, language):
        request = self._request
        optimisation = request.optimisation or ("-O0" if request.debug or request.device_debug else "-O2")
        flags = [optimisation, "-g", *(flag for flag in self._data["cxx"]["flags"] if flag[:2] not in ("-O", "-g"))]
        if language == "c":
            return [*flags, *request.compiler]
        return ["-std=" + request.standard, *flags, "-Wno-register", "-Wno-psabi", *request.compiler]

    def command(self, source):
        """Compiler and flags for a source, without -c and -o."""
        request = self._request
        if source.language != "cu":
            flags = [*self._flags(source.language), *("-D" + define for define in self._data["simt"]["defines"]),
                     *request.preprocessor, "-isystem", self._include]
            return [self._cxx, *flags, *(["-x", source.language] if not source.path.endswith(".cpp") else [])]
        modes = (self._data["simt"]["checked"] if request.checked else []) + (
            ["--simt-rdc"] if request.relocatable else [])
        return [str(self._simt.translator.output), *modes, self._cxx, *self._flags("cu"), *request.preprocessor, "-x", "cu"]

    def object(self, source):
        name = source.path.replace("../", "up/").lstrip("/") + ".o"
        target = self._object_name(source)
        command = [*self.command(source), "-MD", "-MF", DEPS, "-MT", target, "-c", source.path, "-o", OUT]
        return Step(self.folder / name, command, [Path(source.path)], source.path, [self._simt.translator], source.path,
                    cwd=self._cwd, messages=lambda output: compiler_messages.compiling(output, self._include))

    def program(self):
        objects = [self.object(source) for source in self._request.sources]
        command = [self._cxx, *(str(step.output) for step in objects), *self._request.link, *self._request.link_inputs,
                   str(self._library.output), *self._simt.libraries(), *self._host_link_flags(), "-o", OUT]
        inputs = [Path(word) for word in self._request.link_inputs if not word.startswith("-")]
        return Step(self.folder / "program", command, inputs, self._output("a.out"), [*objects, self._library],
                    cwd=self._cwd, messages=lambda output: compiler_messages.linking(output, self._cwd))

    def _host_link_flags(self):
        return [flag for flag in self._request.compiler if flag.startswith(("-fopenmp", "-pthread", "-fsanitize", "-m"))]

    def archive(self):
        objects = [self.object(source) for source in self._request.sources]
        command = ["ar", "rcs", OUT, *(str(step.output) for step in objects), *self._request.link_inputs]
        return Step(self.folder / "archive.a", command, [Path(word) for word in self._request.link_inputs],
                    self._output("a.a"), objects, cwd=self._cwd)

    def device_link(self):
        """nvcc's second link has nothing to do here: an object without contents, for the host's link to name."""
        objects = [self.object(source) for source in self._request.sources]
        return Step(self.folder / "dlink.o", [self._cxx, "-x", "c++", "-c", os.devnull, "-o", OUT], [], "dlink", objects,
                    cwd=self._cwd)

    def _output(self, default):
        path = Path(self._request.output or default)
        return str(Path(self._request.output_folder or ".") / path) if not path.is_absolute() else str(path)

    def _object_name(self, source):
        return self._output(Path(source.path).stem + ".o")

    def _steps(self):
        """(step, where its output belongs) pairs."""
        request = self._request
        if request.mode in ("-c", "-dc"):
            return [(self.object(source), self._object_name(source)) for source in request.sources]
        if request.mode == "-lib":
            return [(self.archive(), self._output("a.a"))]
        if request.mode == "-dlink":
            return [(self.device_link(), self._output("a_dlink.o"))]
        return [(self.program(), self._output("a.out"))]

    def _outputs(self, targets):
        """(what asks for it, path) of each file that the command line writes."""
        named = "-o" if self._request.output else "the output"
        dependencies = {self._dependency_values(source)[1] for source in self._request.sources} if (
            self._request.dependencies) else ()
        return [*((named, target) for target in targets), *(("-MF", path) for path in sorted(dependencies))]

    def _inputs(self):
        """What the command line reads, as far as it says so by name."""
        request = self._request
        libraries = [Path(folder[2:]) / f"lib{word[2:]}{ending}" for folder in request.link if folder.startswith("-L")
                     for word in request.link_inputs if word.startswith("-l") for ending in (".so", ".a")]
        included = [value for flag, value in zip(request.preprocessor, request.preprocessor[1:]) if flag == "-include"]
        return [*(source.path for source in request.sources), *(w for w in request.link_inputs if not w.startswith("-")),
                *(str(path) for path in libraries if path.exists()), *included, *request.options_files]

    def build(self):
        """Brings the command line's outputs up to date; the path of the last."""
        request = self._request
        with lock(self.folder):
            steps = self._steps()
            written = self._outputs([target for _, target in steps])
            outputs.refuse_inputs(written, self._inputs(), nvcc_flags.HELP_COMMAND)
            Build().run([step for step, _ in steps])
            headers = [name for source in request.sources for name in read_deps(self.object(source).deps)]
            outputs.refuse_inputs(written, headers, nvcc_flags.HELP_COMMAND)
            for step, target in steps:
                outputs.put(target, step.output.read_bytes(), executable=os.access(step.output, os.X_OK))
            if request.dependencies:
                for source in request.sources:
                    self._write_dependencies(source)
        return steps[-1][1]

    def _dependency_values(self, source):
        """(the target that the rule names, the rule's file)"""
        request = self._request
        values = dict(zip(request.dependencies, request.dependencies[1:]))
        target = values.get("-MT") or values.get("-MQ") or (
            self._object_name(source) if request.mode else self._output("a.out"))
        return target, values.get("-MF") or str(Path(target).with_suffix(".d"))

    def _write_dependencies(self, source):
        """-MD: what the cache's own dependency file says, where make expects it."""
        target, path = self._dependency_values(source)
        files = read_deps(self.object(source).deps)
        if "-MMD" in self._request.dependencies:  # without system headers, and simt's are that
            files = [name for name in files if not name.startswith(("/usr/", self._include))]
        escaped = [name.replace(" ", "\\ ") for name in files]
        outputs.put(path, f"{target}: " + " \\\n ".join(escaped) + "\n")


def _check(request):
    for source in request.sources:
        if not Path(source.path).is_file():
            raise DaysError(f"no file {source.path}", nvcc_flags.HELP_COMMAND)
    for word in request.link_inputs:
        if not word.startswith("-") and not Path(word).is_file():
            raise DaysError(f"no file {word}", nvcc_flags.HELP_COMMAND)
    if not request.sources and (not request.link_inputs or request.mode not in ("", "-lib", "-dlink")):
        raise DaysError("cc which file?", "./days cc prog.cu -o prog")
    if request.output and len(request.sources) > 1 and request.mode in ("-c", "-dc", "-E", "-M", "-MM"):
        raise DaysError(f"{request.mode} of several files makes several outputs: -o names only one", nvcc_flags.HELP_COMMAND)


def _preprocess(compilation, request):
    """-E, -M and -MM end after the preprocessor, on standard output unless told otherwise."""
    target = request.output
    outputs.refuse_inputs([("-o", target)] if target else [], [source.path for source in request.sources],
                          nvcc_flags.HELP_COMMAND)
    for source in request.sources:
        command = [*compilation.command(source), request.mode, source.path]
        done = subprocess.run(command, stdout=subprocess.PIPE if target else None, check=False)
        if done.returncode:
            raise DaysError(f"{source.path} cannot be preprocessed", code=WRONG)
        if target:
            text = os.fsdecode(done.stdout)
            read = re.findall(r'^# \d+ "(.*?)"', text, re.MULTILINE) if request.mode == "-E" else rule_files(text)
            outputs.refuse_inputs([("-o", target)], dict.fromkeys(read), nvcc_flags.HELP_COMMAND)
            outputs.put(target, done.stdout)
    return 0


def run(args):
    request = nvcc_flags.read(args)
    console.set_color(request.color)
    if request.help:
        console.say(HELP)
        return 0
    _check(request)
    _notes(request)
    compilation = _Compilation(request, args)
    compilation.prepare()
    if request.mode in ("-E", "-M", "-MM"):
        return _preprocess(compilation, request)
    made = compilation.build()
    if not request.run or request.mode:
        return 0
    console.flush()
    program = os.path.join(".", made)
    try:
        os.execv(program, [program])
    except OSError as error:
        raise DaysError(f"{made} cannot be started: {error.strerror}", "./days doctor", ENVIRONMENT) from error
