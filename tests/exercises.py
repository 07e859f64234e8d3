#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests the exercises as a learner meets them, on this CPU: for every day that has one the skeleton fails stage 1, the
rung that the ladder names as the solution passes all stages, and the rung to start from passes the first two and fails a
gate. Where there is a dayNN_name/tests/hints.txt, the code of hint 3 with its lines in its holes, in place of the skeleton's
`// your code`, passes all stages, too. Of the rungs, each of which is an exercise, too: what the learner's file
begins as compiles, is right, and fails the gates that the rung itself passes. Nor does what a lazy learner would try pass
them: that start with four times the blocks, the rung with four times the blocks, and the rung with what it teaches left to a
helper; of a rung in Python the start with another size of its block. Works in a my/ of its own.

    tests/exercises.py            every day, two rungs of each, and two tries of a lazy learner at each rung, chosen by HEAD
    tests/exercises.py 5 13       these
    tests/exercises.py --rungs 13   all rungs of these days, and nothing else

A rung whose gate is its speed is told as "skip": without a GPU nothing tells it from the one before.
Exit code: 0 all as it should be, 1 something is not.
"""
import contextlib
import hashlib
import io
import re
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

from days_cli import catalog, console, exercises, judge, kinds, paths, python_judge, rung_gates, rungs  # noqa: E402
from days_cli.errors import DaysError  # noqa: E402
from days_cli.stages import STAGES  # noqa: E402

_SAMPLE = 2  # rungs of a day
_TRIES = 2  # of a lazy learner at a rung; each is some seconds of CPU


def verdicts(day, name, file=""):
    """[(stage, verdict)] of a rung or program, the exercise as {goal, starts, solution}, and the stages; "exercise" is the skeleton, or
    another file in its place."""
    exercise, stages = day.kind.does.judged(day, name, file)
    return [(stage.name, stage.verdict) for stage in stages], exercise, stages


def python_rung_complaints(rung, tries=None):
    """As rung_complaints() of a rung in Python."""
    exercises.start(rung)
    kernel = python_judge.Kernel(rung.day, rung.name, str(exercises.my_file(rung)))
    try:
        stage = python_judge.correct(kernel)
        if stage.verdict == "FAIL":
            return [f"what it begins as: {stage.about}", *stage.lines], ""
        gates, says = python_judge.asked_of(rung)
        if not gates:
            return [], f"no counter tells {rung.name} from {rung.before.name}"
        start, goal = python_judge.counters(kernel, gates), python_judge.counters(python_judge.Kernel(rung.day, rung.name), gates)
    except DaysError as error:
        return [error.message], ""
    wrong = [] if start.verdict == "FAIL" else [f"what it begins as: {start.verdict} {start.about}, expected to miss a gate"]
    wrong += [] if goal.verdict == "ok" else [f"the rung itself: {goal.verdict} {goal.about}"]
    for what, text in in_turn(lazy_python(rung), tries):
        exercises.my_file(rung).write_text(text, encoding="utf-8")
        try:
            if python_judge.counters(kernel, gates).verdict == "ok" and python_judge.correct(kernel).verdict == "ok":
                wrong.append(f"{what} is solved")
        except DaysError:
            pass  # a size that the language refuses
    return wrong, " ".join(says)


def lazy_python(rung):
    """[(what a lazy learner does, the file)] of a rung in Python: the start with one of its sizes doubled or halved, unless the rung
    itself has it so."""
    start, own = rungs.start_text(rung), rung.file.read_text(encoding="utf-8")
    found = []
    for match in re.finditer(r"^([A-Z]\w*(?:, [A-Z]\w*)*) = (\d+(?:, \d+)*)$", start, re.MULTILINE):
        sizes = [int(size) for size in match[2].split(", ")]
        for at, size in enumerate(sizes):
            for other in (2 * size, size // 2):
                line = f"{match[1]} = {', '.join(map(str, [*sizes[:at], other, *sizes[at + 1:]]))}"
                if other and line not in own.splitlines():
                    found.append((f"the start with {line}", start[:match.start()] + line + start[match.end():]))
    return found


def filled(day):
    """The skeleton with the code of the note's last hint, its holes filled; None where nothing says with what."""
    path = day.folder / "tests" / "hints.txt"
    if not path.exists():
        return None
    parts = [line for line in path.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    code = re.search(r"```\w*\n(.*?)```", exercises.hints(day)[-1], re.DOTALL)[1].split("___")
    if len(parts) != len(code) - 1:
        raise ValueError(f"hint 3 of day {day.label} has {len(code) - 1} holes, and {path.name} fills {len(parts)}")
    code = code[0] + "".join(part + after for part, after in zip(parts, code[1:]))
    whole = r"^@triton\.jit\n(?:.*\n)*?" if code.startswith("@triton") else ""  # a kernel with its head takes the place of all of it
    return re.sub(rf"{whole}^ +{re.escape(day.kind.blank)}\n", lambda _: code, exercises.skeleton(day).read_text(encoding="utf-8"), count=1,
                  flags=re.MULTILINE)


def hint_verdicts(day):
    """The verdicts of the filled hint; [] where there is none to judge."""
    path = paths.MY / f"hint{day.number:02d}{exercises.skeleton(day).suffix}"
    try:
        text = filled(day)
        if text is None:
            return [], []
        path.write_text(text, encoding="utf-8")
        found, _, stages = verdicts(day, "exercise", str(path))
    except (DaysError, ValueError) as error:  # it does not compile, or its holes are miscounted
        return [(str(error), "FAIL")], []
    return found, stages


def rung_complaints(rung, tries=None):
    """(what is wrong with a rung as an exercise, as lines; how it is judged). That neither kernel has races the day's tests see.
    tries: how many of a lazy learner's, where not all."""
    exercises.start(rung)
    try:
        stage = judge.correct(start_of(rung))[1]
        if stage.verdict != "ok":
            return [f"what it begins as: {stage.about}", *stage.lines], ""
        gates = rung_gates.find(rung)
        if gates.kind == "speed":
            return [], gates.why
        start, rung_itself = (rung_gates.counters(kernel, rung, gates) for kernel in (start_of(rung), judge.Kernel(rung.day, rung.name)))
    except DaysError as error:
        return [error.message], ""
    wrong = []
    if start.verdict != "FAIL" or not any(", asked " in text for text in start.about.split(";")):
        wrong.append(f"what it begins as: {start.verdict} {start.about}, expected to miss a gate")
    if rung_itself.verdict != "ok":
        wrong.append(f"the rung itself: {rung_itself.verdict} {rung_itself.about}")
    try:
        wrong += [f"{what} is solved" for what, text in in_turn(lazy_texts(rung), tries) if solved(rung, gates, text)]
    except DaysError as error:
        wrong.append(error.message)
    for line in (start.about, *start.lines):
        if "None" in line or "nan" in line:
            wrong.append(f"told badly: {line}")
    return wrong, "; ".join(f"{ask.metric.label} {ask.bound()}" for ask in gates.asks)


_WIDER = """#include <type_traits>
namespace lazy {
template <class Grid>
dim3 wider(Grid grid) {
  if constexpr (std::is_integral_v<Grid>) return dim3(4 * static_cast<unsigned>(grid));
  else return dim3(4 * grid.x, grid.y, grid.z);
}
}  // namespace lazy
"""


def lazy_texts(rung):
    """[(what a lazy learner does, the file)]: who does so has not found the rung's idea."""
    start, own = rungs.start_text(rung), rung.file.read_text(encoding="utf-8")
    found = [("the start with four times the blocks", wider(start))]
    alone = [other.file for other in rungs.of_day(rung.day).values()].count(rung.file) == 1
    if alone and "gridDim" not in own:  # a loop over the grid takes any
        if "cp_async_bulk_tensor" not in own:  # a box beyond the tensor is copied all the same: its block is not idle
            found.append(("the rung with four times the blocks", wider(own)))
        names = rung_gates.taught(rung)
        if names:
            found.append(("the rung whose helper does what it teaches",
                          re.sub(rf"\b({'|'.join(map(re.escape, names))})(?!\w)", r"helper_\1", own)))
    return [(what, text) for what, text in found if text]


def wider(text):
    """The file with four times the blocks along x at each launch; "" where it launches nothing."""
    out, at = [], 0
    for match in re.finditer("<<<", text):
        depth, end = 0, match.end()
        while depth or text[end] != ",":
            depth += {"(": 1, "{": 1, ")": -1, "}": -1}.get(text[end], 0)
            end += 1
        out += [text[at:match.end()], f"lazy::wider({text[match.end():end].strip()})"]
        at = end
    includes = list(re.finditer(r"^#include .*\n", text, re.MULTILINE))
    if not out or not includes:
        return ""
    last = includes[-1].end()
    whole = "".join(out) + text[at:]
    return whole[:last] + _WIDER + whole[last:]


def solved(rung, gates, text):
    """Whether the text passes the gates, and is right. That it is right is asked only where it passes. What does not compile tries nothing,
    and is a DaysError."""
    if gates.by_speed:
        return False
    mine = exercises.my_file(rung)
    kept = mine.read_bytes()
    mine.write_text(text, encoding="utf-8")
    try:
        kernel = start_of(rung)
        if rung_gates.lacking(kernel, rung):
            return False
        kernel.program(traced=True)
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):  # of kernels that go wrong
            return rung_gates.counters(kernel, rung, gates).verdict == "ok" and judge.correct(kernel)[1].verdict == "ok"
    finally:
        mine.write_bytes(kept)


def start_of(rung):
    return judge.Kernel(rung.day, rung.name, exercises.shown(exercises.my_file(rung)), rung)


_COMPLAINTS = {"ladder": rung_complaints, "python": python_rung_complaints}


def in_turn(found, most):
    """The first so many of an order that each commit makes anew; all where most is None. What is found are rungs, or (words, text)."""
    head = paths.commit()
    told = lambda one: one.words if hasattr(one, "words") else f"{one[0]} {one[1]}"
    return sorted(found, key=lambda one: hashlib.sha256(f"{head} {told(one)}".encode()).digest())[:most]


def check_rungs(day, every):
    """Tells of the day's rungs, or of a sample; how many are not as they should be."""
    found = [rung for rung in rungs.of_day(day).values() if rung.before]
    if not every:
        found = in_turn(found, _SAMPLE)
    bad = 0
    for rung in found:
        wrong, about = _COMPLAINTS[day.kind.name](rung, None if every else _TRIES)
        skipped = not wrong and about.startswith("no counter")
        console.say(f"{console.status('FAIL' if wrong else 'skip' if skipped else 'ok', 5)} {rung.words}, from "
                    f"{rung.before.name}: {about}")
        for line in wrong:
            console.say("      " + line)
        bad += bool(wrong)
    return bad


def main(words):
    bad = 0
    alone = "--rungs" in words
    words = [word for word in words if word != "--rungs"]
    days = [exercises.resolve(word, "check") for word in words] or \
        [day for day in catalog.here() if exercises.skeleton(day).is_file() and not kinds.refusal(day, "check")]
    with tempfile.TemporaryDirectory() as folder:
        paths.MY = Path(folder)
        for day in days:
            if alone:
                bad += bool(check_rungs(day, True)) if day.kind.has_rungs else 0
                continue
            skeleton, exercise, _ = verdicts(day, "exercise")
            solution, _, told = verdicts(day, exercise["solution"])
            start = verdicts(day, exercise["starts"])[0] if exercise["starts"] != exercise["solution"] else None  # a first kernel has none before it
            hint, told_of_hint = hint_verdicts(day) if day.kind.has_rungs else ([], [])
            wrong = []
            if skeleton != [("correct", "FAIL")]:
                wrong.append(f"the skeleton: {skeleton}, expected to fail stage 1")
            if any(verdict == "FAIL" for _, verdict in solution) or len(solution) != len(STAGES):
                wrong.append(f"the solution {exercise['solution']}: {solution}")
                wrong += [f"    {line}" for stage in told if stage.verdict == "FAIL" for line in [stage.about, *stage.lines]]
            if any(verdict == "FAIL" for _, verdict in hint) or hint and len(hint) != len(STAGES):
                wrong.append(f"hint 3, its holes filled: {hint}")
                wrong += [f"    {line}" for stage in told_of_hint if stage.verdict == "FAIL" for line in [stage.about, *stage.lines]]
            races = {"ok", "skip"} if day.kind.in_python else {"ok"}  # where no order of threads can matter
            if start and (start[0] != ("correct", "ok") or start[1][0] != "race-free" or start[1][1] not in races or start[-1] != ("counters", "FAIL")):
                wrong.append(f"{exercise['starts']}, to start from: {start}, expected to fail stage 3")
            console.say(f"{console.status('FAIL' if wrong else 'ok', 5)} {day.label}")
            for line in wrong:
                console.say("      " + line)
            bad += bool(wrong or day.kind.has_rungs and check_rungs(day, False))
    console.say(f"{len(days) - bad} passed, {bad} failed")
    return 1 if bad or not days else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
