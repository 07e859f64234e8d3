# SPDX-License-Identifier: MIT
"""nvcc's place taken by this CPU: compiles and links CUDA programs with simt, on nvcc's command line.

Where translator and runtime lie is a backend's to say: Installed here, or one that builds them first (the course has its own)."""
from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from simt_driver import caller, compiler_messages, console, mutants, nvcc_flags, outputs, shell
from simt_driver.builder import DEPS, OUT, Build, Step, lock, read_deps, rule_files
from simt_driver.errors import ENVIRONMENT, WRONG, CommandError
from simt_driver.host_compiler import host_compiler

_HELP = """COMMAND FILE... [-o PROGRAM] [nvcc's flags]

Compiles CUDA programs for this CPU; the command line is nvcc's.

  COMMAND prog.cu -o prog && ./prog
  COMMAND --checked prog.cu -o prog     watches every access of a kernel
  COMMAND -c a.cu && COMMAND a.o b.cpp -o prog
  COMMAND --mutants --test ./prog prog.cu -o prog
                                        which bugs would its tests miss?

Files      .cu .cpp .cc .cxx .c, objects .o .a .so; -x cu names others
Output     -o, a.out by default; -c -dc objects, -lib an archive, -run runs
Meant      -I -D -U -include -isystem -std -O -g -G -L -l -Xcompiler
           -Xlinker -rdc -dlink -odir -shared -E -M -MM -MD -MF -w
           -pg -optf -v -dryrun
Ignored    with a note: -arch -gencode -Xptxas -maxrregcount -lineinfo
           --use_fast_math and what else concerns GPU code; -lcudart
Refused    -ptx -cubin -fatbin

-std is c++17 by default, as with nvcc 13. -O2 -g is the default; -g or -G
alone means -O0, for gdb, which stops at lines of the .cu file.
Device libraries (Thrust, CUB, cuBLAS, cuFFT, cuRAND, ...) have no CPU
version: the first name that is used of one is an error.
How the program runs, its reports and its knobs: MANUAL"""

_FLAGS = ("-fno-strict-aliasing",)  # nvcc's host compilation bears what this forbids, too
_DEFINES = ("-D__SIMT__=1",)
_LINK = ("-pthread", "-ldl")
_CUDA = "13.0"  # the toolkit whose place simt takes, as its headers say
_PROBES = {"--version": f"""nvcc: NVIDIA (R) Cuda compiler driver, whose place simt takes here: kernels run on this CPU
Cuda compilation tools, release {_CUDA}, V{_CUDA}.0
""", "--list-gpu-arch": "compute_90\n", "--list-gpu-code": "sm_90\n"}


class Installed:
    """simt as its CMakeLists.txt builds or installs it: all in one folder, lib/simt beside bin/simtcc."""
    after = ()  # steps that make translator and library
    cache = None  # none: a build system compiles what has changed, and nothing else

    def __init__(self, folder):
        folder = Path(folder)
        self.toolkit = folder / "toolkit"
        self.include = os.path.realpath(folder / "include")  # as g++ shortens the names of system headers
        self.translator = folder / "simt-translate"
        self.library = folder / "libsimt.a"
        self.inputs = (self.translator, self.library)

    @property
    def cxx(self):
        return host_compiler().path

    def prepare(self):
        for path in self.inputs:
            if not path.is_file():
                raise CommandError(f"{path} is missing: this copy of simt is not whole",
                                   "cmake --build BUILD && cmake --install BUILD", ENVIRONMENT)
        os.environ["SIMT_INCLUDE"] = self.include  # wherever the folder was moved

    @staticmethod
    def libraries():
        return list(_LINK)


def _notes(request):
    if request.quiet:
        request.notes.clear()
    for kind, flags in request.notes.items():
        console.note(f"note: {', '.join(flags)}: {nvcc_flags.KINDS[kind]}")
    if request.standard.lstrip("gnuc+") in ("98", "03", "11", "14", "0x", "1y"):
        if not request.quiet:
            console.note(f"note: -std={request.standard}: compiled as C++17, which simt's headers need")
        request.standard = "gnu++17" if request.standard.startswith("gnu") else "c++17"


class _Compilation:
    """The steps behind one command line. Its files lie in a folder of their own in the cache."""

    def __init__(self, request, arguments, backend, folder):
        self._request = request
        self._cwd = Path.cwd()
        self._backend = backend
        self._cxx = backend.cxx
        self._include = backend.include
        key = "\0".join([str(self._cwd), *arguments])
        self.folder = folder / hashlib.sha256(os.fsencode(key)).hexdigest()[:16]

    def _flags(self, language):
        request = self._request
        optimisation = request.optimisation or ("-O0" if request.debug or request.device_debug else "-O2")
        flags = [optimisation, "-g", *_FLAGS]
        if language == "c":
            return [*flags, *request.compiler]
        return ["-std=" + request.standard, *flags, "-Wno-register", "-Wno-psabi", *request.compiler]

    def command(self, source):
        """Compiler and flags for a source, without -c and -o."""
        request = self._request
        if source.language != "cu":
            flags = [*self._flags(source.language), *_DEFINES,
                     *request.preprocessor, "-isystem", self._include]
            return [self._cxx, *flags, *(["-x", source.language] if not source.path.endswith(".cpp") else [])]
        modes = [f"--simt-{mode}" for mode, asked in (("checked", request.checked), ("mutants", request.mutants),
                                                      ("rdc", request.relocatable)) if asked]
        return [str(self._backend.translator), *modes, self._cxx, *self._flags("cu"), *request.preprocessor, "-x", "cu"]

    def object(self, source):
        name = source.path.replace("../", "up/").lstrip("/") + ".o"
        target = self._object_name(source)
        command = [*self.command(source), "-MD", "-MF", DEPS, "-MT", target, "-c", source.path, "-o", OUT]
        return Step(self.folder / name, command, [Path(source.path), *self._backend.inputs], source.path,
                    list(self._backend.after), source.path, cwd=self._cwd,
                    messages=lambda output: compiler_messages.compiling(output, self._include))

    def program(self):
        objects = [self.object(source) for source in self._request.sources]
        shared = ["-shared"] if self._request.shared else []
        command = [self._cxx, *shared, *(str(step.output) for step in objects), *self._request.link, *self._request.link_inputs,
                   str(self._backend.library), *self._backend.libraries(), *self._host_link_flags(), "-o", OUT]
        inputs = [*self._backend.inputs, *(Path(word) for word in self._request.link_inputs if not word.startswith("-"))]
        return Step(self.folder / "program", command, inputs, self._output("a.out"), [*objects, *self._backend.after],
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

    def steps(self):
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
        lists = [target + ".mutants" for target in targets] if self._request.mutants else []
        return [*((named, target) for target in targets), *(("-MF", path) for path in sorted(dependencies)),
                *(("--mutants", path) for path in lists)]

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
            steps = self.steps()
            written = self._outputs([target for _, target in steps])
            outputs.refuse_inputs(written, self._inputs(), nvcc_flags.help_command())
            Build().run([step for step, _ in steps])
            headers = [name for source in request.sources for name in read_deps(self.object(source).deps)]
            outputs.refuse_inputs(written, headers, nvcc_flags.help_command())
            for step, target in steps:
                outputs.put(target, step.output.read_bytes(), executable=os.access(step.output, os.X_OK))
                if request.mutants:
                    outputs.put(target + ".mutants", self._mutants(step))
            if request.dependencies:
                for source in request.sources:
                    self._write_dependencies(source)
        return steps[-1][1]

    def _mutants(self, step):
        """The lists of all objects behind a step, those of earlier command lines included."""
        made = [Path(f"{part.partial}.mutants") for part in Build.in_order([step]) if part.source]
        linked = [Path(word + ".mutants") for word in self._request.link_inputs] if not self._request.mode else []
        lines = [line for path in [*made, *linked] if path.is_file() for line in path.read_bytes().splitlines(keepends=True)]
        return b"".join(dict.fromkeys(lines))

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
            raise CommandError(f"no file {source.path}", nvcc_flags.help_command())
    for word in request.link_inputs:
        if not word.startswith("-") and not Path(word).is_file():
            raise CommandError(f"no file {word}", nvcc_flags.help_command())
    if request.test and not request.mutant_lists and not (request.mutants and not request.mode):
        raise CommandError("--test needs a program that is built with --mutants, or the .mutants files of one",
                           f"{caller.COMPILER} --mutants --test ./prog prog.cu -o prog")
    if not request.sources and not request.link_inputs and request.test:
        return
    if not request.sources and (not request.link_inputs or request.mode not in ("", "-lib", "-dlink")):
        raise CommandError(f"{nvcc_flags.command_name().split()[-1]} which file?", f"{caller.COMPILER} prog.cu -o prog")
    if request.output and len(request.sources) > 1 and request.mode in ("-c", "-dc", "-E", "-M", "-MM"):
        raise CommandError(f"{request.mode} of several files makes several outputs: -o names only one", nvcc_flags.help_command())


def _preprocess(compilation, request):
    """-E, -M and -MM end after the preprocessor, on standard output unless told otherwise."""
    target = request.output
    outputs.refuse_inputs([("-o", target)] if target else [], [source.path for source in request.sources],
                          nvcc_flags.help_command())
    for source in request.sources:
        command = [*compilation.command(source), request.mode, source.path]
        done = subprocess.run(command, stdout=subprocess.PIPE if target else None, check=False)
        if done.returncode:
            raise CommandError(f"{source.path} cannot be preprocessed", code=WRONG)
        if target:
            text = os.fsdecode(done.stdout)
            read = re.findall(r'^# \d+ "(.*?)"', text, re.MULTILINE) if request.mode == "-E" else rule_files(text)
            outputs.refuse_inputs([("-o", target)], dict.fromkeys(read), nvcc_flags.help_command())
            outputs.put(target, done.stdout)
    return 0


def _toolkit_lines(toolkit):
    """What `nvcc -v` says of its toolkit: CMake takes folders from it."""
    return [f"TOP={toolkit}", f"NVVMIR_LIBRARY_DIR={toolkit}/nvvm/libdevice", f"PATH={os.environ.get('PATH', '')}",
            f'INCLUDES="-I{toolkit}/include"  ', f"LIBRARIES=  {_library_folder(toolkit)}"]


def _library_folder(toolkit):
    return f'"-L{toolkit}/lib64"'


def _tell_commands(compilation, request, backend):
    """-v and -dryrun: each command, then the link in nvcc's own words, of which CMake takes compiler and libraries."""
    if backend.toolkit:
        console.tell("#$ simt -arch compute_90")  # CMake's default architecture
    for step in Build.in_order(step for step, _ in compilation.steps()):
        names = {OUT: str(step.output), DEPS: str(step.deps)}
        console.tell("#$ " + shlex.join(names.get(word, word) for word in step.command))
    if backend.toolkit and not request.mode:
        console.tell(f"#$ {shlex.quote(backend.cxx)} -o {shlex.quote(request.output or 'a.out')} "
                     f"{_library_folder(backend.toolkit)} -lcudadevrt -lcudart_static -lrt -lpthread -ldl")


@contextlib.contextmanager
def _cache(backend):
    """The folder for objects: the backend's, or one that goes with the command."""
    if backend.cache:
        yield backend.cache
        return
    with tempfile.TemporaryDirectory(prefix="simtcc-") as folder:
        yield Path(folder)


def _probe(args, backend):
    """The answer to a build system that asks who we are; "" where nothing is asked."""
    if not backend.toolkit:
        return ""
    asked = {"--version" if word == "-V" else "--" + word.lstrip("-") for word in args if word.startswith("-")}
    return next((answer for word, answer in _PROBES.items() if word in asked), "")


def run(args, backend):
    """The command line `args` with this backend; its exit code."""
    answer = _probe(args, backend)
    if answer:
        console.write(answer)
        return 0
    if backend.toolkit and {"-v", "--verbose", "-dryrun", "--dryrun"} & set(args):  # even where the rest makes no sense
        for line in _toolkit_lines(backend.toolkit):
            console.tell("#$ " + line)
    request = nvcc_flags.read(args)
    console.set_color(request.color)
    if request.help:
        console.say(_HELP.replace("COMMAND", caller.COMPILER).replace("MANUAL", caller.MANUAL))
        return 0
    _check(request)
    _notes(request)
    if request.test and not request.sources and not request.link_inputs:
        return mutants.run(request.mutant_lists, request.test)
    with _cache(backend) as folder:
        compilation = _Compilation(request, args, backend, folder)
        if request.verbose or request.dry_run:
            _tell_commands(compilation, request, backend)
        if request.dry_run:
            return 0
        backend.prepare()
        if request.mode in ("-E", "-M", "-MM"):
            return _preprocess(compilation, request)
        made = compilation.build()
    if request.test:
        console.flush()
        return mutants.run([*request.mutant_lists, made + ".mutants"], request.test)
    if not request.run or request.mode:
        return 0
    console.flush()
    program = os.path.join(".", made)
    try:
        os.execv(program, [program])
    except OSError as error:
        raise CommandError(f"{made} cannot be started: {error.strerror}", caller.DOCTOR, ENVIRONMENT) from error


def main(folder):
    """`simtcc`; folder: the lib/simt that it belongs to. Its exit code."""
    words = sys.argv[1:]
    return shell.run(lambda: run(words, Installed(folder)), words)
