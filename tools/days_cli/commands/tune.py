# SPDX-License-Identifier: MIT
"""days tune: tries the numbers that a kernel leaves open. On a GPU by the clock, without one by what nvcc makes of each."""
from __future__ import annotations

from days_cli import arguments, catalog, console, exercises, judge, nvcc_code, outputs, paths, tuner
from days_cli import gpu as gpus
from days_cli.errors import WRONG, DaysError

USAGE = "DAY"
SUMMARY = "tries the numbers that a kernel leaves open"
HELP = """./days tune DAY              the best candidates of the day's space
  --first N                 compile (on a GPU: measure) so many, default 12
  --class large|medium|small  what they are for (default large)
  --check N                 without a GPU: check results of the first N (1)
  --arch 75|80|90a|...      without a GPU: rank for this one (default 90a)
  --processors N            and so many multiprocessors
  --why                     what each constraint rules out, and compile none
  --record                  on a GPU: its row of the rung's table
  --json [FILE]             the candidates as JSON
  --color auto|always|never

A candidate is checked on all of the ladder's cases before it is timed, and is
remembered in build/tune. Without a GPU no time is told: candidates are ranked by
registers, spills, warps in flight and counted turns. More: docs/tuning.md"""

CLASSES = ("large", "medium", "small")


def run(args):
    given = arguments.parse("tune", arguments.json_alone(list(args)),
                            {"--first": None, "--class": CLASSES, "--check": None, "--arch": None, "--processors": None,
                             "--json": None}, ("--record", "--why"), 1)
    if given.get("--help"):
        console.say(HELP)
        return 0
    outputs.check_json(given.get("--json"), "tune")
    if not given.words:
        raise DaysError("tune which day?", "./days tune 39")
    first, checks = _count(given, "--first", 12, 1), _count(given, "--check", 1, 0)
    processors = _count(given, "--processors", 0, 1)
    day = catalog.resolve(given.words[0], "tune")
    space = tuner.space_of(day)
    purpose = given.get("--class", "large")
    gpu = None if given.get("--arch") else gpus.detect().gpu
    if given.get("--record") and not gpu:
        raise DaysError("--record needs the GPU that the row is for; what is ranked without one has its row already",
                        f"./days tune {day.number}")
    if given.get("--record") and not (paths.ROOT / day.target / "tunings.h").is_file():
        raise DaysError(f"day {day.label} has no table of tunings: the winner's numbers go into its rung by hand", f"./days tune {day.number}")
    arch, device = _device(gpu, given, processors)
    if device.sm not in space.get("architectures", [device.sm]):
        raise DaysError(f"day {day.label}'s candidates are for sm_" + ", sm_".join(map(str, space["architectures"])) + " alone",
                        f"./days tune {day.number} --why --arch {space['architectures'][0]}a")
    everything, out = tuner.candidates(space, device)
    wanted = space["classes"][purpose]
    found = [candidate for candidate in everything if _is_for(candidate, wanted)]
    where = f"a {gpu.name}" if gpu else f"sm_{arch} with {device.multiprocessors} multiprocessors"
    console.say(f"Day {day.label}, {purpose}, for {where}:")
    console.say(f"{len(found)} of {len(everything) + sum(out.values()):,} combinations are possible.")
    if given.get("--why"):
        for because, count in sorted(out.items(), key=lambda item: -item[1]):
            console.say(f"{count:>9,}  not: {because}")
        return 0
    if not found:
        raise DaysError(f"nothing is left for {where}: ./days tune {day.number} --why says which constraint is in the way",
                        f"./days tune {day.number} --why")
    chosen = tuner.ranked(found, device, wanted["sizes"])[:first]  # by the space alone, so the same whatever is known
    cache = tuner.Cache(day, f"{gpu.name if gpu else ''} sm {arch}")
    for candidate in everything:
        cache.fill(candidate)
    _compile(day, chosen, arch, cache)
    chosen = tuner.ranked(chosen, device, wanted["sizes"])
    wrong = _measure(day, chosen, wanted["sizes"], cache) if gpu else _check(day, chosen[:checks], cache)
    if not gpu:
        for candidate in chosen[checks:]:
            candidate.verdict = ""  # another call may have checked it: the same words print the same table
    _table(chosen, device, wanted["sizes"], bool(gpu), space.get("rate", "FFMA"))
    if given.get("--json"):
        outputs.put_json(given.get("--json"), _json(chosen, arch, device, wanted["sizes"], gpu))
    if given.get("--record"):
        _record(day, space, everything, gpu)
    return WRONG if wrong else 0


def _is_for(candidate, wanted):
    """Whether a candidate is one for this class of sizes."""
    return tuner.value(wanted["constraint"], {**candidate.values, **candidate.rest})


def _count(given, flag, default, least):
    text = given.get(flag)
    if text is None:
        return default
    if not text.isdecimal() or not least <= int(text) <= 10000:
        raise DaysError(f'{flag} is a number from {least} to 10000, not "{text}"', "./days tune --help")
    return int(text)


def _device(gpu, given, processors):
    arch = nvcc_code.architecture(given.get("--arch", "90a"))
    if gpu:
        arch = f"{gpu.sm}a" if gpu.sm == 90 else str(gpu.sm)
    sm = int(arch.rstrip("af"))
    known = tuner.DEVICES.get(sm)
    if not known:
        raise DaysError(f"--arch {arch}: its limits are not known here. Known are " + ", ".join(map(str, sorted(tuner.DEVICES))),
                        "./days tune --help")
    return arch, tuner.Device(sm, processors or known[0], known[1] * 1024, known[2])


def _file(day, candidate):
    """Its source, in build/tune; written only where it differs, so that what was built stays."""
    path = tuner.FOLDER / f"day{day.number:02d}" / candidate.file
    text = (f"// Made by ./days tune {day.number}.\n#define DAYS_CANDIDATE {candidate.numbers}\n"
            f'#include "{day.target}/tuning/candidate.cuh"\n')
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
    return path


def _compile(day, chosen, arch, cache):
    """Registers and spills of those that are not known yet."""
    new = [candidate for candidate in chosen if not candidate.registers]
    for i, candidate in enumerate(new):
        console.progress(f"compiling {i + 1}/{len(new)}  {candidate.name}")
        kernel = nvcc_code.compiled([_file(day, candidate)], arch, ["-I" + str(paths.ROOT)], lines=False)[0]
        candidate.registers, candidate.spills = kernel.registers, kernel.spill_stores + kernel.spill_loads
        cache.keep(candidate)
    console.clear_progress()


def _judged(day, candidate):
    return judge.Kernel(day, file=exercises.shown(str(_file(day, candidate))))


def _check(day, chosen, cache):
    """Results on this CPU, all cases of the ladder. How many are wrong."""
    wrong = 0
    for i, candidate in enumerate(chosen):
        if not candidate.verdict:
            console.progress(f"checking {i + 1}/{len(chosen)}  {candidate.name}")
            stage = judge.correct(_judged(day, candidate))[1]
            candidate.verdict = "ok" if stage.verdict == "ok" else (stage.lines or [stage.about])[0].strip()
            cache.keep(candidate)
        wrong += candidate.verdict != "ok"
    console.clear_progress()
    return wrong


def _measure(day, chosen, sizes, cache):
    """Checks each on this GPU, then times it; one that is wrong is not timed. How many are wrong."""
    wrong = 0
    for i, candidate in enumerate(chosen):
        kernel = _judged(day, candidate)
        if not candidate.verdict:
            console.progress(f"checking {i + 1}/{len(chosen)}  {candidate.name}")
            stage = judge.correct(kernel, "cuda")[1]
            candidate.verdict = "ok" if stage.verdict == "ok" else (stage.lines or [stage.about])[0].strip()
            cache.keep(candidate)
        wrong += candidate.verdict != "ok"
        for size in sizes if candidate.verdict == "ok" else ():
            if size in candidate.seconds:
                continue
            console.progress(f"timing {i + 1}/{len(chosen)}  {candidate.name} at {size}")
            table, failed = judge.timed(kernel, [kernel.variant], ["--size", size])
            if failed:
                candidate.verdict, wrong = f"{failed.about} at {size}", wrong + 1
                break
            candidate.seconds[size] = next(one["seconds"] for one in table["rows"] if one["name"] == kernel.variant)
        cache.keep(candidate)
    console.clear_progress()
    return wrong


def _table(chosen, device, sizes, timed, rate):
    if timed:
        chosen.sort(key=lambda c: (c.verdict != "ok", sum(c.seconds.get(size, 1e9) for size in sizes)))
    else:
        console.say("No GPU: nothing is timed. Ranked by registers, spills, warps in flight and")
        console.say("counted turns. Results are checked on this CPU; - is not checked.")
    console.say()
    last = "".join(f" {size.split('x')[0] + ' ms':>7}" for size in sizes) if timed else "  at most"
    console.say(_numbers(chosen[0])[0] + f"{'regs':>5}{'spills':>7}{'warps':>6}{'shared':>7}{last}  result")
    for c in chosen:
        figures = ("".join(f" {1e3 * c.seconds[size]:7.3f}" if size in c.seconds else f"{'-':>8}" for size in sizes) if timed
                   else f"{tuner.share(c, device, sizes):>9.0%}")
        row = (_numbers(c)[1] + f"{c.registers:>5}"
               + f"{f'{c.spills} B' if c.spills else '-':>7}{tuner.flight(c, device)[1]:>6}{c.rest['shared'] / 1024:>6.0f}K{figures}  ")
        console.say(row + (c.verdict or "-") if c.verdict in ("ok", "") else row + "FAIL")
        if c.verdict not in ("ok", ""):
            console.say(f"    {c.verdict[:console.WIDTH - 4]}")
    if not timed:
        console.say()
        console.say(f"At most: of the {rate} rate, by the counts alone. With a GPU the clock decides.")


def _numbers(candidate):
    """(heading, figures) of what a candidate is."""
    v = candidate.values
    if "warp_m" not in v:
        return "".join(f"{name:>{len(name) + 1}}" for name in v), "".join(f"{value:>{len(name) + 1}}" for name, value in v.items())
    return (f"{'block':<10}{'warp':>7}{'thread':>7}{'stages':>7}",
            f"{v['block_m']}x{v['block_n']}x{v['block_k']}".ljust(10) + f"{v['warp_m']}x{v['warp_n']}".rjust(7)
            + f"{v['thread_m']}x{v['thread_n']}".rjust(7) + f"{v['stages']:>7}")


def _json(chosen, arch, device, sizes, gpu):
    return {"architecture": arch, "device": gpu.name if gpu else None, "multiprocessors": device.multiprocessors, "sizes": sizes,
            "candidates": [{**c.values, "threads": c.rest["threads"], "shared_bytes": c.rest["shared"], "registers": c.registers,
                            "spill_bytes": c.spills, "warps": tuner.flight(c, device)[1],
                            "counted_share": round(tuner.share(c, device, sizes), 4), "result": c.verdict or None,
                            "seconds": c.seconds} for c in chosen]}


def _record(day, space, found, gpu):
    """The rung's table, with the row of this GPU."""
    chosen = []
    for purpose in CLASSES:
        wanted = space["classes"][purpose]
        best = tuner.best([candidate for candidate in found if _is_for(candidate, wanted)], wanted["sizes"])
        if not best:
            raise DaysError(f"nothing was measured for {purpose}: a row has all three classes",
                            f"./days tune {day.number} --class {purpose}")
        chosen.append(best)
    path = paths.ROOT / day.target / "tunings.h"
    text, before = tuner.with_row(path.read_text(encoding="utf-8"), gpu.sm, gpu.name, chosen)
    path.write_text(text, encoding="utf-8")
    console.say(f"{path.relative_to(paths.ROOT)}: the row of sm_{gpu.sm}" + (" in place of\n" + before.strip() if before else " is new"))
