# SPDX-License-Identifier: MIT
"""days bench: builds a day's benchmark with CMake, runs it, shows its results as a table; without a day, all of them."""
from __future__ import annotations

import json
import os
import subprocess
import sys
import time

from days_cli import (arguments, builder, catalog, clocks, cmake_tools, compare, console, paths, processes, program_day,
                      programs, python_day, python_setup, result_table, results, stale, toolchain)
from days_cli import gpu as gpus
from days_cli.errors import ENVIRONMENT, WRONG, DaysError

USAGE = "[DAY] [flags]"
SUMMARY = "measures the kernels against the libraries"
HELP = """./days bench [DAY] [flags]     Google Benchmark: one day, or all of them

  --sweep                 each ladder's sizes from small to big, odd ones too
  --size 4096x33          this size alone
  --variant a,b           these rungs and libraries alone
  --type fp32|fp16|bf16   this element type alone
  --json FILE             results as JSON too (docs/results.md), - for standard
                          output and no table; a file that is there of another
                          GPU, CUDA or driver is kept
  --record                the same to docs/results/GPU/dayNN.json
  --stale                 what of docs/results/GPU is of kernels that have
                          changed since, or is missing; needs no GPU
  --stale --record        measures that, most needed first, and saves each
                          table; what is there already is not measured again
  --for 9m                with it: ends in time, and goes on when called again
  --compare               beside docs/results/GPU/dayNN.json: what is slower by
                          more than noise is marked, and the exit code is 1
  --against FILE          the same beside any result file
  --backend cuda|simt     where kernels run (default: the GPU if any)
  --preset NAME           this CMake preset (cpu, cpu-checked, cuda) instead
  --color auto|always|never
  --benchmark_...         and all after -- goes to the benchmark as it is, like
                          --benchmark_filter=vector --benchmark_out=FILE; then
                          Google Benchmark's own output is shown

Where this Python has a PyTorch that sees the GPU, a day's contestants from
there race too (dayNN_name/tests/contestants.py), and are in the same table.

Of a program day each program times itself, on a GPU alone.

Without a GPU each kernel is checked, and only the CPU's versions are timed.
Needs CMake, Ninja, GoogleTest and Google Benchmark; gets what is missing where
it may. The program is build/PRESET/bin/dayNN_bench."""

_VALUED = {"--backend": ("cuda", "simt"), "--preset": None, "--json": None, "--against": None, "--size": None,
           "--variant": None, "--type": None, "--for": None}


def run(args):
    cut = args.index("--") if "--" in args else len(args)
    raw = [arg for arg in args[:cut] if _for_benchmark(arg)] + args[cut + 1:]
    given = arguments.parse("bench", [arg for arg in args[:cut] if not _for_benchmark(arg)], _VALUED,
                            ("--sweep", "--record", "--compare", "--stale"), 1)
    if given.get("--help"):
        console.say(HELP)
        return 0
    if given.words:
        day = catalog.resolve(given.words[0], "bench")
        if day.kind == "python" and not given.get("--stale"):
            return _python(day, given, raw)
    days, program_days = _days(given)
    _check(given, days or program_days, raw)
    if given.get("--stale"):
        return _stale(days, program_days, given)
    worst = _ladders(days, given, raw) if days else 0
    for day in program_days:
        if day.kind == "python" and python_day.backend("simt" if given.get("--backend") == "simt" or raw else None)[0] == "cuda":
            worst = max(worst, _python(day, given, raw))
        elif day.kind == "python":
            console.note(f"Day {day.label} is a Python day: it is timed on a GPU alone, by ./days bench {day.number}")
        elif given.words or gpus.detect().gpu and given.get("--backend") != "simt" and not raw:
            worst = max(worst, _programs(day, given, raw))
        else:
            console.note(f"Day {day.label} is a program day: it is timed on a GPU alone, by ./days bench {day.number}")
    return worst


def _preset(days, given):
    """The CMake preset to measure these ladder days with; what it needs is installed."""
    backend, remark = "", ""
    if not given.get("--preset"):
        again = " ".join(["./days bench", *(str(day.number) for day in days[:1] if given.words), "--backend simt"])
        backend, remark = toolchain.choose_backend(given.get("--backend"), again)
    if remark:
        console.note(remark)
    preset = cmake_tools.preset_for(given.get("--preset"), backend)
    cmake_tools.ensure(["cmake", "ninja", "gtest", "benchmark"])
    os.environ.setdefault("DAYS_COMMIT", paths.commit())  # for the results
    return preset


def _ladders(days, given, raw):
    """Builds the benchmarks with CMake and runs them."""
    preset = _preset(days, given)
    with builder.lock(paths.BUILD / preset):
        cmake_tools.configure(preset)
        cmake_tools.build(preset, [f"day{day.number:02d}_bench" for day in days])
    worst = 0
    for day in days:
        program = paths.BUILD / preset / "bin" / f"day{day.number:02d}_bench"
        if len(days) > 1:
            console.say(("" if day is days[0] else "\n") + console.paint(f"Day {day.label}", "bold"))
        worst = max(worst, _as_it_is(program, raw) if raw else _bench(day, program, given))
    return worst


def _programs(day, given, raw):
    """A program day: its programs time themselves."""
    for flag in ("--sweep", "--type", "--preset"):
        if given.get(flag):
            raise DaysError(f"day {day.label} is a program day: {flag} means nothing to its programs", f"./days bench {day.number}")
    if raw:
        raise DaysError(f"day {day.label} is a program day: Google Benchmark does not time it", f"./days bench {day.number}")
    if given.get("--backend") == "simt":
        raise DaysError(f"the programs of day {day.label} time nothing on a CPU", f"./days run {day.number} --backend simt")
    program_day.require_gpu(day, "bench")
    os.environ.setdefault("DAYS_COMMIT", paths.commit())
    flags = ["--size", given.get("--size")] if given.get("--size") else []
    with clocks.Clocks() as sampled:
        found, code = program_day.measure(day, program_day.chosen(day, given.get("--variant"), "bench"), flags)
    return _keep(day, given, found, sampled, code) if found else code or WRONG


def _python(day, given, raw):
    """A Python day: its program times rungs and contestants in one process, on a GPU alone."""
    if raw or given.get("--preset"):
        raise DaysError(f"day {day.label} is a Python day: neither CMake nor Google Benchmark has a part in it", f"./days bench {day.number}")
    _check(given, [day], raw)
    where, remark = python_day.backend(given.get("--backend"), f"./days run {day.number}")
    if where != "cuda":
        raise DaysError(remark or f"./days bench times the rungs of day {day.label} on a GPU, and there is none here",
                        f"./days run {day.number}", ENVIRONMENT)
    file = paths.BUILD / "bench" / f"day{day.number:02d}.json"
    found, sampled, code = _python_measured(day, given, file)
    return _keep(day, given, found, sampled, code, file)


def _python_measured(day, given, file):
    """(results, clocks, exit code) of a run of a Python day's benchmark."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.unlink(missing_ok=True)
    os.environ.setdefault("DAYS_COMMIT", paths.commit())
    flags = [word for flag in ("--size", "--variant", "--type") if given.get(flag) for word in (flag, given.get(flag))]
    with clocks.Clocks() as sampled:
        code = python_day.run_here(day, ["bench", "--json", str(file), *flags, *(["--sweep"] if given.get("--sweep") else [])], "cuda")
    if not file.exists():
        raise DaysError(f"the benchmark of day {day.label} measured nothing", f"./days run {day.number}", code or WRONG)
    return results.load(file), sampled, code


def _days(given):
    """(ladder days, program days) of what is asked for, or of all that are here."""
    days = [catalog.resolve(given.words[0], "bench")] if given.words else catalog.here()
    program_days = [day for day in days if day.kind in ("program", "python")]  # those without CMake's benchmark
    days = [day for day in days if (day.folder / "ladder.cpp").exists()]
    if not days and not program_days:
        raise DaysError(f"day {given.words[0]} has no benchmark" if given.words else "no day has a benchmark",
                        "./days list")
    return days, program_days


def _check(given, days, raw):
    """Combinations that mean nothing, before anything is built."""
    for flag in ("--json", "--against", "--size", "--variant"):
        if given.get(flag) and not given.words:
            raise DaysError(f"{flag} is for one day", f"./days bench {days[0].number} {flag} {given.get(flag)}")
    if given.get("--for"):
        stale.seconds(given.get("--for"))
        if not (given.get("--stale") and given.get("--record")):
            raise DaysError("--for is for --stale --record", f"./days bench --stale --record --for {given.get('--for')}")
    if given.get("--stale"):
        for flag in ("--json", "--against", "--compare", "--size", "--variant", "--type"):
            if given.get(flag):
                raise DaysError(f"--stale measures what is missing, and {flag} something else", "./days bench --help")
    if raw:
        for flag in ("--stale", "--sweep", "--record", "--compare", "--against", "--json", "--size", "--variant", "--type"):
            if given.get(flag):
                raise DaysError(f"{flag} is for the table; Google Benchmark's flags replace it", "./days bench --help")
    if given.get("--against"):
        results.load(given.get("--against"))
    if given.get("--json"):
        results.check_place(given.get("--json"))


def _for_benchmark(argument):
    return argument.startswith("--benchmark_")


def _call(program, flags):
    ended = programs.run_here([program, *flags])
    if ended.problem:
        raise programs.Died(program, ended)
    return ended.code


def _as_it_is(program, flags):
    return _call(program, ["--benchmark_color=" + ("true" if console.coloured(sys.stdout) else "false"), *flags])


def _bench(day, program, given):
    file = paths.BUILD / "bench" / f"day{day.number:02d}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.unlink(missing_ok=True)
    flags = [word for flag in ("--size", "--variant", "--type") if given.get(flag) for word in (flag, given.get(flag))]
    try:
        with clocks.Clocks() as sampled:
            code = _call(program, ["--quiet", "--json", str(file), *flags, *(["--sweep"] if given.get("--sweep") else [])])
            if file.exists() and not given.get("--variant") and results.load(file)["backend"] == "cuda":
                code = max(code, _race_python(day, file))
    except BaseException:  # Ctrl-C, too
        if file.exists():
            console.note(f"what was measured until then: {results.shown(file)}")
        raise
    if not file.exists():
        return code or WRONG
    found = results.load(file)
    return _keep(day, given, found, sampled, code, file)


def _keep(day, given, found, sampled, code, file=None):
    """Shows what was measured, compares and records it; the exit code."""
    if found["backend"] == "cuda" and sampled.summary():
        found["clocks"] = sampled.summary()
    if file:
        results.write(file, found)
    to_stdout = given.get("--json") == "-"
    console.say(json.dumps(found, indent=2) if to_stdout else result_table.render(found))
    gpu = results.slug(found["device"]["name"])
    # Compared first: recording replaces what is compared with.
    if given.get("--compare") or given.get("--against"):
        code = max(code, _compare(day, gpu, given, found, console.note if to_stdout else console.say))
    targets = [given.get("--json")] if given.get("--json") and not to_stdout else []
    if given.get("--record"):
        stale.stamp(found)
        if found["backend"] != "cuda":
            raise DaysError("--record keeps a GPU's times, and there is no GPU here", f"./days bench {day.number}")
        targets.append(results.committed(gpu, day))
    for target in targets:
        path, remarks = results.save(target, found)
        for remark in remarks:
            console.note(remark)
        console.note(f"results: {results.shown(path)}")
    return code


def _say_stale(days):
    """What --stale --record would measure, as far as it is known before anything is built."""
    for gpu in results.recorded() or ["h200"]:
        wanted = [(*need, day) for day in days for need in [stale.need(gpu, day)] if need]
        for _, why, day in sorted(wanted, key=lambda entry: (entry[0], entry[2].number)):
            for line in console.wrap(f"{day.label}: {why}", "    ", f"{gpu}  "):
                console.say(line)
        console.say(f"{gpu}: {len(wanted)} of {len(days)} days have something to measure"
                    + (". On that GPU:\n  ./days bench --stale --record --for 9m" if wanted else ""))
    return 0


def _stale(days, program_days, given):
    """--stale: says what has to be measured; with --record measures it, as much as --for leaves time for."""
    if not given.get("--record"):
        return _say_stale([*days, *program_days])
    if days:
        preset = _preset(days, given)
        on_gpu = preset == "cuda"
    else:
        preset, on_gpu = None, bool(gpus.detect().gpu) and given.get("--backend") != "simt"
        os.environ.setdefault("DAYS_COMMIT", paths.commit())
    if not on_gpu:
        raise DaysError("--stale --record measures on a GPU, and there is none here", "./days bench --stale", ENVIRONMENT)
    return _measure_stale(days, program_days, preset, stale.seconds(given.get("--for")) if given.get("--for") else None)


def _measure_stale(days, program_days, preset, most):
    """Measures what is missing or has changed, day by day, until `most` seconds have passed."""
    began = time.monotonic()

    def left():
        return most - (time.monotonic() - began) if most else float("inf")

    for day in days:  # what an earlier run left behind, whatever ended it
        part = _part(day)
        if part.exists():
            _merge_part(day, part)
            part.unlink()
    gpu = results.slug(gpus.detect().gpu.name) if gpus.detect().gpu else (results.recorded() or ["gpu"])[0]
    # Days of which nothing is known to be stale come last: a table may be new, which their benchmark says.
    ranked = sorted([*days, *program_days], key=lambda day: ((stale.need(gpu, day) or (3, ""))[0], day.number))
    worst = measured = waiting = 0
    if days:
        with builder.lock(paths.BUILD / preset):
            cmake_tools.configure(preset)
    for day in ranked:
        if left() <= 0:
            waiting += bool(stale.need(gpu, day))
            continue
        if day.kind == "python":
            done, needed = 0, stale.need(gpu, day)
            if needed and python_setup.with_gpu()[0]:
                found, sampled, code = _python_measured(day, arguments.parse("bench", ["--sweep"], {}, ("--sweep",)), _part(day))
                if sampled.summary():
                    found["clocks"] = sampled.summary()
                _merge(day, found)
                _part(day).unlink()
                worst, done = max(worst, code), len(found["tables"])
            measured, waiting = measured + done, waiting + bool(needed and not done)
            continue
        if day in program_days:
            code, done, wanted = _measure_programs(day, gpu, left)
            worst, measured, waiting = max(worst, code), measured + done, waiting + (done < wanted)
            if wanted:
                console.say(f"Day {day.label}: {done} of {wanted} programs measured")
            continue
        with builder.lock(paths.BUILD / preset):
            cmake_tools.build(preset, [f"day{day.number:02d}_bench"])
        program = paths.BUILD / preset / "bin" / f"day{day.number:02d}_bench"
        listed = stale.parse_tables(toolchain.output_of([str(program), "--tables"]))
        wanted = stale.stale_tables(listed, stale.fresh_tables(gpu, day))
        if not wanted or left() <= 0:
            waiting += bool(wanted)
            continue
        code, done = _measure_tables(day, program, wanted, left)
        worst, measured, waiting = max(worst, code), measured + done, waiting + (done < len(wanted))
        console.say(f"Day {day.label}: {done} of {len(wanted)} tables measured")
    if waiting:
        console.say(f"{measured} tables measured, {waiting} days wait. Next: ./days bench --stale --record"
                    + (" --for 9m" if most else ""))
    else:
        console.say(f"{measured} tables measured, nothing waits. Next: ./days report")
    return worst


def _measure_programs(day, gpu, left):
    """(exit code, how many programs are saved, how many had to be measured). Each is saved as soon as it has ended."""
    wanted, worst, done = stale.stale_programs(gpu, day), 0, 0
    for name in wanted:
        if left() <= 0:
            break
        with clocks.Clocks() as sampled:
            found, code = program_day.measure(day, [name], [])
        worst = max(worst, code)
        if not found:
            continue
        if sampled.summary():
            found["clocks"] = sampled.summary()
        _merge(day, found)
        done += 1
    return worst, done, len(wanted)


def _part(day):
    return paths.BUILD / "bench" / f"day{day.number:02d}.stale.json"


def _measure_tables(day, program, wanted, left):
    """(exit code, how many tables are saved). Each is saved as soon as the benchmark has written it."""
    part = _part(day)
    part.parent.mkdir(parents=True, exist_ok=True)
    only = part.with_suffix(".only")
    only.write_text("".join(key + "\n" for key in wanted), encoding="utf-8")
    command = [str(program), "--quiet", "--sweep", "--json", str(part), f"--only={only}"]
    if left() != float("inf"):
        command.append(f"--for={max(1, left()):.1f}")
    with clocks.Clocks() as sampled:
        process, seen = processes.start(command), None
        try:
            while process.poll() is None:
                time.sleep(0.2)
                if part.exists() and part.stat().st_mtime_ns != seen:
                    seen = part.stat().st_mtime_ns
                    _merge_part(day, part)
        finally:
            if process.poll() is None:
                processes.end([process])
            if part.exists():
                _merge_part(day, part)
    code = process.returncode
    if code < 0:
        console.note(f"day{day.number:02d}_bench was ended by {processes.name_of(code)}; what it had measured is kept")
        code = WRONG
    if not part.exists():
        return code or WRONG, 0
    if left() > 0:
        code = max(code, _race_python(day, part))
    found = results.load(part)
    if sampled.summary():
        found["clocks"] = sampled.summary()
        results.write(part, found)
    _merge_part(day, part)
    part.unlink()
    only.unlink()
    return code, len(found["tables"])


def _merge_part(day, part):
    new = results.load(part)
    if new["backend"] != "cuda":
        raise DaysError(f"{results.shown(part)} is of no GPU", f"./days bench {day.number}")
    if new["tables"]:
        _merge(day, new)


def _merge(day, new):
    """Puts these tables into the recorded file of the machine that measured them."""
    stale.stamp(new)
    target, _ = results.place(results.committed(results.slug(new["device"]["name"]), day), new)
    results.write(target, stale.merge(results.load(target) if target.exists() else None, new))


def _race_python(day, file):
    """Adds PyTorch's contestants to the results, where the day has some and this Python has a PyTorch with CUDA."""
    if not (day.folder / "tests" / "contestants.py").exists():
        return 0
    has = subprocess.run([sys.executable, "-c", "import sys, torch; sys.exit(not torch.cuda.is_available())"], check=False,
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0
    if not has:
        console.note(f"PyTorch's contestants are left out: {sys.executable} has no torch that sees the GPU. pip install torch")
        return 0
    code = _call(sys.executable, [str(paths.ROOT / "bench" / "contestants.py"), str(day.number), "--results", str(file)])
    if code > WRONG:
        console.note("PyTorch's contestants are left out: the message above says why")
        return 0
    return code


def _compare(day, gpu, given, found, say):
    path = given.get("--against") or results.committed(gpu, day)
    if not given.get("--against") and not path.exists():
        there = results.recorded(day.number)
        raise DaysError(f"no results of day {day.label} on {found['device']['name']} are recorded"
                        + (f"; there are those of {', '.join(there)}" if there else ""),
                        f"./days bench {day.number} --against {results.shown(results.committed(there[0], day))}" if there
                        else f"./days bench {day.number} --record")
    lines, regression = compare.report(path, results.load(path), found, bool(given.get("--variant")))
    for line in ("", *lines):
        say(line)
    return WRONG if regression else 0
