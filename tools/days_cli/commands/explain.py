# SPDX-License-Identifier: MIT
"""days explain: what a variant's accesses cost, line by line, counted on the CPU backend."""
from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

from days_cli import arguments, catalog, console, counting, exercises, ladder_explain, outputs, own_triton, run_build, trace_text, traces
from days_cli.errors import DaysError

USAGE = "DAY VARIANT"
SUMMARY = "what each line costs: sectors, bank conflicts"
HELP = """./days explain DAY VARIANT     what each line's memory accesses cost
./days explain DAY             one row a variant
./days explain --file prog.cu  any stand-alone program's kernels
                               [-I... -D... -std=...] [-- its arguments]
./days explain --file mine.py  a Triton file's: its main() or launch() makes
                               tensors and starts the kernels

  --size 4096x33           the problem's own order of extents
  --type fp32|fp16|bf16    this element type
  --backend cuda           a program day's timeline by CUDA events, not by order
  --per 32                 the tables' counts for 32 elements of the output
  --wave 132               so many programs of a Python day run at a time
  --mine                   your my/dayNN_VARIANT.cu (./days check DAY VARIANT)
  --ncu                    the command that counts the same on a GPU
  --json [FILE]            all counts as JSON, on standard output without FILE
  --color auto|always|never

Of a program day: what its streams let run side by side.

Runs on this CPU, GPU or not, and counts what a GPU's load/store units would
do: requests of warps, 32-byte sectors, wavefronts of shared memory. The picture
goes to build/explain/. How to read it: docs/explain.md"""


def run(args):
    given = _parse(list(args))
    if given.get("--help"):
        console.say(HELP)
        return 0
    outputs.check_json(given.get("--json"), "explain")
    if given.get("--per") and (given.get("--file") or len(given.words) < 2 or given.get("--json")):
        raise DaysError("--per goes with a day's variant, whose outputs are known", "./days explain 13 naive --per 32")
    if given.get("--file"):
        return _explain_triton(given) if given.get("--file").endswith(".py") else _explain_file(given)
    if not given.words:
        raise DaysError("explain which day?", "./days explain 1")
    if given.words[0].endswith((".cu", ".py")):
        raise _a_file(given.words[0])
    day = catalog.resolve(given.words[0], "explain")
    if given.get("--wave") and not day.kind.in_python:
        raise DaysError("--wave goes with Python days, whose programs it counts", f"./days explain {day.number}")
    return day.kind.does.explain(day, given)


def _parse(args):
    """--json may stand without a value; flags of the compiler go with --file alone."""
    compiler, plain, rest = [], [], []
    if "--" in args:
        at = args.index("--")
        args, rest = args[:at], args[at + 1:]
    for argument in arguments.json_alone(args):
        if argument.startswith(("-I", "-D", "-std=")):
            compiler.append(argument)
        else:
            plain.append(argument)
    given = arguments.parse("explain", plain, {"--size": None, "--type": None, "--json": None, "--file": None, "--per": None, "--wave": None,
                                                   "--backend": ("cuda", "simt")}, ("--mine", "--ncu"), 2)
    if (compiler or rest) and not given.get("--file"):
        raise DaysError(f"{(compiler or ['--'])[0]} goes with --file", "./days explain --help")
    given.compiler, given.rest = compiler, rest
    return given


def _a_file(name):
    """The error for a file where a day is expected: it names the day whose exercise the file is."""
    path = Path(name).resolve()
    for day in catalog.here():
        if path in (exercises.my_file(day).resolve(), exercises.skeleton(day).resolve()):
            return DaysError(f"{name} is the exercise of day {day.label}: explain takes the day and the word exercise",
                             f"./days explain {day.number} exercise")
    return DaysError(f"{name} is no day; a stand-alone program goes behind --file", f"./days explain --file {name}")


# ---- any program ----

def _explain_triton(given):
    wrong = next((flag for flag in ("--size", "--type", "--wave", "--backend", "--mine") if given.get(flag)), None)
    if wrong or given.compiler or given.rest or given.words:
        raise DaysError(f"explain --file of a Triton file takes no {wrong or (given.compiler or given.rest or given.words)[0]}: its main() "
                        "says all", f"./days explain --file {given.get('--file')}")
    return own_triton.explain(given.get("--file"), given)


def _explain_file(given):
    if given.words:
        raise DaysError(f'explain --file takes no day: "{given.words[0]}"', "./days explain --help")
    source = arguments.own_source(given.get("--file"), "explain")
    path = source.resolve()
    key = hashlib.sha256(os.fsencode("\0".join([str(path), *given.compiler]))).hexdigest()[:12]
    # As days cc does: older standards than the headers need are read as C++17.
    flags = ["-std=c++17" if re.fullmatch(r"-std=(?:c|gnu)\+\+(?:98|0x|03|11|1y|14)", flag) else flag
             for flag in given.compiler]
    program = run_build.build_file(path, f"{source.stem}-{key}", flags)
    trace, _, output, status = counting.trace([program, *given.rest])
    if given.get("--json"):
        console.tell(output, "")
        outputs.put_json(given.get("--json"), trace)
        return status
    console.write(output)
    launches = traces.launches(trace)
    ladder_explain.no_kernel(launches, str(source))
    picture = ladder_explain.picture_of(source.stem, str(source), launches[:8])
    if output:
        console.say()
    ladder_explain.say(launches, trace, always=True)
    if len({launch.name for launch in launches}) > 1:
        for line in ["", *trace_text.kernels_table(launches)]:
            console.say(line)
    arguments_ = " ".join(given.rest)
    ladder_explain.foot(given, launches, picture, f"./{source.stem} {arguments_}".strip())
    return status
