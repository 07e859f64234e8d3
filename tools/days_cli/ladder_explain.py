# SPDX-License-Identifier: MIT
"""days explain of a day in C++, or of a program: what each line's memory accesses cost, counted request by request."""
from __future__ import annotations

import os

from days_cli import arguments, console, counting, exercises, ladders, outputs, paths, run_build, rungs, trace_picture, trace_text, traces
from days_cli.errors import WRONG, DaysError

_PICTURES = paths.BUILD / "explain"


def explain(day, given):
    """given: explain's arguments."""
    if given.get("--backend") == "cuda":
        raise DaysError("explain counts on this CPU, GPU or not: --backend cuda is for the timelines of program days",
                        f"./days explain {day.number}")
    if len(given.words) == 1:
        return _explain_day(day, given)
    if given.get("--mine"):
        rung, word = rungs.resolve(day, given.words[1], "explain").name, given.words[1].strip().lower()
        given.words[1] = word if word.endswith("_" + rung) else rung  # causal_skipping: the same kernel in another ladder
    return _explain_variant(day, given.words[1], given)


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
    no_kernel(launches, f"{day.label}, {variant}")
    share, about = _per(given, table)
    title = f"Day {day.number:02d} {ladder or day.name}, {variant}: {shape} {kind}".rstrip()
    picture = picture_of(f"{day.number:02d}_{variant}", title, launches)
    block = f", block {trace_text.extents(launches[0].block)}" if len(launches) == 1 else ""
    for line in console.wrap(f"{title}{block}, counted on simt"):
        console.say(line)
    if about:
        console.say(about)
    say(launches, trace, share=share)
    inputs = table["tables"][0]["read_bytes"] if table["tables"] else 0
    for line in ["", *trace_text.in_all(launches, inputs, share)]:
        console.say(line)
    foot(given, launches, picture, str(program.relative_to(paths.ROOT)).replace("simt-traced", "cuda")
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


# ---- output ----

def no_kernel(launches, what):
    if not launches:
        raise DaysError(f"{what}: no kernel ran that reads or writes memory", code=WRONG)


def picture_of(name, title, launches):
    _PICTURES.mkdir(parents=True, exist_ok=True)
    path = _PICTURES / (name + ".svg")
    outputs.put(path, trace_picture.svg(title, launches))
    return path


def say(launches, trace, always=False, share=1):
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


def foot(given, launches, picture, program, flags=""):
    console.say("Counted at the SM's requests, before L2; DRAM traffic may be less.")
    names = sorted({name for launch in launches for name in trace_text.metrics(launch)})
    if names and given.get("--ncu"):
        console.say("On a GPU:")  # a command of lines that fit, to be copied whole: the shell joins them
        for line in [f"ncu {flags}--metrics \\", *(name + ",\\" for name in names[:-1]), names[-1] + " \\", *_lines(program)]:
            console.say(console.paint(line, "cyan"))
    console.say("Picture: " + console.paint(os.path.relpath(picture), "cyan"))
