#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the measured results into the days' notes: docs/results/GPU/dayNN.json, made by `./days bench NN --record`, becomes
the plots and the first table of each ladder between <!-- results:GPU --> and <!-- /results:GPU --> of the day's README.md, and the plots
pictures/results_GPU_*.svg of the day's folder. A note that has further down <!-- results:GPU-tables --> or <!-- results:GPU-sizes -->, in a fold say,
has its tables there, or its plots over the size. Other sizes and types are on the page docs/results/GPU/dayNN.md. A rung's heading `### 2 · online — ...` says behind the dash what it reached:
time and share of the limit in the first table that has it; where ncu has profiled the rung (./days profile), on this GPU or else on another, a line below the heading
says what its warps wait for. No figure there is typed by hand.

    tools/results_tables.py            write
    tools/results_tables.py --check    exit 1 where a note does not say what its results say
"""
import json
import re
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from days_cli import catalog, profiles, result_plots, stale  # noqa: E402
from days_cli import results as result_files  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent


def time_text(seconds):
    for unit, scale in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def number(value):
    return f"{value:.4g}" if value < 1000 else f"{value:,.0f}"


def row_cells(row, table, library):
    seconds, name = row.get("seconds"), stale.name(row)
    if not seconds:
        return [name, row.get("reason", row.get("result", "")), "", "", ""]
    # A CPU row may have run on a smaller problem; its rate is then its own.
    rate = result_files.rate(table, row)
    of_limit = row.get("of_limit")
    ratio = result_files.over_library(row, library) if library and row["kind"] != "cpu" else None
    note = ""
    if row["kind"] == "cpu" and list(table["shape"].values()) != row["shape"]:
        note = " at " + " × ".join(map(str, row["shape"]))
    return [name, time_text(seconds) + note, number(rate) if rate else "",
            f"{of_limit:.1%}" if of_limit else "", f"{ratio:.3f}" if ratio else ""]


def table_lines(table):
    unit = result_files.unit(table)
    library = result_files.library(table)
    said = ""
    if "limit" in table:
        limit = result_files.scaled(table, table["limit"]["per_second"])
        said = f"; the limit is this device's own {table['limit']['name']}, {number(limit)} {unit}, measured in the same run"
    cells = (row_cells(row, table, library) for row in table["rows"] if row.get("reason") != f"no {table['type']}")
    return [f"**{result_files.name(table)}**, {result_files.size(table, ' × ')} {table['type']}{said}.", "",
            f"| rung | time | {unit} | of limit | × {library['name'] if library else 'library'} |",
            "|---|---|---|---|---|", *("| " + " | ".join(row) + " |" for row in cells), ""]


def sweep_lines(tables):
    """A row a size: the best rung, and how many times as fast as each library it is."""
    libraries = list(dict.fromkeys(row["name"] for table in tables for row in table["rows"]
                                   if row["kind"] == "library" and row.get("seconds")))
    first = tables[0]
    lines = [f"**{first['ladder']}** {first['type']}, over the size", "",
             f"| {' × '.join(first['shape'])} | best rung | time | {result_files.unit(first)} | of limit |"
             + "".join(f" × {name} |" for name in libraries), "|---" * (5 + len(libraries)) + "|"]
    for table in tables:
        best = result_files.best(table)
        if not best:
            continue
        rows = {row["name"]: row for row in table["rows"] if row.get("seconds")}
        ratios = [result_files.over_library(best, rows[name]) if name in rows else None for name in libraries]
        cells = [result_files.size(table, " × "), stale.name(best), time_text(best["seconds"]), number(result_files.rate(table, best)),
                 f"{best['of_limit']:.1%}" if best.get("of_limit") else "", *("" if ratio is None else f"{ratio:.3f}" for ratio in ratios)]
        lines.append("| " + " | ".join(cells) + " |")
    return [*lines, ""]


def render(results, apart=()):
    """What stands between a note's markers, without the parts that it has elsewhere: "sizes", "tables"."""
    lines = [line for line in plots(results) if "sizes" not in apart or not over_size(line)]
    lines += [""] if lines else []
    lines += [] if "tables" in apart else tables(results)
    if further(results):
        lines += [f"Other sizes and types: [docs/results/{gpu_of(results)}/{results['day'][:5]}.md]"
                  f"(../docs/results/{gpu_of(results)}/{results['day'][:5]}.md).", ""]
    return "\n".join([*lines, *measured(results)])


def plots(results):
    return [f"![{words}](pictures/{name})" for name, _, words in result_plots.pictures(results)]


def over_size(line):
    return line.endswith("_sizes.svg)")


def tables(results):
    return [line for table in result_files.main_tables(results) for line in table_lines(table)]


def gpu_of(results):
    return result_files.slug(results["device"]["name"])


def section(table):
    return ["## " + f"{result_files.name(table)} {result_files.size(table, ' × ')} {table['type']}", "", *table_lines(table)]


def further(results):
    """The lines of all tables but the note's."""
    main, lines = result_files.main_tables(results), []
    for tables in result_files.sweeps(results):
        lines += ["## " + f"{tables[0]['ladder']} {tables[0]['type']}, size by size", "", *sweep_lines(tables)]
    for table in results["tables"]:
        if not table.get("sweep") and table not in main:
            lines += section(table)
    return lines


def page(results, shown):
    """The page of what is measured beside the note's tables, which show this GPU's (shown) or another one's; "" where nothing is."""
    day, lines = int(results["day"][3:5]), further(results)
    note = f"[the day's note](../../../{results['day']}/README.md)"
    title, where = ": other sizes and types", f"The first table of each ladder is in {note}, "
    if not shown:
        title, where = "", f"Another GPU's results are in {note}, "
        lines = [line for table in result_files.main_tables(results) for line in section(table)] + lines
    if not lines:
        return ""
    return "\n".join([f"# Day {day:02d} on the {results['device']['name']}{title}", "",
                      f"{where}[how it is measured](../../results.md) is written once for all days. `./days report` writes this page "
                      f"from [`{results['day'][:5]}.json`]({results['day'][:5]}.json).", "", *lines, *measured(results), ""])


def measured(results):
    """What a figure is of: the lines below the tables."""
    device, day, lines = results["device"], int(results["day"][3:5]), []
    if stale.any_changed(results["tables"]):
        lines += [stale.remark(results["day"]), ""]
    missing = stale.never_measured(results)
    if missing:
        lines += [f"Not measured on a GPU yet: {', '.join(missing)}. `./days bench {day} --stale --record` does.", ""]
    others = sorted({(table["date"][:10], table["commit"][:7]) for table in results["tables"] if table.get("commit")})
    lines.append(f"{device['name']} ({device['sm']}), CUDA {results['cuda']}, {results['date'][:10]}, commit "
                 f"{results['commit'][:7] or 'unknown'}: `./days {results.get('command', 'run')} {day}`."
                 + (f" Some tables are older: {', '.join(f'{date}, commit {commit}' for date, commit in others)}." if others else ""))
    return lines


_HEADING = re.compile(r"^(### (?:\d+ · )?(\w+) — ).*$", re.MULTILINE)


def headed(text, results):
    """A note's text with what each measured rung reached in its heading, where that has a dash for it."""
    reached = {}
    for table in result_files.main_tables(results):
        for row in table["rows"]:
            if row["kind"] == "variant" and row.get("seconds") and row.get("of_limit"):
                share = row["of_limit"]
                words = f"{time_text(row['seconds'])}, {share:.{0 if share >= 0.0995 else 1}%} of the limit"
                reached.setdefault(row["name"], words + (stale.MARK if row.get("changed") else ""))
    return _HEADING.sub(lambda m: m[1] + reached.get(m[2], m[0][len(m[1]):]), text)


_PROFILED = " <!-- profile -->"  # ends the line that is made of a profile
_RUNG = re.compile(rf"^(### \d+ · (\w+).*\n)(?:\n[^\n]*{_PROFILED}\n)?", re.MULTILINE)


def profiled(text, gpu, day):
    """A note's text with a line on what its warps wait for below the heading of each rung that was profiled on this GPU; where none was,
    on another one, which the line names."""
    def linked(words, reason):
        return f"[{words}](../docs/glossary.md#{reason.replace('_', '-')})" if reason in profiles.REASONS else words

    def line(row, where):
        words = where + profiles.line(row, linked)
        return ("An earlier version of this kernel: " + words if row["changed"] else words[0].upper() + words[1:]) + "." + _PROFILED

    found, where = profiles.shown(day, gpu), ""
    for other in result_files.recorded(day.number):
        if not found and (found := profiles.shown(day, other)):
            where = f"on the {profiles.load(other, day)['device']} "
    return _RUNG.sub(lambda m: m[1] + (f"\n{line(found[m[2]], where)}\n" if m[2] in found else ""), text)


def expected(path, results):
    """{file: its text} of everything that a result file makes; None for the note's text where it has no markers."""
    gpu, note = path.parent.name, ROOT / results["day"] / "README.md"
    old = note.read_text(encoding="utf-8")
    shown = result_files.shown_in(old)
    further_page = page(results, shown == gpu)
    files = {path.with_suffix(".md"): further_page} if further_page else {}
    if shown in (gpu, None):
        files |= {note.parent / "pictures" / name: svg for name, svg, _ in result_plots.pictures(results)}
        day = next(day for day in catalog.here() if day.target == results["day"])
        files[note] = profiled(headed(in_parts(old, gpu, results), results), gpu, day) if shown else None
    return files


def in_parts(note, gpu, results):
    """The note with its results, each part between its own markers where the note has some."""
    parts = {"sizes": [line for line in plots(results) if over_size(line)], "tables": tables(results)}
    apart = [part for part in parts if result_files.markers(f"{gpu}-{part}").search(note)]
    for part in apart:
        note = filled(note, f"{gpu}-{part}", "\n".join(parts[part]).rstrip() + "\n")
    return filled(note, gpu, render(results, apart) + "\n")


def filled(note, gpu, text):
    return result_files.markers(gpu).sub(lambda m: m[1] + text + m[4], note)


def unmeasured():
    """{note: its text} of days with a ladder that the GPU of their note has not measured: they say so where the results will be;
    None where a note has no markers."""
    texts = {}
    for ladder in sorted(ROOT.glob("day[0-9][0-9]_*/ladder.[cp][py]*")):
        note = ladder.parent / "README.md"
        text = read(note)
        gpu = result_files.shown_in(text)
        if not gpu and result_files.recorded():
            texts[note] = None
        elif gpu and not (ROOT / "docs" / "results" / gpu / f"{ladder.parent.name[:5]}.json").exists():
            texts[note] = filled(text, gpu, f"Not measured on a GPU yet: `./days bench {int(ladder.parent.name[3:5])}`.\n")
    return texts


def read(path):
    return path.read_text(encoding="utf-8") if path.exists() else ""


def main():
    check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not check:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    behind, pictures, texts = 0, set(), dict(unmeasured())
    for note, text in texts.items():
        if text is None:
            print(f"error: {note.relative_to(ROOT)} has no <!-- results:{result_files.recorded()[0]} --> markers", file=sys.stderr)
            return 1
    for path in sorted(ROOT.glob("docs/results/*/day[0-9][0-9].json")):
        for file, text in expected(path, stale.mark(json.loads(path.read_text(encoding="utf-8")))).items():
            pictures.add(file)
            if text is None:
                print(f"error: {file.relative_to(ROOT)} has no <!-- results:{path.parent.name} --> markers", file=sys.stderr)
                return 1
            texts[file] = text
    for file, text in texts.items():
        if text == read(file):
            continue
        behind += 1
        if check:
            print(f"error: {file.relative_to(ROOT)} is not what docs/results say: run ./days report", file=sys.stderr)
        else:
            file.parent.mkdir(exist_ok=True)
            file.write_text(text, encoding="utf-8")
            print(f"wrote {file.relative_to(ROOT)}")
    made = [*ROOT.glob("day[0-9][0-9]_*/pictures/results_*.svg"), *ROOT.glob("docs/results/*/day[0-9][0-9].md")]
    for file in sorted(set(made) - pictures):
        behind += 1
        if check:
            print(f"error: {file.relative_to(ROOT)} is of no result file: run ./days report", file=sys.stderr)
        else:
            file.unlink()
            print(f"removed {file.relative_to(ROOT)}")
    return 1 if check and behind else 0


if __name__ == "__main__":
    sys.exit(main())
