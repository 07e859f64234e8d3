# SPDX-License-Identifier: MIT
"""The steps that make a day's executable (or any .cu program) in build/run/<backend>, for builder.Build."""
from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from days_cli import gpu as gpus
from days_cli import catalog, compiler_messages, paths, settings, toolchain
from days_cli.builder import DEPS, OUT, TARGET, Build, Step, lock

def _deps(target=TARGET):
    return ["-MD", "-MT", target, "-MF", DEPS]


def _warnings(warnings, host, prefix=""):
    """g++ 12 and 13 see overlapping copies in std::string where there are none (GCC bug 105651); clang wants more braces
    around simt's vector types than CUDA's need. cmake/BuildSettings.cmake has the same two."""
    return warnings + [prefix + ("-Wno-restrict" if host.kind == "g++" else "-Wno-missing-braces")]


def _object_path(folder, source):
    """Beneath the build folder, also for a file outside the clone."""
    return folder / "obj" / (source.lstrip("/").replace("../", "_/") + ".o")


class Simt:
    """Kernels on this CPU: .cu files go through simtcc, all are linked with the runtime."""

    def __init__(self, checked=False, traced=False, shared=False):
        # Only .cu files are compiled another way for checked and traced builds; all else is shared. A shared library's code
        # can be anywhere in memory: it shares the runtime alone, and as it is for checks, the rest is built to be ready soon.
        self._flags = settings.load()["cxx"]["flags"]
        if shared:
            self._flags = [*(flag for flag in self._flags if flag[:2] not in ("-O", "-g")), "-O0", "-fPIC"]
        self._shared = shared
        self._plain_folder = paths.RUN_BUILD / ("simt-library" if shared else "simt")
        kind = "checked" if checked else "traced" if traced else ""
        self.folder = paths.RUN_BUILD / f"simt-{kind}" if kind else self._plain_folder
        self._data = settings.load()
        self._mode = self._data["simt"][kind] if kind else []
        self._kind_flags = self._data["simt"].get(f"{kind}_flags", [])
        # Flags that win over the others where speed and symbols are not needed; cmake/Simt.cmake reads the same.
        self._lighter = {source: group["flags"] for group in self._data["simt"]["lighter"]
                         for source in settings.expand(group["sources"])} if not shared else {}
        self._defines = sorted("-D" + define for kind in ("defines", "own_defines") for define in self._data["simt"][kind])
        self._compiler = toolchain.host_compiler()
        self.cxx = self._compiler.path
        self._warnings = _warnings(self._data["cxx"]["warnings"], self._compiler)
        self._werror = self._data["cxx"]["werror"] if settings.warnings_are_errors() else []
        self._standard = "-std=" + self._data["cxx"]["standard"]
        other = Simt() if shared else None
        self.translator = other.translator if other else self._translator()
        self._runtime = other._runtime if other else self._make_runtime()

    def _object(self, source, command, after=(), folder=None, root=Path(), target=TARGET, suffix=""):
        output = _object_path(folder or self.folder, source + suffix)
        return Step(output, [*command, *_deps(target), "-c", str(root / source), "-o", OUT], [Path(source)], source,
                    list(after), source)

    def _object_of(self, target, source, command):
        """Word for word as CMake compiles it, whole paths, sorted definitions and the name in the dependency file among them:
        ccache then has what `./days test` built."""
        return self._object(source, command, folder=self._plain_folder, root=paths.ROOT,
                            target=f"CMakeFiles/{target}.dir/{source}.o")

    def _translator(self):
        include = str(paths.ROOT / self._data["simt"]["include"]).replace("\\", "\\\\").replace('"', '\\"')
        command = [self.cxx, f'-DSIMT_INCLUDE_DIR="{include}"', self._standard, *self._data["simt"]["translator_flags"],
                   *self._warnings, *self._werror]
        objects = [self._object_of("translator", self._data["simt"]["translator"], command),
                   self._object_of("simtcc", self._data["simt"]["translator_main"], command)]
        return Step(self._plain_folder / "simtcc", [self.cxx, *(str(step.output) for step in objects), "-o", OUT], [],
                    "simtcc", objects)

    def _plain(self, source, includes=(), root=Path(), flags=()):
        simt = self._data["simt"]
        return [self.cxx, *self._defines, *includes, f"-I{root}", "-isystem",
                str(root / simt["include"]), *flags, self._standard, *self._flags, *self._warnings,
                *self._werror, *self._lighter.get(source, [])]

    def object(self, source, includes=(), renamed=""):
        if not source.endswith(".cu"):
            return self._object(source, self._plain(source, includes), folder=self._plain_folder)
        # In a learner's file blockIdx.x * 32 + threadIdx.x < n may compare unsigned with int: nvcc says nothing of it, and
        # templates would say it once for each type.
        learners = not re.match(r"day\d\d_|common/|simt/|tests/", source)
        quiet = ["-Wno-sign-compare"] if learners else []
        command = [str(self.translator.output), *self._mode, self.cxx, *self._defines, self._standard, *self._flags,
                   *self._kind_flags, *self._lighter.get(source, []), *self._warnings, *quiet, *_renaming(renamed), "-I."]
        step = self._object(source, command, [self.translator], suffix=renamed and "." + renamed)
        if learners:
            include = str(paths.ROOT / self._data["simt"]["include"])
            step.messages = lambda output: compiler_messages.once(compiler_messages.compiling(output, include))
        return step

    def stand_alone(self, name, path, flags):
        """A program of one file anywhere. flags: for the compiler, after nvcc's default standard."""
        command = [str(self.translator.output), *self._mode, self.cxx, "-std=c++17", *self._data["cxx"]["flags"], *flags]
        output = self.folder / "programs" / (name + ".o")
        object_ = Step(output, [*command, *_deps(), "-c", str(path), "-o", OUT], [path], path.name, [self.translator],
                       os.path.relpath(path))
        objects = [object_, *self._runtime]
        return Step(self.folder / "programs" / name,
                    [self.cxx, *(str(step.output) for step in objects), *self.libraries(), "-o", OUT], [], name, objects)

    def _make_runtime(self):
        simt, root = self._data["simt"], paths.ROOT
        includes = [f"-I{root / simt['runtime_include']}", *(["-DSIMT_LIBBACKTRACE=1"] if self._backtrace() else [])]
        return [self._object_of("simt", source, self._plain(source, includes, root, simt["runtime_flags"]))
                for source in settings.expand(simt["runtime"])]

    def static_library(self):
        """The runtime as libsimt.a, for programs that are linked elsewhere (with libraries())."""
        objects = self._runtime
        return Step(self._plain_folder / "libsimt.a", ["ar", "rcs", OUT, *(str(step.output) for step in objects)], [],
                    "libsimt.a", objects)

    def _backtrace(self):
        # libbacktrace comes with GCC and gives reports their lines; elsewhere the runtime does without.
        backtrace = toolchain.output_of([self.cxx, "-print-file-name=libbacktrace.a"]).strip()
        return [backtrace] if Path(backtrace).is_absolute() else []

    def libraries(self):
        """What the runtime itself is linked with."""
        return [*self._backtrace(), *self._data["cxx"]["link"], "-ldl"]

    def program(self, name, sources, pictures=None, renamed=None, includes=(), more=(), unwatched=(), own=None):
        """own: {source: flags that it alone has}. unwatched: sources that are compiled as for a plain run. They come last: of a function that both sorts have, the linker takes the
        first."""
        parts, link = _picture_parts(self, pictures)
        link += more
        makers = [(self, source) for source in sources if source not in unwatched] + [(Simt(), source) for source in unwatched]
        objects = [maker.object(source, [*includes, *(own or {}).get(source, [])], renamed=(renamed or {}).get(source, ""))
                   for maker, source in makers] + parts + self._runtime
        return Step(self.folder / name,
                    [self.cxx, *(["-shared"] if self._shared else []), *(str(step.output) for step in objects), *link,
                     *self.libraries(), *(_own_symbols() if self._shared else []), "-o", OUT], [], name,
                    objects)


class Cuda:
    """nvcc, for exactly the GPU that is here."""

    def __init__(self, shared=False):
        self._shared = shared
        self.folder = paths.RUN_BUILD / ("cuda-library" if shared else "cuda")
        self._data = settings.load()
        self._nvcc = toolchain.nvcc()
        host, problem = toolchain.nvcc_host()
        self._warnings = _warnings(self._data["cuda"]["warnings"], host, "-Xcompiler=")
        self._command = [self._nvcc.path, "-std=" + self._data["cxx"]["standard"],
                         *toolchain.architecture_flags(gpus.detect().gpu, self._nvcc)[0],
                         *(["-ccbin", host.path] if problem or os.environ.get("CUDAHOSTCXX") else [])]

    def object(self, source, includes=(), renamed=""):
        command = [*self._command, *self._data["cuda"]["flags"], *(["-Xcompiler=-fPIC"] if self._shared else []),
                   *self._warnings, *includes, *_renaming(renamed), "-I."]
        return Step(_object_path(self.folder, source + (renamed and "." + renamed)), [*command, *_deps(), "-c", source, "-o", OUT], [Path(source)],
                    source, [], source)

    def program(self, name, sources, baselines=(), pictures=None, renamed=None, includes=(), more=(), own=None):
        parts, libraries = _picture_parts(self, pictures)
        libraries += more
        objects = [self.object(source, [*includes, *(own or {}).get(source, [])], renamed=(renamed or {}).get(source, ""))
                   for source in sources] + parts
        for source in baselines:
            library, _ = toolchain.find_library(Path(source).stem, self._nvcc)
            if library is None:
                continue  # the table says "not built"
            objects.append(self.object(source, ["-isystem", library.include] if library.include else []))
            for binary in library.binaries:
                libraries += [binary, "-Xlinker", "-rpath," + str(Path(binary).parent)]
        shared = ["-shared", *(f"-Xlinker={flag[len('-Wl,'):]}" for flag in _own_symbols())] if self._shared else []
        return Step(self.folder / name,
                    [*self._command, *shared, *(str(step.output) for step in objects), *libraries, "-o", OUT], [], name, objects)


def _renaming(launcher):
    """Flags by which a file calls that launcher of its another name: the learner's file has the name then, and what else the
    file holds stays in the program."""
    return [f"-D{launcher}={launcher}_as_shipped"] if launcher else []


def _own_symbols():
    """The process that loads a library may hold another CUDA runtime, as PyTorch's does: ours is bound to what is in it."""
    return [] if sys.platform == "darwin" else ["-Wl,-Bsymbolic", "-Wl,--exclude-libs=ALL"]


def _picture_parts(maker, pictures):
    """(steps of common/image and common/animation, what to link): of those that {key of build.json: toolchain.Pictures} has."""
    steps, link = [], []
    for key, found in (pictures or {}).items():
        steps += [maker.object(source, found.compile) for source in settings.expand(settings.load()[key]["sources"])]
        link += found.link
    return steps, link


def _pictures_of(day):
    """What a day with a folder samples/ or animations/ is linked with, where the libraries are here; without them it runs all the
    same."""
    folder = paths.ROOT / day.target
    animated = (folder / "animations").is_dir()
    keys = ["pictures"] * (animated or (folder / "samples").is_dir()) + ["animations"] * animated
    found = {key: toolchain.find_pictures(key)[0] for key in keys}
    return {key: pictures for key, pictures in found.items() if pictures}


def _harness(backend):
    """The harness's sources. For nvcc its host code is part of harness.cu."""
    host = settings.load()["simt"]["harness"] if backend == "simt" else []
    return settings.expand(["common/*.cu", *host])


_BUILT = "DAYS_BUILT"  # in the environment: the folder of programs that CMake has just made of this clone


def take_built(folder, days):
    """build_day() takes these days' programs for the GPU from there, now and in what is started: they are not compiled twice."""
    for day in days:
        if (folder / day.target).exists():
            link = paths.RUN_BUILD / "cuda" / day.target
            link.parent.mkdir(parents=True, exist_ok=True)
            link.unlink(missing_ok=True)
            link.symlink_to(folder / day.target)
    os.environ[_BUILT] = str(folder)


def _used(day):
    """The kernels that the day takes from other days, and the library model/ (`uses: [12, 43, model]`)."""
    return [source for word in catalog.used_words(day) for source in settings.expand([word])]


def _core():
    return settings.load()["core"]


def build_day(day, backend, checked=False, exercise=None, traced=False, rung=None, alone=None):
    """The path of the day's executable, brought up to date. exercise: a .cu file that takes exercise.cu's place, or, with a
    Rung, that of its launcher. alone: the rung's file that checks or traces are for, since no other rung runs: those are compiled as for
    a plain run, which mostly was before."""
    built = paths.RUN_BUILD / "cuda" / day.target
    if backend == "cuda" and not exercise and os.environ.get(_BUILT) and built.is_symlink() and built.exists():
        return built
    sources = [*settings.expand([f"{day.target}/*.cu", f"{day.target}/*.cpp"]), *_used(day), _core(), *_harness(backend)]
    name = day.target
    renamed = {}
    if rung and exercise:
        renamed[f"{day.target}/{rung.file.name}"] = rung.launcher
        sources.insert(0, exercise)
        name += f"_{rung.name}_yours"
    elif exercise:
        sources = [source for source in sources if source != f"{day.target}/exercise.cu"] + [exercise]
        name += "_yours"
    pictures = _pictures_of(day)
    # A rung's file may define members of a class of the day's header, and so does the learner's, which began as such a file: his, the first, count.
    twice = rung and exercise and sys.platform != "darwin"
    if backend == "cuda":
        step = Cuda().program(name, sources, settings.expand(f"{day.target}/baselines/*.cu"), pictures, renamed,
                              more=["-Xlinker", "-z,muldefs"] if twice else [])
    else:
        rungs = [source for source in sources if re.fullmatch(r"day\d\d_\w+/(?:\d\d_\w+|exercise)\.cu", source) and source != alone]
        unwatched = rungs if alone and (checked or traced) else []
        if unwatched and alone != exercise:
            name += "_" + Path(alone).stem
        step = Simt(checked, traced).program(name, sources, pictures, renamed, unwatched=unwatched, more=["-Wl,-z,muldefs"] if twice else [])
    if exercise:
        launcher = rung.launcher if rung else "exercise"
        step.messages = lambda output: compiler_messages.no_launcher(output, launcher, exercise)
    with lock(paths.RUN_BUILD):
        Build().run([step])
    return step.output


def build_host(day):
    """The path of the day's executable without its kernels, which can say what its ladders are and launch nothing."""
    sources = [*settings.expand([f"{day.target}/*.cpp"]), _core(), *_harness("simt")]
    missing = ["-Wl,-undefined,dynamic_lookup"] if sys.platform == "darwin" else ["-no-pie", "-Wl,--unresolved-symbols=ignore-all"]
    step = Simt().program(f"{day.target}_host", [source for source in sources if source != f"{day.target}/main.cpp"], more=missing)
    with lock(paths.RUN_BUILD):
        Build().run([step])
    return step.output


def build_library(day, backend):
    """The path of the day's shared library (common/library.h), brought up to date."""
    sources = [*settings.expand([f"{day.target}/*.cu", f"{day.target}/*.cpp", "common/*.cpp"]), *_used(day), *_harness(backend)]
    sources = [source for source in sources if source != f"{day.target}/main.cpp"]
    name = f"libday{day.number:02d}.so"
    if backend == "cuda":
        step = Cuda(shared=True).program(name, sources, settings.expand(f"{day.target}/baselines/*.cu"))
    else:
        step = Simt(shared=True).program(name, sources)
    with lock(paths.RUN_BUILD):
        Build().run([step])
    return step.output


def build_shared(name, sources, backend, includes=(), link=()):
    """The path of a shared library of these sources alone, brought up to date. includes: flags for its .cpp files; link: for its linker."""
    maker = Cuda(shared=True) if backend == "cuda" else Simt(shared=True)
    step = maker.program(name, sources, includes=list(includes), more=list(link))
    with lock(paths.RUN_BUILD):
        Build().run([step])
    return step.output


def build_file(path, name, flags):
    """The path of a stand-alone program's traced executable, brought up to date."""
    step = Simt(traced=True).stand_alone(name, path, flags)
    with lock(paths.RUN_BUILD):
        Build().run([step])
    return step.output


def build_programs(day, sources, backend, checked=False):
    """The paths of a day's programs, each of one .cu file, brought up to date together: {source: path}."""
    maker = Cuda() if backend == "cuda" else Simt(checked)
    more = [*_used(day), _core(), settings.load()["program"]]
    includes = toolchain.json_flags() if catalog.READ_JSON & set(day.front_matter().get("uses", [])) else []
    server = settings.load()["http"]["source"]
    flags, link = toolchain.http_flags() if server in more else ([], [])
    steps = {source: maker.program("programs/" + _program_name(source), [source, *more], includes=includes, more=link, own={server: flags})
             for source in sources}
    with lock(paths.RUN_BUILD):
        Build().run(list(steps.values()))
    return {source: step.output for source, step in steps.items()}


def _program_name(source):
    """day60_streams_and_graphs/03_overlapped.cu -> day60_overlapped; a file from elsewhere keeps its name."""
    day = re.fullmatch(r"(day\d\d)_\w+/(?:\d\d_)?(\w+)\.cu", source)
    return f"{day[1]}_{day[2]}" if day else _object_path(Path(), source).stem.replace("/", "_")
