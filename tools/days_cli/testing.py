# SPDX-License-Identifier: MIT
"""Builds tests with CMake, runs them by ctest, and says what tests say, whoever has run them."""
from __future__ import annotations

import json
import os
import re
import shutil
import xml.etree.ElementTree
from dataclasses import dataclass, field
from typing import List

from days_cli import builder, catalog, cmake_tools, console, ladders, passed, paths, python_setup, toolchain
from days_cli import gpu as gpus
from days_cli.errors import WRONG, DaysError

_REJECT = "must_reject/"
_NAME = 13  # columns for a variant's name
_SHOWN = 5  # failed cases of a program
_LINES_SHOWN = 25  # of what each says
_MARKS = {"passed": ".", "failed": "F", "skipped": "s"}


@dataclass
class Case:
    suite: str
    name: str
    outcome: str  # passed, skipped or failed
    message: str = ""  # why it was skipped, what failed


@dataclass
class Program:
    """One test of ctest: a GoogleTest executable, a day's stand-alone program or a Python file."""
    name: str
    failed: bool
    skipped: bool
    output: str
    cases: List[Case] = field(default_factory=list)

    def count(self, outcome):
        if not self.cases:
            return int(outcome == ("failed" if self.failed else "skipped" if self.skipped else "passed"))
        # A program can fail although each of its cases passed: no kernel ran, or it crashed at its end.
        extra = int(outcome == "failed" and self.failed and not any(case.outcome == "failed" for case in self.cases))
        return sum(case.outcome == outcome for case in self.cases) + extra


def with_cmake(day, given):
    """The tests of a day, or of all: None. The exit code."""
    presets = presets_of(given, day)
    cmake_tools.ensure(["cmake", "ninja", "gtest", "benchmark", "ccache"])
    if given.get("--all"):
        os.environ["DAYS_TEST_ALL"] = "1"
    if not day:
        _ensure_python([one for one in catalog.here() if one.kind.in_python])
    if day:  # one program a preset: side by side they keep two cores busy
        good = run([build(preset, day) for preset in presets], None if given.get("--all") else day)
    else:  # CTest does that for many
        good = all([run([build(preset, day)]) for preset in presets])
    return 0 if good else WRONG


def _ensure_python(days):
    """What Python days need; where that cannot be had the other days' tests do without."""
    try:
        if days:
            python_setup.ensure(tuple(dict.fromkeys(extra for day in days for extra in python_setup.extras_of(day))))
    except DaysError as error:
        console.note(f"The tests of Python days are skipped: {error.message}")


def presets_of(given, day):
    named = given.get("--preset")
    if given.get("--checked"):
        if named or given.get("--backend") == "cuda":
            raise DaysError("--checked is the preset cpu-checked; it goes with no other", "./days test --checked")
        named = "cpu-checked"
    if named:
        return [cmake_tools.preset_for(preset, "") for preset in named.split(",")]
    again = " ".join(["./days test", *([str(day.number)] if day else []), "--backend simt"])
    backend, remark = toolchain.choose_backend(given.get("--backend"), again)
    if remark:
        console.note(remark)
    # On the CPU plain first, which is soon done, then with every access watched.
    return [cmake_tools.preset_for(None, backend)] if backend == "cuda" else ["cpu", "cpu-checked"]


def build(preset, day):
    """Builds the tests of one preset; (preset, CTest's selection of them, how many they are)."""
    label = ["-L", f"^day{day.number:02d}$"] if day else []
    with builder.lock(paths.BUILD / preset):
        cmake_tools.configure(preset)
        tests = _listed(preset, label)
        if not tests:
            raise DaysError(f"day {day.label} has no tests" if day else "there are no tests", "./days list", WRONG)
        cmake_tools.build(preset, sorted({target for _, target in tests if target}))
    return preset, label, len(tests)


def run(built, day=None):
    """Runs what was built, of several presets at once, and reports; whether all is well. Of a day given, on a CPU, the cases that
    an edited rung leaves as they were are spared."""
    done, total = [], sum(count for _, _, count in built)
    states = {preset: passed.state(preset, day) for preset, _, _ in built if day and preset.startswith("cpu")}
    spared = {preset: passed.spared(preset, day, states[preset]) if preset in states else [] for preset, _, _ in built}

    def line_comes(line):
        start = re.match(r"\s*Start\s+\d+: (\S+)", line)
        if start:
            done.append(start.group(1))
            console.progress(f"testing {len(done)}/{total}  {start.group(1)}")

    commands = []
    for preset, label, _ in built:
        results = _results(preset)
        shutil.rmtree(results, ignore_errors=True)
        command = [cmake_tools.find("ctest")[0], "--preset", preset, *label, "--output-junit", str(results / "ctest.xml"),
                   "--test-output-size-passed", "4000000", "--test-output-size-failed", "4000000"]
        extra = {"GTEST_OUTPUT": f"json:{results}/", "GTEST_COLOR": "no"}
        if spared[preset]:
            extra["GTEST_FILTER"] = "-" + ":".join(f"{group}/*" for group in spared[preset])
        commands.append((command, extra))
    codes = cmake_tools.stream_all(commands, line_comes)
    console.clear_progress()
    good = True
    for (preset, _, count), code in zip(built, codes):
        programs = _read(_results(preset))
        if len(programs) != count:
            raise DaysError(f"ctest ran {len(programs)} of {count} tests", f"ctest --preset {preset}", WRONG)
        fine = report(preset, programs) and code == 0
        if fine and preset in states:
            groups = {f"{case.suite}.{_parts(case)[0]}" for program in programs for case in program.cases if "/" in case.name}
            passed.keep(preset, day, states[preset], groups | set(spared[preset]))
        good = fine and good
    _show_spared(spared, day)
    return good


def _show_spared(spared, day):
    rungs = list(ladders.files(day)) if any(spared.values()) else []
    names = {passed.rung_of(group, rungs) for groups in spared.values() for group in groups}
    if names:
        text = "unchanged since all passed, and not run: " + ", ".join(rung for rung in rungs if rung in names)
        for line in console.wrap(text):
            console.say(line)


def _results(preset):
    return paths.BUILD / preset / "test-results"


def _listed(preset, label):
    """(name, target to build, or None) of each test that ctest would run."""
    text = toolchain.output_of([cmake_tools.find("ctest")[0], "--preset", preset, *label, "--show-only=json-v1"],
                               cwd=paths.ROOT)
    try:
        tests = json.loads(text[text.index("{"):])["tests"]
    except ValueError as error:
        raise DaysError(f"ctest cannot list the tests of {preset}", f"ctest --preset {preset} -N", WRONG) from error
    programs = paths.BUILD / preset / "bin"
    # What is not built yet has no command; what has one elsewhere is a script. A test is named TARGET or TARGET:CASE.
    return [(test["name"], test["name"].partition(":")[0]
             if test.get("command", [str(programs)])[0].startswith(str(programs)) else None) for test in tests]


def _read(results):
    """The Programs of a run, in ctest's order."""
    programs = []
    try:
        suite = xml.etree.ElementTree.parse(results / "ctest.xml").getroot()
    except (OSError, xml.etree.ElementTree.ParseError):
        return programs
    for test in suite.iter("testcase"):
        name, status = test.get("name"), test.get("status")
        program = Program(name, status == "fail" or status not in ("run", "notrun", "disabled"),
                          status in ("notrun", "disabled"), test.findtext("system-out") or "")
        programs.append(with_cases(program, results / f"{name}.json"))
    return programs


def with_cases(program, path):
    """The program with what its GoogleTest's file has."""
    try:
        report = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        report = {"testsuites": []}
    for group in report["testsuites"]:
        for case in group["testsuite"]:
            program.cases.append(_case(group["name"], case, program.output))
    return program


def _case(suite, case, output):
    failures = [failure["failure"] for failure in case.get("failures", [])]
    outcome = "failed" if failures else "skipped" if case.get("result") == "SKIPPED" else "passed"
    message = "\n".join(failures)
    if outcome == "skipped":
        # GoogleTest's JSON has the reason from 1.13 on; its text has it always.
        title = re.escape(f"{suite}.{case['name']}")
        said = re.search(rf"^\[ RUN      \] {title}$(.*?)^\[  SKIPPED \] {title}", output, re.DOTALL | re.MULTILINE)
        message = "\n".join(skip["message"] for skip in case.get("skipped", [])) or (said.group(1) if said else "")
    return Case(suite, case["name"], outcome, message)


def report(preset, programs):
    """Prints every program's lines, then what failed, then the sum; whether all is well."""
    where = gpus.detect().gpu.name if preset == "cuda" and gpus.detect().gpu else f"this CPU ({preset})" if preset else "this CPU"
    for program in programs:
        _show_program(program, where)
    counts = {outcome: sum(program.count(outcome) for program in programs) for outcome in _MARKS}
    good = counts["failed"] == 0 and counts["passed"] > 0
    failed = [program for program in programs if program.failed]
    for program in failed:
        _show_failures(program, preset)
    if len(programs) > 1 or failed:
        text = ", ".join(f"{count} {outcome}" for outcome, count in counts.items()) + f" on {where}"
        console.say(console.paint(text, "green" if good else "red"))
    return good


def _show_program(program, where):
    if not program.cases:
        verdict = "FAIL" if program.failed else "skip" if program.skipped else "ok"
        console.say(f"{program.name:<32} {console.status(verdict)}")
        return
    day = next((day for day in catalog.here() if program.name == f"day{day.number:02d}_test"), None)
    if not day:
        console.say(console.paint(f"{program.name} on {where}", "bold"))
        _show_line("", program.cases)
    else:
        ladders, others = _ladders(program.cases)
        title = f"Day {day.label} on {where}"
        if len(ladders) == 1:
            title += ": " + _extent(*ladders.items())
        console.say(console.paint(title, "bold"))
        for name, cases in ladders.items():
            if len(ladders) > 1:
                console.say(f"{name}: {_extent((name, cases))}")
            _show_ladder(cases)
        if others:
            _show_line("others", others)
    console.say(", ".join(f"{program.count(outcome)} {outcome}" for outcome in _MARKS))


def _ladders(cases):
    """({ladder: its cases}, the other cases): a ladder's tests are named variant/type_shape (common/testing.h)."""
    ladders, others = {}, []
    for case in cases:
        ladder = re.fullmatch(r"day\d\d_(\w+)", case.suite)
        if ladder and "/" in case.name:
            ladders.setdefault(ladder.group(1), []).append(case)
        else:
            others.append(case)
    return ladders, others


def _parts(case):
    """(variant, element type, shape) of a ladder's test."""
    variant, _, rest = case.name.partition("/")
    kind, shape = re.fullmatch(r"(fp8_[^_]*|[^_]*)_?(.*)", rest).groups()
    return variant, kind, shape


def _extent(ladder):
    """5 rungs x 23 shapes x 3 types; 6 programs x 3 orders. ladder: (name, cases)"""
    name, cases = ladder
    parts = [_parts(case) for case in cases if not case.name.startswith(_REJECT)]
    variants = {variant for variant, _, _ in parts if not variant.startswith("CPU_")}
    shapes = {shape for _, _, shape in parts if re.fullmatch(r"\d+(x\d+)*", shape)}
    kinds = {kind for _, kind, _ in parts}
    counts = [(len(variants), "rung"), (len(shapes), "shape")] + ([(len(kinds), "type")] if len(kinds) > 1 else [])
    if name == "programs":  # tests/program_tests.h
        counts = [(len(variants), "program"), (len({shape for _, _, shape in parts}), "order")]
    return " x ".join(f"{count} {word}{'s' if count != 1 else ''}" for count, word in counts)


def _show_ladder(cases):
    """A line a variant and element type, then the wrong kernels."""
    kinds = {_parts(case)[1] for case in cases if not case.name.startswith(_REJECT)}
    lines, rejected = {}, []
    for case in cases:
        variant, kind, _ = _parts(case)
        if case.name.startswith(_REJECT):
            word = {"passed": console.paint("ok", "green"), "skipped": "skip"}.get(case.outcome, console.paint("FAIL", "red"))
            rejected.append((case.name[len(_REJECT):], word))
        else:
            lines.setdefault(variant + (f" {kind}" if len(kinds) > 1 else ""), []).append(case)
    # A program's tests go shape by shape, and a table rung by rung: in the order in which they come first.
    order = list(dict.fromkeys(name.partition(" ")[0] for name in lines))
    for name, group in sorted(lines.items(), key=lambda line: order.index(line[0].partition(" ")[0])):
        _show_line(name, group)
    line = "must be rejected:"
    length = len(line)
    for i, (name, word) in enumerate(rejected):
        comma = "," if i + 1 < len(rejected) else ""
        needed = len(name) + (3 if "ok" in word else 5) + len(comma) + 1
        if length + needed > console.WIDTH:
            console.say(line)
            line, length = " ", 1
        line += f" {name} {word}{comma}"
        length += needed
    if rejected:
        console.say(line)


def _show_line(name, cases):
    """The line's name, then a mark a case; then why cases were skipped, each reason once."""
    marks = "".join(_MARKS[case.outcome] for case in cases)
    reasons = {}
    for case in cases:
        if case.outcome == "skipped":
            reason = case.message.strip().splitlines()[-1].strip() if case.message.strip() else "says not why"
            reasons[reason] = reasons.get(reason, 0) + 1
    if set(marks) == {"s"} and len(reasons) == 1:  # nothing of it ran, for one reason
        text = f"{'s' * len(marks)}  {next(iter(reasons))}" if len(marks) < 9 else f"s x {len(marks)}  {next(iter(reasons))}"
        lines = console.wrap(f"{name:<{_NAME - 1}} {text}", " " * _NAME, "")
        console.say("\n".join(re.sub(r"(?<= )s+(?=  | x )", lambda match: console.paint(match.group(), "yellow"), line, count=1)
                              for line in lines))
        return
    if len(name) >= _NAME:
        console.say(name)
        name = ""
    room = console.WIDTH - _NAME if name or len(cases) < console.WIDTH else console.WIDTH
    for i in range(0, len(marks), room):
        console.say(f"{name if i == 0 else '':<{_NAME if room < console.WIDTH else 0}}{_paint_marks(marks[i:i + room])}")
    for reason, count in reasons.items():
        for line in console.wrap(f"{count} skipped: {reason}", " " * _NAME):
            console.say(line)


def _paint_marks(marks):
    return re.sub("F+", lambda match: console.paint(match.group(), "red"),
                  re.sub("s+", lambda match: console.paint(match.group(), "yellow"), marks))


def _show_failures(program, preset):
    """What the first failed cases say, and the command that runs the first one alone."""
    executable = f"build/{preset}/bin/{program.name}"
    day = next((day for day in catalog.here() if program.name == f"day{day.number:02d}_test" and day.kind.in_python), None)
    failed = [case for case in program.cases if case.outcome == "failed"]
    for case in failed[:_SHOWN]:
        console.say(f"\n{console.paint('FAIL', 'red')} {case.suite}.{case.name}")
        lines = case.message.strip().splitlines()
        console.say("\n".join(lines[:_LINES_SHOWN] + (["..."] if len(lines) > _LINES_SHOWN else [])))
    if len(failed) > _SHOWN:
        console.say(f"\n... and {len(failed) - _SHOWN} more in {program.name}")
    if not failed:  # it crashed, or failed as a whole
        console.say(f"\n{console.paint('FAIL', 'red')} {program.name}")
        console.say("\n".join(program.output.rstrip().splitlines()[-_LINES_SHOWN:]))
    if day:
        executable = f"./days run {day.number}"
    elif failed:
        executable += f" --gtest_filter='{failed[0].suite}.{failed[0].name}'"
    elif not (paths.ROOT / executable).exists():
        executable = f"ctest --preset {preset} -R '^{program.name}$'"
    console.say("Next: " + console.paint(executable, "cyan"))
