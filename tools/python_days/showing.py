# SPDX-License-Identifier: MIT
"""The table that `./days run` shows without a GPU: each rung checked in Triton's interpreter, with what it moves."""
from __future__ import annotations

import json

import numpy as np

from days_cli import console, outputs, result_table
from days_cli.errors import WRONG
from python_days import adapters, cases, device, plain


def run(day, chosen, given):
    tables, good = [], True
    for ladder, rungs, types, shape in chosen:
        for kind in types if given.type else types[:1]:
            table = _table(day, ladder, rungs, kind, shape or ladder.show, given.file)
            if given.json != "-":
                if tables:
                    console.say()
                _show(day, ladder, table, types)
            tables.append(table)
            good = good and all(row["result"] != "fail" for row in table["rows"])
    found = {"schema": 1, "day": day.folder.name, "command": "run", "backend": "interpreter", "tables": tables}
    if given.json == "-":
        console.say(json.dumps(found, indent=2))
    else:
        if given.json:
            outputs.put(given.json, json.dumps(found, indent=2) + "\n")
        if any(ladder.by == "triton" for ladder, _, _, _ in chosen):
            console.say("\nWhat each line moves, and what the compiler makes of it: " +
                        console.paint(f"./days explain {day.number}", "cyan"))
    return 0 if good else WRONG


def _table(day, ladder, rungs, kind, shape, file):
    inputs, made = ladder.make(kind, shape, draw=False)
    read, written = ladder.traffic(inputs, made)
    table = {"ladder": ladder.name, "type": kind, "shape": dict(zip(ladder.extents, shape)), "read_bytes": read,
             "written_bytes": written, "rows": []}
    for rung in rungs:
        console.progress(f"running {rung}" + (" in Triton's interpreter" if ladder.by == "triton" else ""))
        launch = day.launch(rung, file if rung == "exercise" else None)
        if rung in ladder.compiled_only:
            table["rows"].append({"name": rung, "kind": "variant", "result": "skip", "reason": cases.not_interpreted(ladder, rung)})
            continue
        try:
            outcome = cases.run(cases.Case(kind, shape), adapters.of(ladder, launch))
        except plain.Unavailable as error:
            table["rows"].append({"name": rung, "kind": "variant", "result": "skip", "reason": str(error)})
            continue
        row = {"name": rung, "kind": "variant", "result": outcome.result, "worst_error": outcome.facts.get("worst"), **figures(outcome.launches)}
        if outcome.result == "ok" and ladder.by != "triton":
            with plain.silent():
                row["counters"] = plain.as_json(ladder, plain.measured(ladder, launch, kind, shape))
        if outcome.result == "fail":
            row["report"] = "\n".join([*outcome.notes, *(line for report in outcome.reports for line in cases.describe(report)),
                                       *(f"{one['at']} is {one['got']}, expected {one['expected']}" for one in outcome.facts["first"][:3])])
        table["rows"].append(row)
    assumed = device.told()
    if assumed:
        table["assumed_device"] = assumed
    console.clear_progress()
    return table


def figures(launches):
    """What a case's launches come to."""
    lines = [(op, counts) for launch in launches for (_, _, op, _), counts in launch.lines.items()]
    return {"launches": len(launches), "programs": sum(int(np.prod(launch.grid)) for launch in launches if launch.grid),
            "loaded_bytes": sum(counts.bytes for op, counts in lines if op == "load"),
            "stored_bytes": sum(counts.bytes for op, counts in lines if op == "store"),
            "atomic_bytes": sum(counts.bytes for op, counts in lines if op == "atomic"),
            "sectors": sum(counts.sectors for _, counts in lines)}


def _show(day, ladder, table, types):
    read, written = (result_table.bytes_text(table[key]) for key in ("read_bytes", "written_bytes"))
    shape = " x ".join(map(str, table["shape"].values()))
    console.say(console.paint(f"Day {day.number} {ladder.name}, {shape} {table['type']}, {read} in + {written} out", "bold"))
    width = max(11, *(len(row["name"]) for row in table["rows"])) + 1
    if ladder.by != "triton":
        _show_plain(ladder, table, width)
        _show_end(ladder, table, types)
        return
    console.say("No GPU: programs ran in Triton's interpreter. Results and counts, no times.")
    if "assumed_device" in table:
        console.say(f"Grids as on {table['assumed_device']}, which launchers ask about; DAYS_DEVICE=t4 assumes a T4.")
    console.say()
    console.say(f"{'rung':{width}}{'result':8}{'error':6}{'launches':>9}{'programs':>10}{'loaded/in':>11}{'stored/out':>12}{'atomics':>11}")
    for row in table["rows"]:
        if _show_failure(row, width):
            continue
        error = _error(row)
        share = lambda part, of: f"{part / of:.2f}" if of else "-"
        console.say(f"{row['name']:{width}}{console.status('ok', 8)}{error:6}{row['launches']:>9,}{row['programs']:>10,}"
                    f"{share(row['loaded_bytes'], table['read_bytes']):>11}{share(row['stored_bytes'], table['written_bytes']):>12}"
                    f"{result_table.bytes_text(row['atomic_bytes']) if row['atomic_bytes'] else '-':>11}")
    _show_end(ladder, table, types)


def _show_failure(row, width):
    """A row without a result; whether it is one."""
    if row["result"] == "ok":
        return False
    if row["result"] == "skip":
        for line in console.wrap(f"{row['name']:{width}}{console.status('skip')}  {row['reason']}", " " * (width + 6), ""):
            console.say(line)
        return True
    console.say(f"{row['name']:{width}}{console.status('FAIL')}")
    for line in row["report"].splitlines():
        for part in console.wrap(line, "    ", "  "):
            console.say(part)
    return True


def _error(row):
    error = row["worst_error"]
    return "nan" if error is None else "0" if error == 0 else f"{error:.0e}"


def _show_plain(ladder, table, width):
    """The rungs of plain Python, with what the ladder counts of them."""
    console.say("No GPU: kernels ran on this CPU. Results and counts, no times.\n")
    across = [max(len(counter.label), 8) + 2 for counter in ladder.counters]
    console.say(f"{'rung':{width}}{'result':8}{'error':6}" + "".join(f"{counter.label:>{n}}" for counter, n in zip(ladder.counters, across)))
    for row in table["rows"]:
        if not _show_failure(row, width):
            values = {counter["key"]: counter["value"] for counter in row["counters"]}
            console.say(f"{row['name']:{width}}{console.status('ok', 8)}{_error(row):6}" + "".join(
                f"{counter.form.format(values[counter.key]):>{n}}" for counter, n in zip(ladder.counters, across)))


def _show_end(ladder, table, types):
    others = [kind for kind in types if kind != table["type"]]
    if others:
        console.say(f"Other types: --type {','.join(others)}")
    if ladder.lesson:
        for line in console.wrap(f"Lesson: {ladder.lesson}", "  ", ""):
            console.say(line)
