#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds what `./days explain` counts on the CPU against what Nsight Compute (ncu) counts on a GPU.

    tools/ncu_counters.py measure GPU [DAY ...]       on a machine with that GPU, ncu and nvcc; writes
                                                      docs/results/GPU/counters/dayNN.json
    tools/ncu_counters.py stale GPU [SECONDS]         the same of what was never counted, or is of kernels that have changed
                                                      since; saves after each variant, ends in SECONDS and goes on next time.
                                                      Without ncu it says what that is
    tools/ncu_counters.py programs GPU LIST.json      the same for programs that are no part of the course; writes
                                                      docs/results/GPU/counters/programs.json
    tools/ncu_counters.py recount [DAY ...]           explain's side anew, where explain has changed
    tools/ncu_counters.py write                       writes the tables of docs/counters.md
    tools/ncu_counters.py check [--explain [DAY ...]] exit 1 where a table is stale, where a difference has no reason in
                                                      docs/results/GPU/counters/reasons.json, and, with --explain, where
                                                      explain says today something else than what was committed

LIST.json is a list of {"repository", "commit", "file", "path" (from LIST.json), "flags" (of the compiler), "arguments"}.
Counted launch by launch: of each variant, on the shape that it has on the CPU, the launches that one call makes.
"""
import csv
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from days_cli import stale  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "counters.md"
METRICS = {  # short name in the tables: ncu's name
    "ld requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "ld sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "st requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "st sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "ld conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "st conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
    "ld wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "st wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
}
# Compared and, where they differ, explained by name. Wavefronts are shown alone: ncu counts arbitration in them.
COMPARED = list(METRICS)[:6]


def fail(message):
    print(f"error: {message}", file=sys.stderr)
    sys.exit(2)


def run(command, **more):
    return subprocess.run(list(map(str, command)), cwd=ROOT, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, errors="replace", **more)


def output_of(command):
    done = run(command)
    if done.returncode:
        fail(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def days(*arguments):
    return output_of([sys.executable, ROOT / "days", *arguments])


def size_text(shape):
    return "x".join(str(extent) for extent in shape.values())


# ---- what explain says ----

def explained(output):
    """[{name, grid, block, metric: count}], a launch each."""
    return [{"kernel": kernel["name"], "grid": kernel["grid"], "block": kernel["block"],
             **{short: kernel["totals"].get(name, 0) for short, name in METRICS.items()}}
            for kernel in json.loads(output)["kernels"]]


def variants_of(day):
    """(ladder, type, shape, variant) of a day as it runs on the CPU, each variant with the first type that it has."""
    results = json.loads(days("run", day, "--backend", "simt", "--type", "all", "--json", "-"))
    seen = set()
    for table in results["tables"]:
        for row in table["rows"]:
            if row["kind"] == "variant" and row["result"] == "ok" and (table["ladder"], row["name"]) not in seen:
                seen.add((table["ladder"], row["name"]))
                yield results["day"], table["ladder"], table["type"], table["shape"], row["name"]


def explain_variant(day, kind, shape, variant):
    return explained(days("explain", day, variant, "--type", kind, "--size", size_text(shape), "--json"))


# ---- what ncu says ----

def function_name(name):
    """day01::(anonymous namespace)::add_kernel<float>(...) -> add_kernel; ncu writes <unnamed>, or unnamed> alone"""
    name = name.replace("(anonymous namespace)", "").replace("<unnamed>", "").replace("unnamed>", "")
    depth, plain = 0, ""
    for c in name:
        depth += (c == "<") - (c == ">")
        if c == "(" and depth == 0:
            break
        if depth == 0 and c not in "<>":
            plain += c
    return plain.split("::")[-1].split()[-1]


def counted(command, kernels):
    """The same list, from the GPU: the first launches of these kernels."""
    names = sorted({kernel["kernel"] for kernel in kernels})
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "ncu.csv"
        done = run(["ncu", "--clock-control", "none", "--csv", "--page", "raw", "--print-units", "base",
                    "--kernel-name-base", "function", "--print-kernel-base", "function", "-k", f"regex:^({'|'.join(map(re.escape, names))})$",
                    "-c", len(kernels), "--log-file", log, "--metrics", ",".join(METRICS.values()), *command])
        if not log.is_file():
            fail(f"ncu ended with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        lines = [line for line in log.read_text(errors="replace").splitlines() if line.startswith('"')]
    launches = []
    for row in csv.DictReader(lines):
        if not row.get("Kernel Name"):
            continue  # the line of units
        launches.append({"kernel": function_name(row["Kernel Name"]),
                         "grid": json.loads(re.sub(r"[()]", lambda m: "[" if m[0] == "(" else "]", row["Grid Size"])),
                         "block": json.loads(re.sub(r"[()]", lambda m: "[" if m[0] == "(" else "]", row["Block Size"])),
                         **{short: round(float((row.get(name) or "0").replace(",", ""))) for short, name in METRICS.items()}})
    return launches, done


def device_facts():
    name = output_of(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]).splitlines()[0].split(", ")
    release = re.search(r"release ([0-9.]+)", output_of(["nvcc", "--version"]))[1]
    ncu = re.search(r"Version ([0-9.]+)", output_of(["ncu", "--version"]))[1]
    return {"device": name[0], "driver": name[1], "cuda": release, "ncu": ncu}


def count_variant(day, name, ladder, kind, shape, variant):
    """A row of a counters file."""
    kernels = explain_variant(day, kind, shape, variant)
    launches, done = counted([f"build/run/cuda/{name}", "--variant", variant, "--type", kind, "--size",
                              size_text(shape)], kernels)
    print(f"{name} {variant} {kind} {size_text(shape)}: {len(kernels)} launches explained, {len(launches)} counted",
          flush=True)
    if len(launches) < len(kernels):
        print(done.stdout[-600:], done.stderr[-600:])
    return {"ladder": ladder, "variant": variant, "type": kind, "size": size_text(shape),
            "source": stale.kernels(name).number(variant), "explain": kernels, "ncu": launches}


def save(path, data):
    """All of it or nothing: what is there stays until the new file is whole."""
    part = path.with_name(path.name + ".part")
    part.parent.mkdir(parents=True, exist_ok=True)
    part.write_text(json.dumps(data, indent=1) + "\n")
    os.replace(part, path)


def counters_file(gpu, day):
    return ROOT / "docs" / "results" / gpu / "counters" / f"day{int(day):02}.json"


def days_with_ladders():
    return [path.parent.name[3:5] for path in sorted(ROOT.glob("day[0-9][0-9]_*/ladder.cpp"))]


def measure(gpu, wanted):
    facts = device_facts()
    for day in wanted or days_with_ladders():
        days("run", day, "--backend", "cuda", "--list")  # builds it
        variants = list(variants_of(day))
        rows = [count_variant(day, *variant) for variant in variants]
        save(counters_file(gpu, day), {"day": variants[0][0], **facts, "rows": rows})


def is_stale(day_name, row):
    return stale.has_changed(day_name, row, row["variant"])


def stale_variants(gpu, day):
    """(order, what is stale in words) of a day's counters, as far as it is known before anything runs; None for nothing."""
    path = counters_file(gpu, day)
    if not path.exists():
        return 0, "never counted"
    data = json.loads(path.read_text())
    known = stale.kernels(data["day"])
    there = {known.variant(row["variant"]) for row in data["rows"]}
    new = [variant for variant in known.launchers if variant not in there]
    changed = [row["variant"] for row in data["rows"] if is_stale(data["day"], row)]
    words = [f"new: {', '.join(new)}"] * bool(new) + [f"changed: {', '.join(changed)}"] * bool(changed)
    return (1 if new else 2, "; ".join(words)) if words else None


def measure_stale(gpu, seconds):
    """Counts what is stale, the most needed first, saves each variant, begins none after `seconds`."""
    needs = [(stale_variants(gpu, day), day) for day in days_with_ladders()]
    ranked = sorted((entry for entry in needs if entry[0]), key=lambda entry: (entry[0][0], entry[1]))
    if shutil.which("ncu") is None:
        for (_, why), day in ranked:
            print(f"{gpu} day {day}: {why}")
        print(f"{len(ranked)} days have something to count; there is no ncu here to count it with")
        return 0
    began, facts, counted_rows, waiting = time.monotonic(), None, 0, 0
    for _, day in ranked:
        if seconds and time.monotonic() - began > seconds:
            waiting += 1
            continue
        facts = facts or device_facts()
        days("run", day, "--backend", "cuda", "--list")  # builds it
        path = counters_file(gpu, day)
        for variant in variants_of(day):
            old = json.loads(path.read_text()) if path.exists() else {"rows": []}
            key = variant[1], variant[4]
            row = next((row for row in old["rows"] if (row["ladder"], row["variant"]) == key), None)
            if row and not is_stale(variant[0], row):
                continue
            if seconds and time.monotonic() - began > seconds:
                waiting += 1
                break
            fresh = count_variant(day, *variant)
            rows = [fresh if (row["ladder"], row["variant"]) == key else row for row in old["rows"]]
            save(path, {"day": variant[0], **facts, "rows": rows if fresh in rows else [*rows, fresh]})
            counted_rows += 1
    print(f"{counted_rows} variants counted, {waiting} days wait" + (": call it again" if waiting else "; next: tools/ncu_counters.py write"))
    return 0


def measure_programs(gpu, list_file):
    folder = ROOT / "docs" / "results" / gpu / "counters"
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for program in json.loads(Path(list_file).read_text()):
        source, flags, arguments = (Path(list_file).parent / program["path"]).resolve(), program.get("flags", []), program.get("arguments", [])
        with tempfile.TemporaryDirectory() as scratch:
            binary = Path(scratch) / "program"
            done = run(["nvcc", "-O3", "-std=c++17", "-arch=native", *flags, source, "-o", binary])
            if done.returncode:
                print(f"{source}: nvcc says no\n{done.stderr[-800:]}")
                continue
            done = run([sys.executable, ROOT / "days", "explain", "--file", source, "--json", *flags, "--", *arguments])
            if done.returncode:
                print(f"{source}: explain says no\n{done.stderr[-800:]}")
                continue
            kernels = explained(done.stdout)[:40]
            launches, done = counted([binary, *arguments], kernels)
        print(f"{source}: {len(kernels)} launches explained, {len(launches)} counted", flush=True)
        rows.append({key: program[key] for key in ("repository", "commit", "file") if key in program} |
                    {"arguments": arguments, "explain": kernels, "ncu": launches})
    (folder / "programs.json").write_text(json.dumps({**device_facts(), "rows": rows}, indent=1) + "\n")


def recount(wanted):
    for path in sorted(ROOT.glob("docs/results/*/counters/day*.json")):
        if wanted and path.stem[3:] not in [f"{int(day):02}" for day in wanted]:
            continue
        data = json.loads(path.read_text())
        for row in data["rows"]:
            row["explain"] = explain_variant(path.stem[3:], row["type"], dict(enumerate(row["size"].split("x"))),
                                             row["variant"])
        path.write_text(json.dumps(data, indent=1) + "\n")


# ---- tables ----

def merged(launches):
    """Launches summed by kernel, in the order of their first launch."""
    sums = {}
    for launch in launches:
        total = sums.setdefault(launch["kernel"], dict.fromkeys(METRICS, 0) | {"launches": 0})
        total["launches"] += 1
        for metric in METRICS:
            total[metric] += launch[metric]
    return sums


def comparisons(row):
    """(kernel, metric, explain, ncu) of every metric that either has."""
    ours, theirs = merged(row["explain"]), merged(row["ncu"])
    for kernel, counts in ours.items():
        other = theirs.get(kernel)
        if other is None or other["launches"] != counts["launches"]:
            yield kernel, "launches", counts["launches"], 0 if other is None else other["launches"]
            continue
        for metric in COMPARED:
            if counts[metric] or other[metric]:
                yield kernel, metric, counts[metric], other[metric]


def name_of(row):
    return row.get("variant") or row["file"]


def key_of(path, row, kernel, metric):
    where = f"{path.stem} {row['variant']} {row['type']}" if "variant" in row else f"{row['repository']} {row['file']}"
    return f"{where}: {kernel}, {metric}"


def reason_for(reasons, key):
    for pattern, reason in reasons.items():
        if re.fullmatch(pattern, key):
            return reason
    return None


def tables():
    """The text between the markers, and the differences that have no reason."""
    lines, unexplained, total, equal = [], [], 0, 0
    for folder in sorted(ROOT.glob("docs/results/*/counters")):
        path = folder / "reasons.json"
        reasons = json.loads(path.read_text()) if path.is_file() else {}
        for path in sorted(folder.glob("*.json")):
            if path.name == "reasons.json":
                continue
            data, body, changed = json.loads(path.read_text()), [], False
            for row in data["rows"]:
                for kernel, metric, ours, theirs in comparisons(row):
                    total += 1
                    equal += ours == theirs
                    reason = ""
                    if ours != theirs:
                        key = key_of(path, row, kernel, metric)
                        reason = reason_for(reasons, key)
                        if reason is None:
                            unexplained.append(f"{key}: explain {ours:,}, ncu {theirs:,}")
                    what = row["variant"] + ("" if row["type"] == "fp32" else f" {row['type']}") if "variant" in row else \
                        f"{row['repository']} {row['file']}"
                    if "variant" in row and is_stale(data["day"], row):
                        what, changed = what + stale.MARK, True
                    body.append(f"| {what} | `{kernel}` | {metric} | {ours:,} | {theirs:,} | "
                                f"{'equal' if ours == theirs else reason} |")
            title = data.get("day", "Programs that were not written for this course")
            lines += [f"### {title}", "", f"{data['device']}, CUDA {data['cuda']}, ncu {data['ncu']}.", "",
                      "| what | kernel | counter | explain | ncu | |", "|---|---|---|---:|---:|---|", *body, ""]
            if changed:
                lines += ["†: its kernel has changed since it was counted; `./days explain` says today what is said here.", ""]
    return [f"{equal:,} of {total:,} counters are equal.", "", *lines], unexplained


def page_text():
    lines, unexplained = tables()
    markers = re.compile(r"(<!-- counters -->\n).*?(<!-- /counters -->)", re.DOTALL)
    old = PAGE.read_text()
    if not markers.search(old):
        fail(f"{PAGE.relative_to(ROOT)} has no <!-- counters --> markers")
    return old, markers.sub(lambda m: m[1] + "\n".join(lines) + m[2], old), unexplained


def write():
    old, new, unexplained = page_text()
    if old != new:
        PAGE.write_text(new)
        print(f"wrote {PAGE.relative_to(ROOT)}")
    for line in unexplained:
        print("no reason for", line)
    return 1 if unexplained else 0


def check(arguments):
    old, new, unexplained = page_text()
    bad = [f"no reason for {line}" for line in unexplained]
    if old != new:
        bad.append(f"{PAGE.relative_to(ROOT)} is stale: tools/ncu_counters.py write")
    if arguments[:1] == ["--explain"]:
        for path in sorted(ROOT.glob("docs/results/*/counters/day*.json")):
            if arguments[1:] and path.stem[3:] not in [f"{int(day):02}" for day in arguments[1:]]:
                continue
            for row in json.loads(path.read_text())["rows"]:
                shape = dict(enumerate(row["size"].split("x")))
                today = explain_variant(path.stem[3:], row["type"], shape, row["variant"])
                if merged(today) != merged(row["explain"]):
                    bad.append(f"{path.stem} {row['variant']}: explain says {merged(today)}, committed {merged(row['explain'])}")
    for line in bad:
        print(line)
    print(f"{'FAIL' if bad else 'ok'}: counters of explain and ncu")
    return 1 if bad else 0


def main(arguments):
    command = arguments[0] if arguments else ""
    if command == "measure" and len(arguments) >= 2:
        return measure(arguments[1], arguments[2:])
    if command == "stale" and len(arguments) in (2, 3) and (arguments[2:] or ["1"])[0].isdigit():
        return measure_stale(arguments[1], int((arguments[2:] or ["0"])[0]))
    if command == "programs" and len(arguments) == 3:
        return measure_programs(arguments[1], arguments[2])
    if command == "recount":
        return recount(arguments[1:])
    if command == "write" and len(arguments) == 1:
        return write()
    if command == "check":
        return check(arguments[1:])
    print(__doc__.strip(), file=sys.stderr)
    return 2


if __name__ == "__main__":
    os.environ.setdefault("NO_COLOR", "1")
    sys.exit(main(sys.argv[1:]) or 0)
