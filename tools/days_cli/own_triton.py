# SPDX-License-Identifier: MIT
"""A Triton file of one's own, for `check --file`, `explain --file` and `asm --file`: its main() or launch() makes tensors and starts kernels
(tools/python_days/own.py)."""
from __future__ import annotations

import ast
import json
import os
import tempfile
from pathlib import Path

from days_cli import arguments, console, metrics, outputs, paths, programs, python_day, python_explain, python_setup, stages
from days_cli.errors import WRONG, DaysError

_SECONDS = 600  # all of a command; DAYS_CHECK_SECONDS gives more


def is_one(name):
    """Whether a name is that of a file in Python."""
    return name.endswith(".py")


def _path(name):
    return arguments.own_source(name, "check").resolve()


def _extras(path):
    """PyTorch, where the file imports it; DaysError where Python cannot read the file, or nothing in it is a kernel of Triton's."""
    text = path.read_text(encoding="utf-8", errors="replace")
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError) as error:
        raise DaysError(f"{path.name}:{getattr(error, 'lineno', 1)}: {getattr(error, 'msg', error)}", code=WRONG) from error
    imported = {alias.name.partition(".")[0] for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {(node.module or "").partition(".")[0] for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and not node.level}
    return ("torch",) if "torch" in imported else ()


def _asked(name, words, progress):
    """(the answer as JSON, what the file printed). File names in it lead from the clone to the file."""
    path = _path(name)
    python = python_setup.ensure(_extras(path))
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.json"
        console.progress(progress)
        seconds = max(_SECONDS, stages.case_seconds())
        ended = programs.run([python.path, "-B", str(python_day.PROGRAM), str(path), *words, "--out", str(out)],
                                   {"NO_COLOR": "1", "DAYS_BACKEND": "simt", "PYTHONWARNINGS": "ignore"}, None, None, seconds)
        console.clear_progress()
        if ended.code or ended.problem or not out.exists():
            if ended.stopped:
                raise DaysError(f"{name} {ended.problem}", f"DAYS_CHECK_SECONDS={3 * seconds:g} ./days check --file {name}", WRONG)
            said = ended.stderr.partition("error: ")[2] or ended.stderr.strip()[-300:]
            message, _, hint = said.partition("\nNext: ")
            if "No module named" in message:
                hint = f"DAYS_PYTHON=/a/python/that/has/it ./days check --file {name}"
            raise DaysError(" ".join(message.split()).replace(str(path), name) or f"{name} {ended.problem or 'failed'}", hint.strip(),
                            ended.code if ended.code in (1, 2, 3) else WRONG)
        return json.loads(out.read_text(encoding="utf-8")), ended.stdout


def _named(text, name):
    """The file as the learner types it."""
    return text.replace(str(_path(name)), name).replace(os.path.relpath(_path(name), paths.ROOT), name)


def _stage(number, name, verdict, about, lines=()):
    stages.print_numbered(number, stages.Stage(name, verdict, about, list(lines)))
    return verdict != "FAIL"


def _counted(run):
    launches, accesses = run["launches"], sum(line["accesses"] for one in run["launches"] for line in one["lines"])
    names = ", ".join(dict.fromkeys(one["name"] for one in launches))
    return f"{names}: {len(launches)} launch{'es' if len(launches) != 1 else ''}, {accesses:,} accesses"


def _fault(name, run):
    """The lines of the run's first report, or of its exception; [] where it is good."""
    for report in run["reports"]:
        return [_named(line, name) for line in report[1:]]
    return [_named(run["error"], name)] if run["error"] else []


def check(name):
    """Masks and promises, then races, then what the compiler says; up to the first that fails."""
    found, printed = _asked(name, ["own"], "running in Triton's interpreter")
    console.write(printed)
    runs, function = found["runs"], found["function"]
    for line in console.wrap(f"{name}: {function}() and what it starts, watched in Triton's interpreter"):
        console.say(console.paint(line, "bold"))
    race = next((run for run in runs if run["reports"] and run["reports"][0][0] in metrics.RACES), None)
    first = runs[0]
    if not first["launches"] and not first["error"]:
        return int(not _stage(1, "accesses", "FAIL", f"{function}() starts no kernel of Triton's"))
    left = [f"Note: of a tensor {' x '.join(map(str, shape))} {count:,} elements were never written, the first at {at:,}. Is a mask too narrow?"
            for shape, count, at in first["unwritten"]]
    if _fault(name, first) and race is not first:
        about = _counted(first) if first["launches"] else f"{function}() fails"
        return int(not _stage(1, "accesses", "FAIL", about, [*_fault(name, first), *left]))
    _stage(1, "accesses", "ok", f"{_counted(first)}, all within their tensors; nothing read that nobody has written, no promise broken", left)
    bad = race or next((run for run in runs if _fault(name, run)), None)
    if bad:
        return int(not _stage(2, "race-free", "FAIL", f"programs in {bad['order']} order", _fault(name, bad)))
    _stage(2, "race-free", "ok", f"programs in {len(runs)} orders")
    made, _ = _asked(name, ["own_made"], "compiling for sm_75, sm_80 and sm_90")
    for one in made:
        if "refused" in one:
            return int(not _stage(3, "compiles", "FAIL", f"the compiler refuses it for sm_{one['sm']}",
                                  [_named(line, name) for line in ([one["where"]] if one["where"] else []) + ["    " + one["refused"]]]))
    _stage(3, "compiles", "ok", "for " + ", ".join(f"sm_{one['sm']}" for one in made))
    for line in console.wrap(f"Whether its numbers are right you say yourself: an assert in {function}() is looked at here. What each line costs:"):
        console.say(line)
    console.say("Next: " + console.paint(f"./days explain --file {name}", "cyan"))
    return 0


def explain(name, given):
    """Bytes and instructions by source line."""
    found, printed = _asked(name, ["own", "--order", "normal"], "counting")
    run = found["runs"][0]
    if not run["launches"]:
        raise DaysError(_named(run["error"], name) or f"{name}: {found['function']}() starts no kernel of Triton's", code=WRONG)
    made, _ = _asked(name, ["own_made", "--lines"], "compiling")
    relative = os.path.relpath(_path(name), paths.ROOT)
    for line in (line for one in (*run["launches"], *(kernel for sm in made for kernel in sm["kernels"])) for line in one["lines"]):
        line["file"] = relative if os.path.basename(line["file"]) == Path(name).name else line["file"]
    if given.get("--json"):
        console.tell(printed, "")
        outputs.put_json(given.get("--json"), {"file": name, **run, "compiled": made})
        return 0
    console.write(printed)
    console.say(console.paint(f"{name}, {found['function']}()", "bold"))
    console.say(f"Bytes from Triton's interpreter, instructions of sm_{metrics.ARCHITECTURE} from its compiler")
    python_explain.say_launches(run["launches"], made)
    moved = {op: sum(line["bytes"] for one in run["launches"] for line in one["lines"] if line["op"] == op) for op in ("load", "store", "atomic")}
    sectors = 32 * sum(line["sectors"] for one in run["launches"] for line in one["lines"] if line["op"] != "atomic")
    wasted = f", {max(0.0, 1 - (moved['load'] + moved['store']) / sectors):.0%} of the sectors wasted at best" if sectors else ""
    console.say()
    for line in console.wrap(f"In all: {moved['load']:,} bytes loaded, {moved['store']:,} stored" +
                             (f", {moved['atomic']:,} by atomics" if moved["atomic"] else "") + wasted + "."):
        console.say(line)
    console.say()
    python_explain.say_architectures(made)
    for text in _fault(name, run):
        console.say(text)
    console.say("\nA sector is counted once for each access of a program: no GPU moves fewer.")
    console.say("Whole code: " + console.paint(f"./days asm --file {name}", "cyan"))
    console.say("Is it right?  " + console.paint(f"./days check --file {name}", "cyan"))
    return 0


def compiled(name, arch, stage=""):
    """What the compiler makes of each kernel for one architecture, as the program's `compile` has it."""
    made, _ = _asked(name, ["own_made", "--arch", str(arch), "--lines", *(["--stage", stage] if stage else [])], "compiling with Triton")
    if "refused" in made[0]:
        raise DaysError(f"Triton does not compile {name} for sm_{arch}: {_named(made[0]['where'] + ' ' + made[0]['refused'], name).strip()}", code=WRONG)
    if not made[0]["kernels"]:
        raise DaysError(f"{name} starts no kernel of Triton's", code=WRONG)
    return made[0]["kernels"]
