#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A program that dies is never believed: no verdict, table or count stands on results of which nobody said they were all."""
import os
import pty
import resource
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path
from unittest import mock

import support
from days_cli import counting, exercises, judge, programs, run_build
from days_cli.errors import DaysError

FAULTS = Path(__file__).resolve().with_name("faults.cu")


class Real(support.Case):
    """The harness itself, with one kernel's file that dies in all the ways."""

    def setUp(self):
        super().setUp()
        day = exercises.resolve("1", "check")
        self.kernel = judge.Kernel(day, file=os.path.relpath(FAULTS, support.ROOT))
        program = self.kernel.program()  # built once, then only looked at
        self.replace(run_build, "build_day", lambda *_, **__: program)

    def stage(self, fault):
        self.environment(FAULT=fault)
        return judge.correct(self.kernel)[1]

    def test_only_the_whole_is_believed(self):
        stage = self.stage("")
        self.assertEqual((stage.verdict, stage.about), ("ok", "54 cases of 18 shapes"))
        for fault, said in (("segv", "was ended by SIGSEGV (Segmentation fault)"),
                            ("fpe", "was ended by SIGFPE (Floating point exception)"),
                            ("abort", "was ended by SIGABRT (Aborted)"),
                            ("kill", "was ended by SIGKILL (Killed)"),
                            ("no exception", "was ended by SIGABRT (Aborted)"),
                            ("_exit", "ended with exit code 0 before it was through"),
                            ("exit", "exit() was called at n 33, random inputs"),
                            ("kernel", "exit() was called at n 33, random inputs")):
            stage = self.stage(fault)
            self.assertEqual((stage.verdict, stage.about), ("FAIL", "18 of 54 cases pass"), fault)
            self.assertEqual(stage.lines[0], "n 33, random inputs:", fault)
            self.assertIn(said, " ".join(stage.lines), fault)
        stage = self.stage("all")
        self.assertEqual((stage.verdict, stage.about), ("FAIL", "0 of 54 cases pass"))
        self.assertEqual(stage.lines[0], "n 1, random inputs:")

    def test_exception(self):
        stage = self.stage("exception")
        self.assertEqual(stage.verdict, "FAIL")
        self.assertIn("the plan is too large", " ".join(stage.lines))

    def test_what_does_not_end_is_stopped_with_all_that_it_started(self):
        self.environment(DAYS_CHECK_SECONDS="8")
        began = time.monotonic()
        stage = self.stage("loop")
        self.assertLess(time.monotonic() - began, 60)
        text = " ".join(stage.lines)
        self.assertEqual(stage.verdict, "FAIL")
        self.assertIn("n 33, random inputs: the program was stopped, because this did not end within 8 seconds",
                      " ".join(text.split()))
        child = int(text.partition("child ")[2].split()[0])
        self.assertFalse(support.alive(child))

    def test_children_say_nothing_and_are_not_waited_for(self):
        self.assertEqual(self.stage("fork").verdict, "ok")

    def test_output_is_bounded(self):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        self.assertEqual(self.stage("print").verdict, "FAIL")
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        self.assertLess(grown / (1 if sys.platform != "darwin" else 1024), 32 << 10, "KiB, for 300 MiB of output")

    def test_run(self):
        command = ["run", "1", "--backend", "simt", "--with", str(FAULTS), "--variant", "exercise", "--size", "33"]
        for fault, code, said in (("", 0, ""), ("_exit", 1, "before it was through, at checking exercise, 33"),
                                  ("exit", 1, "exit() was called at checking exercise, 33"), ("segv", 1, "SIGSEGV")):
            done = self.shell(*command, env=dict(os.environ, FAULT=fault))
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(said, " ".join(done.stderr.split()))


class Fake(support.Case):
    """The tool's side alone."""

    def program(self, text, name="program"):
        path = self.folder / name
        path.write_text(f"#!{sys.executable}\nimport os, sys\ntell = open(int(os.environ['DAYS_PROGRESS']), 'w', 1)\n{text}\n")
        path.chmod(0o755)
        return path

    def cases(self, text):
        kernel = mock.Mock(flags=(), variant="exercise", file="")
        head = "cases = open(sys.argv[sys.argv.index('--cases') + 1], 'w', 1)\ntell.write('begin\\n')\n"
        kernel.program = lambda **_: self.program(head + text)
        return kernel

    CASE = '{"result": "%s", "shape": {"n": %d}, "type": "fp32", "inputs": "", "blocks": 1, "unwritten": 0, "compared": 1, ' \
           '"wrong": 0, "first": [], "notes": []}'

    def told(self, header, results, rest):
        lines = [header, *(self.CASE % (result, n) for n, result in enumerate(results, 1))]
        return self.cases("".join(f"cases.write({line + chr(10)!r})\n" for line in lines) + rest)

    def test_the_count_is_compared(self):
        end = "tell.write('end 0\\n')"
        header = '{"ladder": "x", "cases": 3, "exercise": {}}'
        self.assertEqual(judge.correct(self.told(header, ["ok"] * 3, end))[1].verdict, "ok")
        for results, rest, said in ((["ok"] * 3, "", "before it was through"), (["ok"] * 2, end, "after 2 of 3 cases"),
                                    (["ok"] * 4, end, "after 4 of 3 cases"), (["refused"] * 3, end, "No case ran"),
                                    (["ok"] * 3, end + "\nos.kill(os.getpid(), 11)", "its end: the program was ended by SIGSEGV"),
                                    (["ok"] * 3, end + "\nsys.exit(7)", "exit code 7 after it was through, and had told 0"),
                                    (["ok"] * 3, end + "\nsys.exit(1)", "its end: the program ended with exit code 1"),
                                    (["ok"] * 3, "tell.write('end 1\\n')", "exit code 0 after it was through, and had told 1")):
            for stage in (judge.correct, judge.race_free):
                kernel = self.told(header, results, rest)
                got = stage(kernel)
                got = got[1] if isinstance(got, tuple) else got
                self.assertEqual(got.verdict, "FAIL", said)
                self.assertIn(said, " ".join(" ".join(got.lines).split()))

    def test_the_case_is_told_as_it_runs(self):
        seen = []
        with mock.patch.object(judge.console, "progress", seen.append):
            kernel = self.told('{"ladder": "x", "cases": 3}', ["ok"],
                               "tell.write('at n 1\\nat n 2, random inputs\\n'); tell.flush(); cases.flush()\nimport time\ntime.sleep(1)")
            judge.correct(kernel)
        self.assertIn("case 2 of 3: n 2, random inputs", seen)

    def test_a_refused_launch_that_nobody_asked_about(self):
        note = "note: kernel k, grid (1,1,1), block (2048,1,1): invalid configuration argument"
        case = self.told('{"ladder": "x", "cases": 3}', ["fail"],
                         f"tell.write('end 1\\n')\nsys.stderr.write('{note}\\n')\nsys.exit(1)")
        text = " ".join(" ".join(judge.correct(case)[1].lines).split())
        self.assertIn("the launch of kernel k, grid (1,1,1), block (2048,1,1) failed: invalid configuration argument", text)
        self.assertIn("the launcher did not ask", text)
        self.assertIn("a block 1 to 1024 threads", text)
        self.assertNotIn("Pattern", text)

    def test_half_a_line(self):
        stage = judge.correct(self.told('{"ladder": "x", "cases": 2}', ["ok"], "cases.write('{\"resu')"))[1]
        self.assertEqual((stage.verdict, stage.about), ("FAIL", "1 of 2 cases pass"))

    def test_nothing_told(self):
        with self.assertRaises(programs.Died) as raised:
            judge.correct(self.cases("os.kill(os.getpid(), 11)"))
        self.assertEqual(raised.exception.code, 1)
        self.assertIn("SIGSEGV", raised.exception.message)

    def test_what_is_no_kernels_fault(self):
        for code, said in ((2, "no variant x"), (3, "No space left on device")):
            kernel = self.told('{"ladder": "x", "cases": 2}', ["ok"], f"tell.write('end {code}\\n')\n"
                               f"sys.stderr.write('error: {said}\\n')\nsys.exit({code})")
            with self.assertRaises(DaysError) as raised:
                judge.correct(kernel)
            self.assertEqual((raised.exception.code, raised.exception.message), (code, said))

    def test_a_main_of_its_own(self):
        kernel = mock.Mock(flags=(), variant="exercise", file="")
        kernel.program = lambda **_: self.program("")
        with self.assertRaises(DaysError) as raised:
            judge.correct(kernel)
        self.assertEqual((raised.exception.code, raised.exception.message), (1, programs.OTHER_MAIN))
        with self.assertRaises(DaysError) as raised:
            counting.count(self.program(""), None, "x")
        self.assertEqual((raised.exception.code, raised.exception.message), (1, programs.OTHER_MAIN))
        program = self.program("")
        self.replace(run_build, "build_day", lambda *_, **__: program)
        code, _, err = self.days("run", "1", "--backend", "simt", "--with", str(FAULTS))
        self.assertEqual((code, programs.OTHER_MAIN in " ".join(err.split())), (1, True))

    def test_explain_and_counters(self):
        program = self.program("tell.write('begin\\nat checking x, 4\\n')\nopen(os.environ['SIMT_TRACE'], 'w').write('{}')")
        with self.assertRaises(programs.Died) as raised:
            counting.count(program, None, "x")
        self.assertIn("before it was through, at checking x, 4", raised.exception.message)
        kernel = mock.Mock(flags=(), variant="x")
        kernel.program = lambda **_: program
        stage = judge.counters(kernel, {"reads_per_input": 2})
        self.assertEqual(stage.verdict, "FAIL")

    def test_limits(self):
        for limits in ({"seconds": 3}, {"step_seconds": 3}):
            ended = programs.run([self.program("import time\ntell.write('at a\\n')\ntime.sleep(60)")], **limits)
            self.assertEqual(ended.code, -signal.SIGKILL)
            self.assertRegex(ended.problem, "was stopped, because .* 3 seconds")
            self.assertEqual(ended.at, "a")

    def test_pipe_that_is_left_open(self):
        ended = programs.run([self.program("if os.fork(): os._exit(0)\nimport time\ntime.sleep(60)")], seconds=30)
        self.assertEqual((ended.code, ended.stopped), (0, ""))

    # Says what it reads, and each Ctrl-C; the third ends it. A terminal forgets what it has not shown yet when Ctrl-C comes, so tests wait for
    # the ends of lines.
    TALKS = """import signal, threading
def interrupted():  # a handler in Python waits for the read to end where the signal comes just before it
    for n in 1, 2, 3:
        signal.sigwait({signal.SIGINT})
        os.write(1, f"interrupted {n}\\n".encode())
    os._exit(0)
if len(sys.argv) == 1:
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    threading.Thread(target=interrupted, daemon=True).start()
else:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
tell.write('begin\\n')
print("ready", flush=True)
for line in sys.stdin: print("heard", line.strip(), flush=True)
"""

    def talk(self, flags, *typing):
        """The lines that a terminal shows of run_here(TALKS). typing: (what has to be there first, what is typed then)."""
        text = f"import sys\nsys.path.insert(0, {str(support.ROOT / 'tools')!r})\nfrom days_cli import programs\n" \
               f"try:\n    print('code', programs.run_here({[str(self.program(self.TALKS)), *flags]!r}).code)\n" \
               "except KeyboardInterrupt:\n    print('interrupted itself')\n"
        process, terminal = pty.fork()
        if process == 0:
            os.execv(sys.executable, [sys.executable, "-B", "-c", text])
        said = b""
        try:
            for line, typed in typing:
                while line.encode() not in said:
                    said += os.read(terminal, 4096)
                os.write(terminal, typed)
            while True:
                said += os.read(terminal, 4096)
        except OSError:  # the terminal's other end is closed
            os.waitpid(process, 0)
        os.close(terminal)
        return said.decode().replace("^C", "").split("\r\n")

    def test_ctrl_c_is_the_programs(self):
        lines = self.talk([], ("ready\r\n", b"hello\n"), ("heard hello\r\n", b"\x03"), ("interrupted 1\r\n", b"\x03"),
                          ("interrupted 2\r\n", b"\x03"))
        self.assertEqual([line for line in lines if line], ["ready", "hello", "heard hello", "interrupted 1", "interrupted 2", "interrupted 3", "code 0"])
        lines = self.talk(["dies"], ("ready\r\n", b"\x03"))
        self.assertIn("interrupted itself", lines)

    def test_a_signal_to_the_command_alone_reaches_the_program(self):
        text = f"import sys\nsys.path.insert(0, {str(support.ROOT / 'tools')!r})\nfrom days_cli import programs\n" \
               f"print('code', programs.run_here([{str(self.program(self.TALKS))!r}]).code)"
        with subprocess.Popen([sys.executable, "-B", "-c", text], stdin=subprocess.PIPE, stdout=subprocess.PIPE, universal_newlines=True,
                              start_new_session=True) as process:
            for wanted in ("ready", "interrupted 1", "interrupted 2"):
                self.assertEqual(process.stdout.readline().strip(), wanted)
                process.send_signal(signal.SIGINT)
            self.assertEqual(process.stdout.read().splitlines(), ["interrupted 3", "code 0"])

    def test_bad_limit(self):
        self.environment(DAYS_CHECK_SECONDS="soon")
        with self.assertRaises(DaysError) as raised:
            judge.correct(self.cases(""))
        self.assertEqual(raised.exception.code, 2)


class Helpers(support.Case):
    """A mistake that shows in a helper of another file is told with the line of the kernel that called it, whoever finds it: a lane that
    returns, or nobody, because all wait."""

    def test_the_callers_line_is_named(self):
        (self.folder / "helper.cuh").write_text("""__device__ inline float sum(float mine) {
  return mine + __shfl_xor_sync(~0u, mine, 16);
}
""")
        source = self.folder / "k.cu"
        source.write_text("""#include "helper.cuh"
__global__ void returns(float* p) {
  if (threadIdx.x >= 8) return;
  p[threadIdx.x] = sum(1);
}
__global__ void waits(float* p) {
  if (threadIdx.x >= 8) __syncthreads();
  p[threadIdx.x] = sum(1);
}
int main(int argc, char**) {
  float* p;
  cudaMalloc(&p, 4096);
  if (argc > 1) waits<<<1, 32>>>(p);
  else returns<<<1, 32>>>(p);
  return cudaDeviceSynchronize() == 0;
}
""")
        done = self.shell("cc", "-g", str(source), "-o", str(self.folder / "k"))
        self.assertEqual(done.returncode, 0, done.stderr)
        for kernel, words in (("returns", []), ("waits", ["x"])):
            ended = programs.run([self.folder / "k", *words], cwd=self.folder)
            line = {"returns": 4, "waits": 8}[kernel]
            self.assertRegex(ended.stderr, rf"helper\.cuh:2  kernel {kernel}, block \(0,0,0\), thread \(0,0,0\)\n.*\nk\.cu:{line}  calls it\n")


if __name__ == "__main__":
    unittest.main()
