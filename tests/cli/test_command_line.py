#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The command as a learner types it: exit codes, errors, colours, pipes, from any folder."""
import os
import pty
import re
import subprocess
import unittest

import support
from days_cli import arguments, catalog, gpu, programs, run_build
from days_cli.errors import DaysError
from support import ROOT


class Errors(support.Case):
    def fails(self, line, code, first, hint):
        self.replace(gpu, "detect", lambda: gpu.Probe())
        got, out, err = self.days(*line.split())
        self.assertEqual((got, out), (code, ""), line)
        text = " ".join(err.split())
        self.assertTrue(text.startswith("error: " + first), text)
        self.assertTrue(text.endswith("Next: " + hint), text)

    def test_usage(self):
        for line, first, hint in (
                ("xyzzy", 'no command "xyzzy"', "./days --help"),
                ("chek", 'no command "chek". Nearest: check', "./days check --help"),
                ("lst", 'no command "lst". Nearest: list', "./days list --help"),
                ("--bogus", 'no flag "--bogus"', "./days --help"),
                ("run", "run which day?", "./days run 1"),
                ("run 1 2", 'days run does not know what to do with "2"', "./days run --help"),
                ("run --sise 5 1", "days run has no flag --sise. Nearest: --size", "./days run --help"),
                ("run 1 --size", "--size needs a value", "./days run --help"),
                ("run 1 --backend gpu", '--backend is cuda or simt, not "gpu"', "./days run --help"),
                ("run 1 --checked --backend cuda", "--checked watches", "./days run 1 --checked"),
                ("--color", "--color needs a value", "./days --help"),
                ("--color never lst", 'no command "lst". Nearest: list', "./days list --help"),
                ("list --color purple", '--color is auto or always or never, not "purple"', "./days list --help"),
                ("list --all", "days list has no flag --all", "./days list --help"),
                ("test 1 --preset gpu", 'no preset "gpu"', "./days test --preset cpu"),
                ("test 1 2", 'days test does not know what to do with "2"', "./days test --help"),
                ("test --checked --backend cuda", "--checked is the preset", "./days test --checked"),
                ("doctor 1", 'days doctor does not know what to do with "1"', "./days doctor --help"),
                ("new 14", "new needs a number and a name", "./days new 14 softmax")):
            self.fails(line, 2, first, hint)

    def test_no_gpu(self):
        self.fails("run 1 --backend cuda", 3, "no NVIDIA GPU here", "./days run 1 --backend simt")
        self.fails("test 1 --backend cuda", 3, "no NVIDIA GPU here", "./days test 1 --backend simt")

    def test_no_compiler(self):
        self.only_fakes("env", "sh")
        self.tool("apt-get", "exit 1")
        self.replace(os, "geteuid", lambda: 1000)
        self.fails("run 1", 3, "no C++ compiler found", "sudo apt-get install -y g++")

    def test_old_compiler(self):
        self.only_fakes("env", "sh")
        self.tool("g++", 'echo "g++ (Ubuntu 9.4.0-1ubuntu1) 9.4.0"')
        self.fails("run 1", 3, "g++ 9.4 is too old: simt needs g++ 11 or clang 14", "install g++ 11 or later")
        support.forget()
        self.environment(CXX="g++")
        self.fails("run 1", 3, "CXX=g++ is g++ 9.4", "unset CXX")


class Help(support.Case):
    def test_everywhere(self):
        for command in ("list", "run", "test", "bench", "doctor", "new"):
            for flag in ("--help", "-h"):
                code, out, err = self.days(command, flag)
                self.assertEqual((code, err), (0, ""))
                self.assertIn(f"./days {command}", out)
            self.assertIn(f"./days {command}", self.days("--help")[1])


class Form(support.Case):
    def test_overview(self):
        for probe, where in ((gpu.Probe(), "No GPU: kernels run on this CPU."),
                             (gpu.Probe(gpu.Gpu("Tesla T4", (7, 5), 15 << 30)), "Tesla T4, sm_75.")):
            self.replace(gpu, "detect", lambda probe=probe: probe)
            code, out, _ = self.days()
            self.assertEqual(code, 0)
            self.assertIn("87 days of GPU programming", out)
            self.assertIn(where, " ".join(out.split()))
            self.assertIn("<- start here", out)
            self.assertIn("./days run 1  ./days check 1  and day01_vector_add/README.md", out)
            self.assertLessEqual(max(map(len, out.splitlines())), 80)

    def test_list(self):
        code, out, _ = self.days("list")
        self.assertEqual(code, 0)
        self.assertIn("05 matmul", out)
        for day in catalog.all_days():
            self.assertEqual(len(re.findall(rf"\b{day.number:02d}\s+{day.name}\b", out)), 1, day.label)
            if day.folder:  # whole titles, on as many lines as they take
                self.assertIn(str(day.front_matter()["title"]), " ".join(out.split()))
        self.assertLessEqual(max(map(len, out.splitlines())), 80)
        spine = [int(line[2:4]) for line in out.partition("\n\n")[0].splitlines() if line[2:4].isdecimal()]
        self.assertEqual(spine, [day.number for day in catalog.spine()])

    def test_any_folder_and_link(self):
        link = self.folder / "a link"
        link.symlink_to(ROOT / "days")
        done = subprocess.run([str(link), "list"], cwd=str(self.folder), stdout=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, 0)
        self.assertIn(b"01 vector_add", done.stdout)

    def test_closed_pipe(self):
        for line in ("list", "--help"):
            done = subprocess.run(f"'{ROOT}/days' {line} | head -n 1", shell=True, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, check=False)
            self.assertEqual((done.stdout.count(b"\n"), done.stderr), (1, b""))

    def on_terminal(self, *line, **environment):
        """What the command writes when its output is a terminal."""
        reader, writer = pty.openpty()
        clean = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "TERM")}
        process = subprocess.Popen([str(ROOT / "days"), *line], stdout=writer, stderr=writer, stdin=subprocess.DEVNULL,
                                   env=dict(clean, **environment))
        os.close(writer)
        text = b""
        while True:
            try:
                chunk = os.read(reader, 65536)
            except OSError:  # Linux's end of a terminal
                break
            if not chunk:
                break
            text += chunk
        os.close(reader)
        process.wait()
        return text.decode()

    def test_colours(self):
        coloured = self.on_terminal("chek", TERM="xterm")
        self.assertIn("\033[1;31merror:\033[0m", coloured)
        for plain in (self.on_terminal("chek", TERM="dumb"), self.on_terminal("chek", TERM="xterm", NO_COLOR="1"),
                      self.on_terminal("list", "--color", "never", TERM="xterm")):
            self.assertNotIn("\033", plain)
        self.assertIn("\033[", self.on_terminal("list", TERM="xterm"))
        piped = subprocess.run([str(ROOT / "days"), "list", "--color=always"], stdout=subprocess.PIPE, check=False).stdout
        self.assertIn(b"\033[", piped)

    def test_same_text_without_colour(self):
        coloured = self.on_terminal("--help", TERM="xterm").replace("\r\n", "\n")
        self.assertEqual(re.sub(r"\033\[[\d;]*m", "", coloured), self.shell("--help").stdout)


class Checked(support.Case):
    def test_run_says_that_it_checked(self):
        self.replace(gpu, "detect", lambda: gpu.Probe())
        self.replace(run_build, "build_day", lambda *_: "program")
        for flags, code, said in ((("--checked",), 0, True), ((), 0, False), (("--checked",), 1, False),
                                  (("--checked", "--json", "-"), 0, False), (("--checked", "--list"), 0, False)):
            self.replace(programs, "run_here", lambda command, code=code: programs.Ended(code, True, True, str(code)))
            got, out, _ = self.days("run", "5", *flags)
            self.assertEqual((got, "Checked: every access of each kernel was watched" in out), (code, said), flags)


class Splitting(unittest.TestCase):
    def parse(self, *line):
        return arguments.parse("run", line, {"--backend": ("cuda", "simt")}, ("--checked",), 1, ("--size", "--json"))

    def test_passes_on(self):
        given = self.parse("--size", "4x5", "14", "--backend=simt", "--json=-", "--svg", "out.svg", "--fast")
        self.assertEqual(given.words, ["14"])
        self.assertEqual(given.options, {"--backend": "simt"})
        self.assertEqual(given.rest, ["--size", "4x5", "--json", "-", "--svg", "out.svg", "--fast"])

    def test_negative_size_reaches_the_program(self):
        self.assertEqual(self.parse("14", "--size", "-5").rest, ["--size", "-5"])

    def test_all_after_the_dashes(self):
        given = self.parse("14", "--", "--backend", "x", "--help")
        self.assertEqual((given.rest, given.options), (["--backend", "x", "--help"], {}))

    def test_value_missing(self):
        for line in (["14", "--size"], ["14", "--backend"], ["--size", "--json", "x", "14"]):
            with self.assertRaises(DaysError):
                self.parse(*line)


if __name__ == "__main__":
    unittest.main()
