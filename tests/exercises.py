#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests the exercises as a learner meets them, on this CPU: for every day that has one the skeleton fails stage 1, the
rung that the ladder names as the solution passes all stages, and the rung to start from passes the first two and fails a
gate. Works in a my/ of its own.

    tests/exercises.py            every day
    tests/exercises.py 5 13       these

Exit code: 0 all as it should be, 1 something is not.
"""
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

from days_cli import catalog, console, exercises, judge, kinds, paths, program_day, program_judge  # noqa: E402


def verdicts(kernel):
    """[(stage, verdict)] and the exercise's header."""
    headers = []
    stages = judge.judge(kernel, headers.append, lambda stage: None)
    return [(stage.name, stage.verdict) for stage in stages], headers[0]["exercise"], stages


def program_verdicts(day, name):
    """The same of a program of a program day; "exercise" is the skeleton."""
    source = f"{day.target}/exercise.cu" if name == "exercise" else program_day.source_of(day, name)
    exercise = program_judge.exercise_of(day)
    stages = program_judge.run_stages(program_judge.Judged(day, source), exercise.gates, lambda stage: None)
    return [(stage.name, stage.verdict) for stage in stages], vars(exercise), stages


def main(words):
    bad = 0
    days = [exercises.resolve(word, "check") for word in words] or \
        [day for day in catalog.here() if exercises.skeleton(day).is_file() and not kinds.refusal(day, "check")]
    with tempfile.TemporaryDirectory() as folder:
        paths.MY = Path(folder)
        for day in days:
            of = (lambda name, d=day: program_verdicts(d, name)) if day.kind == "program" else \
                (lambda name, d=day: verdicts(judge.Kernel(d, name)))
            skeleton, exercise, _ = of("exercise")
            solution, _, told = of(exercise["solution"])
            start, _, _ = of(exercise["starts"])
            wrong = []
            if skeleton != [("correct", "FAIL")]:
                wrong.append(f"the skeleton: {skeleton}, expected to fail stage 1")
            if any(verdict == "FAIL" for _, verdict in solution) or len(solution) != len(judge.STAGES):
                wrong.append(f"the solution {exercise['solution']}: {solution}")
                wrong += [f"    {line}" for stage in told if stage.verdict == "FAIL" for line in [stage.about, *stage.lines]]
            if start[:2] != [("correct", "ok"), ("race-free", "ok")] or start[-1] != ("counters", "FAIL"):
                wrong.append(f"{exercise['starts']}, to start from: {start}, expected to fail stage 3")
            console.say(f"{console.status('FAIL' if wrong else 'ok', 5)} {day.label}")
            for line in wrong:
                console.say("      " + line)
            bad += bool(wrong)
    console.say(f"{len(days) - bad} passed, {bad} failed")
    return 1 if bad or not days else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
