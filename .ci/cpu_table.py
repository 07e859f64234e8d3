#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""CPU seconds of each day in `./days test`, held against .ci/cpu_budget.json.

    .ci/cpu_table.py [BUILD_FOLDER ...]      default: build/cpu build/cpu-checked

What compilers and linkers took stands in a build folder's cpu.log, where CMake was configured with DAYS_CPU_SECONDS=ON; what a
day's tests took they say themselves in CTest's log. An object that ccache had counts as what fetching it took, so the build is
what a day costs from nothing only where the cache was empty, as in the nightly run; the last line says how much was cached.
Exit code: 1 where days take more than the budget on average, or one more than it may."""
import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUDGET = ROOT / ".ci" / "cpu_budget.json"
TESTS = re.compile(r"^(?:\d+ kernels run, .*?|programs and their tests took )([\d.]+) s of CPU", re.MULTILINE)
CACHED = 0.12  # an object that took less CPU time came from the cache: no compiler starts and reads its headers in that


def day_of(name):
    found = re.match(r"day(\d\d)_", name)
    return found[1] if found else None


def seconds(text):
    """0m1.25s -> 1.25"""
    minutes, rest = re.fullmatch(r"(\d+)m([\d.]+)s", text).groups()
    return 60 * int(minutes) + float(rest)


def built(folder):
    """{output: (target, CPU seconds)}, each as it was made last."""
    made, log = {}, folder / "cpu.log"
    for line in log.read_text(errors="replace").splitlines() if log.is_file() else []:
        words = line.split(" ", 3)
        if len(words) == 4:
            made[words[3]] = words[2], seconds(words[0]) + seconds(words[1])
    return made


def tested(folder):
    """{day: CPU seconds} of CTest's last run of all."""
    log = folder / "Testing" / "Temporary" / "LastTest.log"
    text = log.read_text(errors="replace") if log.is_file() else ""
    took = {}
    for part in re.split(r"(?m)^\d+/\d+ Testing: ", text)[1:]:
        day, said = day_of(part), TESTS.search(part)
        if day and said:
            took[day] = took.get(day, 0) + float(said[1])
    return took


def main(words):
    folders = [Path(word) for word in words] or [ROOT / "build" / "cpu", ROOT / "build" / "cpu-checked"]
    columns = []  # (title, {day: seconds})
    objects = cached = 0
    other = 0.0
    for folder in folders:
        per_day = {}
        for output, (target, took) in built(folder).items():
            day = day_of(target)
            if output.endswith(".o"):
                objects += 1
                cached += took < CACHED
            if day is None:
                other += took
            elif not target.endswith("_bench"):
                per_day[day] = per_day.get(day, 0) + took
        columns.append((f"build {folder.name}", per_day))
        columns.append((f"tests {folder.name}", tested(folder)))
    days = sorted({day for _, took in columns for day in took})
    if not days or not objects:
        print(f"no CPU times in {' '.join(map(str, folders))}: configure with -DDAYS_CPU_SECONDS=ON, build and test")
        return 1
    budget = json.loads(BUDGET.read_text(encoding="utf-8"))
    bad, sums = [], []
    print("day" + "".join(f"{title:>19}" for title, _ in columns) + f"{'all':>8}")
    for day in days:
        parts = [took.get(day, 0) for _, took in columns]
        sums.append(sum(parts))
        exception = budget["exceptions"].get(day)
        most = exception["seconds"] if exception else budget["most"]
        print(f"{day:3}" + "".join(f"{part:19.1f}" for part in parts) + f"{sum(parts):8.1f}"
              + (f"  may take {most}: {exception['why']}" if exception else ""))
        if sum(parts) > most:
            bad.append(f"day {day} takes {sum(parts):.1f} s of CPU, and may take {most}")
    usual = [seconds for day, seconds in zip(days, sums) if day not in budget["exceptions"]] or sums
    average = sum(usual) / len(usual)
    if average > budget["average"]:
        bad.append(f"days take {average:.1f} s of CPU on average, and may take {budget['average']}")
    for day in sorted(set(budget["exceptions"]) - set(days)):
        bad.append(f"{BUDGET.name} has an exception for day {day}, which was not tested")
    print(f"all{'':{19 * len(columns)}}{sum(sums):8.1f}  and {other:.1f} to build what days share")
    for line in bad:
        print(f"FAIL {line}: make it lighter, or say why not in .ci/{BUDGET.name}")
    print(f"{average:.1f} s a day on average, {max(sums):.1f} at most; {cached} of {objects} objects were cached")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
