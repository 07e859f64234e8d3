# SPDX-License-Identifier: MIT
"""What tools/check_notes.py finds in notes, what tools/mistake.py makes of a solution, and the headings that results write."""
import io
import sys
import unittest
from contextlib import redirect_stderr, redirect_stdout
from unittest import mock

from support import ROOT, Case

sys.path.insert(0, str(ROOT / "tools"))
import check_notes  # noqa: E402
import mistake  # noqa: E402
import results_tables  # noqa: E402

from days_cli import catalog, kinds, exercises, ladders, paths, rungs  # noqa: E402


class Links(Case):
    def found(self, text):
        path = self.folder / "note.md"
        path.write_text(text, encoding="utf-8")
        (self.folder / "other.md").write_text("# A heading, with `code`\n\n## Twice\n\n## Twice\n", encoding="utf-8")
        return [(line, what.partition(":")[0]) for line, what in check_notes.links(path, text)]

    def test_good_ones(self):
        self.assertEqual(self.found("# Top\n[a](other.md) [b](other.md#a-heading-with-code) [c](#top) [d](https://x.y/z#q)\n"
                                    "[e](other.md#twice-1) [`f`](other.md#twice)\n"), [])

    def test_no_file_and_no_heading(self):
        self.assertEqual(self.found("# Top\n\n[a](gone.md)\n![b](pictures/gone.svg) [c](other.md#gone)\n[d](#gone)\n[e](other.md#twice-2)\n"),
                         [(3, "link to gone.md"), (4, "link to pictures/gone.svg"), (4, "link to other.md#gone"), (5, "link to #gone"),
                          (6, "link to other.md#twice-2")])

    def test_code_is_no_link(self):
        self.assertEqual(self.found("```cpp\nx[i](gone)\n```\n\n    y[i](gone)\n"), [])


class Days(unittest.TestCase):
    def found(self, text):
        return [(line, what.partition(" is not")[0]) for line, what in check_notes.days_named(text, {1, 5, 13})]

    def test_days_that_are_here(self):
        self.assertEqual(self.found("Day 05 and days 1, 5 and 13. Two days later, 14 days.\n"), [])

    def test_days_that_are_not(self):
        self.assertEqual(self.found("First.\nSee day 39, or days [10, 13 and\n11](README.md). Days 5 to 7.\n"),
                         [(2, "day 39"), (2, "day 10, 11"), (3, "day 7")])

    def test_a_planned_one_is_said_to_be(self):
        self.assertEqual(self.found("Day 39 is planned.\nDay 40 isn't. Day 5 was planned.\n"), [(2, "day 40")])

    def test_code_and_results_are_not_read(self):
        self.assertEqual(self.found("```\nday 39\n```\n\n    day 39\n<!-- results:h200 -->\nday 39\n<!-- /results:h200 -->\n"), [])


class Words(unittest.TestCase):
    def test_the_first_use_is_linked(self):
        link = "[{}](../docs/glossary.md#warp)"
        self.assertEqual(list(check_notes.late_links("# Warp\n`warp` ![warp](a.svg)\nA " + link.format("warp") + " and a warp.\n")), [])
        self.assertEqual([line for line, _ in check_notes.late_links("Warps are\nmany. A Warp is 32.\n" + link.format("*warp*") + "\n")], [2])
        self.assertEqual(list(check_notes.late_links("No warp is linked here.\n")), [])

    def test_entries(self):
        good = "# Glossary\n\n### bank\n\n32 of them.\n\n### warp\n\n" + "x " * 59 + "32\n"
        self.assertEqual(list(check_notes.entries(good)), [])
        self.assertIn("61 words", list(check_notes.entries(good.replace("32\n", "3 2\n", 2)))[-1][1])
        self.assertIn("no number", list(check_notes.entries(good.replace("32 of", "Some of")))[0][1])
        self.assertEqual([line for line, _ in check_notes.entries("### warp\n\n1\n\n### bank\n\n2\n")], [5])


class Borrowed(unittest.TestCase):
    def test_a_note_has_it(self):
        block = "<!-- output: ./days run 1 -->\n    ok\n<!-- /output -->"
        self.assertEqual(list(check_notes.borrowed(block, ["# A\n", "# B\n" + block + "\n"])), [])
        self.assertEqual([line for line, _ in check_notes.borrowed("# Top\n" + block, [block.replace("ok", "bad")])], [2])


class Listings(Case):
    def setUp(self):
        super().setUp()
        (self.folder / "01_go.cu").write_text("__global__ void go_kernel(int* x) {  // why\n  x[0] = 1;\n}\nvoid go();\n", encoding="utf-8")

    def found(self, text):
        return [line for line, _ in check_notes.listings(self.folder, text)]

    def test_the_kernel_of_the_file(self):
        self.assertEqual(self.found("Here:\n\n```cpp\n__global__ void go_kernel(int* x) {\n  x[0] = 1;  // one\n\n}\n```\n"), [])

    def test_another_line(self):
        note = "Here.\n\n```cpp\n__global__ void go_kernel(int* x) {\n  x[0] = 2;\n}\n```\n"
        self.assertEqual(self.found(note), [5])
        self.assertEqual(self.found("Simplified:\n\n" + note[note.index("```"):]), [])
        self.assertEqual(self.found(note.replace("go_kernel", "other")), [])

    def test_the_notes_have_some(self):
        """So that a change of their form does not leave nothing to compare."""
        notes = ((ROOT / "day05_matmul" / "README.md"), (ROOT / "day06_matmul_coalesced" / "README.md"))
        found = [what for note in notes for _, what in
                 check_notes.listings(note.parent, note.read_text(encoding="utf-8").replace("float sum = 0.0f;", "float sum = 1.0f;"))]
        self.assertGreaterEqual(len(found), 3)  # day 06 simplifies the names in its other two


class Minutes(unittest.TestCase):
    BLOCK = "<!-- output: ./days check 5 --rung x -->\n    ok\n<!-- /output -->\n"

    def found(self, minutes, text):
        day = mock.Mock(number=5, front_matter=lambda: {"minutes": minutes})
        return [what for _, what in check_notes.minutes(day, text)]

    def test_counted(self):
        one = "    ./days check 5\n\n" + "word " * 1500 + "\n"  # 10 to read, 20 for the exercise
        two = one + "`./days check 5 wide`, `./days check 05` again, and `./days check 56 other` is another day's\n"
        for text, right in ((one, 30), (two, 55), (one + self.BLOCK, 35), (one + 6 * self.BLOCK, 40), ("word\n", 5)):
            self.assertEqual(self.found(right, text), [], right)
            for wrong in (right - 5, right + 5, 0):
                self.assertEqual(self.found(wrong, text), [f"minutes: {wrong}, and counted are {right}: write these"])

    def test_folds_are_read_by_some(self):
        self.assertEqual(self.found(10, "<details><summary>A fold</summary>\n\n" + "word " * 1400 + "\n</details>\n"), [])

    def test_the_text_says_the_same(self):
        self.assertEqual(self.found(5, "# Day\n\nAbout 5 minutes.\n"), [])
        self.assertEqual(self.found(5, "# Day\n\nIt takes about\n60 minutes.\n"), ["about\n60 minutes, and above stands minutes: 5"])


class Length(unittest.TestCase):
    def found(self, words, rungs, more=""):
        heads = "".join(f"### {i} · rung\n" for i in range(rungs))
        text = "---\ntitle: A B\n---\n" + more + heads + "## Rest\n\n" + "word " * (words - 2 * rungs - 1) + "\n"
        return [what for _, what in check_notes.length(text)]

    def test_rungs_allow_words(self):
        for words, count, good in ((1200, 0, True), (1201, 0, False), (1300, 1, True), (1900, 7, True), (1901, 7, False), (2500, 20, True),
                                   (2501, 20, False)):
            self.assertEqual(self.found(words, count) == [], good, (words, count))
        self.assertIn("1,901 words, at most 1,900 for 7 rungs", self.found(1901, 7)[0])

    def test_what_is_no_prose(self):
        for more in ("```cpp\n### 1 · a b c\n```\n", "| a | b |\n|---|---|\n", "    ok: all 1 2 3\n\n", "<!-- a comment -->\n", "![many words 1 2](a.svg)\n",
                     "<!-- results:h200 -->\nMany words.\n<!-- /results:h200 -->\n", "<details><summary>Show it</summary>\n\n1 2 3\n</details>\n"):
            self.assertEqual(self.found(1200, 0, more=more), [], more)
            self.assertEqual(len(self.found(1201, 0, more=more)), 1, more)

    def test_a_rung_is_short(self):
        def found(words):
            return list(check_notes.length("# T\n\n### 1 · a\n\n" + "word " * words + "\n\n<details><summary>x</summary>\n" + "word " * 99 + "\n</details>\n"
                                           "### 2 · b\n\nword\n\n## More\n\n" + "word " * 300 + "\n"))
        self.assertEqual(found(200), [])
        self.assertEqual([(line, what[:16]) for line, what in found(201)], [(3, "rung 1: 201 word")])

    def test_hands_come_first(self):
        def found(words):
            return list(check_notes.hands("---\ntitle: A B\n---\n# T\n\n" + "word " * (words - 1) + "\n\n    ./days run 5\n\n" + "word " * 300 + "\n"))
        self.assertEqual(found(200), [])
        self.assertEqual(found(201), [(8, "201 words before the first command, at most 200: what it does not need comes later")])
        self.assertEqual(list(check_notes.hands("# T\n\n`./days run 5`\n")), [(1, "no line shows a command of ./days")])

    def test_numbers(self):
        for said, count in (("32 x 8 blocks, 4,096 rows and 1.5 ms", 3), ("day 05, rungs 2 and 3, hint 1, fp32, an H200, `a[4]`, [b](c4.md)", 0), ("1. an item", 0),
                            ("4096³, 12% or 3/4", 4), ("### 2 · b — 12 ms", 0), ("\n| 1 | 2 |", 0), ("**5 sectors**, not 33.", 2)):
            self.assertEqual(check_notes.numbers_of(check_notes.read(said + "\n")), count, said)
        text = "# T\n\n" + "word " * 49 + "\n7 8\n"
        self.assertEqual(list(check_notes.length(text)), [])
        self.assertIn("3 numbers in 53 words, at most one for 25", list(check_notes.length(text + "9\n"))[0][1])


class Commands(Case):
    def found(self, kind, text, **front):
        for name in ("01_one.cu", "02_two.cu", "shared.cuh"):
            (self.folder / name).write_text("")
        with mock.patch.object(paths, "ROOT", self.folder.parent):
            return [what for _, what in check_notes.commands(mock.Mock(folder=self.folder, kind=kinds.KINDS[kind], front_matter=lambda: front), text)]

    def test_a_ladder_has_one_line(self):
        good = f"    nvcc -O3 -I. {self.folder.name}/*.cu common/main.cpp -o one && ./one\n"
        self.assertEqual(self.found("ladder", good), [])
        self.assertEqual(self.found("ladder", good.replace(" -I. ", " \\\n        -I. ")), [])
        self.assertEqual(len(self.found("ladder", good.replace("nvcc", "g++"))), 1)
        self.assertEqual(len(self.found("ladder", good.replace("*.cu", "01_one.cu"))), 1)
        self.assertEqual(self.found("ladder", good.replace("-I.", "-I. common/core.cpp common/harness.cu")), [])
        self.assertEqual(len(self.found("ladder", good.replace("-I.", "-I. common/harness.cu"))), 1)

    def test_a_program_day_has_one_for_each(self):
        one, two = (f"    nvcc -O3 {self.folder.name}/{name} -o x\n" for name in ("01_one.cu", "02_two.cu"))
        self.assertEqual(self.found("program", one + two), [])
        self.assertEqual(self.found("program", one), [f"no line says how nvcc alone builds {self.folder.name}/02_two.cu"])

    def test_kernels_of_other_days_are_named(self):
        good = f"    nvcc -I. common/core.cpp day62_histogram_and_sort/[0-9]*.cu day62_histogram_and_sort/digit_starts.cu {self.folder.name}/*.cu\n"
        with mock.patch.object(catalog, "used_by", lambda day: [catalog.Day(62, "histogram_and_sort", "", ROOT / "day62_histogram_and_sort")]):
            self.assertEqual(self.found("ladder", good), [])
            self.assertEqual(len(self.found("ladder", good.replace("day62_histogram_and_sort/digit_starts.cu ", ""))), 1)

    def test_a_python_day_has_none(self):
        self.assertEqual(self.found("python", ""), [])


class Hints(unittest.TestCase):
    def test_links_become_words_and_lambdas_stay(self):
        rung = rungs.of_day(catalog.resolve("13", "hint"))["padded"]
        self.assertEqual(exercises._unfolded(rung, "A [word](../docs/glossary.md#word).\n\n```cpp\nconst auto add = [&](float x) {}; f(1);\nf(2);\n```\n")[1:],
                         ["A word.", "```\nconst auto add = [&](float x) {}; f(1);\nf(___);\n```"])

    def test_what_the_solution_waits_for_is_no_hint(self):
        rung = rungs.of_day(catalog.resolve("13", "hint"))["padded"]
        for more in ("", "**The idea.** "):
            self.assertEqual(exercises._unfolded(rung, f"A warp waits 9% of its time for memory. <!-- profile -->\n\n{more}Pad it.\n")[1:], ["Pad it."])


class FrontMatter(unittest.TestCase):
    def test_builds_on(self):
        day = mock.Mock(front_matter=lambda: {"builds_on": ["01", 39]})
        self.assertEqual(list(check_notes.builds_on(day, {1})), [(1, "builds on day 39, which is not here")])


class Mistakes(Case):
    def write(self, text):
        path = self.folder / "mistakes.txt"
        path.write_text(text, encoding="utf-8")
        return path

    def test_edits(self):
        found = mistake.edits(self.write("# words\n\nno_guard: threads beyond\n- a\n- b\n+ c\n\nother: deleted\n- d\n"))
        self.assertEqual(found, {"no_guard": ("threads beyond", "a\nb", "c"), "other": ("deleted", "d", "")})

    def test_what_cannot_be_read(self):
        for text in ("no_guard: a\n- b\nc\n", "- b\n", "one: a\n- b\none: a\n"):
            with self.assertRaisesRegex(ValueError, r"mistakes\.txt:\d is neither"):
                mistake.edits(self.write(text))

    def test_a_solution_becomes_the_learners_file(self):
        self.assertEqual(mistake.as_exercise('void go_kernel();\nvoid day_go(int) { need("go"); go_kernel(); ago(); }', "go", "day_go"),
                         'void exercise_kernel();\nvoid exercise(int) { need("exercise"); exercise_kernel(); ago(); }')

    def test_a_template_becomes_a_function_of_its_first_type(self):
        self.assertEqual(mistake.as_exercise("void day_go(const P<T>& p) {\n}\nINSTANTIATE_LAUNCHER(day_go, P, uint8_t, float);\n", "go", "day_go"),
                         "void exercise(const P<T>& p) {\n}\nvoid exercise(const P<uint8_t>& p, cudaStream_t stream) { exercise<uint8_t>(p, stream); }\n")

    def test_every_edit_fits_its_solution(self):
        count = 0
        for day in catalog.here():
            if (day.folder / "mistakes.txt").is_file():
                for name in mistake.edits(day.folder / "mistakes.txt"):
                    text, count = mistake.made(day, name), count + 1
                    self.assertIn("def launch(" if day.kind.in_python else "void exercise(", text, name)
                    self.assertNotIn(f'"{ladders.exercise(day)[2]}"', text, name)
                    self.assertIn(f"tools/mistake.py {day.number} {name}", (day.folder / "README.md").read_text(encoding="utf-8"))
        self.assertGreater(count, 0)

    def test_wrong_words(self):
        for words, said in ((["5", "no_such"], 'mistakes.txt has no "no_such"; it has no_guard'), (["60", "x"], "has no mistakes.txt"),
                            (["no_such", "x"], 'no day "no_such"'), (["5"], "tools/mistake.py DAY NAME")):
            with redirect_stderr(io.StringIO()) as err, redirect_stdout(io.StringIO()) as out:
                self.assertEqual(mistake.main(words), 2)
            self.assertIn(said, err.getvalue())
            self.assertEqual(out.getvalue(), "")

    def test_the_verdict(self):
        for code, wanted, said in ((1, 0, "1 correct    FAIL my/day05.cu\n"), (0, 1, ""), (3, 2, "")):
            done = mock.Mock(returncode=code, stdout="1 correct    FAIL build/mistakes/05_no_guard/day05.cu\n")
            with mock.patch.object(mistake.subprocess, "run", return_value=done), redirect_stdout(io.StringIO()) as out, \
                    redirect_stderr(io.StringIO()) as err:
                self.assertEqual(mistake.main(["5", "no_guard"]), wanted)
            self.assertEqual(out.getvalue(), said)
            self.assertEqual(err.getvalue() == "", code == 1)


class Headings(unittest.TestCase):
    def test_what_a_rung_reached(self):
        rows = [{"name": "slow", "kind": "variant", "result": "ok", "seconds": 0.2768, "of_limit": 0.00753},
                {"name": "fast", "kind": "variant", "result": "ok", "seconds": 0.013, "of_limit": 0.1606, "changed": True},
                {"name": "refused", "kind": "variant", "result": "skip", "reason": "needs k % 4 == 0"}]
        table = {"ladder": "a", "type": "fp32", "shape": {"n": 4}, "rows": rows}
        text = ("### 1 · slow — old\n### 2 · fast — \n### refused — 5 requests\n### unknown — x\n### slow: stays\n#### slow — stays\n")
        self.assertEqual(results_tables.headed(text, {"tables": [table]}),
                         "### 1 · slow — 277 ms, 0.8% of the limit\n### 2 · fast — 13 ms, 16% of the limit †\n### refused — 5 requests\n"
                         "### unknown — x\n### slow: stays\n#### slow — stays\n")


if __name__ == "__main__":
    unittest.main()
