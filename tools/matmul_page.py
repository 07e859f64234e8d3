#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes docs/matmul.md's tables and its chart: every rung of the Matmul track's ladders, from the first to the tensor cores' limit.

    tools/matmul_page.py                     writes them from the ladders, the committed results and the counts
    tools/matmul_page.py --check             writes nothing; exit 1 where the page is another
    tools/matmul_page.py --count [DAY ...]   first counts the rungs that were never counted or have changed since, of these days or of all:
                                             ./days explain and ./days asm, which need a compiler, nvcc and nvdisasm, and no GPU

A ladder is on the page because its day is of the track and its extents begin with m, n, k. Nothing is listed by hand. Counts are kept in
docs/results/matmul_counts.json, each with the number of its kernel's text (tools/days_cli/kernel_sources.py), as results are.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

from days_cli import catalog, paths, result_plots, result_table, results, stale  # noqa: E402
from days_cli import ladders as ladder_files  # noqa: E402

PAGE = paths.ROOT / "docs" / "matmul.md"
CHART = paths.ROOT / "docs" / "pictures" / "matmul.svg"
COUNTS = paths.ROOT / "docs" / "results" / "matmul_counts.json"
TRACK = "Matmul"
CUBE = 4096  # the shape that ladders are compared at, where they were measured there
PRODUCTS = re.compile(r"^(FFMA|HMMA|IMMA|QMMA|HGMMA|IGMMA|QGMMA|DMMA)\b")
GLOBAL, SHARED = "pipe_lsu_mem_global_op_", "pipe_lsu_mem_shared_op_"


@dataclass(frozen=True)
class Ladder:
    day: catalog.Day
    name: str
    rungs: tuple


def ladders():
    """The track's ladders that multiply, in teaching order."""
    found = []
    for day in next(days for track, days in catalog.tracks() if track == TRACK):
        for ladder in ladder_files.of(day) if day.folder and day.kind.links else ():
            rungs = tuple(row["name"] for row in ladder["rows"] if row["kind"] == "variant")
            if rungs and ladder["extents"][:3] == ["m", "n", "k"]:
                found.append(Ladder(day, ladder["name"], rungs))
    return found


# ---- what was measured ----

def gpus_of(all_ladders):
    """{day: the GPU whose results its note shows, else the one with the most results of these days; "" where there is none}"""
    days = list(dict.fromkeys(ladder.day for ladder in all_ladders))
    seen = [gpu for day in days for gpu in results.recorded(day.number)]
    most = max(sorted(set(seen)), key=seen.count, default="")
    shown = {day: results.shown_in((day.folder / "README.md").read_text(encoding="utf-8")) for day in days}
    return {day: gpu if gpu in results.recorded(day.number) else most for day, gpu in shown.items()}


def table_of(found, ladder):
    """The table that stands for a ladder: at CUBE in all three extents if it is there, else the one with most rungs."""
    tables = [table for table in found["tables"] if table["ladder"] == ladder.name]
    for table in tables:
        if [table["shape"].get(extent) for extent in "mnk"] == [CUBE] * 3 and results.best(table):
            return table
    main = [table for table in results.main_tables({"tables": tables}) if results.best(table)]
    return main[0] if main else None


def teraflops(table, row):
    """From the time and the two operations of each of m n k products, whatever the ladder's own measure is."""
    shape = table["shape"]
    return 2e-12 * shape["m"] * shape["n"] * shape["k"] / row["seconds"] if row.get("seconds") else None


def load_results(gpu, day):
    path = results.committed(gpu, day)
    return results.load(path) if gpu and path.exists() else None


def limits(gpus, tables):
    """[(name, TFLOP/s)] of what the hardware does, as it was measured: FFMA, and each kind of tensor core that a ladder is held to."""
    best = {}
    days = [day for _, days in catalog.tracks() for day in days if day.folder and day.number == 16]
    for table in [*tables, *(table for gpu in gpus for day in days for table in (load_results(gpu, day) or {"tables": []})["tables"])]:
        limit = table.get("limit")
        if limit and results.in_flops(table):
            best[limit["name"]] = max(best.get(limit["name"], 0), limit["per_second"] / 1e12)
    return sorted(best.items(), key=lambda item: item[1])


# ---- what is counted ----

def load_counts():
    return json.loads(COUNTS.read_text(encoding="utf-8")) if COUNTS.exists() else {}


def key(ladder, rung):
    return f"{ladder.day.target}/{ladder.name}/{rung}"


def number(ladder, rung):
    return stale.kernels(ladder.day.target).number(rung)


def asked(command):
    """The JSON of a ./days command; None and its last line where it fails."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.json"
        done = subprocess.run([paths.ROOT / "days", *command, "--json", out], cwd=paths.ROOT, text=True, check=False, capture_output=True,
                              env=dict(os.environ, NO_COLOR="1"))
        if done.returncode or not out.exists():
            return None, (done.stderr.strip() or done.stdout.strip() or "no output").splitlines()[0]
        return json.loads(out.read_text(encoding="utf-8")), ""


def traffic(ladder, rung):
    """For 32 multiply-adds, a step of a warp: requests and sectors of global memory, turns and conflicts of shared memory; and the
    kernels' names."""
    trace, why = asked(["explain", str(ladder.day.number), rung])
    if trace is None:
        return {"not_counted": why}, []
    shape = [int(word) for word in trace["shape"].split(" x ")]
    steps = shape[0] * shape[1] * shape[2] / 32
    kernels = trace["kernels"]
    total = lambda *names: round(sum(kernel["totals"].get(name, 0) for kernel in kernels for name in names) / steps, 4)  # noqa: E731
    both = lambda before, after: [before + after.format(side) for side in ("ld", "st")]  # noqa: E731
    return {"shape": trace["shape"], "type": trace["type"],
            "requests": total(*both("l1tex__t_requests_", GLOBAL + "{}.sum")),
            "sectors": total(*both("l1tex__t_sectors_", GLOBAL + "{}.sum")),
            "turns": total(*both("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_", "{}.sum")),
            "conflicts": total(*both("l1tex__data_bank_conflicts_", SHARED + "{}.sum")),
            "bulk_bytes": total("simt_bulk_bytes"), "launches": len(kernels)}, [kernel["name"] for kernel in kernels]


def code(ladder, rung, names):
    """Registers, spilled bytes and products among the instructions, of the kernels of these names (or all of the rung's file)."""
    made, why = asked(["asm", str(ladder.day.number), rung])
    if made is None:
        return {"not_compiled": why}
    plain = {name.split("<")[0] for name in names}
    kernels = [kernel for variant in made["variants"] for kernel in variant["kernels"]]
    kernels = [kernel for kernel in kernels if kernel["name"].split("<")[0] in plain] or kernels
    if not kernels:
        return {"not_compiled": "no kernel"}
    one = max(kernels, key=lambda kernel: sum(n for name, n in kernel["instructions"].items() if PRODUCTS.match(name)))
    return {"architecture": made["architecture"], "registers": sorted({kernel["registers"] for kernel in kernels}),
            "spills": max(kernel["spill_store_bytes"] + kernel["spill_load_bytes"] for kernel in kernels),
            "instructions": sum(one["instructions"].values()),
            "products": {name: n for name, n in sorted(one["instructions"].items()) if PRODUCTS.match(name)}}


def count(days):
    all_ladders = ladders()
    known = load_counts()
    for ladder in all_ladders:
        for rung in ladder.rungs:
            if days and ladder.day.number not in days:
                continue
            old = known.get(key(ladder, rung), {})
            if old.get("source") == number(ladder, rung) and not {"not_counted", "not_compiled"} & set(old):
                continue
            print(f"counting {key(ladder, rung)}", flush=True)
            counted, names = traffic(ladder, rung)
            known[key(ladder, rung)] = {"source": number(ladder, rung), **counted, **code(ladder, rung, names)}
            here = {key(each, name) for each in all_ladders for name in each.rungs}
            kept = {name: known[name] for name in sorted(known) if name in here}
            COUNTS.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


# ---- the page ----

def digits(value):
    """Three of them, and none of a number that is nothing."""
    return "0" if not value else f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def bound(ladder, rung, counts, ffma):
    """TFLOP/s that its counts allow a kernel of FFMA; None where these do not say. A step takes a quarter of a turn of the
    arithmetic, and no less than one turn for each request to global memory, each 128 bytes of its sectors, each turn of shared memory."""
    found = counts.get(key(ladder, rung), {})
    if not ffma or found.get("source") != number(ladder, rung) or "requests" not in found or set(filter(PRODUCTS.match, found.get("products", {}))) != {"FFMA"}:
        return None
    return ffma * 0.25 / max(0.25, found["requests"], found["sectors"] / 4, found["turns"])


def counted_cells(ladder, rung, counts):
    """Requests, sectors, turns and conflicts; registers, products of all instructions."""
    found = counts.get(key(ladder, rung))
    if not found:
        return ["not counted yet", *[""] * 5]
    mark = "" if found["source"] == number(ladder, rung) else stale.MARK
    if "not_counted" in found:
        cells = ["not counted", "", "", ""]
    else:
        cells = [digits(found["requests"]) + mark, digits(found["sectors"]), digits(found["turns"]), digits(found["conflicts"])]
    if "not_compiled" in found:
        return [*cells, "", ""]
    registers = found["registers"]
    text = f"{registers[0]}" if len(registers) == 1 else f"{registers[0]} to {registers[-1]}"
    if found["spills"]:
        text += f", {found['spills']} B spilled"
    products = ", ".join(f"{n} {name}" for name, n in found["products"].items() if PRODUCTS.match(name)) or "none"
    return [*cells, text, f"{products} of {found['instructions']:,}"]


def made():
    """(page's blocks {name: Markdown}, chart's SVG)."""
    all_ladders, counts = ladders(), load_counts()
    gpu_of = gpus_of(all_ladders)
    gpus = sorted(set(gpu_of.values()))
    groups, lines, tables, newest, changed = [], [], [], {}, False
    ffma, reached = dict(limits(gpus, [])).get("FFMA rate"), []
    lines += ["| rung | TFLOP/s | of its limit | requests | sectors | shared turns | conflicts | registers | products among instructions |",
              "|---|---|---|---|---|---|---|---|---|"]
    for ladder in all_ladders:
        gpu = gpu_of[ladder.day]
        found = load_results(gpu, ladder.day)
        if found:
            stale.mark(found)
        table = table_of(found, ladder) if found else None
        shape = f", {results.size(table, ' × ')} {table['type']}" if table else ""
        if table and len(gpus) > 1:
            shape += f", {gpu.upper()}"
        heading = f"day {ladder.day.number:02d}, {ladder.name}{shape}"
        lines.append(f"| **[day {ladder.day.number:02d}](../{ladder.day.target}/README.md), {ladder.name}**{shape} | | | | | | | | |")
        rows = []
        if table:
            tables.append(table)
            newest[gpu] = max(newest.get(gpu, ""), found["date"][:10])
        of_name = {row["name"]: row for row in table["rows"] if row["kind"] != "cpu"} if table else {}
        for rung in ladder.rungs:
            row = of_name.get(rung, {})
            speed = teraflops(table, row) if table else None
            mark = stale.MARK if speed and stale.name(row) != rung else ""
            share = f"{result_table.percent(row['of_limit'])}" if speed and row.get("of_limit") and results.in_flops(table) else ""
            if speed and row.get("of_limit", 1) < 0.01:
                share = f"{100 * row['of_limit']:.1f}%"
            most = bound(ladder, rung, counts, ffma)
            if speed and most and not mark:
                reached.append(speed / most)
            unknown = "not measured yet" + (f", counts allow {result_table.digits(most)}" if most else "")
            words = f"{result_table.digits(speed)}{mark}" + (f" · {share}" if share else "") if speed else unknown
            rows.append((rung, speed or most, "variant" if speed or not most else "bound", words))
            lines.append("| " + " | ".join([rung, f"{result_table.digits(speed)}{mark}" if speed else unknown, share,
                                            *counted_cells(ladder, rung, counts)]) + " |")
            changed |= bool(mark)
        library = results.library(table) if table else None
        if library:
            speed = teraflops(table, library)
            rows.append((library["name"], speed, "library", result_table.digits(speed)))
            lines.append(f"| *{library['name']}* | {result_table.digits(speed)} | | | | | | | |")
        groups.append((heading, rows))
    where = "; ".join(f"{gpu.upper()}: docs/results/{gpu}, newest {newest[gpu]}" for gpu in gpus if gpu in newest) or "nothing is measured yet"
    if changed:
        where += ". †: its kernel has changed since."
    known = limits(gpus, tables)
    blocks = {"rungs": "\n".join(lines), "days": days_table(), "chart": chart_line(groups, known), "reached": reached_line(reached)}
    return blocks, result_plots.story(groups, known, "TFLOP/s", where)


def days_table():
    lines = ["| day | what it adds | rungs |", "|---|---|---|"]
    counted = {}
    for ladder in ladders():
        counted.setdefault(ladder.day, []).extend(ladder.rungs)
    for day in next(days for track, days in catalog.tracks() if track == TRACK):
        if day.folder:
            rungs = ", ".join(dict.fromkeys(counted.get(day, []))) or "no product of matrices: what a later day needs"
            lines.append(f"| [{day.number:02d}](../{day.target}/README.md) | {day.front_matter().get('teaches', '')} | {rungs} |")
        else:
            lines.append(f"| {day.number:02d} | {day.name.replace('_', ' ')}: not written yet | |")
    return "\n".join(lines)


def chart_line(groups, known):
    measured = [speed for _, rows in groups for _, speed, kind, _ in rows if speed and kind == "variant"]
    total = sum(1 for _, rows in groups for _, _, kind, _ in rows if kind != "library")
    words = f"![{len(measured)} of {total} rungs are measured](pictures/matmul.svg)\n\n"
    if measured:
        words += f"{len(measured)} of {total} rungs are measured, from {result_table.digits(min(measured))} to {result_table.digits(max(measured))} TFLOP/s. "
    tensor = [name for name, _ in known if "mma" in name]
    return words + ("" if tensor else "The tensor cores' limit is not measured yet, because no rung that uses them is: its line comes with the first one.")


def reached_line(reached):
    if not reached:
        return "No rung is both measured and counted yet."
    return (f"How good a bound that is, the {len(reached)} rungs tell that are measured and counted: they reach {result_table.percent(min(reached))} to "
            f"{result_table.percent(max(reached))} of it, because nothing overlaps perfectly, and because it knows nothing of waiting.")


def written(text, blocks):
    for name, block in blocks.items():
        begin, end = f"<!-- {name}: written by tools/matmul_page.py -->", f"<!-- /{name} -->"
        if text.count(begin) != 1 or text.count(end) != 1:
            sys.exit(f"error: docs/matmul.md lacks the markers {begin} and {end}")
        before, rest = text.split(begin)
        text = f"{before}{begin}\n{block.strip()}\n{end}{rest.split(end)[1]}"
    return text


def main(arguments):
    if arguments[:1] == ["--count"] and all(word.isdecimal() for word in arguments[1:]):
        count({int(word) for word in arguments[1:]})
    elif arguments not in ([], ["--check"]):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    blocks, chart = made()
    old = PAGE.read_text(encoding="utf-8")
    new, drawn = written(old, blocks), CHART.read_text(encoding="utf-8") if CHART.exists() else ""
    if new == old and chart == drawn:
        print("ok: docs/matmul.md")
        return 0
    if arguments == ["--check"]:
        print("docs/matmul.md is stale: tools/matmul_page.py")
        return 1
    PAGE.write_text(new, encoding="utf-8")
    CHART.write_text(chart, encoding="utf-8")
    print("wrote docs/matmul.md")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
