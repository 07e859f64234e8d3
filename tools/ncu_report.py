#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads a report of Nsight Compute (ncu) by the four questions of day 40, and lays it beside what `./days explain` counted.

    tools/ncu_report.py show FILE [--explain COUNTS.json] [--kernel NAME]
                            FILE: a report (.ncu-rep; needs ncu here), what `ncu --csv` printed, with --page raw or without,
                            or a recorded .json; COUNTS.json: of ./days explain DAY VARIANT --json COUNTS.json
    tools/ncu_report.py record GPU DAY [VARIANT ...]
                            on a machine with that GPU, ncu and nvcc: profiles each variant at the size that `run` takes there;
                            writes docs/results/GPU/reports/dayNN_VARIANT.json, and .txt, ncu's own page
    tools/ncu_report.py recorded DAY VARIANT [--kernel NAME]
                            what was recorded, as show has it; without a recording the command that makes one
    tools/ncu_report.py counted DAY VARIANT
                            what ncu counted for docs/counters.md: requests, sectors, conflicts alone

Exit code 1: explain counted something else than the report has. 2: a file that is no report, a variant that there is not.
"""
import csv
import io
import json
import math
import re
import shutil
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
import ncu_counters  # noqa: E402
from days_cli import stale  # noqa: E402
from ncu_counters import METRICS, ROOT, fail, function_name  # noqa: E402

SECTIONS = ("SpeedOfLight", "MemoryWorkloadAnalysis", "MemoryWorkloadAnalysis_Tables", "WarpStateStats", "LaunchStats", "Occupancy")
PEAK = 60  # % of a peak from which on ncu's own rules call a unit busy

_SOL, _LAUNCH, _OCCUPANCY = "GPU Speed Of Light Throughput", "Launch Statistics", "Occupancy"
MEMORY = "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"
ARITHMETIC = "sm__throughput.avg.pct_of_peak_sustained_elapsed"
DRAM = "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"
L2 = "lts__throughput.avg.pct_of_peak_sustained_elapsed"
L1 = "l1tex__throughput.avg.pct_of_peak_sustained_active"
DURATION = "gpu__time_duration.sum"
MULTIPROCESSORS = "launch__sm_count"
WAVES = "launch__waves_per_multiprocessor"
REGISTERS = "launch__registers_per_thread"
POSSIBLE = "sm__maximum_warps_per_active_cycle_pct"
ACHIEVED = "sm__warps_active.avg.pct_of_peak_sustained_active"
STALL = re.compile(r"smsp__average_warps_issue_stalled_(\w+)_per_issue_active\.ratio")
# What ncu's page calls a metric: (section, label). The raw page has the names themselves.
LABELS = {(_SOL, "Memory Throughput"): MEMORY, (_SOL, "Compute (SM) Throughput"): ARITHMETIC, (_SOL, "DRAM Throughput"): DRAM,
          (_SOL, "L2 Cache Throughput"): L2, (_SOL, "L1/TEX Cache Throughput"): L1, (_SOL, "Duration"): DURATION,
          (_LAUNCH, "# SMs"): MULTIPROCESSORS, (_LAUNCH, "Waves Per SM"): WAVES, (_LAUNCH, "Registers Per Thread"): REGISTERS,
          (_OCCUPANCY, "Theoretical Occupancy"): POSSIBLE, (_OCCUPANCY, "Achieved Occupancy"): ACHIEVED}
SAME = {"device__attribute_multiprocessor_count": MULTIPROCESSORS,  # names that releases of ncu have for one thing
        "dram__throughput.avg.pct_of_peak_sustained_elapsed": DRAM}
UNITS = {"ns": 1, "nsecond": 1, "us": 1e3, "usecond": 1e3, "ms": 1e6, "msecond": 1e6, "s": 1e9, "second": 1e9,
         "Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9}


# ---- reading ----

def extents(text):
    """(32, 1, 1) of "(32, 1, 1)" """
    return [int(number) for number in re.findall(r"\d+", text)]


def number(text, unit):
    """None for what is no number: "N/A", a name."""
    try:
        return float(text.replace(",", "")) * UNITS.get(unit, 1)
    except ValueError:
        return None


def parse(text):
    """[{kernel, grid, block, figures: {metric: value}}], a launch each, from what ncu --csv printed on either page. Bytes and
    nanoseconds."""
    lines = text.splitlines()
    heads = [i for i, line in enumerate(lines) if line.startswith(('"ID"', '"Kernel Name"'))]
    if not heads:
        return []
    rows = list(csv.DictReader(io.StringIO("\n".join(line for line in lines[heads[0]:] if line.startswith('"')))))
    return _details(rows) if rows and "Metric Name" in rows[0] else _raw(rows)


def _launch(row, figures=None):
    return {"kernel": function_name(row["Kernel Name"]), "grid": extents(row.get("Grid Size") or ""),
            "block": extents(row.get("Block Size") or ""), "figures": figures if figures is not None else {}}


def _details(rows):
    launches = {}
    for row in rows:
        launch = launches.setdefault(row.get("ID", ""), _launch(row))
        name = row["Metric Name"]
        if not name:
            continue  # a rule's row
        value = number(row["Metric Value"], row.get("Metric Unit", ""))
        if value is not None:
            name = LABELS.get((row.get("Section Name", ""), name), name)
            launch["figures"].setdefault(SAME.get(name, name), value)
    return list(launches.values())


def _raw(rows):
    units = rows[0] if rows and not rows[0].get("Kernel Name") else {}
    launches = []
    for row in rows:
        if not row.get("Kernel Name"):
            continue
        found = {SAME.get(name, name): number(text, (units.get(name) or "").strip()) for name, text in row.items() if name and text}
        launches.append(_launch(row, {name: value for name, value in found.items() if value is not None}))
    return launches


def read(path):
    """The launches of a file; ends the program where it holds none."""
    if not path.is_file():
        fail(f"there is no file {path}")
    if path.suffix == ".ncu-rep":
        if shutil.which("ncu") is None:
            fail(f"{path.name} is ncu's own format, and there is no ncu here. Where it was made:\n"
                 f"  ncu --import {path.name} --csv --page raw > {path.stem}.csv")
        text = ncu_counters.output_of(["ncu", "--import", path.resolve(), "--csv", "--page", "raw", "--print-units", "base"])
    else:
        text = path.read_text(encoding="utf-8", errors="replace")
    if "ERR_NVGPUCTRPERM" in text:
        fail(f"{path}: ncu was not allowed to read the GPU's counters (ERR_NVGPUCTRPERM). Day 40 says what to do without")
    try:
        launches = json.loads(text)["kernels"]
    except (ValueError, KeyError, TypeError):
        launches = parse(text)
    if not launches or not all(isinstance(launch.get("figures"), dict) for launch in launches):
        fail(f"{path} is no report: expected what ncu --csv prints, which has a line that begins with \"ID\"")
    return launches


# ---- the four questions ----

def busy(f):
    """Is anything busy? Of the peak of all multiprocessors together."""
    shares = [f"{words} {f[name]:.0f}%" for words, name in (("memory", MEMORY), ("arithmetic", ARITHMETIC), ("DRAM", DRAM), ("L2", L2))
              if name in f]
    told = [", ".join(shares)] if shares else []
    return [*told, f"L1 {f[L1]:.0f}%, of the cycles in which it has work"] if L1 in f else told


def enough(f, launch):
    """Are there enough blocks, and warps?"""
    blocks = math.prod(launch["grid"]) if launch["grid"] else 0
    told = []
    if blocks:
        of = f" for {f[MULTIPROCESSORS]:.0f} multiprocessors" if MULTIPROCESSORS in f else ""
        told.append(f"{blocks:,} blocks{of}" + (f", {f[WAVES]:.2f} waves" if WAVES in f else ""))
    if POSSIBLE in f:
        told.append(f"warps: {f[POSSIBLE]:.0f}% possible" + (f", {f[ACHIEVED]:.0f}% there" if ACHIEVED in f else "")
                    + (f"; {f[REGISTERS]:.0f} registers a thread" if REGISTERS in f else ""))
    return told


def used(f):
    """Are the sectors used, and the banks?"""
    told = []
    for op, words in (("ld", "load"), ("st", "store")):
        requests, sectors = f.get(METRICS[f"{op} requests"], 0), f.get(METRICS[f"{op} sectors"], 0)
        if requests:
            told.append(f"{words}: {sectors / requests:.1f} sectors a request")
    for op, words in (("ld", "load"), ("st", "store")):
        wavefronts, conflicts = f.get(METRICS[f"{op} wavefronts"], 0), f.get(METRICS[f"{op} conflicts"], 0)
        if wavefronts:
            told.append(f"shared {words}: {conflicts:,.0f} of {wavefronts:,.0f} wavefronts are conflicts")
    return told


def waits(f):
    """What do the warps wait for? The three that hold them up most."""
    stalls = sorted(((value, found[1]) for name, value in f.items() if (found := STALL.fullmatch(name)) and value > 0), reverse=True)[:3]
    return [f"{name.replace('_', ' ')}: {value:.1f} cycles an instruction" for value, name in stalls]


def first(f, launch):
    """The question that this report answers before all others, in a sentence."""
    blocks = math.prod(launch["grid"]) if launch["grid"] else 0
    if 0 < blocks < f.get(MULTIPROCESSORS, 0):
        return "Too few blocks, so that all shares of peaks are small: mend that first."
    if not (MEMORY in f and ARITHMETIC in f):
        return ""
    if max(f[MEMORY], f[ARITHMETIC]) < PEAK:
        return f"No unit is at {PEAK}% of its peak: ask what the warps wait for."
    if f[ARITHMETIC] > f[MEMORY]:
        return "Arithmetic is busy: ask which instructions (./days asm)."
    if f.get(DRAM, 0) >= PEAK:
        return "DRAM is busy: move fewer bytes, or stop here."
    return "Memory is busy, DRAM is not: ask whether sectors and banks are used."


QUESTIONS = (("Are there enough?", "LaunchStats --section Occupancy", enough),
             ("Is anything busy?", "SpeedOfLight", lambda f, launch: busy(f)),
             ("Are the sectors used?", "MemoryWorkloadAnalysis_Tables", lambda f, launch: used(f)),
             ("What do warps wait for?", "WarpStateStats", lambda f, launch: waits(f)))


def extents_text(numbers):
    numbers = list(numbers)
    while len(numbers) > 1 and numbers[-1] == 1:
        numbers.pop()
    return " x ".join(map(str, numbers))


def show(launch):
    """The lines of one launch."""
    f = launch["figures"]
    lasted = f"; {f[DURATION] / 1e3:,.1f} µs" if DURATION in f else ""
    out = [f"{launch['kernel']}: grid {extents_text(launch['grid'])}, block {extents_text(launch['block'])}{lasted}"]
    for question, section, answer in QUESTIONS:
        lines = answer(f, launch) or [f"not in it: --section {section}"]
        out += [f"  {question if i == 0 else '':<25}{line}" for i, line in enumerate(lines)]
    return out + [f"  -> {first(f, launch)}"] * bool(first(f, launch))


def beside(launches, counts):
    """(lines, how many counters differ) of a report and of explain's counts, kernel by kernel."""
    ours = ncu_counters.merged(ncu_counters.explained(json.dumps(counts)))
    theirs = ncu_counters.merged([{"kernel": launch["kernel"], **{short: round(launch["figures"].get(name, 0)) for short, name in METRICS.items()}}
                                  for launch in launches])
    out, differ = [f"{'kernel':<22}{'counter':<14}{'explain':>14}{'ncu':>14}"], 0
    for kernel, mine in ours.items():
        other = theirs.get(kernel)
        if other is None:
            continue
        for short in ncu_counters.COMPARED:
            if mine[short] or other[short]:
                differ += mine[short] != other[short]
                out.append(f"{kernel[:21]:<22}{short:<14}{mine[short]:>14,}{other[short]:>14,}"
                           + ("" if mine[short] == other[short] else "  differs"))
    if len(out) == 1:
        fail(f"the report has {', '.join(sorted(theirs))}, explain counted {', '.join(sorted(ours))}: no kernel is in both")
    return out, differ


# ---- recording ----

def reports(gpu):
    return ROOT / "docs" / "results" / gpu / "reports"


def launchers(day):
    """(the day's folder, its variants)"""
    folders = [path.name for path in ROOT.glob(f"day{int(day):02}_*")] if day.isdecimal() else []
    if not folders or not (ROOT / folders[0] / "ladder.cpp").is_file():
        fail(f"there is no day {day} with a ladder")
    return folders[0], list(stale.kernels(folders[0]).launchers)


def command(name, variant, kernels, report):
    names = sorted({kernel["kernel"] for kernel in kernels})
    return ["ncu", "--clock-control", "none", "--force-overwrite", "-o", report,
            *(word for section in SECTIONS for word in ("--section", section)), "--metrics", ",".join(METRICS.values()),
            "--kernel-name-base", "function", "-k", f"regex:^({'|'.join(map(re.escape, names))})$",
            # `run` launches a variant once on a small shape, to see that it is right.
            "--launch-skip", len(kernels), "--launch-count", len(kernels), f"build/run/cuda/{name}", "--variant", variant]


def record(gpu, day, wanted):
    name, known = launchers(day)
    for variant in wanted:
        if variant not in known:
            fail(f"day {day} has no variant {variant}: {', '.join(known)}")
    if shutil.which("ncu") is None:
        fail("there is no ncu here: it comes with the CUDA toolkit, and needs a GPU whose counters you may read")
    facts = ncu_counters.device_facts()
    ncu_counters.days("run", day, "--backend", "cuda", "--list")  # builds it
    for variant in wanted or known:
        kernels = ncu_counters.explained(ncu_counters.days("explain", day, variant, "--json"))
        with tempfile.TemporaryDirectory() as folder:
            report = Path(folder) / "report.ncu-rep"
            done = ncu_counters.run(command(name, variant, kernels, report))
            if not report.is_file():
                fail(f"ncu ended with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
            raw = ncu_counters.output_of(["ncu", "--import", report, "--csv", "--page", "raw", "--print-units", "base"])
            page = ncu_counters.output_of(["ncu", "--import", report, "--page", "details"])
        found = parse(raw)
        if len(found) != len(kernels):
            fail(f"{variant}: {len(kernels)} launches expected, {len(found)} profiled:\n{done.stdout[-2000:]}")
        path = reports(gpu) / f"{name[:5]}_{variant}.json"
        ncu_counters.save(path, {"day": name, "variant": variant, **facts, "source": stale.kernels(name).number(variant), "kernels": found})
        path.with_suffix(".txt").write_text(page, encoding="utf-8")
        print(path.relative_to(ROOT), flush=True)


def recorded(day, variant, kernel):
    name, known = launchers(day)
    if variant not in known:
        fail(f"day {day} has no variant {variant}: {', '.join(known)}")
    paths = sorted(ROOT.glob(f"docs/results/*/reports/{name[:5]}_{variant}.json"))
    if not paths:
        print(f"not profiled on a GPU yet: tools/ncu_report.py record h200 {day} {variant}")
        return
    for path in paths:
        data = json.loads(path.read_text(encoding="utf-8"))
        print(f"{data['device']}, CUDA {data['cuda']}, ncu {data['ncu']}")
        say(data["kernels"], kernel)


def counted(day, variant):
    found = False
    for path in sorted(ROOT.glob(f"docs/results/*/counters/day{int(day) if day.isdecimal() else 0:02}.json")):
        data = json.loads(path.read_text(encoding="utf-8"))
        for row in data["rows"]:
            if row["variant"] == variant:
                found = True
                print(f"{data['device']}, CUDA {data['cuda']}, ncu {data['ncu']}; {row['size']} {row['type']}")
                for launch in row["ncu"]:
                    print("\n".join(show({**launch, "figures": {name: launch[short] for short, name in METRICS.items()}})))
    if not found:
        fail(f"ncu has counted nothing for day {day}'s {variant}: tools/ncu_counters.py stale h200")


def say(launches, kernel):
    chosen = [launch for launch in launches if kernel in ("", launch["kernel"])]
    if not chosen:
        fail(f"there is no kernel {kernel} in it: {', '.join(sorted({launch['kernel'] for launch in launches}))}")
    for launch in chosen:
        print("\n".join(show(launch)))


def main(arguments):
    words, flags = [], {"--explain": "", "--kernel": ""}
    rest = iter(arguments)
    for word in rest:
        if word in flags:
            flags[word] = next(rest, "")
            if not flags[word]:
                fail(f"{word} needs a value")
        elif word.startswith("-"):
            words = ["--help"]
            break
        else:
            words.append(word)
    verb, given = (words[0], words[1:]) if words else ("", [])
    if verb == "record" and len(given) >= 2:
        record(given[0], given[1], given[2:])
    elif verb == "recorded" and len(given) == 2:
        recorded(*given, flags["--kernel"])
    elif verb == "counted" and len(given) == 2:
        counted(*given)
    elif verb == "show" and len(given) == 1:
        launches = read(Path(given[0]))
        say(launches, flags["--kernel"])
        if flags["--explain"]:
            try:
                lines, differ = beside(launches, json.loads(Path(flags["--explain"]).read_text(encoding="utf-8")))
            except (OSError, ValueError, KeyError, TypeError):
                fail(f"{flags['--explain']} is not what ./days explain DAY VARIANT --json writes")
            print("\n" + "\n".join(lines))
            return 1 if differ else 0
    else:
        fail(__doc__.strip())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
