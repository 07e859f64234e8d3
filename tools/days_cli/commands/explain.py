# SPDX-License-Identifier: MIT
"""days explain: what a variant's accesses cost, line by line, counted on the CPU backend."""
from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

from days_cli import (arguments, catalog, console, counting, exercises, ladders, outputs, own_triton, paths, program_explain,
                      python_explain, run_build, rungs, trace_picture, trace_text, traces)
from days_cli.errors import WRONG, DaysError

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

_PICTURES = paths.BUILD / "explain"


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
    if given.get("--wave") and day.kind != "python":
        raise DaysError("--wave goes with Python days, whose programs it counts", f"./days explain {day.number}")
    if day.kind == "program":
        return program_explain.explain(day, given.words[1] if len(given.words) > 1 else "", given)
    if day.kind == "python":
        return python_explain.explain(day, given)
    if given.get("--backend") == "cuda":
        raise DaysError("explain counts on this CPU, GPU or not: --backend cuda is for the timelines of program days",
                        f"./days explain {day.number}")
    if len(given.words) == 1:
        return _explain_day(day, given)
    if given.get("--mine"):
        rung, word = rungs.resolve(day, given.words[1], "explain").name, given.words[1].strip().lower()
        given.words[1] = word if word.endswith("_" + rung) else rung  # causal_skipping: the same kernel in another ladder
    return _explain_variant(day, given.words[1], given)


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


# ---- a day ----

def _build(day, variant="", rung=None):
    """"exercise" is the learner's file where there is one. rung: the Rung whose place the learner's file of it takes."""
    if rung:
        file = exercises.shown(exercises.my_file(rung))
        return run_build.build_day(day, "simt", traced=True, exercise=file, rung=rung, alone=file)
    mine = exercises.my_file(day)
    yours = exercises.shown(mine) if variant == "exercise" and mine.exists() else None
    return run_build.build_day(day, "simt", traced=True, exercise=yours, alone=yours)


def _flags(given):
    return [word for name in ("--size", "--type") if given.get(name) for word in (name, given.get(name))]


def _per(given, table):
    """(what the tables' counts are multiplied by, the line that says so)."""
    if not given.get("--per"):
        return 1, ""
    per, first = given.get("--per"), (table["tables"] or [{}])[0]
    size = {"double": 8, "fp64": 8, "uint64": 8, "fp16": 2, "bf16": 2, "uint8": 1, "int8": 1}.get(first.get("type"), 4)
    outputs_ = first.get("written_bytes", 0) // size
    if not per.isdecimal() or not int(per) or not outputs_:
        raise DaysError(f"--per {per}: for how many elements of the output? A whole number from 1 on", "./days explain 13 naive --per 32")
    return int(per) / outputs_, f"Tables: for {int(per):,} of its {outputs_:,} outputs."


def _shape_of(table):
    """("matmul", "256 x 256 x 256", "fp32") of the results' first table."""
    first = (table["tables"] or [{}])[0]
    return first.get("ladder", ""), " x ".join(map(str, first.get("shape", {}).values())), first.get("type", "")


def _explain_variant(day, variant, given):
    rung = _mine(day, variant) if given.get("--mine") else None
    arguments.known_variant("explain", variant, [*ladders.names(day), *(["exercise"] if ladders.exercise(day) else [])], day)
    program = _build(day, variant, rung)
    begun, own = (["--begun", rung.before.name], exercises.shown(exercises.my_file(rung))) if rung else ([], "")
    trace, table = counting.count(program, day, variant, [*_flags(given), *begun], own=own)
    ladder, shape, kind = _shape_of(table)
    trace = {"day": day.target, "ladder": ladder, "variant": variant, "shape": shape, "type": kind, **trace}
    if given.get("--json"):
        outputs.put_json(given.get("--json"), trace)
        return 0
    launches = traces.launches(trace)
    _no_kernel(launches, f"{day.label}, {variant}")
    share, about = _per(given, table)
    title = f"Day {day.number:02d} {ladder or day.name}, {variant}: {shape} {kind}".rstrip()
    picture = _picture(f"{day.number:02d}_{variant}", title, launches)
    block = f", block {trace_text.extents(launches[0].block)}" if len(launches) == 1 else ""
    for line in console.wrap(f"{title}{block}, counted on simt"):
        console.say(line)
    if about:
        console.say(about)
    _say(launches, trace, share=share)
    inputs = table["tables"][0]["read_bytes"] if table["tables"] else 0
    for line in ["", *trace_text.in_all(launches, inputs, share)]:
        console.say(line)
    _foot(given, launches, picture, str(program.relative_to(paths.ROOT)).replace("simt-traced", "cuda")
          + f" --variant {variant} --size {shape.replace(' x ', 'x')} --type {kind}", _first_launches(launches))
    return 0


def _mine(day, variant):
    """The Rung whose file in my/ is to be explained in its place."""
    rung = rungs.resolve(day, variant, "explain")
    mine = exercises.my_file(rung)
    if not mine.is_file():
        raise DaysError(f"there is no {exercises.shown(mine)} yet", f"./days check {rung.words}")
    return rung


def _first_launches(launches):
    """ncu's flags for what was counted: a run on a GPU launches a rung again and again, to time it."""
    names = list(dict.fromkeys(launch.name for launch in launches))
    which = names[0] if len(names) == 1 else f"regex:'^({'|'.join(names)})$'"
    return f"-k {which} -c {sum(launch.times for launch in launches)} "


def _explain_day(day, given):
    program = _build(day)
    rows, collected = [], []
    for name in ladders.names(day):
        console.progress(f"counting {name}")
        try:
            trace, table = counting.count(program, day, name, _flags(given))
        except DaysError as error:
            if error.code != WRONG and not given.get("--size") and not given.get("--type"):
                raise
            rows.append((name, None, 0))
            continue
        ladder, shape, kind = _shape_of(table)
        collected.append(dict(trace, day=day.target, ladder=ladder, variant=name, shape=shape, type=kind))
        rows.append((name, traces.launches(trace), table["tables"][0]["read_bytes"] if table["tables"] else 0))
    console.clear_progress()
    if given.get("--json"):
        outputs.put_json(given.get("--json"), {"variants": collected})
        return 0
    console.say(console.paint(f"Day {day.label}, counted on simt", "bold"))
    width = max(len(name) for name, _, _ in rows) + 1
    console.say(f"{'variant':<{width}}{'read/input':>11}{'sectors':>13}{'a request':>11}{'wasted':>8}"
                f"{'conflicts':>12}{'barriers':>10}")
    for name, launches, inputs in rows:
        console.say(f"{name:<{width}}" + (_summary(launches, inputs) if launches else "  does not run with these flags here"))
    console.say()
    console.say("Why?  " + console.paint(f"./days explain {day.number} {rows[0][0]}", "cyan"))
    return 0


def _summary(launches, inputs):
    """A row of the table; inputs: the bytes of the problem's inputs, which a rung of several kernels may read in each."""
    found = traces.figures(launches, inputs)
    reads = f"{found['reads_per_input']:,.1f}" if inputs else "-"
    each = found["sectors"] / found["requests"] if found["requests"] else 0
    return (f"{reads:>11}{found['sectors']:>13,}{each:>11.1f}{100 * found['wasted_sectors']:>7.0f}%"
            f"{found['bank_conflicts']:>12,}{found['barriers']:>10,}")


# ---- any program ----

def _explain_triton(given):
    wrong = next((flag for flag in ("--size", "--type", "--wave", "--backend", "--mine") if given.get(flag)), None)
    if wrong or given.compiler or given.rest or given.words:
        raise DaysError(f"explain --file of a Triton file takes no {wrong or (given.compiler or given.rest or given.words)[0]}: its main() "
                        "says all", f"./days explain --file {given.get('--file')}")
    return own_triton.explain(given.get("--file"), given)


def _explain_file(given):
    source = Path(given.get("--file"))
    if given.words:
        raise DaysError(f'explain --file takes no day: "{given.words[0]}"', "./days explain --help")
    if not source.is_file():
        raise DaysError(f"there is no file {source}", "./days explain --help")
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
    _no_kernel(launches, str(source))
    picture = _picture(source.stem, str(source), launches[:8])
    if output:
        console.say()
    _say(launches, trace, always=True)
    if len({launch.name for launch in launches}) > 1:
        for line in ["", *trace_text.kernels_table(launches)]:
            console.say(line)
    arguments_ = " ".join(given.rest)
    _foot(given, launches, picture, f"./{source.stem} {arguments_}".strip())
    return status


# ---- output ----

def _no_kernel(launches, what):
    if not launches:
        raise DaysError(f"{what}: no kernel ran that reads or writes memory", code=WRONG)


def _picture(name, title, launches):
    _PICTURES.mkdir(parents=True, exist_ok=True)
    path = _PICTURES / (name + ".svg")
    outputs.put(path, trace_picture.svg(title, launches))
    return path


def _say(launches, trace, always=False, share=1):
    for launch in launches:
        if always or len(launches) > 1:
            times = f", {launch.times} launches alike" if launch.times > 1 else ""
            if launch is not launches[0] or not always:
                console.say()
            for line in console.wrap(f"{launch.name}: grid {trace_text.extents(launch.grid)}, "
                                     f"block {trace_text.extents(launch.block)}{times}"):
                console.say(console.paint(line, "bold"))
        for line in trace_text.describe(launch, share):
            console.say(line)
    if trace.get("compiler") != "g++":
        console.say(f"Compiled by {trace.get('compiler')}: counts are defined by g++'s and may differ.")


def _lines(command):
    """A command on lines of at most 80 columns where it has flags to part it at; the shell joins them."""
    head, dashes, flags = command.partition(" --")
    return [head + " \\", dashes[1:] + flags] if len(command) > 80 and dashes else [command]


def _foot(given, launches, picture, program, flags=""):
    console.say("Counted at the SM's requests, before L2; DRAM traffic may be less.")
    names = sorted({name for launch in launches for name in trace_text.metrics(launch)})
    if names and given.get("--ncu"):
        console.say("On a GPU:")  # a command of lines that fit, to be copied whole: the shell joins them
        for line in [f"ncu {flags}--metrics \\", *(name + ",\\" for name in names[:-1]), names[-1] + " \\", *_lines(program)]:
            console.say(console.paint(line, "cyan"))
    console.say("Picture: " + console.paint(os.path.relpath(picture), "cyan"))
