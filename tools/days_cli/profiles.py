# SPDX-License-Identifier: MIT
"""Where a warp's time goes, as Nsight Compute (ncu) counts it: docs/results/GPU/profiles/dayNN.json, read, put in words, found stale.

A record is of one rung on the shape and type on which its ladder's first table is measured, and keeps the text's number of its kernel as times do (stale.py).
A rung that launches several kernels has a figure of each; together they count by their time."""
from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from pathlib import Path

from days_cli import ladders, outputs, programs, results, stale, toolchain
from days_cli import gpu as gpus
from days_cli.errors import ENVIRONMENT, WRONG, DaysError

DURATION = "gpu__time_duration.sum"
SLOTS = "smsp__issue_active.avg.pct_of_peak_sustained_active"
WARPS = "sm__warps_active.avg.pct_of_peak_sustained_active"
L1, L2 = "l1tex__t_sector_hit_rate.pct", "lts__t_sector_hit_rate.pct"
READ, WRITTEN = "dram__bytes_read.sum", "dram__bytes_write.sum"
METRICS = (DURATION, SLOTS, WARPS, L1, L2, READ, WRITTEN)
_STALL = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"
STALL = re.compile(re.escape(_STALL).replace(r"\{\}", r"(\w+)"))
# The days whose notes ask for it most.
FIRST = (1, 5, 6, 13, 14, 39, 43, 66)
MOST_LAUNCHES = 64  # of one rung; those of a longer series are like these
_LONGEST = 180  # seconds that ncu gets for one rung
_LEAST = 0.05  # a smaller share of a warp's time is in no sentence

# ncu's name of a stall: what a warp waits for, and what that is. docs/glossary.md has an entry for each.
REASONS = {
    "barrier": ("at a barrier", "other warps of its block have not come to the barrier yet."),
    "branch_resolving": ("for a branch", "the address to go on at is not known yet. Fewer branches and jumps help."),
    "dispatch_stall": ("for its operands", "an instruction was chosen, and a part of what it needs was taken: often a register's bank."),
    "drain": ("for its last stores", "its thread is done, and its stores are not out yet. Stores of neighbouring words are fewer."),
    "gmma": ("for a tensor product", "the registers of a warp group's product are still in use."),
    "imc_miss": ("for a constant", "a constant or a kernel's argument was not in its cache."),
    "lg_throttle": ("for the L1 queue", "the queue of loads and stores to memory is full. Wider loads are fewer."),
    "long_scoreboard": ("for memory", "an answer from L1, L2 or DRAM is not there yet. More loads under way hide it, or nearer data."),
    "math_pipe_throttle": ("for an arithmetic unit", "the unit that it needs is busy with other warps."),
    "membar": ("at a fence", "a fence holds it until its stores can be seen by others."),
    "mio_throttle": ("for the shared memory queue", "the queue to shared memory, shuffles and special functions is full. Fewer, wider accesses help."),
    "misc": ("for something else", "ncu does not say for what."),
    "no_instruction": ("for its instructions", "the next instruction was not fetched yet: a long kernel, a jump, or few warps."),
    "not_selected": ("for its turn", "it could go on, and another warp did. So there are warps enough."),
    "short_scoreboard": ("for shared memory", "an answer of shared memory, a shuffle or a special function is not there yet."),
    "sleeping": ("asleep", "it called nanosleep."),
    "tex_throttle": ("for the texture queue", "the queue of texture fetches is full."),
    "wait": ("for a fixed delay", "the instruction before takes some ticks, which the compiler knows. Independent instructions hide it."),
}


class NotHere(DaysError):
    """A rung that this GPU cannot run: no failure."""


def words(reason):
    """(what a warp waits for, what that is) of ncu's name of a stall; a name of a later ncu stands for itself."""
    return REASONS.get(reason, (f"for {reason.replace('_', ' ')}", "Nsight Compute's documentation explains it."))


# ---- records ----

def path(gpu, day):
    return results.committed(gpu, day).parent / "profiles" / f"{day.target[:5]}.json"


def load(gpu, day):
    """The file of a day, {"rows": []} where there is none."""
    file = path(gpu, day)
    if not file.exists():
        return {"rows": []}
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        for row in found["rows"]:
            row["variant"], row["kernels"][0]["figures"][DURATION]  # pylint: disable=pointless-statement
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise DaysError(f"{results.shown(file)} is no file of profiles ({error})", f"git checkout {results.shown(file)}") from error
    return found


def save(gpu, day, facts, row):
    """Puts the row into the day's file, in the place of an older one. A row that another ncu or driver took says so."""
    old, names = load(gpu, day), [name for _, name in variants(day)]
    before = {key: old[key] for key in facts if key in old}
    kept = [{**each, **({} if before == facts or "by" in each else {"by": before})} for each in old["rows"]
            if each["variant"] in names and each["variant"] != row["variant"]]
    rows = sorted([*kept, row], key=lambda each: names.index(each["variant"]))
    file = path(gpu, day)
    file.parent.mkdir(parents=True, exist_ok=True)
    outputs.put(file, json.dumps({"day": day.target, **facts, "rows": rows}, indent=1, ensure_ascii=False) + "\n")
    return file


def has_changed(day, row):
    return stale.has_changed(day.target, row, row["variant"])


def headline(gpu, day, others=False):
    """{variant: (ladder, type, size)} of the first tables in which the day's rungs are measured on this GPU, which their headings show; with `others` on any,
    where this one has none."""
    for name in [gpu, *(results.recorded(day.number) if others else [])]:
        file = results.committed(name, day)
        if not file.exists():
            continue
        found = {}
        for table in results.main_tables(results.load(file)):
            for row in table["rows"]:
                if row["kind"] == "variant" and row.get("result") == "ok":
                    found.setdefault(row["name"], (table["ladder"], table["type"], results.size(table, "x")))
        return found
    return {}


def variants(day):
    """[(ladder's place, variant)] of a day, in the order of its ladders."""
    return [(place, row["name"]) for place, ladder in enumerate(ladders.of(day)) for row in ladder["rows"] if row["kind"] == "variant"]


def waiting(gpu, days):
    """[(day, variant, why)] of what has no profile of its kernel as it is, the most needed first: first ladders before others, the days of FIRST before the rest,
    and the last rungs of a ladder first."""
    wanted = []
    for day in days:
        there = {row["variant"]: row for row in load(gpu, day)["rows"]}
        for place, (ladder, variant) in enumerate(variants(day)):
            why = "never profiled" if variant not in there else "changed" if has_changed(day, there[variant]) else ""
            if why:
                first = FIRST.index(day.number) if day.number in FIRST else len(FIRST)
                wanted.append(((ladder > 0, first, day.number, ladder, -place), day, variant, why))
    return [entry[1:] for entry in sorted(wanted, key=lambda entry: entry[0])]


# ---- figures ----

def _weighed(kernels, metric):
    """The mean of a figure over kernels by their time; None where none has it."""
    parts = [(kernel["figures"][DURATION] * kernel.get("launches", 1), kernel["figures"][metric]) for kernel in kernels if metric in kernel["figures"]]
    total = sum(time for time, _ in parts)
    return sum(time * value for time, value in parts) / total if total else None


def _total(kernels, metric):
    return sum(kernel["figures"].get(metric, 0) * kernel.get("launches", 1) for kernel in kernels)


def stalls(row):
    """[(share of a warp's time, cycles an instruction, ncu's name)] of what warps wait for, the largest first."""
    kernels, found = row["kernels"], {}
    for name in {metric for kernel in kernels for metric in kernel["figures"] if STALL.fullmatch(metric)}:
        reason, shares, cycles = STALL.fullmatch(name)[1], [], []
        for kernel in kernels:
            weight = kernel["figures"][DURATION] * kernel.get("launches", 1)
            all_cycles = sum(value for metric, value in kernel["figures"].items() if STALL.fullmatch(metric))
            value = kernel["figures"].get(name, 0)
            shares.append((weight, value / all_cycles if all_cycles else 0))
            cycles.append((weight, value))
        total = sum(weight for weight, _ in shares)
        if total and reason != "selected":
            found[reason] = tuple(sum(weight * value for weight, value in parts) / total for parts in (shares, cycles))
    return sorted(((share, cycle, reason) for reason, (share, cycle) in found.items() if share > 0), reverse=True)


def summary(row):
    """{"slots", "warps", "l1", "l2" (per cent, or None), "read", "written" (bytes), "seconds"} of a record."""
    kernels = row["kernels"]
    return {"slots": _weighed(kernels, SLOTS), "warps": _weighed(kernels, WARPS), "l1": _weighed(kernels, L1), "l2": _weighed(kernels, L2),
            "read": _total(kernels, READ), "written": _total(kernels, WRITTEN), "seconds": 1e-9 * _total(kernels, DURATION)}


def line(row, linked=lambda words, reason: words):
    """"a warp waits 53% of its time for memory, 15% for its turn; 78% of issue slots are used": the three largest stalls at most. linked: makes a link of what
    a warp waits for."""
    largest = [(share, reason) for share, _, reason in stalls(row)[:3] if share >= _LEAST]
    told = [f"{share:.0%} {'of its time ' if place == 0 else ''}{linked(words(reason)[0], reason)}" for place, (share, reason) in enumerate(largest)]
    waits = "a warp waits " + (told[0] if len(told) == 1 else ", ".join(told[:-1]) + " and " + told[-1]) if told else "warps hardly wait"
    slots = summary(row)["slots"]
    return waits + (f"; {slots:.0f}% of issue slots are used" if slots is not None else "")


def shown(day, gpu):
    """{variant: its record} of those that are of the shape and type of a rung's heading; changed ones have a member "changed"."""
    places, found = headline(gpu, day), {}
    for row in load(gpu, day)["rows"]:
        if places.get(row["variant"], (row["ladder"], row["type"], row["size"])) == (row["ladder"], row["type"], row["size"]):
            found[row["variant"]] = {**row, "changed": has_changed(day, row)}
    return found


# ---- ncu ----

def find_ncu():
    """ncu's path: on the PATH, in the toolkit that nvcc is of, where Nsight Compute's own package puts it; None where there is none."""
    compiler = toolchain.nvcc()
    places = [shutil.which("ncu"), compiler and shutil.which(str(compiler.root / "bin" / "ncu")),
              *(str(file) for file in sorted(Path("/opt/nvidia/nsight-compute").glob("*/ncu"), reverse=True) if os.access(file, os.X_OK))]
    return next((place for place in places if place), None)


def tools(again):
    """(the GPU's Probe, ncu's path); DaysError with what to do where one is missing. again: a command that works without them."""
    probe = gpus.detect()
    if not probe.gpu:
        raise DaysError("profile reads counters of a GPU, and there is no NVIDIA GPU here" + (f": {probe.problem}" if probe.problem else ""), again, ENVIRONMENT)
    found = find_ncu()
    if not found:
        raise DaysError("profile needs ncu, Nsight Compute's command: it comes with the CUDA toolkit, or as a package of its own",
                        "sudo apt-get install -y nsight-compute", ENVIRONMENT)
    return probe, found


def facts(probe, ncu):
    """What a file of profiles says of the machine."""
    release = toolchain.nvcc()
    version = re.search(r"Version ([0-9.]+)", toolchain.output_of([ncu, "--version"]))
    return {"device": probe.gpu.name, "driver_version": probe.driver, "cuda": toolchain.dotted(release.version) if release else "",
            "ncu": version[1] if version else ""}


def command(ncu, program, variant, log, kind="", size=""):
    """Profiles what the program launches between its marks (--once), with caches emptied before and the clocks as they are."""
    # Its progress would go to a descriptor that is ncu's own there.
    return ["env", "-u", "DAYS_PROGRESS", ncu, "--profile-from-start", "off", "--clock-control", "none", "--csv", "--page", "raw", "--print-units", "base",
            "--kernel-name-base", "function", "--launch-count", str(MOST_LAUNCHES), "--log-file", str(log),
            "--section", "WarpStateStats", "--metrics", ",".join(METRICS),
            str(program), "--once", "--variant", variant, *(["--type", kind] if kind else []), *(["--size", size] if size else [])]


def _refused(said, variant):
    """The error that ncu's own words stand for."""
    if "ERR_NVGPUCTRPERM" in said:
        return DaysError("the driver lets only root read this GPU's counters (ERR_NVGPUCTRPERM). All users may after a reboot with "
                         "\"options nvidia NVreg_RestrictProfilingToAdminUsers=0\" in a file of /etc/modprobe.d, under WSL2 by a setting of NVIDIA's "
                         "control panel, in a container with --cap-add=SYS_ADMIN", "https://developer.nvidia.com/ERR_NVGPUCTRPERM", ENVIRONMENT)
    if "ERR_NVGPUINUSE" in said or "profiler resource is in use" in said.lower() or "already in use" in said.lower():
        return DaysError("another profiler reads this GPU's counters now: wait until it has ended", code=ENVIRONMENT)
    lines = [text.strip() for text in said.splitlines() if "==ERROR==" in text or text.startswith("error:")]
    return DaysError(f"{variant} was not profiled: " + (lines[0].replace("==ERROR==", "").strip() if lines else "ncu saw no kernel"), code=WRONG)


def take(ncu, program, variant, kind="", size=""):
    """A record of one rung without its source's number; DaysError where ncu takes none."""
    import ncu_report  # pylint: disable=import-outside-toplevel
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "ncu.csv"
        ended = programs.run(command(ncu, program, variant, log, kind, size), seconds=_LONGEST)
        csv = log.read_text(encoding="utf-8", errors="replace") if log.is_file() else ""
    said = ended.stdout + ended.stderr + "\n".join(text for text in csv.splitlines() if text.startswith("=="))
    if ended.stopped:
        raise DaysError(f"{variant} {ended.stopped}", code=WRONG)
    launched = re.search(r"^launched (\S+) \S+ (\S+) (\S+)$", ended.stdout, re.MULTILINE)
    left_out = re.search(r"^left out (\S+) \S+ \S+ \S+: (.*)$", ended.stdout, re.MULTILINE)
    if left_out and not launched:
        raise NotHere(f"{variant} does not run here: {left_out[2]}", code=WRONG)
    kernels = _kernels(ncu_report.parse(csv))
    if not kernels or not launched:
        raise _refused(said, variant)
    return {"ladder": launched[1], "variant": variant, "type": launched[2], "size": launched[3], "kernels": kernels}


def _kernels(launches):
    """Launches of the same kernel with the same grid and block as one, with the mean of their figures by time."""
    groups = {}
    for launch in launches:
        figures = {name: value for name, value in launch["figures"].items() if name in METRICS or (STALL.fullmatch(name) and value > 0)}
        if figures.get(DURATION, 0) > 0:
            groups.setdefault((launch["kernel"], tuple(launch["grid"]), tuple(launch["block"])), []).append({"figures": figures})
    merged = []
    for (kernel, grid, block), same in groups.items():
        names = dict.fromkeys(name for each in same for name in each["figures"])
        figures = {name: _total(same, name) / len(same) if name in (DURATION, READ, WRITTEN)
                   else _weighed([{"figures": {**({name: 0} if STALL.fullmatch(name) else {}), **each["figures"]}} for each in same], name)
                   for name in names}
        merged.append({"kernel": kernel, "grid": list(grid), "block": list(block), "launches": len(same),
                       "figures": {name: float(f"{value:.6g}") if name not in (DURATION, READ, WRITTEN) else round(value) for name, value in figures.items()}})
    return merged
