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

from days_cli import catalog, console, exercises, judge, paths  # noqa: E402


def verdicts(kernel):
    """[(stage, verdict)] and the exercise's header."""
    headers = []
    stages = judge.judge(kernel, headers.append, lambda stage: None)
    return [(stage.name, stage.verdict) for stage in stages], headers[0]["exercise"], stages


def main(words):
    bad = 0
    days = [exercises.resolve(word, "check") for word in words] or \
        [day for day in catalog.here() if (day.folder / "exercise.cu").is_file()]
    with tempfile.TemporaryDirectory() as folder:
        paths.MY = Path(folder)
        for day in days:
            skeleton, exercise, _ = verdicts(judge.Kernel(day))
            solution, _, told = verdicts(judge.Kernel(day, exercise["solution"]))
            start, _, _ = verdicts(judge.Kernel(day, exercise["starts"]))
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
