# SPDX-License-Identifier: MIT
"""What testing.py has the compiler's process do: each rung in each of its types for each architecture, what the ladder says of its code, and
the wrong kernels that only the compiler refuses, or whose code alone tells. Answers [{ladder, name, complaint}] as JSON."""
from __future__ import annotations

import json
import os
import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parents[1])
from days_cli import metrics, paths  # noqa: E402

os.environ.setdefault("TRITON_CACHE_DIR", str(paths.BUILD / "python-cache"))
from python_days import adapters, commands, compiled, counters  # noqa: E402
from python_days.day import Day  # noqa: E402


def main(folder):
    day, found = Day(folder), []

    def add(ladder, name, complaint):
        found.append({"ladder": ladder.name, "name": name, "complaint": complaint})
    for ladder in day.ladders:
        for rung in ladder.rungs if ladder.by == "triton" else ():
            launch = day.launch(rung)
            # Each architecture in the first type, the newest in the others.
            for kind in (kind for kind in ladder.types if ladder.takes_shape(rung, kind, ladder.show)):
                for sm in compiled.ARCHITECTURES if kind == ladder.types[0] or os.environ.get("DAYS_TEST_ALL") else compiled.ARCHITECTURES[-1:]:
                    add(ladder, f"{rung}/{kind}_sm{sm}", refusal(ladder, launch, kind, sm))
            wanted = {key: value for key, value in ladder.counts.get(rung, {}).items() if counters.of_code(key)}
            if wanted:
                values = code(ladder, rung, launch)
                add(ladder, f"{rung}/{ladder.types[0]}_code", values if isinstance(values, str) else counters.complaint(values, wanted))
    for wrong in day.wrong():
        ladder = next(ladder for ladder in day.ladders if ladder.name == wrong.ladder)
        if ladder.by == "triton" and wrong.of_code and wrong.by == "counters":
            values = code(ladder, wrong.name, wrong.launch)
            said = values if isinstance(values, str) else counters.told(values)
            add(ladder, f"must_reject/{wrong.name}", "" if wrong.says in said.splitlines() else f'nothing says "{wrong.says}" of it. What is said:\n{said}')
        elif wrong.by == "compiler":
            said = [refusal(ladder, wrong.launch, ladder.types[0], sm) for sm in compiled.ARCHITECTURES]
            good = any(wrong.says in text for text in said)
            add(ladder, f"must_reject/{wrong.name}", "" if good else f'no compiler says "{wrong.says}": {said}')
    json.dump(found, sys.stdout)


def code(ladder, rung, launch):
    """{a metric's key: its value} of what the compiler makes of a launcher on the shape that run shows, or why it refuses it."""
    found = commands.made(ladder, rung, launch, ladder.types[0], ladder.show, compiled.ARCHITECTURES[-1])
    return found["refused"] if "refused" in found else metrics.of_code(found)


def refusal(ladder, launch, kind, sm):
    """Why the compiler refuses a launcher's kernels, "" where it does not."""
    inputs, outputs = ladder.make(kind, ladder.show, draw=False)
    try:
        compiled.compiled(launch, adapters.with_outputs(inputs, outputs), sm, listed=False)
    except compiled.Refused as refused:
        return f"sm_{sm}: {refused}"
    return ""


if __name__ == "__main__":
    main(sys.argv[1])
