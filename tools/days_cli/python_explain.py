# SPDX-License-Identifier: MIT
"""days explain of a Python day: by source line the bytes that programs move, counted in Triton's interpreter, beside the instructions
that Triton's compiler makes of the line."""
from __future__ import annotations

from collections import Counter, defaultdict

from days_cli import console, exercises, metrics, outputs, paths, python_day, python_judge, python_ladders, rungs, sass
from days_cli.errors import WRONG, DaysError

_FLAGS = ("--file", "--backend")


def explain(day, given):
    """given: explain's arguments."""
    for flag in _FLAGS:
        if given.get(flag):
            raise DaysError(f"day {day.label} is a Python day: {flag} means nothing to it", f"./days explain {day.number}")
    if len(given.words) == 1 and all(ladder["by"] != "triton" for ladder in python_ladders.ladders(day)):
        return _counters(day, list(rungs.of_day(day)), given)
    if len(given.words) > 1 and not given.get("--mine"):
        python_day.known(day, given.words[1], "explain")
    if len(given.words) > 1:
        name = rungs.resolve(day, given.words[1], "explain").name if given.get("--mine") else given.words[1]
        if python_ladders.of_variant(day, name)["by"] != "triton":
            return _counters(day, [name], given)
    more = [word for name in ("--size", "--type") if given.get(name) for word in (name, given.get(name))]
    wave = given.get("--wave")
    if wave and not (wave.isdecimal() and int(wave)):
        raise DaysError(f"--wave is a number of programs, not {wave}", f"./days explain {day.number} --wave 132")
    more += ["--wave", wave] if wave else []
    if len(given.words) == 1:
        return _day(day, given, more)
    name, rung = given.words[1], None
    if given.get("--mine"):
        rung = rungs.resolve(day, name, "explain")
        name = rung.name
        if not exercises.my_file(rung).is_file():
            raise DaysError(f"there is no {exercises.shown(exercises.my_file(rung))} yet", f"./days check {rung.words}")
    python_day.known(day, name, "explain")
    return _rung(day, name, rung, given, more)


def _counters(day, names, given):
    """What a ladder that is not Triton's counts of its rungs."""
    found = {}
    for name in names:
        rung = rungs.resolve(day, name, "explain") if given.get("--mine") else None
        found[name] = python_judge.measure(python_judge.Kernel(day, name, str(exercises.my_file(rung)) if rung else
                                                               (python_day.mine_flags(day, name) or ["", ""])[1]))
    if given.get("--json"):
        outputs.put_json(given.get("--json"), {"variants": [{"day": day.target, "variant": name, **values} for name, values in found.items()]})
        return 0
    console.say(console.paint(f"Day {day.label}: what is counted of its rungs", "bold"))
    counted = next(iter(found.values())).metrics
    across = max(len(metric.label) for metric in counted) + 2
    width = max(11, *(len(name) + 2 for name in found))
    console.say(f"{'':{across}}" + "".join(f"{name:>{width}}" for name in found))
    for metric in counted:
        console.say(f"{metric.label:{across}}" + "".join(f"{metric.shown(values[metric.key]) if metric.key in values else '-':>{width}}"
                                                         for values in found.values()))
    return 0


def _asked(day, name, more, rung=None, lines=True, arch=""):
    words = ["--variant", name, *python_day.mine_flags(day, name, rung), *more]
    made = python_day.asked(day, ["compile", *words, *(["--lines"] if lines else []), *(["--arch", arch] if arch else [])],
                            f"compiling {name}")
    ours = next((one for one in made if one["sm"] == metrics.ARCHITECTURE), None)
    return python_day.counted(day, words, ours, f"counting {name}"), made


def _rung(day, name, rung, given, more):
    counted, made = _asked(day, name, more, rung)
    if given.get("--json"):
        outputs.put_json(given.get("--json"), {"day": day.target, "variant": name, **counted, "compiled": made})
        return 0
    if counted["result"] == "compiled":
        console.say(console.paint(f"{day.label}, {name}", "bold"))
        for line in console.wrap(f"{counted['notes'][0]}. So nothing counts its bytes; instructions of sm_{metrics.ARCHITECTURE}:"):
            console.say(line)
        say_architectures(made)
        return 0
    if not counted["launches"]:
        raise DaysError(f"{day.label}, {name}: no kernel ran" + "".join(f"; {note}" for note in counted["notes"]), code=WRONG)
    shape = " x ".join(map(str, counted["shape"]))
    console.say(console.paint(f"Day {day.number:02d} {counted['ladder']}, {name}: {shape} {counted['type']}", "bold"))
    console.say(f"Bytes from Triton's interpreter, instructions of sm_{metrics.ARCHITECTURE} from its compiler")
    _say_device(counted)
    say_launches(counted["launches"], made)
    console.say()
    values = metrics.of_counts(counted)
    for line in console.wrap(f"In all: {values['reads_per_input']:.2f} bytes loaded for each byte of input, {values['writes_per_output']:.2f} "
                             f"stored for each of output, {values['wasted_sectors']:.0%} of the sectors wasted."):
        console.say(line)
    if counted["wave"]:
        for line in console.wrap(f"If {counted['wave']} programs run at a time and share what they load: {values['wave_reads']:.2f} bytes for "
                                 "each byte of input."):
            console.say(line)
    console.say()
    say_architectures(made)
    _besides(day, name, {name: (counted, made)})
    for report in counted["reports"]:
        console.say("\n".join(report))
    console.say()
    for line in console.wrap("Wasted: what requests of warps touch and nobody asked for. A sector counts once for each request; which lane has "
                             f"which element says sm_{metrics.ARCHITECTURE}'s compiler."):
        console.say(line)
    console.say("Whole code: " + console.paint(f"./days asm {day.number} {name}", "cyan"))
    return 0


def _say_device(counted):
    """For which device the grid is, where the launcher asks."""
    if counted["assumed_device"]:
        console.say(f"Grid as on {counted['assumed_device']}, which the launcher asks about; DAYS_DEVICE=t4 assumes a T4.")


def say_launches(launches, made):
    """The lines of each kernel that was launched, counted and compiled."""
    code = next(one for one in made if one["sm"] == metrics.ARCHITECTURE)
    for number, launch in enumerate(_alike(launches)):
        _launch(launch, code["kernels"], number)


def _alike(launches):
    """Launches of one kernel, their counts added up."""
    found = {}
    for launch in launches:
        one = found.setdefault(launch["name"], {"name": launch["name"], "grids": [], "lines": defaultdict(Counter)})
        one["grids"].append(launch["grid"])
        for line in launch["lines"]:
            one["lines"][line["file"], line["line"], line["op"], line["argument"]].update(
                {key: line[key] for key in ("accesses", "bytes", "asked_bytes", "asked_sectors")})
    return list(found.values())


def _launch(launch, kernels, number):
    """The lines of one kernel: accesses with their bytes, and beside them what the compiler makes of the line."""
    kernel = next((one for one in kernels if one["name"] == launch["name"]), None)
    counts, asked = defaultdict(Counter), defaultdict(list)
    for line in kernel["lines"] if kernel else ():
        counts[_place(line["file"]), line["line"]].update(line["counts"])
    for (file, line, op, argument), sums in launch["lines"].items():
        asked[file, line].append((op, argument, sums))
    grid = launch["grids"][0]
    programs = " x ".join(f"{extent:,}" for extent in grid[:max(1, max((i + 1 for i, n in enumerate(grid) if n > 1), default=1))])
    times = f", {len(launch['grids'])} launches" if len(launch["grids"]) > 1 else ""
    warps = f" of {kernel['warps']} warps" if kernel else ""
    console.say(("" if number == 0 else "\n") + f"{launch['name']}: {programs} programs{warps}{times}")
    shown = None
    for file, line in sorted({*asked, *(place for place in counts if place[0])}):
        words = sass.notable(counts[file, line])
        if not words and (file, line) not in asked:
            continue
        if file != shown:
            console.say(console.paint(f"{file.rpartition('/')[2]:<26}", "cyan") + f"{'accesses':>9}{'bytes':>13}{'wasted':>8}  instructions")
            shown = file
        for op, argument, sums in asked.get((file, line), ()):
            wasted = f"{metrics.wasted(sums['asked_bytes'], sums['asked_sectors']):.0%}" if sums["asked_sectors"] else "-"
            _row(f"{line:>4}  {op:<7}{argument[:12]:<13}{sums['accesses']:>9,}{sums['bytes']:>13,}{wasted:>8}  ", words)
            words = ""
        if (file, line) not in asked:
            _row(f"{line:>4}  {_source(file, line)[:48]:<50}", words)


def _row(left, words):
    rest = console.wrap(words, " " * 26, "") if words else [""]
    if len(left) + len(words) <= console.WIDTH:
        console.say((left + words).rstrip())
        return
    console.say(left.rstrip())
    for line in console.wrap(words, " " * 26) if rest else ():
        console.say(line)


def _place(file):
    """A file as the interpreter's counts name it; Triton's own library has no lines of the day's."""
    return "" if "site-packages" in file or file.startswith("/") else file


def _source(file, line):
    try:
        return (paths.ROOT / file).read_text(encoding="utf-8").splitlines()[line - 1].strip()
    except (OSError, IndexError):
        return ""


def say_architectures(made):
    console.say(f"{'':7}{'registers':>10}{'stack':>8}{'shared':>10}{'widest load':>13}{'instructions':>14}  tensor cores")
    for one in made:
        if "refused" in one:
            for line in console.wrap(f"sm_{one['sm']}  refused: {one['refused']}", "       ", ""):
                console.say(line)
            continue
        values = metrics.of_code(one)
        size = lambda count: f"{count:,} B" if count else "-"
        console.say(f"sm_{one['sm']:<4}{values['registers']:>10}{size(values['spilled']):>8}{size(values['shared']):>10}"
                    f"{_bits(values['load_bits']):>13}{values['instructions']:>14}  {_tensor(one)}")


def _besides(day, variant, collected):
    """What the rungs' ladder asks for besides, a line a metric: of {rung: (counted, compiled)}."""
    ladder = python_ladders.of_variant(day, variant)
    named = python_judge.named_of(day, ladder["asks"], metrics.TRITON) if ladder["by"] == "triton" else []
    if not named or not collected:
        return
    values = [_values(*found) for found in collected.values()]
    across, width = max(len(metric.label) for metric in named) + 2, max(9, *(len(name) + 2 for name in collected))
    if len(collected) > 1:
        console.say(" " * across + "".join(f"{name:>{width}}" for name in collected))
    for metric in named:
        console.say(f"{metric.label:{across}}" + "".join(f"{metric.shown(one[metric.key]) if metric.key in one else '-':>{width}}" for one in values))
    console.say()


def _values(counted, made):
    """{a metric's key: its value} of what was counted and of what was compiled: without what nobody counted, or what the compiler refused."""
    code = next(one for one in made if one["sm"] == metrics.ARCHITECTURE)
    return {**(metrics.of_counts(counted) if counted["result"] != "compiled" else {}), **({} if "refused" in code else metrics.of_code(code))}


def _bits(count):
    return f"{count // 8} B" if count else "-"


def _tensor(made):
    counts = sum(map(metrics.instructions, made["kernels"]), Counter())
    names = sorted({kind.split(".")[0] for kind in counts if sass.grouped({kind: 1})["tensor"]})
    return ", ".join(f"{sum(n for kind, n in counts.items() if kind.split('.')[0] == name)} {name}" for name in names) or "none"


def _day(day, given, more):
    names = list(rungs.of_day(day))
    collected = {}
    for name in names:
        try:
            collected[name] = _asked(day, name, more, lines=False, arch="" if given.get("--json") else str(metrics.ARCHITECTURE))
        except DaysError as error:
            if error.code == WRONG or more:
                collected[name] = None
                continue
            raise
    if given.get("--json"):
        outputs.put_json(given.get("--json"), {"variants": [{"day": day.target, "variant": name, **found[0], "compiled": found[1]}
                                                            for name, found in collected.items() if found]})
        return 0
    console.say(console.paint(f"Day {day.label}, counted in Triton's interpreter; code of sm_{metrics.ARCHITECTURE}", "bold"))
    _say_device(next((found[0] for found in collected.values() if found and found[0]["assumed_device"]), {"assumed_device": ""}))
    width = max(len(name) for name in names) + 1
    wave = next((found[0]["wave"] for found in collected.values() if found and found[0]["wave"]), 0)
    third = "wave/in" if wave else "stored/out"
    console.say(f"{'rung':<{width}}{'programs':>10}{'loaded/in':>11}{third:>12}{'wasted':>8}{'widest load':>13}{'instructions':>14}")
    for name, found in collected.items():
        if not found:
            console.say(f"{name:<{width}}  does not run with these flags")
            continue
        values = metrics.of_counts(found[0])
        count = f"{values['wave_reads']:.2f}" if found[0]["wave"] else "-" if wave else f"{values['writes_per_output']:.2f}"
        counted = f"{values['programs']:>10,}{values['reads_per_input']:>11.2f}{count:>12}{values['wasted_sectors']:>8.0%}"
        if found[0]["result"] == "compiled":
            counted = f"{'compiled, not interpreted':>{len(counted)}}"
        values = _values(*found)
        code = f"{_bits(values['load_bits']):>13}{values['instructions']:>14}" if "instructions" in values else f"{'refused by the compiler':>27}"
        console.say(f"{name:<{width}}{counted}{code}")
    console.say()
    if wave:
        console.say(f"wave/in: the same where each {wave} programs, which run at a time, share what they load.")
    for ladder in python_ladders.ladders(day):
        _besides(day, ladder["rungs"][0], {name: collected[name] for name in ladder["rungs"] if collected.get(name)})
    console.say("Lines?  " + console.paint(f"./days explain {day.number} {names[0]}", "cyan"))
    return 0
