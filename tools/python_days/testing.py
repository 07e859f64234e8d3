# SPDX-License-Identifier: MIT
"""The tests of a Python day, all in one process beside the compiler's: rungs x types x shapes with ordinary and hostile values, small
cases in other orders of their programs, refusals, wrong kernels with their messages; and in the compiler's process each rung for
each architecture; and the day's programs, programs/*.py. With GTEST_OUTPUT=json:FOLDER/ the results are written in GoogleTest's form, which `./days test` reads."""
from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

from days_cli import console, metrics, paths
from days_cli.errors import WRONG
from python_days import adapters, cases, counters, plain


def run(day, counted):
    """counted(ladder, rung, launch, kind, shape, wave): what the program's `count` answers."""
    results = _Results(day)
    on_gpu = adapters.on_gpu()
    compiler = _Compiler(day) if any(ladder.by == "triton" for ladder in day.ladders) else None
    for ladder in day.ladders:
        for rung in ladder.rungs:
            launch = day.launch(rung)
            if on_gpu:
                _on_gpu(results, ladder, rung, launch)
            else:
                _interpreted(results, ladder, rung, launch)
            wanted = {key: value for key, value in ladder.counts.get(rung, {}).items() if not counters.of_code(key)}
            if ladder.by == "triton" and wanted and not on_gpu:
                results.case(ladder, f"{rung}/{ladder.types[0]}_counters",
                             lambda of=ladder, r=rung, made=launch, w=wanted: counters.complaint(_metrics(counted, of, r, made), w))
            if ladder.by != "triton" and rung in ladder.counts and not (on_gpu and ladder.by == "numpy"):  # which counts on a CPU alone
                results.case(ladder, f"{rung}/counters", lambda of=ladder, r=rung, made=launch: plain.complaint(of, r, made))
    if not on_gpu:
        for wrong in day.wrong():
            ladder = next(ladder for ladder in day.ladders if ladder.name == wrong.ladder)
            if ladder.by != "triton" or not wrong.of_code:
                results.case(ladder, f"must_reject/{wrong.name}", lambda w=wrong, of=ladder: _rejected(of, w, counted))
    for program in sorted((day.folder / "programs").glob("*.py")):
        results.case(_Programs, program.stem, lambda file=program: _program(file))
    for made in compiler.answers() if compiler else ():
        ladder = next(ladder for ladder in day.ladders if ladder.name == made["ladder"])
        results.case(ladder, made["name"], lambda m=made: m["complaint"])
    return results.told()


class _Results:
    """What was tested, as GoogleTest's JSON has it."""

    def __init__(self, day):
        self._day, self._suites, self._kernels, self._skipped, self._reasons = day, {}, 0, 0, []

    def case(self, ladder, name, test):
        """test: returns what is wrong, "" where nothing is."""
        console.progress(f"{ladder.name} {name}")
        try:
            said = test()
        except plain.Unavailable as error:
            self._skipped += 1
            self._reasons.append(str(error))
            self._suites.setdefault(f"day{self._day.number:02d}_{ladder.name}", []).append({"name": name, "result": "SKIPPED", "skipped": [{"message": str(error)}]})
            return
        self._kernels += 1
        case = {"name": name, "result": "COMPLETED"}
        if said:
            case["failures"] = [{"failure": said}]
        self._suites.setdefault(f"day{self._day.number:02d}_{ladder.name}", []).append(case)

    def told(self):
        console.clear_progress()
        found = {"testsuites": [{"name": name, "testsuite": tests} for name, tests in self._suites.items()]}
        target = os.environ.get("GTEST_OUTPUT", "").partition("json:")[2]
        if target:
            path = Path(target) / f"day{self._day.number:02d}_test.json" if target.endswith("/") else Path(target)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(found), encoding="utf-8")
        bad = 0
        for suite in found["testsuites"]:
            for case in suite["testsuite"]:
                for failure in case.get("failures", ()):
                    bad += 1
                    console.say(f"FAIL {suite['name']} {case['name']}\n  " + failure["failure"].replace("\n", "\n  "))
        count = sum(len(suite["testsuite"]) for suite in found["testsuites"]) - self._skipped
        spent = os.times()
        for reason in dict.fromkeys(self._reasons):
            console.say(f"skip {reason}")
        console.say(f"{self._kernels} kernels run, {self._skipped} skipped; {sum(spent[:4]):.1f} s of CPU")
        console.say(f"{count - bad} passed, {bad} failed")
        return WRONG if bad or not count else 0


class _Programs:
    """Stands for a ladder, where a day's programs are tested."""
    name = "programs"


def _program(file):
    """What is wrong with a program of the day's: it has to end with 0, and its last line with the word that all is well, or why it did not run."""
    done = subprocess.run([sys.executable, "-B", str(file)], cwd=paths.ROOT, text=True, errors="replace", check=False, timeout=600,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    last = (done.stdout.strip().splitlines() or ["it says nothing"])[-1]
    if done.returncode == 0 and last.startswith("skip: "):
        raise plain.Unavailable(last.partition(" ")[2])
    if done.returncode == 0 and last.startswith("ok: "):
        return ""
    return f"it ended with {done.returncode}: {last}\n" + "\n".join(done.stderr.strip().splitlines()[-12:])


def _name(rung, case):
    return f"{rung}/{case.kind}_{'x'.join(map(str, case.shape))}"


def _complaint(outcome):
    """What is wrong with an outcome, in lines; "" where nothing is."""
    said = [line for report in outcome.reports for line in cases.describe(report)]
    if outcome.result == "fail":
        said += outcome.notes
        said += [f"{one['at']} is {one['got']}, expected {one['expected']}" for one in outcome.facts.get("first", [])[:5]]
        if outcome.facts.get("wrong"):
            said.append(f"{outcome.facts['wrong']} of {outcome.facts['compared']} elements are wrong, worst error {outcome.facts['worst']}")
        said = said or ["it fails"]
    return "\n".join(said)


def orders_of(ladder):
    """The orders of programs, or of threads, in which small cases are run; () where no order can matter."""
    return adapters.ORDERS if ladder.by == "triton" or ladder.orders else ()


def _interpreted(results, ladder, rung, launch):
    if rung in ladder.compiled_only:
        _compiled_only(results, ladder, rung, launch)
        return
    grouped = {}
    for case in cases.all_cases(ladder, rung, thin=not os.environ.get("DAYS_TEST_ALL")):
        grouped.setdefault((case.kind, case.shape), []).append(case)
    for group in grouped.values():
        results.case(ladder, _name(rung, group[0]), lambda g=group: "\n".join(filter(None, (
            _prefixed(case, _complaint(cases.run(case, adapters.of(ladder, launch)))) for case in g))))
    if not orders_of(ladder):
        return
    small = [case for (kind, _), group in grouped.items() for case in group[:1] if kind == ladder.types[0] and cases.is_small(ladder, case)]
    for order in orders_of(ladder)[1:]:
        chosen = small if os.environ.get("DAYS_TEST_ALL") else small[-3:]
        results.case(ladder, f"{rung}/{ladder.types[0]}_{order}", lambda o=order, c=chosen: "\n".join(filter(None, (
            _prefixed(case, _complaint(cases.run(case, adapters.of(ladder, launch, o)))) for case in c))))


def _compiled_only(results, ladder, rung, launch):
    """Of a rung that the interpreter cannot run: what it must refuse, and that the interpreter indeed cannot."""
    every = cases.all_cases(ladder, rung)
    for case in every:
        if case.refused:
            results.case(ladder, f"{_name(rung, case)}_{case.refused.replace(' ', '_')}", lambda c=case: _complaint(cases.run(c, adapters.of(ladder, launch))))
    first = next(case for case in every if not case.refused and 0 not in case.shape)

    def tried():
        outcome = cases.run(first, adapters.of(ladder, launch))
        if cases.lacks_standin(outcome):
            raise plain.Unavailable(f"{rung}, {cases.not_interpreted(ladder, rung)}")
        return _complaint(outcome) or "the interpreter runs it: take it out of the ladder's compiled_only"
    results.case(ladder, f"{rung}/interpreted", tried)


def _prefixed(case, said):
    return f"{' x '.join(map(str, case.shape))} {case.inputs or 'random inputs'}:\n{said}" if said else ""


def _on_gpu(results, ladder, rung, launch):
    for case in cases.all_cases(ladder, rung):
        name = _name(rung, case) + (f"_{case.inputs.replace(' ', '_')}" if case.inputs else "")
        results.case(ladder, name, lambda c=case: _complaint(cases.run(c, adapters.of(ladder, launch))))


def _metrics(counted, ladder, rung, launch):
    """{a metric's key: its value} of a launcher, on the shape that run shows."""
    return metrics.of_counts(counted(ladder, rung, launch, ladder.types[0], ladder.show, ladder.wave))


def _rejected(ladder, wrong, counted):
    """What is wrong with a wrong kernel: that nothing rejects it, or that other words do."""
    heard = []
    if wrong.by == "counters":
        said = counters.told(_metrics(counted, ladder, wrong.name, wrong.launch)) if ladder.by == "triton" else plain.told_counters(ladder, wrong.launch)
        return "" if wrong.says in said else f'nothing says "{wrong.says}" of it. What is said:\n{said}'
    for case in cases.all_cases(ladder, thin=True):
        if case.refused:
            continue
        for order in orders_of(ladder) if orders_of(ladder) and cases.is_small(ladder, case) else adapters.ORDERS[:1]:
            said = _complaint(cases.run(case, adapters.of(ladder, wrong.launch, order)))
            if wrong.says in said:
                return ""
            if said:
                heard.append(said)
                break
        if len(heard) > 3:
            break
    return (f'nothing says "{wrong.says}" of it. What is said:\n' + heard[0]) if heard else "all tests pass with it"


class _Compiler:
    """The compiler's cases, in a process of their own that runs beside this one."""

    def __init__(self, day):
        environment = {**os.environ, "GTEST_OUTPUT": ""}
        environment.pop("TRITON_INTERPRET", None)
        self._process = subprocess.Popen([sys.executable, "-B", str(Path(__file__).parent / "compiler_tests.py"), str(day.folder)],
                                         stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, env=environment)
        self._said = b""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        self._said = self._process.communicate()[0]

    def answers(self):
        """[{ladder, name, complaint}]"""
        self._reader.join()
        if self._process.returncode:
            raise SystemExit(f"compiler_tests.py ended with {self._process.returncode}")
        return json.loads(self._said)


