# SPDX-License-Identifier: MIT
"""tools/matmul_page.py: which ladders it finds, what it takes of results and counts, and that a page that is stale is seen."""
import contextlib
import importlib.util
import io
import json
import unittest
from pathlib import Path

from support import Case, describe, ladder

from days_cli import catalog, paths, results

LADDERS = (ladder("matmul", {"slow": "a", "fast": "b"}, "mnk"), ladder("copy", {"element": "c"}, ("rows", "cols")),
           ladder("half", {"mma": "d"}, (*"mnk", "layout"), ("fp16", "bf16")))


def table(rows, shape=(4096, 4096, 4096), **more):
    return {"ladder": "matmul", "type": "fp32", "shape": dict(zip("mnk", shape)), "flops": 2.0 * shape[0] * shape[1] * shape[2],
            "limit": {"name": "FFMA rate", "per_second": 60e12}, "rows": rows, **more}


def row(name, seconds, **more):
    return {"name": name, "kind": "variant", "result": "ok", "seconds": seconds, "noise": 0, "of_limit": 0.5, **more}


class Page(Case):
    def setUp(self):
        super().setUp()
        spec = importlib.util.spec_from_file_location("matmul_page", paths.ROOT / "tools" / "matmul_page.py")
        self.page = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.page)
        folder = self.folder / "day05_matmul"
        folder.mkdir()
        describe(folder, *LADDERS)
        (folder / "README.md").write_text("---\ntitle: x\nteaches: What it adds\n---\n")
        self.day = catalog.Day(5, "matmul", "Matmul", folder)
        other = catalog.Day(11, "matmul_dynamic_tiled", "Matmul", None)
        self.replace(catalog, "tracks", lambda: [("Foundations", []), ("Matmul", [self.day, other])])
        self.replace(self.page, "PAGE", self.folder / "matmul.md")
        self.replace(self.page, "CHART", self.folder / "matmul.svg")
        self.replace(self.page, "COUNTS", self.folder / "counts.json")
        self.replace(self.page, "number", lambda ladder, rung: "abc")
        self.found = {"day": "day05_matmul", "date": "2026-11-24T00:00:00Z", "tables": [
            table([row("slow", 1.0, source="1"), row("fast", 0.1, source="2"),
                   {"name": "cuBLAS", "kind": "library", "result": "ok", "seconds": 0.05}]),
            table([row("slow", 0.001)], (64, 64, 64))]}
        self.replace(self.page, "load_results", lambda gpu, day: json.loads(json.dumps(self.found)) if gpu and day is self.day else None)
        self.replace(results, "recorded", lambda number=None: ["h200"] if number == 5 else [])
        self.replace(self.page.stale, "mark", lambda found: None)
        self.page.PAGE.write_text("".join(f"<!-- {name}: written by tools/matmul_page.py -->\n<!-- /{name} -->\n"
                                          for name in ("chart", "days", "rungs", "reached")))

    def run_page(self, *arguments):
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            code = self.page.main(list(arguments))
        return code, out.getvalue()

    def test_finds_the_ladders_that_multiply(self):
        self.assertEqual([(each.name, each.rungs) for each in self.page.ladders()],
                         [("matmul", ("slow", "fast")), ("half", ("mma",))])

    def test_writes_speeds_and_says_what_is_not_measured(self):
        self.assertEqual(self.run_page()[0], 0)
        text = self.page.PAGE.read_text()
        self.assertIn("| slow | 0.137 | 50% | not counted yet |", text)  # 2 x 4096^3 in a second, and not the shape of 64
        self.assertIn("| fast | 1.37 | 50% |", text)
        self.assertIn("| mma | not measured yet |", text)
        self.assertIn("| *cuBLAS* | 2.75 |", text)
        self.assertIn("2 of 3 rungs are measured, from 0.137 to 1.37 TFLOP/s.", text)
        self.assertIn("The tensor cores' limit is not measured yet", text)
        self.assertIn("No rung is both measured and counted yet.", text)
        self.assertIn("| [05](../day05_matmul/README.md) | What it adds | slow, fast, mma |", text)
        self.assertIn("| 11 | matmul dynamic tiled: not written yet | |", text)
        chart = self.page.CHART.read_text()
        for words in (">mma<", ">not measured yet<", "FFMA rate", "2 of 3 rungs"):
            self.assertIn(words, chart)

    def test_a_day_whose_note_shows_another_gpu(self):
        folder = self.folder / "day11_matmul_dynamic_tiled"
        folder.mkdir()
        describe(folder, *LADDERS)
        (folder / "README.md").write_text("<!-- results:h100 -->\n<!-- /results:h100 -->\n")
        other = catalog.Day(11, "matmul_dynamic_tiled", "Matmul", folder)
        self.replace(catalog, "tracks", lambda: [("Foundations", []), ("Matmul", [self.day, other])])
        self.replace(results, "recorded", lambda number=None: ["h100", "h200"] if number == 11 else ["h200"])
        self.replace(self.page, "load_results", lambda gpu, day: json.loads(json.dumps(self.found)) if gpu else None)
        self.run_page()
        text = self.page.PAGE.read_text()
        self.assertIn(", matmul**, 4096 × 4096 × 4096 fp32, H200 |", text)
        self.assertIn("[day 11](../day11_matmul_dynamic_tiled/README.md), matmul**, 4096 × 4096 × 4096 fp32, H100 |", text)
        self.assertIn("H100: docs/results/h100, newest 2026-11-24; H200: docs/results/h200, newest 2026-11-24", self.page.CHART.read_text())

    def test_a_kernel_that_has_changed_is_marked(self):
        def mark(found):
            found["tables"][0]["rows"][0]["changed"] = True
        self.replace(self.page.stale, "mark", mark)
        self.run_page()
        self.assertIn("| slow | 0.137 † |", self.page.PAGE.read_text())
        self.assertIn("its kernel has changed since", self.page.CHART.read_text())

    def test_shows_counts_and_marks_those_of_another_kernel(self):
        counted = {"source": "abc", "requests": 2.0, "sectors": 5, "turns": 0.125, "conflicts": 0, "registers": [32, 40], "spills": 8,
                   "products": {"FFMA": 29}, "instructions": 1258}
        self.page.COUNTS.write_text(json.dumps({
            "day05_matmul/matmul/slow": counted, "day05_matmul/matmul/fast": {**counted, "source": "old", "spills": 0},
            "day05_matmul/half/mma": {"source": "abc", "not_counted": "why", "not_compiled": "why"}}))
        self.run_page()
        text = self.page.PAGE.read_text()
        self.assertIn("| 2 | 5 | 0.125 | 0 | 32 to 40, 8 B spilled | 29 FFMA of 1,258 |", text)
        self.assertIn("| 2 † | 5 | 0.125 | 0 | 32 to 40 |", text)
        self.assertIn("| mma | not measured yet |  | not counted |", text)

    def test_what_is_counted_bounds_what_is_not_measured(self):
        counted = {"source": "abc", "requests": 0.5, "sectors": 8, "turns": 1, "conflicts": 0, "registers": [32], "spills": 0,
                   "products": {"FFMA": 29}, "instructions": 100}
        self.found["tables"][0]["limit"]["per_second"] = 64e12
        self.replace(self.page, "limits", lambda gpu, tables: [("FFMA rate", 64.0)])
        for counts, words in (({}, "not measured yet, counts allow 8"), ({"sectors": 1, "turns": 0.1}, "not measured yet, counts allow 32"),
                              ({"requests": 0.01, "sectors": 0.1, "turns": 0.01}, "not measured yet, counts allow 64"),
                              ({"products": {"HMMA.16816": 8}}, "not measured yet |"), ({"source": "old"}, "not measured yet |")):
            self.page.COUNTS.write_text(json.dumps({"day05_matmul/half/mma": {**counted, **counts}}))
            self.run_page()
            self.assertIn(f"| mma | {words}", self.page.PAGE.read_text())
            self.assertEqual("stroke-dasharray" in self.page.CHART.read_text(), "allow" in words)
            self.assertIn("2 of 3 rungs are measured", self.page.PAGE.read_text())

    def test_check_sees_a_stale_page(self):
        code, words = self.run_page("--check")
        self.assertEqual(code, 1)
        self.assertIn("docs/matmul.md is stale: tools/matmul_page.py", words)
        self.assertFalse(self.page.CHART.exists())
        self.run_page()
        self.assertEqual(self.run_page("--check"), (0, "ok: docs/matmul.md\n"))
        self.found["tables"][0]["rows"][1]["seconds"] = 0.2
        self.assertEqual(self.run_page("--check")[0], 1)

    def test_nothing_measured_at_all(self):
        self.replace(results, "recorded", lambda number=None: [])
        self.assertEqual(self.run_page()[0], 0)
        self.assertIn("0 of 3 rungs are measured", self.page.PAGE.read_text())

    def test_other_words_are_refused(self):
        self.assertEqual(self.run_page("--chekc")[0], 2)

    def test_the_committed_page_has_its_markers(self):
        text = (Path(paths.ROOT) / "docs" / "matmul.md").read_text(encoding="utf-8")
        for name in ("chart", "days", "rungs", "reached"):
            self.assertEqual(text.count(f"<!-- {name}: written by tools/matmul_page.py -->"), 1)


if __name__ == "__main__":
    unittest.main()
