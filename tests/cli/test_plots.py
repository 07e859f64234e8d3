#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The plots of results: well-formed, true to the figures, the same twice; and that --check sees a stale one."""
import json
import re
import sys
import unittest
from xml.etree import ElementTree

import support
from days_cli import result_plots, results, stale
from support import ROOT, result_file, result_row, result_table

sys.path.insert(0, str(ROOT / "tools"))
import results_tables  # noqa: E402

_SVG = "{http://www.w3.org/2000/svg}"


def rows(scale=1.0, size=2**31):
    return [result_row("naive", 4000 * scale, size), result_row("padded & <long>", 600 * scale, size, noise=0.05),
            {"name": "cluster", "kind": "variant", "result": "skip", "reason": "needs sm_100"},
            result_row("cuBLAS geam", 660 * scale, size, kind="library"),
            {"name": "CPU loops", "kind": "cpu", "shape": [16384, 16384], "seconds": 5.5}]


def sweep(sizes=(256, 1024, 4096, 16384)):
    return [result_table(rows(n / 16384 + 0.01, n * 16384 * 8), n, True) for n in sizes]


class Plot:
    def __init__(self, text):
        self.root = ElementTree.fromstring(text)
        self.words = [node.text for node in self.root.iter(_SVG + "text")]
        self.lines = [node.attrib for node in self.root.iter(_SVG + "line")]

    def bars(self):
        return [float(node.get("width")) for node in list(self.root.iter(_SVG + "rect"))[1:]]

    def outside(self):
        """Coordinates beyond the card."""
        width, height = float(self.root.get("width")), float(self.root.get("height"))
        found = []
        for node in self.root.iter():
            for name, value in node.attrib.items():
                most = {"x": width, "x1": width, "x2": width, "cx": width, "y": height, "y1": height, "y2": height,
                        "cy": height}.get(name)
                if most is not None and not 0 <= float(value) <= most:
                    found.append((node.tag, name, value))
            if node.tag == _SVG + "text":
                length = 6.2 / 12 * float(node.get("font-size")) * len(node.text)
                start = float(node.get("x")) - {"start": 0, "middle": length / 2, "end": length}[node.get("text-anchor")]
                if start < 0 or start + length > width:
                    found.append(("text", node.text))
        return found


class Ladder(support.Case):
    def test_true_to_the_figures(self):
        table = result_table(rows())
        plot = Plot(result_plots.ladder(result_file([table]), table))
        self.assertEqual(plot.outside(), [])
        naive, padded, library = plot.bars()
        self.assertAlmostEqual(padded / naive, 4000 / 600, delta=0.05)
        self.assertAlmostEqual(library / naive, 4000 / 660, delta=0.05)
        self.assertIn("3579 · 89%", plot.words)
        self.assertNotIn("cluster", plot.words)
        self.assertNotIn("CPU loops", plot.words)
        self.assertIn("limit: its own copy, 4000", plot.words)
        self.assertIn("NVIDIA H200, CUDA 13.0, commit 0123456, 2026-11-21: docs/results/h200/day13.json", plot.words)
        dashed = [line for line in plot.lines if "stroke-dasharray" in line]
        left = float(list(plot.root.iter(_SVG + "rect"))[1].get("x"))
        self.assertEqual(len(dashed), 1)
        self.assertAlmostEqual(float(dashed[0]["x1"]) - left, library, delta=0.2)
        solid = [line for line in plot.lines if line["stroke-width"] == "1.6"]
        self.assertEqual(len(solid), 1)
        self.assertAlmostEqual((float(solid[0]["x1"]) - left) / naive, 4000 / 537, delta=0.05)

    def test_whiskers_only_where_there_is_noise(self):
        noisy = sum(line["stroke"] == "#1f2430" and line["stroke-width"] == "1.0" for line in Plot(
            result_plots.ladder(result_file([]), result_table([result_row("a", 500, noise=0.1)]))).lines)
        still = sum(line["stroke"] == "#1f2430" and line["stroke-width"] == "1.0" for line in Plot(
            result_plots.ladder(result_file([]), result_table([result_row("a", 500, noise=0)]))).lines)
        self.assertEqual((noisy, still), (3, 0))

    def test_without_library_or_limit(self):
        table = result_table([result_row("naive", 4000)])
        del table["limit"], table["rows"][0]["of_limit"]
        plot = Plot(result_plots.ladder(result_file([table]), table))
        self.assertEqual(plot.outside(), [])
        self.assertFalse([line for line in plot.lines if "stroke-dasharray" in line])

    def test_faster_than_the_limit_and_a_slow_library(self):
        for table in (result_table([result_row("a", 400), result_row("b", 40000, kind="library")]),
                      result_table([result_row("x" * 26, 536.9), result_row("y", 537, kind="library")])):
            self.assertEqual(Plot(result_plots.ladder(result_file([table]), table)).outside(), [])

    def test_steps(self):
        self.assertEqual([result_plots.nice_step(top, 5) for top in (4290, 65.8, 0.9, 10)], [1000, 20, 0.2, 2])


class Sweep(support.Case):
    def test_lines(self):
        text = result_plots.sweep(result_file([]), sweep())
        plot = Plot(text)
        self.assertEqual(plot.outside(), [])
        lines = list(plot.root.iter(_SVG + "polyline"))
        self.assertEqual(len(lines), 3)
        self.assertEqual(["stroke-dasharray" in line.attrib for line in lines], [False, False, True])
        for line in lines:
            places = [float(pair.split(",")[0]) for pair in line.get("points").split()]
            self.assertEqual(places, sorted(places))
            self.assertEqual(len(places), 4)
        self.assertEqual(text, result_plots.sweep(result_file([]), sweep()[::-1]))  # whatever the order in the file

    def panels(self, tables):
        """([sizes of the main panel], [beside it], what that is called), as extents of shapes."""
        main, aside, called = result_plots._panels(result_file([]), tables)
        numbers = lambda panel: [table["shape"][table.get("over", "rows")] for table in panel]  # noqa: E731
        return numbers(main), numbers(aside), called

    def test_odd_sizes_stand_beside(self):
        """No line leaps from a size of one kind to one of the other."""
        tables = sweep((255, 1000, 1024, 2048, 4096, 4099))
        self.assertEqual(self.panels(tables), ([1024, 2048, 4096], [255, 1000, 4099], "odd sizes, other shapes"))
        plot = Plot(result_plots.sweep(result_file([]), tables))
        self.assertEqual(plot.outside(), [])
        self.assertTrue({"odd sizes, other shapes", "255", "4099"} <= set(plot.words))
        paths = [[float(pair.split(",")[0]) for pair in line.get("points").split()] for line in plot.root.iter(_SVG + "polyline")]
        self.assertEqual([len(places) for places in paths], [3, 3] * 3)
        self.assertEqual(len({tuple(places) for places in paths}), 2)
        self.assertGreater(min(max(paths)), max(min(paths)))
        self.assertEqual(len(list(plot.root.iter(_SVG + "circle"))), 18)

    def test_which_sizes_are_odd(self):
        over = [dict(result_table(rows(), n, True), shape={"seq": n, "dim": 64}, over="seq") for n in (512, 1000, 1024, 2049, 4096, 768)]
        self.assertEqual(self.panels(over), ([512, 768, 1024, 4096], [1000, 2049], "odd sizes"))
        shapes = [dict(result_table(rows(), n, True), shape={"rows": n, "cols": cols}) for n, cols in ((480, 640), (1080, 1920), (4093, 4099), (8192, 8192))]
        self.assertEqual(self.panels(shapes), ([480, 1080, 8192], [4093], "odd sizes"))
        self.assertEqual(self.panels(sweep((255, 1024, 4096))), ([255, 1024, 4096], [], ""))  # two are no line

    def test_shapes_of_one_size(self):
        """Of these one is in the main panel, the one that stands for the ladder, and nothing joins the others."""
        tables = [*sweep((256, 1024)), *(dict(result_table(rows(), 4096, True), shape={"rows": n, "cols": 16384 * 4096 // n}) for n in (1024, 4096, 16384))]
        main = dict(result_table(rows(), 4096), shape={"rows": 4096, "cols": 16384})
        panels = result_plots._panels(result_file([main]), tables)
        self.assertEqual(panels[0][-1]["shape"], main["shape"])
        self.assertEqual((sorted(table["shape"]["rows"] for table in panels[1]), panels[2]), ([1024, 16384], "other shapes"))
        plot = Plot(result_plots.sweep(result_file([main]), tables))
        self.assertEqual(plot.outside(), [])
        self.assertEqual([len(line.get("points").split()) for line in plot.root.iter(_SVG + "polyline")], [3] * 3)
        self.assertTrue({"1024 ×", "65536", "16384 ×", "4096"} <= set(plot.words))

    def test_words_below_do_not_meet(self):
        tables = [dict(result_table(rows(), n, True), shape={"n": n}, over="n") for n in (2**14, 2**18, 1000003, 2**24, 100000007, 2**28, 2**30)]
        plot = Plot(result_plots.sweep(result_file([]), tables))
        below = sorted((float(node.get("x")) - 3.1 * len(node.text), float(node.get("x")) + 3.1 * len(node.text)) for node in plot.root.iter(_SVG + "text")
                       if node.text.isdigit() and node.get("text-anchor") == "middle")
        self.assertGreaterEqual(len(below), 5)
        self.assertTrue(all(left[1] < right[0] for left, right in zip(below, below[1:])), below)

    def test_libraries_differ(self):
        tables = [result_table([result_row("naive", 600), *(result_row(name, 700, kind="library") for name in "AB")], n, True)
                  for n in (64, 256)]
        lines = list(Plot(result_plots.sweep(result_file([]), tables)).root.iter(_SVG + "polyline"))
        self.assertEqual(len({(line.get("stroke"), line.get("stroke-dasharray")) for line in lines}), 3)

    def test_five_lines_at_most(self):
        """Two libraries and three rungs: those that are the best of their kind at most sizes, so that none that wins is missing."""
        speed = lambda n, i: 600 + i if n < 200 else 700 - i  # noqa: E731
        tables = [result_table([*(result_row(f"rung{i}", 1e6 / speed(n, i)) for i in range(6)),
                                *(result_row(f"lib{i}", 1e6 / speed(n, i), kind="library") for i in range(4))], n, True)
                  for n in (64, 128, 256, 512, 1024)]
        names = [name for name, _ in result_plots.curves(tables)]
        self.assertEqual(len(names), result_plots.MOST_LINES)
        self.assertEqual(names[:2] + names[3:], ["rung0", "rung5", "lib0", "lib3"])

    def test_labels_do_not_overlap(self):
        tables = [result_table([result_row(f"rung{i}", 600 + i) for i in range(12)], n, True) for n in (64, 256, 16384)]
        plot = Plot(result_plots.sweep(result_file([]), tables))
        self.assertEqual(plot.outside(), [])
        places = sorted(float(node.get("y")) for node in plot.root.iter(_SVG + "text") if (node.text or "").startswith("rung"))
        self.assertEqual(len(places), result_plots.MOST_LINES)
        self.assertGreaterEqual(min(b - a for a, b in zip(places, places[1:])), 14.9)

    def test_a_rung_that_refuses_some_sizes(self):
        tables = sweep()
        tables[0]["rows"][1] = {"name": "padded & <long>", "kind": "variant", "result": "skip", "reason": "needs"}
        lines = list(Plot(result_plots.sweep(result_file([]), tables)).root.iter(_SVG + "polyline"))
        self.assertEqual(sorted(len(line.get("points").split()) for line in lines), [3, 4, 4])

    def test_over_an_extent(self):
        """As many bytes at each length: the axis is the length, and each dim has its plot."""
        tables = [dict(result_table(rows(), 4096, True), shape={"seq": seq, "dim": dim}, over="seq", each="dim")
                  for dim in (64, 128) for seq in (512, 2048, 8192)]
        made = result_plots.pictures(result_file(tables))
        self.assertEqual([name for name, _, _ in made],
                         ["results_h200_transpose_fp32_dim64_sizes.svg", "results_h200_transpose_fp32_dim128_sizes.svg"])
        plot = Plot(made[1][1])
        self.assertEqual(plot.outside(), [])
        self.assertTrue({"transpose fp32, dim 128: GB/s over seq", "1024", "8192"} <= set(plot.words))
        places = [float(pair.split(",")[0]) for pair in next(plot.root.iter(_SVG + "polyline")).get("points").split()]
        self.assertAlmostEqual(places[1] - places[0], places[2] - places[1], 0)

    def test_pictures_of_a_file(self):
        other = dict(result_table(rows()), ladder="copy")
        names = [name for name, _, _ in result_plots.pictures(result_file(
            [result_table(rows()), result_table(rows(), 16381), other, *sweep()]))]
        self.assertEqual(names, ["results_h200_transpose.svg", "results_h200_copy.svg",
                                 "results_h200_transpose_fp32_sizes.svg"])
        self.assertEqual(len(result_plots.pictures(result_file([*sweep((64, 128))]))), 0)  # two points are no curve


class Report(support.Case):
    """tools/results_tables.py on a clone of its own."""

    def setUp(self):
        super().setUp()
        self.day = self.folder / "day13_transpose"
        self.day.mkdir()
        self.note = self.day / "README.md"
        self.note.write_text("Before.\n<!-- results:h200 -->\nold\n<!-- /results:h200 -->\nAfter.\n")
        self.file = self.folder / "docs" / "results" / "h200" / "day13.json"
        results.write(self.file, result_file([result_table(rows()), *sweep()]))
        self.replace(results_tables, "ROOT", self.folder)
        self.replace(stale, "has_changed", lambda day, row, rung: False)  # test_stale.py's matter
        self.replace(stale, "never_measured", lambda found: [])
        self.replace(sys, "stderr", open("/dev/null", "w"))
        self.addCleanup(sys.stderr.close)
        self.replace(sys, "stdout", sys.stderr)

    def report(self, *flags):
        self.replace(sys, "argv", ["results_tables.py", *flags])
        return results_tables.main()

    def test_written_and_checked(self):
        self.assertEqual(self.report("--check"), 1)
        self.assertEqual(self.report(), 0)
        self.assertEqual(self.report("--check"), 0)
        text = self.note.read_text()
        self.assertTrue(text.startswith("Before.\n") and text.endswith("After.\n"))
        for picture in re.findall(r"!\[[^\]]+\]\((pictures/[^)]+)\)", text):
            ElementTree.parse(self.day / picture)
        self.assertEqual(text.count("!["), 2)
        self.assertEqual(text.count("| naive |"), 1)  # a sweep has its picture alone
        self.assertIn("`./days bench 13`", text)
        self.assertIn("[docs/results/h200/day13.md](../docs/results/h200/day13.md)", text)
        page = self.file.with_suffix(".md").read_text()
        self.assertIn("## transpose fp32, size by size", page)
        self.assertIn("](../../../day13_transpose/README.md)", page)

    def test_check_sees_what_is_stale(self):
        self.report()
        pictures = sorted((self.day / "pictures").iterdir())
        for change in (lambda: self.note.write_text(self.note.read_text().replace("600", "599")),
                       lambda: pictures[0].write_text(pictures[0].read_text().replace("89%", "99%")),
                       pictures[1].unlink,
                       self.file.with_suffix(".md").unlink,
                       lambda: (self.file.parent / "day14.md").write_text("of no result file"),
                       lambda: (self.day / "pictures" / "results_h200_gone.svg").write_text("<svg/>")):
            change()
            self.assertEqual(self.report("--check"), 1)
            self.report()
            self.assertEqual(self.report("--check"), 0)
        self.assertEqual(sorted((self.day / "pictures").iterdir()), pictures)

    def test_a_file_of_another_cuda_is_not_in_the_note(self):
        self.report()
        before = self.note.read_text()
        results.save(self.file, result_file([result_table(rows(2))], cuda="13.2"))
        self.assertEqual(self.report("--check"), 0)
        self.assertEqual(self.note.read_text(), before)

    def test_results_of_a_gpu_that_the_note_does_not_show_are_a_page(self):
        self.report()
        shown = "Before.\n<!-- results:h100 -->\n<!-- /results:h100 -->\nAfter.\n"
        self.note.write_text(shown)
        self.assertEqual(self.report("--check"), 1)  # the old plots
        self.report()
        self.assertEqual(self.report("--check"), 0)
        self.assertEqual((self.note.read_text(), list((self.day / "pictures").iterdir())), (shown, []))
        page = self.file.with_suffix(".md").read_text()
        for words in ("# Day 13 on the NVIDIA H200\n", "Another GPU's results are in [the day's note](../../../day13_transpose/README.md)",
                      "| naive |", "## transpose fp32, size by size"):
            self.assertIn(words, page)
        other = json.loads(self.file.read_text())
        other["device"]["name"] = "NVIDIA H100 80GB HBM3"
        results.write(self.folder / "docs" / "results" / "h100" / "day13.json", other)
        self.report()
        self.assertIn("[docs/results/h100/day13.md](../docs/results/h100/day13.md)", self.note.read_text())
        self.assertEqual([path.name for path in sorted((self.day / "pictures").iterdir())],
                         ["results_h100_transpose.svg", "results_h100_transpose_fp32_sizes.svg"])

    def test_parts_of_a_note_with_markers_of_their_own(self):
        self.note.write_text(self.note.read_text() + "".join(
            f"<!-- results:h200-{part} -->\n<!-- /results:h200-{part} -->\n" for part in ("tables", "sizes")))
        self.report()
        self.assertEqual(self.report("--check"), 0)
        bars, tables, sizes = [match[3] for match in results.markers().finditer(self.note.read_text())]
        self.assertEqual([bars.count("!["), tables.count("!["), sizes.count("![")], [1, 0, 1])
        self.assertEqual([bars.count("| naive |"), tables.count("| naive |"), sizes.count("| naive |")], [0, 1, 0])
        self.assertIn("`./days bench 13`", bars)

    def test_a_note_without_markers(self):
        self.note.write_text("no place\n")
        self.assertEqual(self.report(), 1)


if __name__ == "__main__":
    unittest.main()
