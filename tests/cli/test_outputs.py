#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What commands write: never over what they read, into devices and pipes, and never lost without a word."""
import json
import os
import shutil
import stat
import subprocess
import sys
import threading
import unittest
from pathlib import Path
from unittest import mock

import support
from days_cli import catalog, exercises, main, outputs, paths
from days_cli.errors import DaysError
from support import ROOT

_PROGRAM = "int main() {}\n"


class Put(support.Case):
    """outputs.put: where data goes."""

    def put(self, name, data=b"new", **more):
        outputs.put(self.folder / name, data, **more)

    def test_new_and_old(self):
        self.put("new", executable=True)
        self.assertTrue(os.access(self.folder / "new", os.X_OK))
        (self.folder / "old").write_text("a longer text than what comes")
        (self.folder / "old").chmod(0o600)
        self.put("old", "text")
        self.assertEqual((self.folder / "old").read_text(), "text")
        self.assertEqual(stat.S_IMODE((self.folder / "old").stat().st_mode), 0o600)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["bin", "new", "old"])

    def test_links_stay_links(self):
        (self.folder / "real").write_text("old")
        for name, target in (("link", "real"), ("dangling", "made")):
            (self.folder / name).symlink_to(target)
            self.put(name)
            self.assertTrue((self.folder / name).is_symlink())
            self.assertEqual((self.folder / target).read_text(), "new")

    def test_several_at_once_in_one_folder(self):
        for left in range(3):
            (self.folder / f".simt-{os.getpid()}-{next(outputs._numbers) + 1 + left}.part").touch()
        threads = [threading.Thread(target=self.put, args=(f"file{i}", b"x" * 4000)) for i in range(50)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual([os.path.getsize(self.folder / f"file{i}") for i in range(50)], [4000] * 50)

    def test_pipe_is_written_into(self):
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        got = []
        reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
        reader.start()
        self.put("pipe", b"x" * 200000)
        reader.join()
        self.assertEqual(got, [b"x" * 200000])
        self.assertTrue(stat.S_ISFIFO(pipe.stat().st_mode))

    @unittest.skipUnless(hasattr(os, "geteuid") and os.geteuid() == 0, "only root makes devices")
    def test_device_stays_one(self):
        device = self.folder / "null"
        try:
            os.mknod(device, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
            device.open("wb").close()
        except OSError as error:
            self.skipTest(f"no devices here: {error.strerror}")
        self.put("null")
        self.assertTrue(stat.S_ISCHR(device.stat().st_mode))

    def test_what_cannot_be(self):
        for name, message in (("bin", "is a folder"), ("none/x", "no folder")):
            with self.assertRaises(DaysError) as caught:
                self.put(name)
            self.assertIn(message, caught.exception.message)
        (self.folder / "loop").symlink_to("loop")
        with self.assertRaises(OSError) as caught:
            self.put("loop")
        self.assertEqual(caught.exception.filename, str(self.folder / "loop"))

    def test_a_full_disk_leaves_the_old_file(self):
        (self.folder / "old").write_text("old")
        with mock.patch("days_cli.outputs._write", side_effect=OSError(28, "No space left on device")):
            with self.assertRaises(OSError):
                self.put("old")
        self.assertEqual((self.folder / "old").read_text(), "old")
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["bin", "old"])


@unittest.skipUnless(shutil.which("g++"), "no g++ here")
class Inputs(support.Case):
    """days cc writes over nothing that it reads."""

    def setUp(self):
        super().setUp()
        (self.folder / "a.h").write_text("// header\n")
        for name, text in (("a.cu", '#include "a.h"\n' + _PROGRAM), ("b.cpp", "int b;\n"), ("h.o", "an object"),
                           ("f.txt", "-DX=1"), ("libm2.a", "an archive"), ("p.mutants", _PROGRAM), ("h.o.mutants", "a list")):
            (self.folder / name).write_text(text)
        (self.folder / "link").symlink_to("a.cu")
        os.link(self.folder / "a.cu", self.folder / "hard")
        self.before = {path.name: path.read_bytes() for path in self.folder.iterdir() if path.is_file()}

    def test_refused(self):
        for line in ("a.cu -o a.cu", "-c a.cu -o a.cu", "a.cu -o link", "a.cu -o hard", "a.cu -o ./bin/../a.cu",
                     "link -x cu -o a.cu", "-x cu link -o a.cu", "-lib h.o -o h.o", "-dlink h.o -o h.o", "a.cu h.o -o h.o",
                     "a.cu -MD -MF a.cu", "-c a.cu -MMD -MF link", "a.cu -o a.h", "-c a.cu -MD -MF a.h", "-E a.cu -o a.cu",
                     "-E a.cu -o a.h", "-M a.cu -o a.h", "-MM link -x cu -o hard", "a.cu -include a.h -o a.h",
                     "a.cu -optf f.txt -o f.txt", "a.cu -L. -lm2 -o libm2.a", "a.cu -o p -MD -MF p", "-c a.cu ./a.cu",
                     "--mutants -x cu p.mutants -o p", "--mutants a.cu -o p -MD -MF p.mutants", "a.cu -o="):
            done = self.shell("cc", *line.split(), cwd=self.folder)
            self.assertEqual((done.returncode, done.stdout), (2, ""), line + "\n" + done.stderr)
            after = {path.name: path.read_bytes() for path in self.folder.iterdir() if path.is_file()}
            self.assertEqual(after, self.before, line)
            self.assertTrue((self.folder / "link").is_symlink())

    def test_device_link_of_sources(self):
        """They are compiled, so that what they include is known, and their errors are told."""
        self.assertEqual(self.shell("cc", "-dlink", "a.cu", "-o", "d.o", cwd=self.folder).returncode, 0)
        done = self.shell("cc", "-dlink", "a.cu", "-o", "a.h", cwd=self.folder)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual((self.folder / "a.h").read_bytes(), self.before["a.h"])

    def test_into_a_link_and_a_pipe(self):
        os.mkfifo(self.folder / "pipe")
        (self.folder / "out").symlink_to("real")
        got = []
        reader = threading.Thread(target=lambda: got.append((self.folder / "pipe").read_bytes()))
        reader.start()
        done = self.shell("cc", "-c", "a.cu", "-o", "out", "-MD", "-MF", "pipe", cwd=self.folder)
        reader.join()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(got[0].startswith(b"out: a.cu"))
        self.assertTrue((self.folder / "out").is_symlink())
        self.assertTrue((self.folder / "real").read_bytes().startswith(b"\x7fELF") or os.uname().sysname == "Darwin")

    def test_names_that_are_no_utf8(self):
        name = os.fsencode(self.folder) + b"/n\xff \xe4.cu"
        try:
            with open(name, "w") as file:
                file.write(_PROGRAM + "int x;\n")
        except OSError:
            self.skipTest("this file system has UTF-8 names alone")
        command = [str(ROOT / "days"), "cc", b"n\xff \xe4.cu", "-o", b"p\xff", "-MD"]
        for _ in range(2):
            done = subprocess.run(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, b""))
        with open(os.fsencode(self.folder) + b"/p\xff.d", "rb") as file:
            self.assertTrue(file.read().startswith(b"p\xff: n\xff\\ \xe4.cu"))
        subprocess.run([os.fsencode(self.folder) + b"/p\xff"], check=True)

    def test_explain_replaces_json_alone(self):
        done = self.shell("explain", "--file", "a.cu", "--json", "a.cu", cwd=self.folder)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("no JSON", done.stderr)
        self.assertEqual((self.folder / "a.cu").read_bytes(), self.before["a.cu"])


class Lost(support.Case):
    """Output that does not reach anybody is a failure; a closed stderr is none."""

    def sh(self, line, **environment):
        """(exit code, stderr) of a shell's line; DAYS stands for the command."""
        done = subprocess.run(["sh", "-c", line.replace("DAYS", f"'{ROOT}/days'")], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False, env={**os.environ, **environment}, cwd=self.folder)
        return done.returncode, done.stderr.decode()

    def test_stdout(self):
        for line in ("list", "", "--help", "cc --help", "run 13 --recorded h200"):
            for where in (">&-", ">/dev/full"):
                if "full" in where and not os.path.exists("/dev/full"):
                    continue
                for unbuffered in ("", "1"):
                    code, said = self.sh(f"DAYS {line} {where}", PYTHONUNBUFFERED=unbuffered)
                    self.assertEqual((code, said.count("\n")), (3, 1), f"{line} {where} {said}")
                    self.assertIn("error: standard output: ", said)

    @unittest.skipUnless(shutil.which("g++") and os.path.exists("/dev/full"), "no g++ or no /dev/full here")
    def test_days_executable(self):
        for flags in ("--list", "--size 64 --type fp32", "--size 64 --json -"):
            code, said = self.sh(f"DAYS run 1 --backend simt {flags} >/dev/full")
            self.assertEqual((code, said), (3, "error: standard output: No space left on device\n"))
        code, said = self.sh("DAYS run 1 --backend simt --size 64 --json /dev/full >/dev/null")
        self.assertEqual((code, said), (3, "error: --json /dev/full: No space left on device\n"))

    def test_stderr(self):
        for where in ("2>&-", "2>/dev/full"):
            self.assertEqual(self.sh(f"DAYS list >/dev/null {where}")[0], 0)
            self.assertEqual(self.sh(f"DAYS run 99 {where}")[0], 2)
        self.assertEqual(self.sh("DAYS list 2>&- | head -n 1")[0], 0)
        self.assertEqual(self.sh("DAYS list >&- 2>&-")[0], 3)
        self.assertEqual(self.sh("DAYS list <&- >/dev/null"), (0, ""))

    def test_closed_stdout_is_not_the_next_file(self):
        """A file that the command opens must not get what is printed."""
        (self.folder / "my").mkdir()
        code, _ = self.sh("DAYS hint 1 >&-", DAYS_MY=str(self.folder / "my"))
        self.assertEqual(code, 3)
        for path in (self.folder / "my").iterdir():
            self.assertNotIn("Hint", path.read_text())


class NoTraceback(support.Case):
    def test_fault_of_our_own(self):
        self.replace(paths, "BUILD", self.folder / "build")
        for error in (ZeroDivisionError("by\nzero"), KeyError("x"), RecursionError(), OSError(95, "Operation not supported")):
            with mock.patch.object(main, "_dispatch", side_effect=error):
                code, out, err = self.days("list", "a b")
            self.assertEqual((code, out), (3, ""))
            self.assertIn("report it with the command", " ".join(err.split()))
            self.assertTrue(err.endswith("Next: ./days list 'a b'\n"))
            trace = (self.folder / "build" / "crash.txt").read_text()
            self.assertIn(type(error).__name__, trace)
            self.assertIn("./days list 'a b'\n", trace)

    def test_fault_without_a_place_for_the_trace(self):
        self.replace(paths, "BUILD", self.folder / "file" / "build")
        (self.folder / "file").write_text("")
        with mock.patch.object(main, "_dispatch", side_effect=KeyError("x")):
            code, _, err = self.days("list")
        self.assertEqual(code, 3)
        self.assertIn("it came up at ", " ".join(err.split()))

    def test_deleted_folder(self):
        (self.folder / "x.cu").write_text(_PROGRAM)
        for line, code in ((f"explain --file '{self.folder}/x.cu'", 3), (f"cc '{self.folder}/x.cu'", 3), ("list", 0),
                           ("cc x.cu", 2)):
            gone = self.folder / "gone"
            gone.mkdir()
            done = subprocess.run(["sh", "-c", f'rmdir "$PWD" && exec "{ROOT}/days" {line}'], cwd=gone, check=False,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
            self.check_form(done.stderr)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertEqual("does not exist any more" in " ".join(done.stderr.split()), code == 3)

    def test_learners_bytes(self):
        """The difference is shown, whatever the learner's file holds and the terminal takes."""
        day = catalog.resolve("1", "solution")
        mine = self.folder / "my"
        mine.mkdir()
        (mine / exercises.my_file(day).name).write_bytes(b"// caf\xe9 \xff\n")
        script = ("import sys; sys.path.insert(0, sys.argv[1])\n"
                  "from days_cli import counting, main, metrics\n"
                  "counting.measure = lambda kernel: ({gate.key: 0 for gate in metrics.EXERCISE}, [], [])\n"
                  "sys.exit(main.main(['solution', '1', '--yes']))\n")
        for encoding in ("utf-8", "ascii"):
            done = subprocess.run([sys.executable, "-B", "-c", script, str(ROOT / "tools")], check=False, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, env={**os.environ, "DAYS_MY": str(mine), "PYTHONIOENCODING": encoding})
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            self.assertIn(b"-// caf\\xe9 \\xff", done.stdout)

    def test_words_that_are_no_utf8(self):
        name = os.fsencode(self.folder) + b"/n\xff.cu"
        try:
            with open(name, "w") as file:
                file.write(_PROGRAM)
        except OSError:
            self.skipTest("this file system has UTF-8 names alone")
        for line in ([b"\xff"], [b"run", b"\xff"], [b"cc", b"\xff.cu"], [b"run", b"1", b"--json", b"\xff/x"],
                     [b"explain", b"--file", name], [b"run", b"1", b"--with", name]):
            done = subprocess.run([str(ROOT / "days"), *line], check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  env={**os.environ, "CXX": "false"})
            self.assertIn(done.returncode, (2, 3))
            self.assertTrue(done.stderr.startswith(b"error: "), done.stderr)
            self.assertNotIn(b"Traceback", done.stderr)
            self.assertNotIn(b"itself is at fault", done.stderr)


class My(support.Case):
    def test_empty_means_the_usual_folder(self):
        for value, folder in (("", ROOT / "my"), ("elsewhere", ROOT / "elsewhere"), ("/x", Path("/x"))):
            told = subprocess.run([sys.executable, "-B", "-c", "from days_cli import paths; print(paths.MY)"], check=True,
                                  stdout=subprocess.PIPE, universal_newlines=True,
                                  env={**os.environ, "DAYS_MY": value, "PYTHONPATH": str(ROOT / "tools")}).stdout
            self.assertEqual(Path(told.strip()), folder)


class Json(support.Case):
    def test_last_one_counts(self):
        from days_cli import running
        self.assertEqual(running.json_once(["--json", "a", "--size", "5", "--json=b"]), (["--size", "5", "--json", "b"], "b"))
        self.assertEqual(running.json_once(["--size", "5"]), (["--size", "5"], ""))

    def test_results_go_into_what_is_there(self):
        from days_cli import results
        (self.folder / "link.json").symlink_to("real.json")
        results.write(self.folder / "link.json", {"schema": 1})
        self.assertTrue((self.folder / "link.json").is_symlink())
        self.assertEqual(json.loads((self.folder / "real.json").read_text()), {"schema": 1})


if __name__ == "__main__":
    unittest.main()
