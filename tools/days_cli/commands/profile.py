# SPDX-License-Identifier: MIT
"""days profile: where a warp's time goes, by the counters of the GPU that is here."""
from __future__ import annotations

import datetime
import os
import time

from days_cli import arguments, catalog, cmake_tools, console, paths, profiles, result_table, results, run_build, stale, toolchain
from days_cli.builder import lock
from days_cli.errors import ENVIRONMENT, WRONG, DaysError

USAGE = "DAY [VARIANT]"
SUMMARY = "what a GPU's warps wait for, by its counters"
HELP = """./days profile DAY VARIANT      what this rung's warps wait for on your GPU
./days profile DAY              a sentence on each rung
./days profile --stale          rungs that were never profiled, or have changed

  --record                 keeps it in docs/results/GPU/profiles/dayNN.json;
                           ./days report then writes it under the rung's heading
  --for 5m                 with --stale --record: begins no rung after that time.
                           The most needed come first, and each is saved at once
  --recorded GPU           shows what is committed of that GPU; needs none
  --size 4096x33           another shape than that of the day's first table
  --type fp32|fp16|bf16    another type
  --color auto|always|never

Needs a GPU, its driver's permission to read counters, and ncu of Nsight Compute.
What the words mean: docs/glossary.md#stall"""

_SHOWN = 5  # stalls of a table


def run(args):
    given = arguments.parse("profile", args, {"--for": None, "--recorded": None, "--size": None, "--type": None}, ("--stale", "--record"), 2)
    if given.get("--help"):
        console.say(HELP)
        return 0
    _check(given)
    if given.get("--stale"):
        return _measure_stale(given) if given.get("--record") else _say_stale()
    if not given.words:
        raise DaysError("profile which day?", "./days profile 14 online")
    day = catalog.resolve(given.words[0], "profile")
    if not day.kind.links:
        raise DaysError(f"profile is for days whose rungs are CUDA C++, and day {day.label} is not. ncu itself profiles any program", "ncu --help")
    if given.get("--recorded"):
        return _recorded(day, given)
    names = [name for _, name in profiles.variants(day)]
    if len(given.words) == 2:
        arguments.known_variant("profile", given.words[1], names, day)
        names = [given.words[1]]
    return _profile(day, names, given)


def _check(given):
    """Combinations that mean nothing."""
    if given.get("--for"):
        stale.seconds(given.get("--for"))
        if not (given.get("--stale") and given.get("--record")):
            raise DaysError("--for is for --stale --record", f"./days profile --stale --record --for {given.get('--for')}")
    for flag in ("--size", "--type"):
        if given.get(flag) and (given.get("--record") or given.get("--stale") or given.get("--recorded")):
            raise DaysError(f"{flag} is for a look: what is kept is of the shape and type that the day's first table has", "./days profile --help")
    if given.get("--stale") and given.words:
        raise DaysError(f'--stale goes through all days: "{given.words[0]}" has no place there', "./days profile --stale")
    if given.get("--recorded") and (given.get("--stale") or given.get("--record")):
        raise DaysError("--recorded shows what is there, and takes nothing new", "./days profile --help")


# ---- taking ----

def _program(day):
    """The day's executable, brought up to date: CMake's where its GPU build is there, else that of ./days run."""
    os.environ.setdefault("DAYS_COMMIT", paths.commit())
    if (paths.BUILD / "cuda" / "build.ninja").exists():
        with lock(paths.BUILD / "cuda"):
            cmake_tools.build("cuda", [day.target])
        return paths.BUILD / "cuda" / "bin" / day.target
    return run_build.build_day(day, "cuda")


def _machine(again):
    """(GPU's slug, ncu, facts); DaysError where this machine cannot profile."""
    probe, ncu = profiles.tools(again)
    toolchain.choose_backend("cuda", again)
    return results.slug(probe.gpu.name), ncu, profiles.facts(probe, ncu)


def _take(gpu, ncu, day, program, variant, kind="", size=""):
    """A record of one rung, of the type and shape that its heading's time has where nothing else is asked for."""
    here = profiles.headline(gpu, day).get(variant)
    kind = kind or (here or profiles.headline(gpu, day, others=True).get(variant) or ("", "", ""))[1]
    row = profiles.take(ncu, program, variant, kind, size or (here[2] if here else ""))
    return {**row, "source": stale.kernels(day.target).number(variant), "commit": paths.commit(),
            "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")}


def _profile(day, names, given):
    there = results.recorded(day.number)
    gpu, ncu, facts = _machine(f"./days profile {day.number} --recorded {there[0]}" if there and profiles.load(there[0], day)["rows"]
                               else f"./days explain {day.number}")
    program, code, files = _program(day), 0, set()
    for variant in names:
        console.progress(f"profiling {variant}")
        try:
            row = _take(gpu, ncu, day, program, variant, given.get("--type", ""), given.get("--size", ""))
        except DaysError as error:
            if len(names) == 1 or error.code == ENVIRONMENT:
                raise
            console.clear_progress()
            code = code if isinstance(error, profiles.NotHere) else WRONG
            _sentence(variant, error.message)
            continue
        console.clear_progress()
        if given.get("--record"):
            files.add(profiles.save(gpu, day, facts, row))
        if len(names) == 1:
            _show(day, row, facts)
        else:
            _sentence(variant, profiles.line(row))
    for file in sorted(files):
        console.note(f"{results.shown(file)}. Next: ./days report")
    return code


def _ladder_days():
    return [day for day in catalog.here() if day.kind.links]


def _say_stale():
    for gpu in results.recorded() or ["h200"]:
        found = {}
        for day, variant, why in profiles.waiting(gpu, _ladder_days()):
            found.setdefault(day, {}).setdefault(why, []).append(variant)
        for day, whys in found.items():
            for line in console.wrap(f"{day.label}: " + "; ".join(f"{why}: {', '.join(names)}" for why, names in whys.items()), "    ", f"{gpu}  "):
                console.say(line)
        rungs = sum(len(names) for whys in found.values() for names in whys.values())
        console.say(f"{gpu}: {_count(rungs, 'rung')} of {_count(len(found), 'day')} wait for a profile"
                    + (". On that GPU:\n  ./days profile --stale --record --for 5m" if rungs else ""))
    return 0


def _measure_stale(given):
    began = time.monotonic()
    most = stale.seconds(given.get("--for")) if given.get("--for") else float("inf")
    gpu, ncu, facts = _machine("./days profile --stale")
    programs, taken, failed, code = {}, 0, [], 0
    wanted = profiles.waiting(gpu, _ladder_days())
    for day, variant, _ in wanted:
        if time.monotonic() - began >= most:
            break
        try:
            if day not in programs:
                programs[day] = _program(day)
            row = _take(gpu, ncu, day, programs[day], variant)
        except DaysError as error:
            if error.code == ENVIRONMENT:
                raise
            failed.append(variant)
            code = code if isinstance(error, profiles.NotHere) else WRONG
            _sentence(f"{day.number} {variant}", error.message)
            continue
        profiles.save(gpu, day, facts, row)
        taken += 1
        _sentence(f"{day.number} {variant}", profiles.line(row))
    waits = len(wanted) - taken - len(failed)
    if failed:
        console.say(f"{len(failed)} not possible")
    again = "./days profile --stale --record" + (f" --for {given.get('--for')}" if given.get("--for") else "")
    waiting = f"{waits} wait{'s' * (waits == 1)}. Next: {again}" if waits else "nothing waits. Next: ./days report"
    console.say(f"{_count(taken, 'rung')} profiled, {waiting}")
    return code


# ---- showing ----

def _sentence(name, text):
    for line in console.wrap(text, " " * 18, f"{name:<17} "):
        console.say(line)


def _recorded(day, given):
    gpu = given.get("--recorded").lower()
    found = profiles.load(gpu, day)
    rows = [row for row in found["rows"] if given.words[1:] in ([], [row["variant"]])]
    if not rows:
        names = [row["variant"] for row in found["rows"]]
        raise DaysError(f"no profile of day {day.label}" + (f"'s {given.words[1]}" if given.words[1:] else "") + f' on "{given.get("--recorded")}" is recorded'
                        + (f"; there are {', '.join(names)}" if names else ""),
                        f"./days profile {day.number} {given.words[1]} --record" if given.words[1:] else "./days profile --stale")
    for row in rows:
        if len(rows) == 1:
            _show(day, row, {**found, **row.get("by", {})}, "recorded, not taken now")
        else:
            _sentence(row["variant"], profiles.line(row) + (stale.MARK if profiles.has_changed(day, row) else ""))
    if any(profiles.has_changed(day, row) for row in rows):
        console.say("†: its kernel has changed since. ./days profile --stale --record takes it again.")
    return 0


def _show(day, row, facts, how="clocks as they are, caches empty before the launch"):
    size = row["size"].replace("x", " x ")
    console.say(console.paint(f"Day {day.number} {row['ladder']}, {row['variant']}, {size} {row['type']}", "bold"))
    versions = "".join(f", {what} {facts[key]}" for what, key in (("CUDA", "cuda"), ("driver", "driver_version"), ("ncu", "ncu")) if facts.get(key))
    for line in console.wrap(f"{facts['device']}{versions}; {how}", "  ", ""):
        console.say(line)
    console.say()
    largest = [entry for entry in profiles.stalls(row) if entry[0] >= 0.01][:_SHOWN]
    console.say(f"{'what a warp waits':<30}{'of its time':>12}{'cycles an instruction':>24}")
    for share, cycles, reason in largest:
        console.say(f"{profiles.words(reason)[0]:<30}{share:>12.0%}{cycles:>24.1f}")
    told = profiles.summary(row)
    percent = lambda value: "not counted" if value is None else f"{value:.0f}%"  # noqa: E731
    seconds = told["seconds"]
    console.say()
    for label, text in (("issue slots used", percent(told["slots"])), ("warps there", percent(told["warps"]) + " of those that could be"),
                        ("found in L1, in L2", f"{percent(told['l1'])}, {percent(told['l2'])} of the sectors asked for there"),
                        ("DRAM", f"{_bytes(told['read'])} read, {_bytes(told['written'])} written, "
                                 f"{result_table.digits((told['read'] + told['written']) / seconds / 1e9)} GB/s"),
                        ("time", result_table.time_text(seconds) + (f" of {_launches(row)} kernels" if _launches(row) > 1 else ""))):
        console.say(f"{label:<22}{text}")
    if len(row["kernels"]) > 1:
        console.say()
        for kernel in row["kernels"]:
            own = kernel["figures"][profiles.DURATION] * kernel.get("launches", 1) * 1e-9
            console.say(f"{own / seconds:>6.0%}  {kernel['kernel'][:56]}" + (f", {kernel['launches']} times" if kernel.get("launches", 1) > 1 else ""))
    for share, _, reason in largest[:3]:
        if share >= 0.05:
            name = reason.replace("_", " ")
            for number, line in enumerate(console.wrap(f"{name.capitalize()}: {profiles.words(reason)[1]}", "  ", "")):
                console.say(("\n" if number == 0 and reason == largest[0][2] else "") + line)


def _count(number, what):
    return f"{number} {what}" + ("s" if number != 1 else "")


def _launches(row):
    return sum(kernel.get("launches", 1) for kernel in row["kernels"])


def _bytes(count):
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("KB", 1e3)):
        if count >= scale:
            return f"{result_table.digits(count / scale)} {unit}"
    return f"{count:.0f} B"
