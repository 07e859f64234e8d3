#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The build of `days run`: what is done again and what is not, failures, order, interruption."""
import contextlib
import io
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import unittest
from pathlib import Path
from unittest import mock

import support
from days_cli import builder, catalog, gpu, judge, paths, run_build, rungs, toolchain
from days_cli.builder import DEPS, OUT, Build, Step
from days_cli.errors import ENVIRONMENT, WRONG, DaysError

# "Compiles" by joining the source and the header that it names; writes a dependency file as compilers do.
_COMPILER = """import sys
source, header, out, deps = sys.argv[1:5]
open(out, "w").write(open(source).read() + open(header).read())
open(deps, "w").write("x.o: " + source.replace(" ", "\\\\ ") + " \\\\\\n " + header.replace(" ", "\\\\ ") + "\\n")
"""


class Incremental(support.Case):
    def setUp(self):
        super().setUp()
        self.replace(paths, "ROOT", self.folder)
        (self.folder / "compiler.py").write_text(_COMPILER)
        for name, text in (("a b.cu", "source "), ("a b.h", "header")):
            self.write(name, text, -10)

    def write(self, name, text, seconds=0):
        """A file that was written that many seconds from now."""
        (self.folder / name).write_text(text)
        self.shift(name, seconds)

    def shift(self, name, seconds):
        then = time.time() + seconds
        os.utime(self.folder / name, (then, then))

    def steps(self, *flags):
        compile_ = Step(self.folder / "out" / "a b.o",
                        [sys.executable, "compiler.py", "a b.cu", "a b.h", OUT, DEPS, *flags], [Path("a b.cu")], "a b.cu",
                        source="a b.cu")
        link = Step(self.folder / "out" / "a", ["cp", str(compile_.output), OUT], [], "a", [compile_])
        return [link]

    def build(self, *flags):
        build = Build(quiet=True)
        build.run(self.steps(*flags))
        return build.commands_run

    def made(self):
        return (self.folder / "out" / "a").read_text()

    def test_ready_later_but_first_in_line(self):
        self.replace(builder, "cores", lambda: 1)

        def step(name, *after):
            return Step(self.folder / "out" / name, ["sh", "-c", f'echo {name} >>log && echo >"$1"', "sh", OUT], [], name,
                        list(after))

        build = Build(quiet=True)
        build.run([step("end", step("second", step("first")), step("third"), step("fourth"))])
        self.assertEqual((self.folder / "log").read_text().split(), ["first", "second", "third", "fourth", "end"])

    def test_again_only_when_needed(self):
        self.assertEqual(self.build(), 2)
        self.assertEqual((self.folder / "out" / "a").read_text(), "source header")
        self.assertEqual(self.build(), 0)
        self.write("a b.h", "changed", 1)
        self.assertEqual(self.build(), 2)
        self.assertEqual((self.folder / "out" / "a").read_text(), "source changed")
        self.shift("a b.h", -5)
        self.assertEqual(self.build("-flag"), 2, "another command")
        self.assertEqual(self.build("-flag"), 0)
        (self.folder / "out" / "a").unlink()
        self.assertEqual(self.build("-flag"), 1, "the executable alone is gone")
        (self.folder / "out" / "a b.o.d").unlink()
        self.assertEqual(self.build("-flag"), 2, "without its dependency file nothing is known")

    def test_header_gone(self):
        self.build()
        (self.folder / "a b.h").unlink()
        with self.assertRaises(DaysError) as caught:
            self.build()
        self.assertEqual((caught.exception.message, caught.exception.code), ("a b.cu does not compile", WRONG))

    def test_failure_leaves_the_old_output(self):
        self.build()
        self.write("compiler.py", "import sys; open(sys.argv[3], 'w').write('half'); print('a b.cu:1: no'); sys.exit(1)")
        self.write("a b.cu", "broken", 1)
        err = io.StringIO()
        with self.assertRaises(DaysError), contextlib.redirect_stderr(err):
            Build().run(self.steps())
        self.assertIn("a b.cu:1: no", err.getvalue())
        self.assertEqual((self.folder / "out" / "a b.o").read_text(), "source header")
        self.assertEqual([path.name for path in (self.folder / "out").iterdir() if ".part" in path.name], [])

    def test_edit_while_compiling(self):
        for edited in ("a b.cu", "a b.h"):
            self.write("compiler.py", _COMPILER + f"import time; time.sleep(0.02); open({edited!r}, 'a').write(' more')\n", -10)
            self.build("-" + edited)
            self.write("compiler.py", _COMPILER, -10)
            self.assertEqual(self.build("-" + edited), 2, edited)
            self.assertIn(" more", self.made())

    def test_dates_decide_nothing(self):
        self.build()
        self.write("a b.cu", "change ", -5)  # of the same length, as the rest of this
        self.assertEqual(self.build(), 2)
        self.write("a b.cu", "source ", -10)  # restored with its old date: cp -p, mv
        self.assertEqual((self.build(), self.made()), (2, "source header"))
        before = os.stat(self.folder / "a b.h")
        self.write("a b.h", "HEADER")
        os.utime(self.folder / "a b.h", ns=(before.st_atime_ns, before.st_mtime_ns))
        self.assertEqual((self.build(), self.made()), (2, "source HEADER"))
        self.shift("a b.cu", 3600)
        self.shift("a b.h", 3600)
        self.assertEqual(self.build(), 0, "dated in the future, and the same as before")

    def test_output_of_another_build(self):
        self.build()
        old = self.folder / "old"
        shutil.copy2(self.folder / "out" / "a", old)
        self.write("a b.cu", "change ")
        self.build()
        os.replace(old, self.folder / "out" / "a")
        self.assertEqual((self.build(), self.made()), (1, "change header"))

    def test_first_failure_is_the_one_told(self):
        bad = Step(self.folder / "bad", ["sh", "-c", "exit 3"], [], "bad", source="bad.cu")
        others = [Step(self.folder / f"n{i}", ["sh", "-c", f"sleep 0.05; : > '{self.folder}/n{i}.part'"], [], f"n{i}",
                       source=f"n{i}.cu") for i in range(20)]
        with self.assertRaises(DaysError) as caught:
            Build(quiet=True).run([bad, *others])
        self.assertEqual(caught.exception.message, "bad.cu does not compile")
        self.assertFalse((self.folder / "n19").exists())

    def test_what_begins_after_the_end_makes_nothing(self):
        """A signal may end the build between a thread's start and its first line: its folder may be gone by then."""
        build = Build(quiet=True)
        build._stop()
        with self.assertRaises(builder._NotStarted):
            build._execute(Step(self.folder / "late" / "x", ["true"], [], "x"))
        self.assertFalse((self.folder / "late").exists())

    def test_compiler_missing_or_killed(self):
        self.environment(PATH="/usr/bin:/bin")
        for command, message, code in ((["no-such-compiler"], "no-such-compiler: No such file or directory", ENVIRONMENT),
                                       (["sh", "-c", "kill -11 $$"], "the compiler was ended by signal 11 at x", ENVIRONMENT)):
            with self.assertRaises(DaysError) as caught:
                Build(quiet=True).run([Step(self.folder / "x", command, [], "x", source="x.cu")])
            self.assertEqual((caught.exception.message, caught.exception.code), (message, code))

    def test_too_little_memory_is_the_machines_fault(self):
        said = ("cc1plus: out of memory allocating 65536 bytes after a total of 2822144 bytes",
                "virtual memory exhausted: Cannot allocate memory",
                "g++: fatal error: Killed signal terminated program cc1plus", "collect2: fatal error: ld terminated with signal 9",
                "clang: error: unable to execute command: Killed", "/usr/bin/ld: final link failed: memory exhausted",
                "/usr/include/c++/12/map(61): catastrophic error: out of memory", "nvcc error   : 'cicc' died due to signal 9",
                "g++: internal compiler error: Killed signal terminated program cc1plus",
                "terminate called after throwing an instance of 'std::bad_alloc'")
        for line in said:
            self.fails_in_compiling(f"echo \"a.cu: note: x\n{line}\" >&2; exit 1", "too little memory to build a", ENVIRONMENT)
        self.fails_in_compiling("kill -9 $$", "too little memory to build a", ENVIRONMENT)
        self.fails_in_compiling("exit 137", "too little memory to build a", ENVIRONMENT)
        self.fails_in_compiling("echo 'x: No space left on device'; exit 1", "too little room on the disk", ENVIRONMENT)
        # What the learner's own lines spell is no such message.
        for line in ('a.cu:3:2: error: #error out of memory', '    3 | #error virtual memory exhausted: Cannot allocate memory',
                     "a.cu:1:1: error: 'Killed' was not declared"):
            self.fails_in_compiling(f'echo "{line}" >&2; exit 1', "a cannot be linked", WRONG)

    def fails_in_compiling(self, script, message, code):
        step = Step(self.folder / "out" / "a", ["sh", "-c", script], [], "a")
        with self.assertRaises(DaysError) as caught:
            Build(quiet=True).run([step])
        self.assertIn(message, caught.exception.message)
        self.assertEqual(caught.exception.code, code, script)
        self.assertEqual("taskset" in caught.exception.hint, "memory" in message)

    def test_interruption_ends_the_compilers(self):
        step = Step(self.folder / "slow", ["sleep", "60"], [], "slow")
        with mock.patch.object(builder.concurrent.futures, "wait", side_effect=KeyboardInterrupt):
            began = time.time()
            with self.assertRaises(KeyboardInterrupt):
                Build(quiet=True).run([step])
        self.assertLess(time.time() - began, 10)

    def test_signals_end_what_the_compiler_started(self):
        script = self.folder / "build.py"
        script.write_text(f"""import sys
sys.path.insert(0, {str(support.ROOT / 'tools')!r})
from pathlib import Path
from days_cli import processes
from days_cli.builder import OUT, Build, Step
processes.end_on_signals()
Build().run([Step(Path({str(self.folder)!r}) / "x", ["sh", "-c", "sleep 60 & echo $! >pid; wait"], [], "x",
                  cwd=Path({str(self.folder)!r}))])
""")
        for number, code in ((signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, -signal.SIGINT)):
            (self.folder / "pid").unlink(missing_ok=True)
            process = subprocess.Popen([sys.executable, "-B", script], stderr=subprocess.DEVNULL)
            until = time.time() + 30
            while time.time() < until and not ((self.folder / "pid").exists() and (self.folder / "pid").read_text().strip()):
                time.sleep(0.02)
            process.send_signal(number)
            self.assertEqual(process.wait(30), code)
            self.assertFalse(support.alive(int((self.folder / "pid").read_text())), number.name)

    def test_lock(self):
        events = []

        def second():
            with builder.lock(self.folder / "build"):
                events.append("second")

        with builder.lock(self.folder / "build"):
            thread = threading.Thread(target=second)
            thread.start()
            time.sleep(0.1)
            events.append("first")
        thread.join()
        self.assertEqual(events, ["first", "second"])

    def test_no_permission(self):
        (self.folder / "file").write_text("")
        with self.assertRaises(DaysError) as caught:
            with builder.lock(self.folder / "file" / "build"):
                pass
        self.assertEqual(caught.exception.code, ENVIRONMENT)
        self.assertIn("cannot write to", caught.exception.message)


class OddFolders(support.Case):
    @unittest.skipUnless(shutil.which("g++"), "no g++ here")
    def test_folder_of_the_headers_is_a_string(self):
        """simtcc is told where CUDA's headers are in words that the compiler reads back as the path, whatever is in it."""
        root = self.folder / 'od"d \\p$x'
        root.mkdir()
        self.replace(paths, "ROOT", root)
        self.replace(paths, "RUN_BUILD", root / "build")
        step = run_build.Simt().translator.after[1]
        define = next(word for word in step.command if word.startswith("-DSIMT_INCLUDE_DIR="))
        (root / "x.cpp").write_text("#include <cstdio>\nint main() { std::puts(SIMT_INCLUDE_DIR); }\n")
        subprocess.run(["g++", define, "x.cpp", "-o", "x"], cwd=root, check=True)
        told = subprocess.run([str(root / "x")], stdout=subprocess.PIPE, check=True, universal_newlines=True).stdout
        self.assertEqual(told, f"{root}/simt/include\n")


class WhatRuns(support.Case):
    """Of a day that is checked or traced for one kernel, the others are compiled as for a plain run."""

    def built(self, **how):
        """{the folder of its object: the day's sources there}, in the linker's order."""
        day = catalog.resolve("14", "run")
        with mock.patch.object(run_build, "Build") as build, mock.patch.object(run_build, "lock", contextlib.nullcontext):
            run_build.build_day(day, "simt", **how)
        step, = build.return_value.run.call_args[0][0]
        found = {}
        for part in step.after:
            place = part.output.relative_to(paths.RUN_BUILD).parts
            if ".cu." in part.output.name:
                found.setdefault(place[0], []).append(part.output.name.partition(".")[0])
        return step.output.name, found

    def test_the_learners_rung_alone_is_watched(self):
        rung = rungs.of_day(catalog.resolve("14", "check"))["warp"]
        name, found = self.built(checked=True, exercise="my/day14_warp.cu", rung=rung, alone="my/day14_warp.cu")
        self.assertEqual((name, list(found), set(found["simt-checked"])), ("day14_softmax_warp_yours", ["simt-checked", "simt"], {"harness", "day14_warp"}))
        self.assertIn("03_online", found["simt"])
        self.assertIn("04_warp", found["simt"])

    def test_a_shipped_rung_alone(self):
        name, found = self.built(traced=True, alone="day14_softmax/03_online.cu")
        self.assertEqual((name, set(found["simt-traced"])), ("day14_softmax_03_online", {"harness", "03_online"}))
        name, found = self.built(traced=True)
        self.assertEqual((name, list(found)), ("day14_softmax", ["simt-traced"]))

    def test_judge_says_which(self):
        day = catalog.resolve("14", "check")
        for kernel, alone in ((judge.Kernel(day, "online"), "day14_softmax/03_online.cu"), (judge.Kernel(day, file="my/day14.cu"), "my/day14.cu"),
                              (judge.Kernel(day), "day14_softmax/exercise.cu"), (judge.Kernel(day, "online", "my/day14.cu"), "day14_softmax/03_online.cu"),
                              (judge.Kernel(day, "no_such"), None)):
            self.assertEqual(kernel._alone(), alone)


class Dependencies(support.Case):
    def test_forms(self):
        path = self.folder / "x.d"
        path.write_text("out/a.o: a.cu /usr/include/b\\ c.h \\\n  d\\#.h \\\n $$e.h\n\nd.h:\n")
        self.assertEqual(builder.read_deps(path), ["a.cu", "/usr/include/b c.h", "d#.h", "$e.h"])


class DayOnCuda(support.Case):
    """The commands that nvcc gets, by a fake one."""

    def setUp(self):
        super().setUp()
        self.root = self.folder / "repository"
        for name in ("common/core.cpp", "common/harness.cu", "common/program/program.cpp", "day05_matmul/01_x.cu", "day05_matmul/ladder.cpp",
                     "day05_matmul/exercise.cu", "day05_matmul/programs/p.cu", "day88_user/01_p.cu",
                     "day05_matmul/baselines/cublas.cu", "day05_matmul/baselines/cub.cu", "cmake/build.json"):
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text((support.ROOT / name).read_text() if name.endswith("json") else "")
        for name, value in (("ROOT", self.root), ("RUN_BUILD", self.root / "build" / "run"),
                            ("BUILD_DATA", self.root / "cmake" / "build.json")):
            self.replace(paths, name, value)
        self.toolkit = self.folder / "cuda"
        support.toolkit(self.toolkit)
        self.tool("nvcc", support.nvcc(self.toolkit))
        self.tool("g++", 'echo "g++ (Debian 12.2.0-14) 12.2.0"')
        self.replace(toolchain, "site_folders", lambda: [self.folder / "site-packages"])
        self.gpu(9, 0)

    def gpu(self, major, minor):
        self.replace(gpu, "detect", lambda: gpu.Probe(gpu.Gpu("Some GPU", (major, minor), 1 << 34), "580.1", (13, 0)))

    def day(self, number):
        return next(day for day in catalog.here() if day.number == number)

    def commands(self):
        support.forget()
        log = self.toolkit / "nvcc.log"
        log.unlink(missing_ok=True)
        self.assertEqual(run_build.build_day(self.day(5), "cuda"), self.root / "build" / "run" / "cuda" / "day05_matmul")
        return [line for line in log.read_text().splitlines() if " -o " in line]

    def test_hopper_gets_its_features(self):
        for line in self.commands():
            self.assertIn("arch=compute_90a,code=sm_90a", line)

    def test_sources(self):
        lines = self.commands()
        compiled = sorted(line.split(" -c ")[1].split()[0] for line in lines if " -c " in line)
        self.assertEqual(compiled, ["common/core.cpp", "common/harness.cu", "day05_matmul/01_x.cu", "day05_matmul/exercise.cu",
                                    "day05_matmul/ladder.cpp"])
        self.assertEqual(len(lines), 6)

    def test_kernels_of_another_day(self):
        note = self.root / "day88_user" / "README.md"
        note.write_text("---\nkind: program\nuses: [5]\n---\n")
        support.forget()
        run_build.build_programs(self.day(88), ["day88_user/01_p.cu"], "cuda")
        lines = [line for line in (self.toolkit / "nvcc.log").read_text().splitlines() if " -o " in line]
        compiled = sorted(line.split(" -c ")[1].split()[0] for line in lines if " -c " in line)
        self.assertEqual(compiled, ["common/core.cpp", "common/program/program.cpp", "day05_matmul/01_x.cu", "day88_user/01_p.cu"])
        (self.root / "model").mkdir()
        (self.root / "model" / "product.cu").write_text("")
        note.write_text("---\nkind: program\nuses: [model]\n---\n")
        run_build.build_programs(self.day(88), ["day88_user/01_p.cu"], "cuda")
        self.assertIn(" -c model/product.cu", (self.toolkit / "nvcc.log").read_text())
        for wrong in ("7", "88"):
            note.write_text(f"---\nkind: program\nuses: [{wrong}]\n---\n")
            with self.assertRaises(DaysError) as caught:
                run_build.build_programs(self.day(88), ["day88_user/01_p.cu"], "cuda")
            self.assertIn(f"day88_user/README.md uses day {wrong}: there is no other day", caught.exception.message)

    def test_baselines_of_the_libraries_that_are_found(self):
        base = self.folder / "site-packages" / "nvidia" / "cu13"
        for name in ("include/cublas_v2.h", "lib/libcublas.so.13", "lib/libcublas.so.13.1"):
            (base / name).parent.mkdir(parents=True, exist_ok=True)
            (base / name).write_text("")
        lines = self.commands()
        baseline = [line for line in lines if "-c day05_matmul/baselines/cublas.cu" in line]
        self.assertEqual(len(baseline), 1)
        self.assertIn(f"-isystem {base}/include", baseline[0])
        link = [line for line in lines if " -c " not in line][0]
        self.assertIn(f"{base}/lib/libcublas.so.13 ", link)
        self.assertIn(f"-rpath,{base}/lib", link)
        self.assertNotIn("baselines/cub.cu", " ".join(lines), "its header is nowhere")

    def test_host_compiler_that_is_too_new(self):
        self.tool("g++", 'echo "g++ (GCC) 16.1.0"')
        for version in range(20, 15, -1):
            self.tool(f"g++-{version}", "exit 1")
        self.tool("c++", "exit 1")
        self.tool("clang++", "exit 1")
        self.tool("g++-15", 'echo "g++-15 (GCC) 15.2.0"')
        for line in self.commands():
            self.assertIn(f"-ccbin {self.bin}/g++-15", line)

    def test_only_what_changed(self):
        self.commands()
        self.assertEqual(self.commands(), [])
        self.gpu(7, 5)
        self.assertEqual(len(self.commands()), 6, "another GPU")


class Architectures(unittest.TestCase):
    def flags(self, sm, codes):
        compiler = toolchain.Nvcc("nvcc", (13, 0), Path("/"), tuple(codes))
        return toolchain.architecture_flags(gpu.Gpu("x", (sm // 10, sm % 10), 0), compiler)

    def test_choice(self):
        codes = (75, 80, 86, 90, 120)
        for sm, expected in ((75, (["--generate-code=arch=compute_75,code=sm_75"], True)),
                             (90, (["--generate-code=arch=compute_90a,code=sm_90a"], True)),
                             (87, (["--generate-code=arch=compute_86,code=sm_86"], True)),
                             (100, (["--generate-code=arch=compute_90,code=compute_90"], False)),
                             (70, ([], False))):
            self.assertEqual(self.flags(sm, codes), expected, sm)


if __name__ == "__main__":
    unittest.main()
